"""Runs of chunks become runs of documents: the best chunk speaks for its document, everywhere alike."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from django.core.management import call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from pooling.formats import FormatError
from pooling.interface.problems import InputError
from pooling.merging.choice import Choice
from pooling.merging.streaming import pool_in_parts
from pooling.ranking.chunk_options import chunks_of
from pooling.ranking.chunks import Chunks, collapse_chunks, read_chunk_map
from pooling.runs.stored import import_run, provenance_of, read_stored_run
from tests.world import World

HASH = Chunks("#")


def run_of(*rows: tuple[str, float], query: str = "q1") -> pl.DataFrame:
    return pl.DataFrame(
        [(query, chunk, score) for chunk, score in rows],
        schema={"query_id": pl.String, "document_id": pl.String, "score": pl.Float64},
        orient="row",
    )


def told(frame: pl.DataFrame) -> list[tuple[str, float, int]]:
    return frame.select("document_id", "score", "rank").rows()


@pytest.mark.parametrize(
    ("rows", "documents"),
    [
        ([("a#1", 1.0), ("b#1", 2.0), ("a#2", 3.0)], [("a", 3.0, 1), ("b", 2.0, 2)]),
        ([("a#x#1", 1.0), ("a#x#2", 2.0)], [("a#x", 2.0, 1)]),  # the last separator
        ([("whole", 1.0), ("a#1", 2.0)], [("a", 2.0, 1), ("whole", 1.0, 2)]),  # no separator
        # Equal scores: by the documents' ids, not the chunks'.
        ([("a#9", 1.0), ("ab#1", 1.0)], [("ab", 1.0, 1), ("a", 1.0, 2)]),
        ([("é#1", -1.0), ("é#2", -2.0)], [("é", -1.0, 1)]),
    ],
)
def test_a_document_stands_where_its_best_chunk_does(
    rows: list[tuple[str, float]], documents: list[tuple[str, float, int]]
) -> None:
    assert told(collapse_chunks(run_of(*rows), HASH, "r").frame) == documents


def test_queries_are_collapsed_apart() -> None:
    frame = pl.concat([run_of(("a#1", 1.0), ("a#2", 2.0)), run_of(("a#3", 5.0), query="q2")])
    collapsed = collapse_chunks(frame, HASH, "r")

    assert collapsed.frame.select("query_id", "score").rows() == [("q1", 2.0), ("q2", 5.0)]
    assert (collapsed.before, collapsed.after) == ({"q1": 2, "q2": 1}, {"q1": 1, "q2": 1})


def test_by_rank_the_best_rank_counts() -> None:
    ranked = run_of(("a#1", 0.0), ("b#1", 9.0), ("a#2", 0.0)).with_columns(rank=pl.Series([3, 2, 1]))

    assert told(collapse_chunks(ranked, HASH, "r", ties="rank").frame) == [("a", 0.0, 1), ("b", 9.0, 2)]


def test_what_was_collapsed_is_said_and_lists_that_became_too_short_are_warned_of() -> None:
    frame = pl.concat(
        [run_of(("a#1", 3.0), ("a#2", 2.0), ("b#1", 1.0)), run_of(("c", 2.0), ("d", 1.0), query="q2")]
    )
    collapsed = collapse_chunks(frame, HASH, "r")

    assert collapsed.note(HASH.words) == (
        "5 chunks became 4 documents, 2 for a query: best chunk per document (id before the last “#”)."
    )
    assert collapsed.warning(2) is None
    # q2 had two documents before: its list is short, but not through the collapse.
    assert collapsed.warning(3) == (
        "After the collapse 1 of 2 queries have fewer than 3 documents, though their lists had 3 chunks or "
        "more. Retrieve more chunks to measure at 3."
    )


def test_a_file_tells_the_document_of_each_chunk(tmp_path: Path) -> None:
    path = tmp_path / "chunks.tsv"
    path.write_text("chunk_id\tdocument_id\nc1\ta\nc2\tb\nc3\ta\n")
    mapping = read_chunk_map(path)

    assert mapping.words == "best chunk per document (by chunks.tsv)"
    frame = run_of(("c1", 1.0), ("c2", 2.0), ("c3", 3.0))
    assert told(collapse_chunks(frame, mapping, "r").frame) == [("a", 3.0, 1), ("b", 2.0, 2)]
    with pytest.raises(ValueError, match=r"Run r: chunk c4 is not in chunks.tsv\. Add its line"):
        collapse_chunks(run_of(("c4", 1.0)), mapping, "r")


def test_a_map_with_offsets_is_a_map_of_documents_too(tmp_path: Path) -> None:
    path = tmp_path / "chunks.tsv"
    path.write_text("document\tchunk\tstart\tend\na\tc1\t0\t9\nb\tc2\t0\t9\n")
    assert read_chunk_map(path).mapping == {"c1": "a", "c2": "b"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty"),
        ("c1 a\n", "line 1: 1 field instead of 2"),
        ("c1\ta\nc2\t\n", "line 2: an id is empty"),
        ("c1\ta\nc1\tb\n", "line 2: chunk 'c1' is of 'a' and of 'b'"),
        ("chunk_id\tdocument_id\tstart\nc1\ta\n", "line 2: 2 fields instead of 3"),
    ],
)
def test_a_wrong_file_of_chunks_names_its_line(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "chunks.tsv"
    path.write_text(text)
    with pytest.raises(FormatError, match=sentence):
        read_chunk_map(path)


def test_what_cannot_be_collapsed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Run r: chunk #1 has no document before its “#”"):
        collapse_chunks(run_of(("#1", 1.0)), HASH, "r")
    with pytest.raises(ValueError, match="separator of chunk ids is empty"):
        Chunks("")
    with pytest.raises(ValueError, match="use one of them"):
        chunks_of("#", tmp_path / "chunks.tsv")


CHUNKS = [f"{document}#{chunk}" for document in "abc" for chunk in range(4)]
chunk_rows = st.lists(
    st.tuples(
        st.sampled_from([f"{d}#{c}" for d in "abc" for c in range(4)]), st.sampled_from([0.0, 1.0, 2.0])
    ),
    min_size=1,
    unique_by=lambda row: row[0],
)


@given(rows=chunk_rows)
def test_the_collapse_is_the_maximum_and_again_changes_nothing(
    rows: list[tuple[str, float]],
) -> None:
    collapsed = collapse_chunks(run_of(*rows), HASH, "r").frame
    best: dict[str, float] = {}
    for chunk, score in rows:
        best[chunk[0]] = max(best.get(chunk[0], score), score)

    assert told(collapsed) == [
        (document, score, rank)
        for rank, (document, score) in enumerate(
            sorted(best.items(), key=lambda item: (item[1], item[0]), reverse=True), start=1
        )
    ]
    assert told(collapse_chunks(collapsed, HASH, "r").frame) == told(collapsed)


CHUNKED = "q1 Q0 d1#1 1 3 t\nq1 Q0 d1#2 2 2 t\nq1 Q0 d4#1 3 1 t\n"


def test_every_way_in_collapses_alike(
    world: World, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, qrels = tmp_path / "chunked.run", tmp_path / "qrels.txt"
    path.write_text(CHUNKED)
    qrels.write_text("q1 0 d4 1\n")
    collapse = ["--collapse-chunks", "#"]
    note = "3 chunks became 2 documents, 2 for a query: best chunk per document (id before the last “#”)."

    call_command("evaluate", str(qrels), str(path), "--k", "2", "--format", "json", *collapse)
    said = capsys.readouterr()
    content = json.loads(said.out)
    assert content["runs"]["chunked"]["recall@2"]["mean"] == 1.0
    assert HASH.words in content["runs"]["chunked"]["recall@2"]["line"]
    assert content["conventions"]["chunks"] == {"score": "max", "separator": "#", "words": HASH.words}
    assert said.err == f"chunked: {note}\n"

    call_command("pool", str(path), "--depth", "2", *collapse)
    said = capsys.readouterr()
    assert [line.split("\t")[1] for line in said.out.splitlines()[1:]] == ["d1", "d4"]
    assert note in said.err

    call_command("import_run", "harbour", str(path), *collapse)
    assert note in capsys.readouterr().out
    client.force_login(world.ada)
    with path.open("rb") as file:
        form = {"file": file, "name": "by page", "collapse_chunks": "#"}
        client.post("/collections/harbour/runs/import/", form)
    with path.open("rb") as file:
        form = {"file": file, "name": "by http", "collapse_chunks": "#"}
        assert client.post("/api/collections/harbour/runs/", form).status_code == 201
    for run in world.collection.runs.all():
        assert told(read_stored_run(run)) == [("d1", 3.0, 1), ("d4", 1.0, 2)]
        assert provenance_of(run)["chunks"] == HASH.words
        assert note in client.get(run.get_absolute_url()).content.decode()
    assert world.collection.runs.count() == 3


def test_a_pool_made_in_parts_collapses_too(tmp_path: Path) -> None:
    path = tmp_path / "chunked.run"
    path.write_text(CHUNKED)
    folder = tmp_path / "parts"
    folder.mkdir()
    pieces, notes = pool_in_parts(
        {"chunked": path},
        Choice(depth=2),
        folder=folder,
        engine=lambda function, tasks: [function(task) for task in tasks],
        chunks=HASH,
    )

    assert b"".join(pieces).count(b"\nq1\td") == 2
    assert len(notes) == 1


def test_a_chunk_without_a_document_is_refused_beside_its_field(world: World, tmp_path: Path) -> None:
    path = tmp_path / "chunked.run"
    path.write_text("q1 Q0 #1 1 3 t\n")
    with pytest.raises(InputError, match="has no document before") as error:
        import_run(world.collection, path, chunks=HASH)
    assert list(error.value.fields) == ["collapse_chunks"]
    assert not world.collection.runs.exists()
