"""Every command tells what it cannot do alike: the sentence alone on stderr, and exit code 2."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.db import connections

from soundings import cli
from tests.world import PASSWORD, World

pytestmark = pytest.mark.anywhere
OURS = ("pooling", "labeling", "evaluation", "soundings")
WRONG = {
    "add_member": ["nowhere", "dan", "--role", "viewer"],
    "backup": ["missing/folder/file.zip"],
    "build_pool": ["nowhere", "--name", "p", "--depth", "2"],
    "canary": ["nowhere", "list"],
    "carry_labels": ["missing.qrels", "--from", "old.tsv", "--to", "new.tsv", "--output", "new.qrels"],
    "create_user": ["a b", "--password-stdin"],
    "decide": ["harbour", "none", "a", "b"],
    "demo": ["--port", "70000"],
    "draw_audit": ["nowhere", "none", "--model", "small", "--pairs", "60"],
    "find_duplicates": ["missing.jsonl", "--output", "groups.tsv"],
    "read_log": ["missing.ndjson", "--output", "queries.tsv"],
    "score_clicks": ["missing.ndjson", "--output", "scores.tsv"],
    "delete_account": ["nobody", "--yes"],
    "check_vectors": ["missing.npz", "new.npz"],
    "draft_facts": ["nowhere", "--model", "small"],
    "drift": ["missing.tsv", "queries.jsonl"],
    "draw_queries": ["missing.tsv", "--n", "5", "--dry-run"],
    "draw_sample": ["nowhere", "--model", "small"],
    "evaluate": ["missing.qrels", "missing.run"],
    "export_judgments": ["nowhere", "--output", "out.csv"],
    "export_pool": ["nowhere", "none", "--output", "out.tsv"],
    "export_prelabels": ["nowhere", "none", "--model", "small", "--output", "out.qrels"],
    "export_qrels": ["nowhere", "--output", "out.qrels"],
    "import_collection": ["harbour"],
    "import_facts": ["harbour", "missing.jsonl"],
    "import_gold": ["harbour", "missing.csv"],
    "import_judgments": ["harbour", "missing.csv"],
    "import_prelabels": ["harbour", "none", "missing.jsonl"],
    "import_qrels": ["harbour", "missing.qrels"],
    "import_run": ["harbour", "missing.run"],
    "index_texts": ["nowhere"],
    "interleave": ["missing.run", "other.run", "--output", "out.jsonl"],
    "judge_interleaving": ["missing.jsonl", "clicks.jsonl"],
    "measure": ["harbour"],
    "open_queue": ["harbour", "none"],
    "order_queue": ["harbour", "none", "--by", "small"],
    "plan": ["nowhere"],
    "pool": ["missing.run", "--depth", "1"],
    "prelabel": ["harbour", "none", "--model", "small"],
    "prelabel_key": ["nowhere", "list"],
    "prelabel_pass": ["harbour", "none", "list"],
    "prelabel_quality": ["nowhere"],
    "prelabel_use": ["harbour", "none"],
    "quality": ["harbour", "none"],
    "queue_status": ["harbour", "none"],
    "release_qrels": ["harbour", "--name", "r"],
    "reset_password": ["nobody"],
    "restore": ["missing.zip"],
    "search_run": ["nowhere", "shop"],
    "serve": ["--port", "70000"],
    "simulate": ["missing.qrels", "missing.run", "--depth", "1"],
    "trail": ["--kept", "1"],
    "withdraw_labels": ["harbour", "1"],
}

#: Those that read files, and so much else that the file is reached.
READS_FILES = {
    name: arguments
    for name, arguments in WRONG.items()
    if any(one.startswith("missing.") for one in arguments) and name != "import_prelabels"
} | {
    "import_collection": ["harbour", "--queries", "missing.jsonl"],
    "import_collection --corpus": ["harbour", "--corpus", "missing.jsonl"],
    "import_collection --guidelines": ["bay", "--queries", "other.jsonl", "--guidelines", "missing.md"],
}

#: Commands without an argument that could be wrong.
# What `migrate` refuses it refuses in Django's words.
TAKES_NOTHING = {"purge_deleted", "migrate"}


def test_every_command_is_tried_here() -> None:
    assert {name for name, app in get_commands().items() if app in OURS} - TAKES_NOTHING == set(WRONG)


@pytest.mark.parametrize("name", WRONG)
def test_a_refusal_is_the_sentence_alone(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(connections, "close_all", lambda: None)  # the test needs its own afterwards
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    command = load_command_class(get_commands()[name], name)
    with pytest.raises(SystemExit) as end:
        command.run_from_argv(["manage.py", name, *WRONG[name]])
    said = capsys.readouterr()
    assert end.value.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "Error:" not in said.err


@pytest.mark.parametrize("name", [name for name in WRONG if "--output" in WRONG[name]])
def test_a_dash_is_no_file_to_write_to(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(connections, "close_all", lambda: None)
    arguments = [*WRONG[name][:-1], "-"]
    with pytest.raises(SystemExit) as end:
        load_command_class(get_commands()[name], name).run_from_argv(["manage.py", name, *arguments])
    assert end.value.code == 2
    assert (
        capsys.readouterr()
        .err.strip()
        .endswith(
            "argument output: “-” does not stand for standard input or output here. Give the name of a file."
        )
    )
    assert not Path("-").exists()


@pytest.fixture
def _no_hang() -> Iterator[None]:
    """End a test that reads what has no end: no other one takes minutes."""
    signal.alarm(300)
    yield
    signal.alarm(0)


@pytest.mark.usefixtures("_no_hang")
@pytest.mark.parametrize("is_pipe", [True, False], ids=["pipe", "device"])
@pytest.mark.parametrize("name", sorted(READS_FILES))
def test_a_pipe_and_a_device_are_refused_in_one_sentence(
    world: World,
    name: str,
    is_pipe: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(connections, "close_all", lambda: None)
    endless = tmp_path / "endless.zip"
    os.mkfifo(endless) if is_pipe else endless.symlink_to("/dev/zero")
    arguments = [str(endless) if one.startswith("missing.") else one for one in READS_FILES[name]]
    name = name.partition(" ")[0]
    with pytest.raises(SystemExit) as end:
        load_command_class(get_commands()[name], name).run_from_argv(["manage.py", name, *arguments])
    said = capsys.readouterr()
    assert end.value.code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "this is a pipe or a device, and files are read twice. Save it to a file first." in said.err


@pytest.mark.parametrize("name", cli.FILE_COMMANDS)
def test_a_command_on_files_refuses_in_the_same_words_without_django(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for run in (
        cli.run_on_files,
        load_command_class(cli.FILE_COMMANDS[name].partition(".")[0], name).run_from_argv,
    ):
        with pytest.raises(SystemExit) as end:
            run(["manage.py", name, *WRONG[name]])
        told.append((end.value.code, capsys.readouterr().err))
    assert told[0] == told[1]
