"""Runs and qrels with named columns, texts, and what is written: formats other than TREC."""

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pooling.formats import (
    FormatError,
    iterate_documents,
    read_qrels,
    read_queries,
    read_run,
    write_qrels,
)
from pooling.formats.query_facts import weight_of
from tests.testdata import DATA, needs_data

ROWS = [("q1", "a", 2.5), ("q1", "b", 1.5), ("q2", "a", -0.001)]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


RUN_FILES = {
    "bm25.csv": "query_id,document_id,score\nq1,a,2.5\nq1,b,1.5\nq2,a,-0.001\n",
    "quoted.csv": '"qid","docno","rank","score"\r\nq1,"a",1,2.5\r\nq1,"b",2,1.5\r\nq2,a,1,-0.001\r\n',
    "bm25.tsv": "query-id\tcorpus-id\tscore\nq1\ta\t2.5\nq1\tb\t1.5\nq2\ta\t-0.001\n",
    "bm25.jsonl": "".join(json.dumps({"q_id": q, "doc_id": d, "score": s}) + "\n" for q, d, s in ROWS),
    "bm25.json": '{"q1": {"a": 2.5, "b": 1.5}, "q2": {"a": -0.001}}',
}


@pytest.mark.parametrize("name", RUN_FILES)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_run_with_named_columns_reads_as_the_trec_run_does(tmp_path: Path, name: str, packed: bool) -> None:
    content = RUN_FILES[name].encode()
    path = written(tmp_path, name + ".gz" * packed, gzip.compress(content) if packed else content)
    run = read_run(path)
    assert run.frame.rows() == ROWS
    assert run.name == name.split(".")[0]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "null.parquet"])
def test_an_empty_column_of_ranks_counts_as_none(tmp_path: Path, form: str) -> None:
    names = ["query_id", "document_id", "score"]
    frame = pl.DataFrame(ROWS, schema=names, orient="row").with_columns(rank=pl.lit(None))
    path = tmp_path / f"run.{form}"
    if form == "csv":
        frame.write_csv(path)
    elif form == "jsonl":
        frame.write_ndjson(path)
    else:
        kind = pl.Null if form == "null.parquet" else pl.Int64
        frame.with_columns(pl.col("rank").cast(kind)).write_parquet(path)
    run = read_run(path, with_rank=True, need_rank=False)
    assert run.frame.drop("rank").rows() == ROWS
    assert (run.frame["rank"].null_count(), run.notes) == (3, ())
    with pytest.raises(FormatError, match="not every row has a rank"):
        read_run(path, with_rank=True)


