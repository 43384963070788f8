"""Quepid's files as runs, queries and labels; as judgments they are read in `labeling/judgment_imports`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pooling.formats import FormatError, read_qrels, read_queries, read_run

SNAPSHOT = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\r\n" + "".join(
    f"(11/20/26) before,2026-11-20T09:00:00.000Z,7,{row}\r\n"
    for row in ("night bus,d1,1", "night bus,d4,2", '"ferry, bicycle",d3,1')
)
# A query without a rating has its text alone; a blank guards what a spreadsheet would calculate.
RATINGS = "query,docid,rating\nnight bus,d1,1.0\nnight bus,d4,0.0\n\nlost umbrella\n =ferry,d3,1.0\n"
NEEDS = 'query_id,query,information_need\n\n12,night bus,"lines at night"\n\n13,lost umbrella,\n'
BOOK = {
    "name": "Bus book",
    "scale": [0, 1],
    "query_doc_pairs": [
        {"query_text": "night bus", "doc_id": "d1", "information_need": "lines at night", "judgements": []},
        {"query_text": "night bus", "doc_id": "d4", "information_need": "lines at night", "judgements": []},
        {"query_text": "lost umbrella", "doc_id": "d2", "information_need": None, "judgements": []},
    ],
}


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8", newline="")
    return path


def queries(folder: Path, name: str, content: str) -> list[tuple[str, str, str | None]]:
    read = read_queries(written(folder, name, content))
    return [(query.id, query.text, query.metadata.get("narrative")) for query in read]


def test_a_snapshot_is_a_run_in_the_order_of_its_positions(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, "before.csv", SNAPSHOT), with_rank=True)

    assert run.frame.rows() == [
        ("night bus", "d1", -1.0, 1),
        ("night bus", "d4", -2.0, 2),
        ("ferry, bicycle", "d3", -1.0, 1),
    ]


def test_two_snapshots_in_a_file_are_refused(tmp_path: Path) -> None:
    later = SNAPSHOT.splitlines(keepends=True)[1].replace("before", "after")
    with pytest.raises(FormatError, match="line 5: document 'd1' appears again for query 'night bus'"):
        read_run(written(tmp_path, "both.csv", SNAPSHOT + later))


def test_ratings_are_labels_and_queries_without_any_are_passed_over(tmp_path: Path) -> None:
    assert read_qrels(written(tmp_path, "ratings.csv", RATINGS)).frame.rows() == [
        ("night bus", "d1", 1),
        ("night bus", "d4", 0),
        (" =ferry", "d3", 1),
    ]


def test_each_text_is_a_query_whose_id_is_made_of_it(tmp_path: Path) -> None:
    bus, umbrella = ("night_bus", "night bus"), ("lost_umbrella", "lost umbrella")

    assert queries(tmp_path, "book.json", json.dumps(BOOK)) == [(*bus, "lines at night"), (*umbrella, None)]
    ferry = ("=ferry", "=ferry", None)
    assert queries(tmp_path, "ratings.csv", RATINGS) == [(*bus, None), (*umbrella, None), ferry]
    assert [one[0] for one in queries(tmp_path, "s.csv", SNAPSHOT)] == ["night_bus", "ferry,_bicycle"]


def test_the_export_of_information_needs_has_ids_and_narratives(tmp_path: Path) -> None:
    assert queries(tmp_path, "needs.csv", NEEDS) == [
        ("12", "night bus", "lines at night"),
        ("13", "lost umbrella", ""),
    ]


def test_long_texts_that_begin_alike_are_different_queries(tmp_path: Path) -> None:
    rows = "".join(f"{'word ' * 40}{end},d1,1\n" for end in ("one", "two"))
    first, second = queries(tmp_path, "ratings.csv", f"query,docid,rating\n{rows}")

    assert first[0] != second[0]
    assert len(first[0]) < 120


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "r.csv",
            "query,docid,rating\nnight bus,d1,1\nnight_bus,d1,1\n",
            "line 3: 'night bus' and 'night_bus' are both query night_bus. Give the queries ids in JSON",
        ),
        ("r.csv", "query,docid,rating\nnight bus,d1\n", "line 2: 2 fields where the header has 3"),
        ("b.json", json.dumps(BOOK)[:-30], "the file ends in the middle of the JSON"),
        ("b.json", '{"name": "Bus book"}', "the object has no list 'query_doc_pairs'"),
        ("b.json", '{"query_doc_pairs": ["night bus"]}', "an element that is not an object"),
        ("b.json", "<!DOCTYPE html><title>Quepid</title>", "not a JSON array"),
    ],
)
def test_a_broken_export_is_one_sentence(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_queries(written(tmp_path, name, content))

    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("night bus,d1,first", "line 2: the rank 'first' is not a whole number"),
        ("night bus,,1", "line 2: the document id is empty"),
        ("night bus,d1", "line 2: 5 fields where the header has 6"),
    ],
)
def test_a_broken_snapshot_names_its_line(tmp_path: Path, row: str, sentence: str) -> None:
    content = SNAPSHOT.splitlines(keepends=True)[0] + f"before,2026,7,{row}\r\n"
    with pytest.raises(FormatError) as caught:
        read_run(written(tmp_path, "s.csv", content))

    assert sentence in str(caught.value)
