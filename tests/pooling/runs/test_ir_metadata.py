"""The ir_metadata of a run is kept with it and shown, and reading it is bounded."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from rest_framework.test import APIClient

from pooling.formats.errors import FormatError
from pooling.models import Run
from pooling.runs.ir_metadata import facts_of, metadata_of
from pooling.runs.stored import import_run, provenance_of
from tests.world import ALPHA, World, run_text

HEADER = """\
# ir_metadata.start
# actor:
#   team: ours & yours
#   time: 2026-01-31T12:00:00Z
# method:
#   retrieval:
#   - name: bm25
#     b: 0.4
# ir_metadata.end
"""
READ = {
    "actor": {"team": "ours & yours", "time": "2026-01-31T12:00:00+00:00"},
    "method": {"retrieval": [{"name": "bm25", "b": 0.4}]},
}


def written(folder: Path, head: str = HEADER, name: str = "alpha.run") -> Path:
    path = folder / name
    path.write_text(head + run_text(ALPHA), encoding="utf-8")
    return path


@pytest.mark.django_db
def test_the_header_is_kept_with_the_run_and_shown(world: World) -> None:
    run = import_run(world.collection, written(world.folder), user=world.ada)
    assert run.preflight["ir_metadata"] == READ
    assert run.preflight["notes"] == []
    assert provenance_of(run)["ir_metadata"] == READ
    browser, api = Client(), APIClient()
    browser.force_login(world.vera)
    api.force_authenticate(world.vera)
    page = browser.get(f"/collections/harbour/runs/{run.pk}/").content.decode()
    assert "method.retrieval.1.name" in page
    assert "ours &amp; yours" in page
    assert api.get(f"/api/runs/{run.pk}/").data["preflight"]["ir_metadata"] == READ


def test_a_file_beside_a_run_counts_where_the_run_has_no_header(tmp_path: Path) -> None:
    (tmp_path / "ir-metadata.yml").write_text("tag: beside\n")
    beside = metadata_of(written(tmp_path, ""))
    assert beside is not None
    assert beside.values == {"tag": "beside"}
    # An upload lies in a folder of ours, next to nothing of its own.
    assert metadata_of(written(tmp_path, ""), file_name="alpha.run") is None
    within = metadata_of(written(tmp_path))
    assert within is not None
    assert within.values == READ


def test_values_with_tags_that_nobody_knows_are_read_as_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "ir-metadata.yml").write_text(
        "a: !!python/object/apply:os.system [ls]\nb: !Energy {c: !J 5}\n"
    )
    beside = metadata_of(written(tmp_path, ""))
    assert beside is not None
    assert beside.values == {"a": ["ls"], "b": {"c": "5"}}


@pytest.mark.parametrize("name", ["alpha-ir-metadata.yml", "2026-01-31-ir-metadata.yaml"])
def test_a_tracker_may_call_the_file_otherwise(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(
        "tag: beside\n" + "more: [" + "1, " * 9_000 + "1]\n" + f"text: {'x' * 70_000}\n"
    )
    beside = metadata_of(written(tmp_path, ""))
    assert beside is not None
    assert beside.values["tag"] == "beside"


@pytest.mark.django_db
def test_what_is_wrong_beside_a_run_is_a_note(world: World) -> None:
    (world.folder / "ir-metadata.yml").write_text("a: [1\n")
    run = import_run(world.collection, written(world.folder, ""))
    assert "ir_metadata" not in run.preflight
    (note,) = run.preflight["notes"]
    assert note.startswith("ir-metadata.yml, line 1: the ir_metadata cannot be read")
    assert note.endswith("The run was imported without it.")


def test_other_comments_are_no_metadata(tmp_path: Path) -> None:
    assert metadata_of(written(tmp_path, "# made yesterday\n")) is None
    before = metadata_of(written(tmp_path, "# made yesterday\n" + HEADER))
    assert before is not None
    assert before.values == READ


def test_metadata_are_told_one_below_the_other() -> None:
    assert facts_of({"a": {"b": [1, 2]}, "c": None}) == [("a.b", "1, 2"), ("c", "")]


BAD = {
    "no end": ("# ir_metadata.start\n# a: 1\n", "line 1: ir_metadata begins here and does not end"),
    "not YAML": ("# ir_metadata.start\n# a: [1\n# ir_metadata.end\n", "the ir_metadata cannot be read"),
    "a list": ("# ir_metadata.start\n# - 1\n# ir_metadata.end\n", "the ir_metadata are no mapping"),
    "aliases": (
        "# ir_metadata.start\n# a: &x [1]\n# b: *x\n# ir_metadata.end\n",
        "(an alias)",
    ),
    "depth": (f"# ir_metadata.start\n# a: {'[' * 200}{']' * 200}\n# ir_metadata.end\n", "nested too deeply"),
    "size": ("# ir_metadata.start\n" + "# a: b\n" * 200_000 + "# ir_metadata.end\n", "bytes of ir_metadata"),
    "values": (
        f"# ir_metadata.start\n# a: [{'1, ' * 30_000}]\n# ir_metadata.end\n",
        "more than 20,000 values of ir_metadata",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, name: str) -> None:
    head, sentence = BAD[name]
    with pytest.raises(FormatError) as refused:
        metadata_of(written(tmp_path, head))
    assert sentence in str(refused.value)
    assert str(refused.value).startswith("alpha.run")


@pytest.mark.django_db
def test_a_run_with_broken_metadata_is_not_stored(world: World) -> None:
    with pytest.raises(FormatError):
        import_run(world.collection, written(world.folder, BAD["no end"][0]))
    assert not Run.objects.exists()
