"""The commands of stage 1 that work on the database."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from pooling.models import Collection, Pool, Query, Role, Run
from tests.world import ALPHA, BETA, World, make_user, run_text


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with queries, a corpus, guidelines and two runs."""
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "night bus"}\n')
    corpus = [{"_id": f"d{number}", "title": "", "text": f"Text {number}."} for number in range(1, 9)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(record) + "\n" for record in corpus))
    (tmp_path / "guidelines.md").write_text("Relevant *helps*.")
    (tmp_path / "alpha.run").write_text(run_text(ALPHA))
    (tmp_path / "beta.run").write_text(run_text(BETA))
    return tmp_path


def refused(*command: Any, **options: Any) -> str:
    """Run a command that must refuse its input, and return its one line."""
    with pytest.raises(CommandError) as refusal:
        call_command(*command, **options)
    assert refusal.value.returncode == 2
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_from_files_to_a_pool(db: None, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ada = make_user("ada")
    call_command(
        *("import_collection", "tides", "--name", "Tides", "--question", "Does it help?", "--admin", "ada"),
        *("--queries", files / "queries.jsonl", "--corpus", files / "corpus.jsonl"),
        *("--guidelines", files / "guidelines.md"),
    )
    collection = Collection.objects.get(slug="tides")
    assert (collection.name, collection.question, collection.guidelines) == (
        *("Tides", "Does it help?", "Relevant *helps*."),
    )
    assert collection.memberships.get().user == ada
    assert (collection.queries.count(), collection.documents.count()) == (1, 8)
    call_command("import_run", "tides", files / "alpha.run", files / "beta.run")
    call_command("build_pool", "tides", "--name", "first", "--depth", "2", "--runs", "beta", "alpha")
    pool = collection.pools.get()
    assert [place.run.name for place in pool.pool_runs.all()] == ["beta", "alpha"]
    output = capsys.readouterr()
    assert "Queries: 1 new, 0 changed, 0 as before." in output.out
    assert "alpha: 9 rows for 3 queries." in output.out
    assert "3 pairs of 1 query, 3 chosen." in output.out
    assert "alpha: 2 queries are not in the collection." in output.err


def test_only_pooled_documents_of_a_corpus(world: World, files: Path) -> None:
    world.build_pool()
    call_command("import_collection", "harbour", "--corpus", files / "corpus.jsonl", "--only-pooled")
    assert not world.collection.documents.filter(external_id__in=["d7", "d8"]).exists()
    assert world.collection.documents.get(external_id="d1").text == "Text 1."


@pytest.mark.parametrize("name", ["ben", "dan", "ada"])
def test_an_import_into_a_collection_makes_its_account_an_admin(world: World, files: Path, name: str) -> None:
    call_command("import_collection", "harbour", "--queries", files / "queries.jsonl", "--admin", name)
    assert world.collection.memberships.get(user__username=name).role == Role.ADMIN


def test_an_import_overwrites_no_text_of_a_collection(world: World, files: Path) -> None:
    command = ("import_collection", "harbour", "--queries", files / "queries.jsonl")
    call_command(*command, "--name", "Harbour", "--guidelines", files / "guidelines.md")
    assert "another text for --name" in refused(*command, "--name", "Haven")
    assert "another text for --question" in refused(*command, "--question", "Is it so?")


def test_a_bad_corpus_takes_queries_and_collection_with_it(
    db: None, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (files / "corpus.jsonl").open("a") as file:
        file.write("{")
    message = refused(
        *("import_collection", "tides"),
        *("--queries", files / "queries.jsonl", "--corpus", files / "corpus.jsonl"),
    )
    assert "corpus.jsonl, line 9" in message
    assert not capsys.readouterr().out
    assert not Collection.objects.exists()
    assert not Query.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["import_collection", "tides"], "give --queries or --corpus"),
        (["import_collection", "no slug", "--queries", "queries.jsonl"], "short name"),
        (
            ["import_collection", "t", "--queries", "queries.jsonl", "--admin", "nobody"],
            "No account “nobody”",
        ),
        (
            ["import_collection", "harbour", "--queries", "queries.jsonl", "--admin", "nobody"],
            "No account “nobody”",
        ),
        (["import_collection", "t", "--queries", "missing.jsonl"], "missing.jsonl"),
        (["import_run", "tides", "alpha.run"], "No collection “tides”"),
        (["import_run", "harbour", "missing.run"], "missing.run"),
        (["import_run", "harbour", "alpha.run", "beta.run", "--name", "x"], "--name works with one file"),
        (["build_pool", "harbour", "--name", "p", "--depth", "2"], "at least one run"),
        (["build_pool", "harbour", "--name", "p", "--depth", "2", "--runs", "x"], "no run “x”"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(
    world: World, files: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    monkeypatch.chdir(files)
    assert told in refused(*arguments)
    assert Collection.objects.count() == 1
    assert not Run.objects.exists()
    assert not Pool.objects.exists()


def test_page_call_and_command_have_one_usual_way(world: World, client: Client) -> None:
    world.import_runs()
    client.force_login(world.ada)
    call_command("build_pool", "harbour", "--name", "command", "--depth", "2")
    body = {"name": "call", "runs": ["alpha", "beta"], "depth": 2}
    client.post("/api/collections/harbour/pools/", body, content_type="application/json")
    form = client.get("/collections/harbour/pools/new/").context["form"]
    filled = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    client.post("/collections/harbour/pools/new/", {**filled, "name": "page", "depth": 2})
    call_command("build_pool", "harbour", "--name", "none", "--depth", "2", "--audit-share", "0")
    call_command("build_pool", "harbour", "--name", "own", "--depth", "2", "--audit-share", "0.5")

    chosen = {pool.name: (pool.strategy, pool.audit_share, pool.reach) for pool in Pool.objects.all()}

    usual = ("hybrid", 0.2, 1_000)
    assert [chosen[name] for name in ("command", "call", "page")] == [usual, usual, usual]
    assert (form["strategy"].value(), form["audit_share"].value(), form["reach"].value()) == (
        *("hybrid", "0.2", 1_000),
    )
    assert chosen["own"] == ("hybrid", 0.5, None)
    assert chosen["none"] == ("learned", 0.0, None)


@pytest.mark.parametrize("command", ["build_pool", "plan"])
def test_the_help_names_the_usual_way(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command(command, "--help")
    words = " ".join(capsys.readouterr().out.split())
    for option, usual in [("--strategy S", "hybrid"), ("--audit-share F", "0.2"), ("--reach R", "1,000")]:
        assert f"(default: {usual}" in words.split(f" {option} ")[1].split(" --")[0]


def test_the_command_says_what_was_drawn_at_random(world: World) -> None:
    world.import_runs()
    audits = {"usual": [], "none": ["--strategy=rrf", "--audit-share=0"], "own": ["--audit-share=0.5"]}
    words = {}
    for name, options in audits.items():
        output = io.StringIO()
        options = ["--name", name, "--depth", "2", "--budget", "6", *options]
        call_command("build_pool", "harbour", *options, stdout=output)
        words[name] = output.getvalue()
    draws = {pool.name: pool.entries.filter(in_audit=True).count() for pool in Pool.objects.all()}

    source = "the first 1,000 places of 2 runs and text search"
    assert f"{draws['usual']} of these are drawn at random from {source}. A" in words["usual"]
    assert f"{draws['own']} of these are drawn at random. A" in words["own"]
    assert "random" not in words["none"]
