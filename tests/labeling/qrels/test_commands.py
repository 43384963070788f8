"""The commands of stage 2, through the command line's own door."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from labeling.judging.leases import claim
from labeling.models import ImportedLabel, Queue
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import World, qrels_text


def run(*arguments: str | Path) -> str:
    out = StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


def refusal(*arguments: str | Path) -> str:
    with pytest.raises(CommandError) as error:
        run(*arguments)
    assert error.value.returncode == 2
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_way_from_a_pool_to_a_file_of_labels(world: World, tmp_path: Path) -> None:
    make_pool(world)
    said = run("open_queue", "harbour", "pool", "--name", "q", "--seed", "4")
    queue = Queue.objects.get()
    assert said == f"Queue {queue.pk}, “q”: 6 pairs, 1 judgment each, seed 4.\n"
    for lease in claim(queue, world.ben, 5).leases:
        judge(queue, world.ben, lease.item_id, "not_relevant")
    said = run("release_qrels", "harbour", "--name", "first")
    assert said.startswith(
        "Release “first”: 5 labels of 3 queries, 0 relevant; without a label: 0 ties, 0 not final, "
        "0 that could not be judged, 1 not judged yet. SHA-256 "
    )
    path = tmp_path / "out.qrels"
    run("export_qrels", "harbour", "--output", path)
    assert len(path.read_text().splitlines()) == 5
    sidecar = json.loads((tmp_path / "out.qrels.meta.json").read_text())
    assert sidecar["release"] == "first"
    assert sidecar["export"]["sha256"] == sidecar["sha256"]
    assert sorted(file.name for file in tmp_path.glob("out*")) == ["out.qrels", "out.qrels.meta.json"]


def test_labels_are_imported_and_exported_in_another_format(world: World, tmp_path: Path) -> None:
    path = tmp_path / "old.qrels"
    path.write_text(qrels_text() + "q9 0 d1 1\n")
    assert (
        run("import_qrels", "harbour", path)
        == "Labels: 18 new, 0 as before, 1 of unknown queries left out.\n"
    )
    run("release_qrels", "harbour", "--name", "old")
    out = tmp_path / "out.tsv"
    run("export_qrels", "harbour", "--release", "old", "--format", "beir", "--output", out)
    assert out.read_text().startswith("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    assert json.loads((tmp_path / "out.tsv.meta.json").read_text())["export"]["format"] == "beir"


def test_a_pair_with_an_imported_label_does_not_wait(world: World) -> None:
    queue = make_queue(world, needed=2)
    tied, *_ = claim(queue, world.ben, 6).leases
    judge(queue, world.ben, tied.item_id, "not_relevant")
    judge(queue, world.cleo, tied.item_id, "relevant")
    (world.folder / "old.qrels").write_text("".join(f"q{n} 0 d{m} 1\n" for n in (1, 2, 3) for m in (1, 2)))
    run("import_qrels", "harbour", world.folder / "old.qrels")
    said = run("release_qrels", "harbour", "--name", "old")
    assert "5 labels of 3 queries, 5 relevant; without a label: 1 tie, 0 not final, 0 that could" in said
    assert "0 not judged yet" in said


def test_a_pair_that_nobody_judged_is_no_label(world: World, tmp_path: Path) -> None:
    path = tmp_path / "old.qrels"
    path.write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\nq2 0 d2 -1\n")
    run("import_qrels", "harbour", path)
    said = run("release_qrels", "harbour", "--name", "old")
    start = "Release “old”: 3 labels of 2 queries, 2 relevant, and 1 pair as -1 (pooled, not judged); without"
    assert said.startswith(start)
    out = tmp_path / "out.qrels"
    said = run("export_qrels", "harbour", "--output", out)
    assert f"{out}: 3 labels and 1 pair as -1 (pooled, not judged) of release “old”; " in said
    said = run("export_qrels", "harbour", "--format", "ltr", "--output", out)
    assert f"{out}: 3 labels, without 1 pooled and not judged, of release “old”; " in said
    assert sum(not line.startswith("#") for line in out.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("ev.csv", "query_id,document_id,relevance\n"),
        ("ev.tsv", "query_id\tdocument_id\trelevance\n"),
        ("ev.jsonl", '{"query_id": "q1"'),
        ("ev.txt", "q1 0 d1 1\n"),
        ("ev.labels", "q1 0 d1 1\n"),
    ],
)
def test_the_suffix_of_the_file_says_its_format(world: World, tmp_path: Path, name: str, begins: str) -> None:
    (tmp_path / "old.qrels").write_text("q1 0 d1 1\n")
    run("import_qrels", "harbour", tmp_path / "old.qrels")
    run("release_qrels", "harbour", "--name", "old")
    run("export_qrels", "harbour", "--output", tmp_path / name)
    assert (tmp_path / name).read_text().startswith(begins)


def test_what_is_wrong_is_one_line_and_exit_code_2(world: World, tmp_path: Path) -> None:
    assert refusal("open_queue", "harbour", "none") == "There is no pool “none” in “harbour”. Build it first."
    assert "nowhere" in refusal("release_qrels", "nowhere", "--name", "r")
    assert "no final label" in refusal("release_qrels", "harbour", "--name", "r")
    out = tmp_path / "out.qrels"
    assert "no qrels release yet" in refusal("export_qrels", "harbour", "--output", out)
    assert not out.exists()
    path = tmp_path / "bad.qrels"
    path.write_text("q1 0 d1 one\n")
    assert "bad.qrels, line 1" in refusal("import_qrels", "harbour", path)
    assert not ImportedLabel.objects.exists()
