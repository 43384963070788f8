"""Texts from Parquet, JSON arrays, TSV without a header, and folders."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import polars as pl
import pytest

from pooling.formats import FormatError, iterate_documents, read_queries

ROWS = [{"_id": "q1", "text": "night bus", "tags": ["a"]}, {"_id": "q2", "text": "lost umbrella", "tags": []}]


def parquet(rows: list[dict[str, object]]) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(rows).write_parquet(file)
    return file.getvalue()


FILES = {
    "queries.parquet": parquet(ROWS),
    "queries.json": json.dumps(ROWS, indent=1).encode(),
    "queries.json.gz": gzip.compress(json.dumps(ROWS).encode()),
    "topics.tsv": b"q1\tnight bus\nq2\tlost umbrella\n",
}


@pytest.mark.parametrize("name", FILES)
def test_queries_are_read_from_every_layout(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    found = read_queries(path)
    assert [(query.id, query.text) for query in found] == [("q1", "night bus"), ("q2", "lost umbrella")]
    assert found[0].metadata == ({} if name == "topics.tsv" else {"tags": ["a"]})


def test_documents_of_numbers_and_dates_are_read_from_parquet(tmp_path: Path) -> None:
    rows = [{"id": 7, "title": "Buses", "text": "All night.", "when": None, "size": 1.5}]
    path = tmp_path / "corpus.parquet"
    frame = pl.DataFrame(rows).with_columns(day=pl.lit("2026-01-31").str.to_date())
    frame.write_parquet(path)
    (found,) = iterate_documents(path)
    assert (found.id, found.title, found.text) == ("7", "Buses", "All night.")
    assert found.metadata == {"size": 1.5, "day": "2026-01-31"}


def test_a_folder_is_read_as_beir_and_mteb_lay_it_out(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "night bus"}\n')
    (tmp_path / "corpus").mkdir()
    for number in (0, 1):
        rows = [{"_id": f"d{number}", "text": "…"}, {"_id": f"e{number}", "text": "…"}]
        (tmp_path / "corpus" / f"corpus-{number}.parquet").write_bytes(parquet(rows))
    assert [query.id for query in read_queries(tmp_path)] == ["q1"]
    found = [(document.id, document.line) for document in iterate_documents(tmp_path)]
    assert found == [("d0", 1), ("e0", 2), ("d1", 3), ("e1", 4)]


def test_a_folder_of_plain_texts_is_a_document_for_each(tmp_path: Path) -> None:
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "n1.txt").write_text("Every\nthirty minutes.", encoding="utf-8")
    (tmp_path / "about.md").write_text("# Buses", encoding="utf-8")
    found = [(document.id, document.text) for document in iterate_documents(tmp_path)]
    assert found == [("about.md", "# Buses"), ("lines/n1.txt", "Every\nthirty minutes.")]


BAD = {
    "cut.parquet": (FILES["queries.parquet"][:-20], "this is not a Parquet file"),
    "html.parquet": (b"<html></html>", "this is not a Parquet file"),
    "html.json": (b"<html></html>", "not a JSON array"),
    "cut.json": (FILES["queries.json"][:-10], "the file ends in the middle of the JSON"),
    "blank.json": (b" \n", "the file is empty"),
    "numbers.json": (b"[1, 2]", "an element that is not an object"),
    "no-id.json": (b'[{"text": "x"}]', "line 1: no id among the fields 'text'"),
    "twice.json": (json.dumps([ROWS[0], ROWS[0]], indent=0).encode(), "query 'q1' appears again"),
    "utf16.json": ('[{"_id": "é"}]'.encode("utf-16"), "the file is UTF-16"),
    "latin.json": ('[{"_id": "é", "text": "é"}]'.encode("latin-1"), "not UTF-8"),
    "short.tsv": (b"q1\tnight bus\nq2\n", "line 2: 1 fields where the header has 2"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_texts_are_one_sentence(tmp_path: Path, name: str) -> None:
    content, sentence = BAD[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError) as refused:
        read_queries(path)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith(name)


def test_the_same_query_in_two_files_of_a_folder_is_refused(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"_id": "q1", "text": "night bus"}\n')
    with pytest.raises(FormatError, match=r"b.jsonl, line 1: query 'q1' appears again"):
        read_queries(tmp_path)


def test_an_empty_folder_says_what_is_looked_for(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no .txt or .md file"):
        list(iterate_documents(tmp_path))


SGML = """<top>
<num> Number: 301
<title> Night buses & ferries

<desc> Description:
Which lines run
after midnight?
<narr> Narrative:
A timetable counts.
</top>
<TOP>
<num> Number: 302
<title> Topic: Lost property
</TOP>
"""
XML = """<?xml version="1.0"?>
<topics task="lines">
<topic number="1">
  <query>night &amp; day buses</query>
  <question>Which lines run after midnight?</question>
</topic>
<topic><number>2</number><title>Lost <i>property</i></title><narrative>Umbrellas.</narrative></topic>
</topics>
"""
READ = {
    SGML: [
        (
            "301",
            "Night buses & ferries",
            {"description": "Which lines run after midnight?", "narrative": "A timetable counts."},
        ),
        ("302", "Lost property", {}),
    ],
    XML: [
        ("1", "night & day buses", {"question": "Which lines run after midnight?"}),
        ("2", "Lost property", {"narrative": "Umbrellas."}),
    ],
    "q1\tnight bus\nq2\tferry\n": [("q1", "night bus", {}), ("q2", "ferry", {})],
}


@pytest.mark.parametrize("name", ["topics.txt", "topics.trec", "topics.xml"])
@pytest.mark.parametrize("text", READ)
def test_topics_are_read_whatever_their_file_is_called(tmp_path: Path, text: str, name: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert [(query.id, query.text, query.metadata) for query in read_queries(path)] == READ[text]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<top>\n<num> 1\n<title> a\n", r"line 1: what begins here does not end\. Close it with </top>"),
        ("<top>\n<num> 1\n<title> a\n<top>\n", r"line 4: <top> before the last one ends"),
        ("<top>\n<num> 1\n</top>\n", "text"),
        ("<top>\n<title> a\n</top>\n", "id"),
    ],
)
def test_topics_that_are_broken_are_refused_with_their_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "topics.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=problem):
        read_queries(path)


def test_documents_of_trec_are_read_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "corpus.trec"
    path.write_text(
        "<DOC>\n<DOCNO>1</DOCNO>\nbuses run\n  all night\n</DOC>\n"
        "<DOC>\n<DOCNO> FT-2 </DOCNO>\n<DATE>1994</DATE>\n<HEADLINE>\nTrams\n</HEADLINE>\n"
        "<TEXT>\n<P>\nThey stop &amp; go.\n</P>\n</TEXT>\n</DOC>\n"
    )
    assert [(one.id, one.title, one.text, one.metadata) for one in iterate_documents(path)] == [
        ("1", "", "buses run\n  all night", {}),
        ("FT-2", "Trams", "They stop & go.", {"date": "1994"}),
    ]
