"""A format is told by what a file holds; and what its fields are called is told, or asked for."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from pooling.formats import FormatError, iterate_documents, read_qrels, read_queries, read_run
from pooling.formats.records import FieldsRead

RUN = [("q1", "d1", 2.5), ("q1", "d2", 1.5)]
RANKED = [("q1", "d1", -1.0), ("q1", "d2", -2.0)]
QRELS = [("q1", "d1", 1), ("q2", "d2", 0)]
HEADER = "There is no header: the columns are read as "


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


RUNS = {
    "TREC with tabs": ("r.tsv", "q1\tQ0\td1\t1\t2.5\tt\nq1\tQ0\td2\t2\t1.5\tt\n", RUN, ""),
    "MS MARCO": ("r.tsv", "q1\td1\t1\nq1\td2\t2\n", RANKED, "query_id, document_id and rank."),
    "MS MARCO as text": ("r.txt", "q1\td1\t1\nq1\td2\t2\n", RANKED, "document_id and rank."),
    "three with scores": ("r.csv", "q1,d1,2.5\nq1,d2,1.5\n", RUN, "query_id, document_id and score."),
    "ColBERT": ("ranking.tsv", "q1\td1\t1\t2.5\nq1\td2\t2\t1.5\n", RUN, "rank and score."),
    "semicolons": ("r.csv", "qid;docid;score\nq1;d1;2.5\nq1;d2;1.5\n", RUN, ""),
    "as Excel saves it": ("r.csv", "sep=;\r\nqid;docid;score\r\nq1;d1;2.5\r\nq1;d2;1.5\r\n", RUN, ""),
    "blanks after commas": ("r.csv", "qid, docid, score\nq1, d1, 2.5\nq1, d2, 1.5\n", RUN, ""),
    "commas in .txt": ("r.txt", "qid,docid,score\nq1,d1,2.5\nq1,d2,1.5\n", RUN, ""),
    "tabs in .csv": ("r.csv", "qid\tdocid\tscore\nq1\td1\t2.5\nq1\td2\t1.5\n", RUN, ""),
    "a header with blanks": ("r.txt", "qid docid score\nq1 d1 2.5\nq1 d2 1.5\n", RUN, ""),
    "lists of ids": ("r.json", '{"q1": ["d1", "d2"]}', RANKED, ""),
    "lists of pairs": ("r.json", '{"q1": [["d1", 2.5], ["d2", 1.5]]}', RUN, ""),
    "lists of hits": (
        "r.json",
        '{"q1": [{"corpus_id": "d1", "score": 2.5}, {"corpus_id": "d2", "score": 1.5}]}',
        RUN,
        "",
    ),
    "an array of records": (
        "r.json",
        '[{"qid": "q1", "docid": "d1", "score": 2.5}, {"qid": "q1", "docid": "d2", "score": 1.5}]',
        RUN,
        "",
    ),
    "scores that are texts": (
        "r.jsonl",
        '{"query_id": "q1", "ctxs": [{"id": "d1", "score": "2.5"}, {"id": "d2", "score": "1.5"}]}\n',
        RUN,
        "",
    ),
    "an array of lists": ("r.json", '[{"query_id": "q1", "results": ["d1", "d2"]}]', RANKED, ""),
    "lists in lines": ("r.jsonl", '{"query_id": "q1", "hits": [{"_id": "d1"}, {"_id": "d2"}]}\n', RANKED, ""),
    "JSON lines in .json": (
        "r.json",
        '{"qid": "q1", "docid": "d1", "score": 2.5}\n{"qid": "q1", "docid": "d2", "score": 1.5}\n',
        RUN,
        "",
    ),
    "an array in .jsonl": ("r.jsonl", '[{"qid": "q1", "docid": "d1", "score": 2.5}]', RUN[:1], ""),
    "JSON in .run": ("r.run", '{"q1": {"d1": 2.5, "d2": 1.5}}', RUN, ""),
    "JSON lines in .txt": ("r.txt", '{"qid": "q1", "docid": "d1", "score": 2.5}\n', RUN[:1], ""),
}


@pytest.mark.parametrize("case", RUNS)
def test_a_run_is_read_by_what_it_holds(tmp_path: Path, case: str) -> None:
    name, content, rows, note = RUNS[case]
    run = read_run(written(tmp_path, name, content))
    assert run.frame.rows() == rows
    assert [one for one in run.notes if one.startswith(HEADER)] == ([] if not note else [*run.notes])
    assert all(one.endswith(note) for one in run.notes)


LABELS = {
    "TREC with tabs": ("qrels.tsv", "q1\t0\td1\t1\nq2\t0\td2\t0\n", False),
    "TREC in .csv": ("qrels.csv", "q1 0 d1 1\nq2 0 d2 0\n", False),
    "three columns": ("qrels.tsv", "q1\td1\t1\nq2\td2\t0\n", True),
    "three columns with blanks": ("qrels.txt", "# by hand\nq1  d1 1\nq2  d2 0\n", True),
    "four columns with commas": ("qrels.csv", "q1,0,d1,1\nq2,0,d2,0\n", True),
    "BEIR in .txt": ("qrels.txt", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t0\n", False),
    "an array": (
        "qrels.json",
        '[{"qid": "q1", "did": "d1", "rel": 1}, {"qid": "q2", "did": "d2", "rel": 0}]',
        False,
    ),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_are_read_by_what_they_hold(tmp_path: Path, case: str) -> None:
    name, content, is_told = LABELS[case]
    labels = read_qrels(written(tmp_path, name, content))
    assert labels.frame.rows() == QRELS
    assert any(note.startswith(HEADER) for note in labels.notes) == is_told


def test_a_comment_that_names_the_columns_is_a_comment(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, "r.run", "# query Q0 document rank score tag\nq1 Q0 d1 1 2.5 t\n"))
    assert run.frame.rows() == RUN[:1]
    labels = read_qrels(written(tmp_path, "qrels.txt", "# query 0 document relevance\nq1 0 d1 1\n"))
    assert labels.frame.rows() == QRELS[:1]


def test_a_list_without_numbers_is_of_relevant_documents(tmp_path: Path) -> None:
    path = written(tmp_path, "qrels.json", '{"q1": ["d1", "d2"]}')
    assert read_qrels(path).frame.rows() == [("q1", "d1", 1), ("q1", "d2", 1)]


def test_parquet_is_read_under_any_name(tmp_path: Path) -> None:
    pl.DataFrame({"qid": ["q1"], "docid": ["d1"], "score": [2.5]}).write_parquet(tmp_path / "r.run")
    assert read_run(tmp_path / "r.run").frame.rows() == RUN[:1]


def test_labels_of_subtopics_count_with_the_highest_and_it_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, "qrels.txt", "q1 1 d1 0\nq1 2 d1 1\nq1 1 d2 0\nq1 2 d2 0\n")
    labels = read_qrels(path)
    assert labels.frame.rows() == [("q1", "d1", 1), ("q1", "d2", 0)]
    (note,) = labels.notes
    assert "has subtopics" in note
    assert "--facts" in note


def test_labels_that_differ_in_the_same_column_still_conflict(tmp_path: Path) -> None:
    path = written(tmp_path, "qrels.txt", "q1 1 d1 0\nq1 2 d1 1\nq1 1 d1 1\n")
    with pytest.raises(FormatError, match="has relevance 1 here and 0"):
        read_qrels(path)


CORPORA = {
    "MS MARCO v2.1": (
        {"docid": "d1#0", "url": "u", "title": "Bus", "headings": "h", "segment": "It runs."},
        ("d1#0", "Bus", "It runs."),
        "Read as id: docid. Read as text: segment. Kept as metadata: headings, url.",
    ),
    "MS MARCO v2": (
        {"pid": "p1", "passage": "It runs.", "spans": "(0,8)", "docid": "d1"},
        ("p1", "", "It runs."),
        "Read as id: pid. Read as text: passage. Kept as metadata: docid, spans.",
    ),
    "LangChain": (
        {"id": "d1", "page_content": "It runs."},
        ("d1", "", "It runs."),
        "Read as text: page_content.",
    ),
    "ESCI": (
        {"product_id": "d1", "product_title": "Lamp", "product_description": "It shines."},
        ("d1", "Lamp", "It shines."),
        "Read as id: product_id. Read as title: product_title. Read as text: product_description.",
    ),
    "abstracts": (
        {"cord_uid": "d1", "title": "T", "abstract": "A."},
        ("d1", "T", "A."),
        "Read as id: cord_uid. Read as text: abstract.",
    ),
    "text before description": (
        {"_id": "d1", "text": "A.", "description": "B."},
        ("d1", "", "A."),
        "Kept as metadata: description.",
    ),
    **{
        name: ({"_id": "d1", name: "It runs."}, ("d1", "", "It runs."), f"Read as text: {name}.")
        for name in ("passage_text", "chunk", "description", "content_text")
    },
    "as we write it": ({"_id": "d1", "title": "T", "text": "A."}, ("d1", "T", "A."), ""),
}


@pytest.mark.parametrize("case", CORPORA)
def test_fields_of_a_corpus_are_known_by_their_names_and_told(tmp_path: Path, case: str) -> None:
    record, expected, sentence = CORPORA[case]
    fields = FieldsRead()
    (document,) = iterate_documents(written(tmp_path, "corpus.jsonl", json.dumps(record)), fields=fields)
    assert (document.id, document.title, document.text) == expected
    assert str(fields) == sentence


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "c.jsonl",
            '{"_id": "d1", "url": "u", "para": "It runs at night."}\n{"_id": "d2", "para": "It stops."}\n',
        ),
        ("c.json", '[{"_id": "d1", "url": "u", "para": "It runs at night."}]'),
        ("c.csv", "_id,url,para\nd1,u,It runs at night.\n"),
        ("c.tsv", "_id\turl\tpara\nd1\tu\tIt runs at night.\n"),
    ],
)
def test_a_corpus_without_a_text_is_refused_and_names_what_may_be_it(
    tmp_path: Path, name: str, content: str
) -> None:
    with pytest.raises(FormatError) as caught:
        list(iterate_documents(written(tmp_path, name, content)))
    assert str(caught.value) == (
        f"{name}: no document has a text. The fields are '_id, para, url'. Rename 'para' to text, "
        "if that is the text."
    )


def test_queries_of_trec_are_read_with_title_and_narrative(tmp_path: Path) -> None:
    record = {"number": 301, "title": "night bus", "description": "Which?", "narr": "Any."}
    (query,) = read_queries(written(tmp_path, "topics.jsonl", json.dumps(record)))
    assert (query.id, query.text) == ("301", "night bus")
    assert query.metadata == {"description": "Which?", "narrative": "Any."}


def test_a_query_without_a_text_names_what_may_be_it(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no text among the fields '_id, asked'. Rename 'asked' to text"):
        read_queries(written(tmp_path, "queries.jsonl", '{"_id": "q1", "asked": "when does it run"}'))
    with pytest.raises(FormatError, match=r"the fields '_id'. Call the field that has the text “text”\."):
        read_queries(written(tmp_path, "queries.jsonl", '{"_id": "q1"}'))