def test_each_json_line_may_name_its_fields_in_its_own_way(tmp_path: Path) -> None:
    # The first of known names counts, whatever the line before had; names of any length may stand by.
    records = [
        {"Query-ID": "q1", "docid": "a", "score": 2.5},
        {"score": 1.5, "docid": "7", "DocNo": "b", "query id": "q1"},
        {"query-id": "q2", "docid": "a", "sim": -0.001, 3_000 * "x": 1},
    ]
    path = written(tmp_path, "run.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    assert read_run(path).frame.rows() == ROWS


def test_a_parquet_run_may_hold_numbers_as_ids(tmp_path: Path) -> None:
    frame = pl.DataFrame({"qid": [1, 1], "docid": ["a", "b"], "score": [2, 1]})
    frame.write_parquet(tmp_path / "run.parquet")
    assert read_run(tmp_path / "run.parquet").frame.rows() == [("1", "a", 2.0), ("1", "b", 1.0)]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"query": ["1"], "text": ["a"]}, "no column document_id or score among 'query, text'"),
        ({"qid": ["1"], "docid": [1.5], "score": [1.0]}, "the column 'docid' is of type Float64"),
        ({"qid": ["1"], "docid": ["a"], "score": ["x"]}, "the column 'score' is of type String"),
        ({"qid": ["1"], "docid": [None], "score": [1.0]}, "the column 'docid' is of type Null"),
        ({"qid": ["1", None], "docid": ["a", "b"], "score": [1.0, 2.0]}, "the column 'qid' has empty cells"),
        ({"qid": ["1"], "docid": [""], "score": [1.0]}, "the column 'docid' has an empty id"),
        ({"qid": ["1"], "docid": ["a"], "score": [float("nan")]}, "'nan' is not a finite number"),
    ],
)
def test_a_parquet_file_with_wrong_columns_is_told_which(
    tmp_path: Path, columns: dict[str, list[Any]], problem: str
) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "run.parquet")
    with pytest.raises(FormatError) as caught:
        read_run(tmp_path / "run.parquet")
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("name", "content", "line", "problem"),
    [
        ("r.csv", "q1,a,b\nq1,b,c\n", 1, "no column query_id or document_id or score among 'q1, a, b'"),
        ("r.tsv", "q1\ta\tx\nq1\tb\ty\n", 1, "no column query_id"),
        ("r.csv", "query_id,document_id,score\n", 1, "nothing but a header"),
        ("r.csv", "query_id,document_id,score\nq,a\n", 2, "2 fields where the header has 3"),
        ("r.csv", "query_id,document_id,score\nq,a,1,2\n", 2, "4 fields where the header has 3"),
        ("r.csv", "query_id,document_id,score\nq,a,1\nq,b,x\n", 3, "'x' is not a number"),
        ("r.csv", "query_id,document_id,score\nq,a,1\nq,b,inf\n", 3, "not a finite number"),
        ("r.csv", "query_id,document_id,score\nq,,1\n", 2, "the document id is empty"),
        ("r.csv", "query_id,document_id,score\nq,a,1\nq,b,1\nq,a,2\n", 4, "appears again"),
        ("r.csv", 'query_id,document_id,score\nq,"a"x,1\n', 2, "not CSV"),
        ("r.csv", "query_id,document_id,score\nq,a\0,1\n", 2, "NUL"),
        ("r.csv", b"query_id,document_id,score\nq,\xff,1\n", 2, "UTF-8"),
        ("r.jsonl", '{"query_id": "q", "document_id": "a", "score": 1}\n{"query_id"\n', 2, "not JSON"),
        ("r.jsonl", '{"query_id": "q", "document_id": "a", "score": NaN}\n', 1, "not a finite number"),
        ("r.jsonl", '{"query_id": "q", "document_id": 1.5, "score": 1}\n', 1, "is not text"),
        ("r.jsonl", "3\n", 1, "not a JSON object"),
        ("r.jsonl", "[1, 2]\n", 1, "an element that is not an object"),
        ("r.json", '{"q": {"a": 1, "a": 2}}', None, "the key 'a' comes twice"),
        ("r.json", '{"q": {"a": "high"}}', None, "'high' is not a number"),
        ("r.json", '{"q": {"\\ud800": 1}}', None, "contains half a character"),
        ("r.json", '{"q": {"a": ' + 5000 * "9" + "}}", None, "a number with too many digits"),
        ("r.jsonl", '{"qid": "q", "did": "a", "score": ' + 5000 * "9" + "}\n", 1, "too many digits"),
        ("r.jsonl", '{"qid": "q", "did": "\\udfff", "score": 1}\n', 1, "contains half a character"),
        ("r.csv", "query_id,document_id,score\rq,a,1\r", 1, "not CSV (new-line character"),
        ("r.tsv", "qid\tdid\tscore\tcaf\u00e9\nq\ta\t1\tx\n".encode("latin-1"), 1, "is not UTF-8"),
        ("r.json", '{"q": {"a": Infinity}}', None, "not a finite number"),
        ("r.json", '{"q": 3}', None, "query 'q': neither an object nor a list"),
        ("r.json", '{"q": [["a", 1], "b"]}', None, "query 'q': 1 of 2 entries have no number"),
        ("r.json", '{"q": [["a", 1, 2]]}', None, "is no pair of id and number"),
        ("r.json", '{"q": [{"url": "a"}]}', None, "an entry without an id among 'url'"),
        ("r.json", "[]", None, "empty"),
        ("r.json", '{"q": \n{', 2, "not JSON"),
        ("r.parquet", "PAR1 not really", None, "not a Parquet file"),
        ("r.csv", "", None, "empty"),
        ("r.json", "{}", None, "empty"),
    ],
)
def test_a_broken_table_is_told_its_line_and_problem(
    tmp_path: Path, name: str, content: str | bytes, line: int | None, problem: str
) -> None:
    with pytest.raises(FormatError) as caught:
        read_run(written(tmp_path, name, content))
    assert problem in caught.value.problem
    assert caught.value.line == line


def test_ranks_stand_in_for_missing_scores(tmp_path: Path) -> None:
    path = written(tmp_path, "r.csv", "qid,docid,rank\nq,a,1\nq,b,2\n")
    assert read_run(path).frame["score"].to_list() == [-1.0, -2.0]


def test_a_tsv_id_may_begin_with_a_quotation_mark(tmp_path: Path) -> None:
    path = written(tmp_path, "test.tsv", 'query-id\tcorpus-id\tscore\nq\t"a\t1\nq\tb\t0\nq\tc\t1.0\n')
    assert read_qrels(path).frame.rows() == [("q", '"a', 1), ("q", "b", 0), ("q", "c", 1)]


def test_conflicting_labels_of_a_table_name_both_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "ratings.csv", "query,docid,rating\nq,a,1.0\nq,b,0\nq,a,2\n")
    with pytest.raises(FormatError, match=r"line 4: .* has relevance 2 here and 1 on line 2"):
        read_qrels(path)


def test_a_name_that_ends_in_gz_gets_a_gzip_file(tmp_path: Path) -> None:
    labels = read_qrels(written(tmp_path, "plain.txt", "1 0 a 1\n")).frame
    write_qrels(labels, tmp_path / "packed.txt.gz")
    assert gzip.decompress((tmp_path / "packed.txt.gz").read_bytes()) == b"1 0 a 1\n"


def test_beir_qrels_have_the_header_that_beir_skips(tmp_path: Path) -> None:
    frame = pl.DataFrame({"query_id": ["1"], "document_id": ["a"], "relevance": [1]})
    write_qrels(frame, tmp_path / "test.tsv", format="beir")
    assert (tmp_path / "test.tsv").read_bytes() == b"query-id\tcorpus-id\tscore\n1\ta\t1\n"


