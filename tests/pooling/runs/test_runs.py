"""Import of runs into file storage and database."""

from __future__ import annotations

import errno
import gzip
import hashlib
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import DatabaseError

from pooling.interface.problems import InputError, StorageFullError
from pooling.models import Run
from pooling.pools.building import build_pool
from pooling.runs.stored import import_run, read_stored_run, runs_named
from tests.world import ALPHA, BETA, World, run_text


def stored_files(settings: Any) -> list[str]:
    """Every file in storage."""
    root = Path(settings.MEDIA_ROOT)
    return [path.name for path in root.rglob("*") if path.is_file()]


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_run_is_stored_as_it_was_imported(world: World, tmp_path: Path) -> None:
    path = write(tmp_path / "alpha.run", "q1 Q0 d4 7 2.5 tag\nq1 Q0 d1 3 9.25 tag\nq2 Q0 d2 1 -1e3 tag\n")
    run = import_run(world.collection, path, user=world.ada)
    run = Run.objects.get(pk=run.pk)
    assert (run.name, run.tag, run.row_count, run.query_count, run.depth) == ("alpha", "tag", 3, 2, 2)
    assert run.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert run.imported_by == world.ada
    assert read_stored_run(run).rows() == [
        ("q1", "d4", 2.5, 7),
        ("q1", "d1", 9.25, 3),
        ("q2", "d2", -1000.0, 1),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lists.csv", "query_id,document_id,score\nq1,d1,2\nq1,d2,1\n"),
        ("lists.json", '{"q1": {"d1": 2, "d2": 1}}'),
        ("lists.run", "q1 Q0 d1 first 2 tag\nq1 Q0 d2 second 1 tag\n"),
    ],
)
def test_a_run_without_ranks_is_stored_and_not_ordered_by_them(
    world: World, tmp_path: Path, name: str, content: str
) -> None:
    run = import_run(world.collection, write(tmp_path / name, content))
    assert read_stored_run(run).rows() == [("q1", "d1", 2.0, None), ("q1", "d2", 1.0, None)]
    with pytest.raises(InputError, match="“lists” has no rank for every row"):
        build_pool(world.collection, name="by rank", runs=[run], depth=2, ties="rank")
    assert build_pool(world.collection, name="by score", runs=[run], depth=2).pair_count == 2


def test_the_name_given_wins_over_the_files(world: World, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(gzip.compress(run_text(ALPHA).encode()))
    assert import_run(world.collection, path, file_name="bm25.run.gz").name == "bm25"
    assert import_run(world.collection, path, file_name="bm25.run.gz", name="first").name == "first"


def test_a_name_that_exists_is_refused_and_leaves_no_file(world: World, settings: Any) -> None:
    world.import_runs()
    before = stored_files(settings)
    path = write(world.folder / "other.run", run_text(BETA))
    with pytest.raises(InputError, match="Run “alpha” already exists") as refusal:
        import_run(world.collection, path, name="alpha")
    assert refusal.value.conflict
    assert stored_files(settings) == before
    assert Run.objects.count() == 2


def test_of_two_imports_at_once_the_second_is_refused_and_leaves_no_file(
    world: World, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.import_runs()
    before = stored_files(settings)
    # The other import commits its row between this one's look at the names and its own row.
    monkeypatch.setattr("pooling.runs.stored.refuse_taken_name", lambda collection, name: None)
    with pytest.raises(InputError, match="Run “alpha” already exists"):
        import_run(world.collection, world.folder / "alpha.run")
    assert stored_files(settings) == before
    assert Run.objects.count() == 2


def test_the_same_bytes_under_another_name_get_a_note(world: World) -> None:
    world.import_runs()
    run = import_run(world.collection, world.folder / "alpha.run", name="again")
    assert "The same file was already imported as “alpha”." in run.preflight["notes"]


@pytest.mark.parametrize("with_queries", [True, False])
def test_a_run_without_any_query_of_the_collection_is_refused(
    world: World, tmp_path: Path, settings: Any, with_queries: bool
) -> None:
    if not with_queries:
        world.collection.queries.all().delete()
    with pytest.raises(InputError, match=r"other.run: “?(no query|harbour)"):
        import_run(world.collection, write(tmp_path / "other.run", "x1 Q0 d1 1 2 t\n"))
    assert stored_files(settings) == []
    assert not Run.objects.exists()


def test_documents_that_the_collection_lacks_are_told_with_what_would_make_them_meet(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "chunks.run"
    path.write_text("q1 Q0 d1#0 1 3 t\nq1 Q0 d2#4 2 2 t\nq1 Q0 d3 3 1 t\n")
    assert import_run(world.collection, path).preflight["notes"][0] == (
        "2 of its 3 documents are not in the collection, such as “d1#0”, “d2#4”. The collection has “d1”, "
        "“d2”, “d3”. With chunks collapsed at “#”, 67 % would match."
    )


def test_a_full_disk_is_one_clear_error_and_stores_nothing(
    world: World, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save_half(self: FileSystemStorage, name: str, content: Any) -> str:
        path = Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FileSystemStorage, "_save", save_half)
    with pytest.raises(StorageFullError, match=r"The server's disk is full\. Nothing was saved"):
        import_run(world.collection, write(tmp_path / "alpha.run", run_text(ALPHA)))
    assert stored_files(settings) == []
    assert not Run.objects.exists()


def test_a_row_that_cannot_be_written_leaves_no_file(
    world: World, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Run, *args: Any, **kwargs: Any) -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr(Run, "save", fail)
    with pytest.raises(DatabaseError):
        import_run(world.collection, write(tmp_path / "alpha.run", run_text(ALPHA)))
    assert stored_files(settings) == []


@pytest.mark.parametrize("name", ["  ", "x" * 201, "line\nbreak"])
def test_a_name_nobody_could_type_is_refused(world: World, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="name"):
        import_run(world.collection, write(tmp_path / "alpha.run", run_text(ALPHA)), name=name)


def test_a_document_id_too_long_for_a_pool_is_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has 501 characters"):
        import_run(world.collection, write(tmp_path / "alpha.run", f"q1 Q0 {'d' * 501} 1 2 t\n"))
    assert not Run.objects.exists()


def test_missing_runs_are_named(world: World) -> None:
    alpha, beta = world.import_runs()
    assert runs_named(world.collection, ["beta", "alpha", "beta"]) == [beta, alpha]
    with pytest.raises(InputError, match="There is no run “gamma”"):
        runs_named(world.collection, ["alpha", "gamma"])


def test_file_storage_that_has_no_paths_serves_runs_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = world.import_runs()

    def no_path(self: FileSystemStorage, name: str) -> str:
        raise NotImplementedError

    opened = default_storage.open(runs[0].file.name)
    monkeypatch.setattr(FileSystemStorage, "_open", lambda self, name, mode="rb": opened)
    monkeypatch.setattr(FileSystemStorage, "path", no_path)
    assert read_stored_run(runs[0]).height == 9