@pytest.mark.parametrize("format", ["trec", "tsv", "beir"])
def test_an_id_that_a_format_cannot_hold_is_refused_and_nothing_is_written(
    tmp_path: Path, format: str
) -> None:
    frame = pl.DataFrame({"query_id": ["1"], "document_id": ["a\tb"], "relevance": [1]})
    with pytest.raises(FormatError, match="is empty or contains a"):
        write_qrels(frame, tmp_path / "qrels.txt", format=format)
    assert list(tmp_path.iterdir()) == []


def test_queries_are_read_with_their_metadata(tmp_path: Path) -> None:
    lines = (
        '{"_id": "1", "text": "night\u2028bus\u0085", "metadata": {"tags": ["x"]}, "lang": "en"}\n'
        '{"_id": 2, "text": ""}\n'
    )
    first, second = read_queries(written(tmp_path, "queries.jsonl", lines))
    assert (first.id, first.text) == ("1", "night\u2028bus\u0085")
    assert first.metadata == {"tags": ["x"], "lang": "en"}
    assert (second.id, second.text, second.metadata) == ("2", "", {})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.csv", 'query_id,query\n1,"bus, night"\n'),
        ("q.tsv", "qid\ttext\n1\tbus, night\n"),
        ("q.csv", 'id,question\n1,"bus, night"\n'),
    ],
)
def test_queries_are_read_from_tables(tmp_path: Path, name: str, content: str) -> None:
    (query,) = read_queries(written(tmp_path, name, content))
    assert (query.id, query.text) == ("1", "bus, night")


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ('{"_id": "1", "text": "a"}\n{"_id": "1", "text": "b"}\n', 2, "appears again (first on line 1)"),
        ('{"text": "a"}\n', 1, "no id among the fields 'text'"),
        ('{"_id": "1"}\n', 1, "no text"),
        ('{"_id": "1", "text": 5}\n', 1, "the field 'text' is not text"),
        ("\n", None, "empty"),
    ],
)
def test_broken_queries_are_told_their_line(
    tmp_path: Path, content: str, line: int | None, problem: str
) -> None:
    with pytest.raises(FormatError) as caught:
        read_queries(written(tmp_path, "queries.jsonl", content))
    assert caught.value.line == line
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    "weight", ['{"weight": 0}', '{"frequency": -2}', '{"weight": "often"}', '{"weight": true}']
)
def test_a_weight_that_is_no_number_above_0_is_told_its_line(tmp_path: Path, weight: str) -> None:
    good = '{"_id": "1", "text": "bus", "metadata": {"weight": 3}}\n'
    path = written(tmp_path, "queries.jsonl", f'{good}{{"_id": "2", "text": "tram", "metadata": {weight}}}\n')

    with pytest.raises(
        FormatError, match=r"queries.jsonl, line 2: query '2': the .* is not a number above 0\. Write"
    ):
        read_queries(path)


def test_a_weight_of_a_table_is_a_number_written_as_text_or_nothing(tmp_path: Path) -> None:
    queries = read_queries(written(tmp_path, "queries.csv", "id,text,frequency\n1,bus,12.5\n2,tram,\n"))

    assert [weight_of(query.metadata) for query in queries] == [12.5, None]
    with pytest.raises(FormatError, match="line 2"):
        read_queries(written(tmp_path, "queries.csv", "id,text,frequency\n1,bus,nan\n"))


def test_documents_come_one_by_one_with_their_line(tmp_path: Path) -> None:
    content = '{"_id": "a", "title": "T", "text": "x\u0085y", "url": "u"}\n\n{"_id": "b"}\nbroken\n'
    documents = iterate_documents(written(tmp_path, "corpus.jsonl", content))
    first, second = next(documents), next(documents)
    assert (first.id, first.title, first.text, first.metadata) == ("a", "T", "x\u0085y", {"url": "u"})
    assert (second.id, second.title, second.text, second.line) == ("b", "", "", 3)
    with pytest.raises(FormatError, match="line 4: not JSON"):
        next(documents)


def test_a_corpus_without_documents_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="the file is empty"):
        list(iterate_documents(written(tmp_path, "corpus.jsonl.gz", gzip.compress(b"\n"))))


def test_a_long_document_is_read_from_csv(tmp_path: Path) -> None:
    (document,) = iterate_documents(written(tmp_path, "corpus.csv", "_id,text\na," + "x" * 200_000 + "\n"))
    assert len(document.text) == 200_000


def test_texts_in_a_format_without_fields_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="JSON lines"):
        read_queries(written(tmp_path, "queries.txt", "1 night bus\n"))


@needs_data
@pytest.mark.parametrize(("name", "count"), [("adi", 82), ("cranfield", 1400), ("dl19", 14_581)])
def test_every_document_of_the_real_collections_is_read(name: str, count: int) -> None:
    assert sum(1 for _ in iterate_documents(DATA / name / "corpus.jsonl")) == count
