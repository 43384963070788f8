"""TREC runs and qrels: what is read, and what each broken file is told."""

import gzip
import os
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.formats import FormatError, name_of, read_qrels, read_run, write_qrels, write_run
from pooling.formats.bytes.lines import QRELS, RUN
from pooling.formats.sources import Source
from pooling.formats.trec import read_careful, read_plain, read_tidied, shape_of
from tests.testdata import DATA, needs_data

GOOD = b"q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1.5 t\nq2 Q0 a 1 -1e-3 t\n"
ROWS = [("q1", "a", 2.5), ("q1", "b", 1.5), ("q2", "a", -0.001)]


def packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)  # no clock in the bytes, nor in the names of the tests


def written(folder: Path, content: bytes, name: str = "bm25.run") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def error_of_run(folder: Path, content: bytes, name: str = "bm25.run", **options: int) -> FormatError:
    with pytest.raises(FormatError) as caught:
        read_run(written(folder, content, name), **options)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b" ", b"\t"),
        GOOD.replace(b" ", b"  \t "),
        GOOD.replace(b"t\n", b"t  \n"),
        GOOD.replace(b"q1", b"  q1"),
        GOOD.removesuffix(b"\n"),
        b"\xef\xbb\xbf" + GOOD,
        b"# a comment\n" + GOOD + b"# another\n",
        GOOD.replace(b"\n", b"\n\n") + b"\n \n",
        packed(GOOD),
        packed(b"\xef\xbb\xbf" + GOOD),
        GOOD.replace(b" 1 ", b" - "),
        GOOD.replace(b" 2 ", b" 99999999999 "),
    ],
    ids=[
        *("plain", "crlf", "tabs", "many blanks", "trailing blanks", "leading blanks", "no last line end"),
        *("byte order mark", "comments", "blank lines", "gzip", "gzip with mark", "odd rank", "large rank"),
    ],
)
def test_every_writing_of_a_run_reads_the_same(tmp_path: Path, content: bytes) -> None:
    run = read_run(written(tmp_path, content))
    assert run.frame.rows() == ROWS
    assert (run.name, run.tag) == ("bm25", "t")


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"q1 Q0 a 1 2.5\n", 1, "5 fields instead of 6"),
        (GOOD + b"q1 Q0 c 1 2.5 t more\n", 4, "7 fields instead of 6"),
        # As many fields too many as too few: the count over the file is right.
        (GOOD + b"q3 Q0 c 1 2.5 t more\nq3 Q0 d 2 1.0\n", 4, "7 fields"),
        (GOOD + b"q1 Q0\n", 4, "2 fields"),
        (b"search Q0 found place score tag\n" + GOOD, 1, "looks like a header"),
        (b"search,found,score\nq,a,1\n", 1, "looks like CSV"),
        (GOOD + b"q1 Q0 a 3 0.5 t\n", 4, "document 'a' appears again for query 'q1' (first on line 1)"),
        (b"#c\n\n" + GOOD + b"q1 Q0 a 3 0.5 t\n", 6, "(first on line 3)"),
        (GOOD + b"q1 Q0 c 3 nan t\n", 4, "'nan' is not a finite number"),
        (GOOD + b"q1 Q0 c 3 -inf t\n", 4, "not a finite number"),
        (GOOD + b"q1 Q0 c 3 1e999 t\n", 4, "not a finite number"),
        (GOOD + b"q1 Q0 c 3 1_0 t\n", 4, "not a number"),
        (GOOD + b"q1 Q0 c 3 1,5 t\n", 4, "'1,5' is not a number"),
        (GOOD + "q1 Q0 c 3 \N{ARABIC-INDIC DIGIT THREE} t\n".encode(), 4, "is not a number"),
        (GOOD.replace(b"\n", b"\r"), 1, "a carriage return only"),
        (GOOD + b"q1 Q0 \xe9 3 1 t\n", 4, "is not UTF-8"),
        (GOOD + b"q1 Q0 c\0 3 1 t\n", 4, "NUL"),
        ("q1 Q0 a 1 2 t\n".encode("utf-16"), 1, "UTF-16"),
        (b"", None, "empty"),
        (b"\n \n\n", None, "empty"),
        (b"# only a comment\n", None, "empty"),
        (packed(b""), None, "empty"),
        (packed(GOOD * 100)[:-12], None, "the gzip file is incomplete"),
        (packed(GOOD)[:-8] + b"\0" * 8, None, "damaged"),
    ],
)
def test_a_broken_run_is_told_its_line_and_problem(
    tmp_path: Path, content: bytes, line: int | None, problem: str
) -> None:
    error = error_of_run(tmp_path, content)
    assert (error.path, error.line) == ("bm25.run", line)
    assert problem in error.problem
    assert error.remedy.endswith(".")
    assert "\n" not in str(error)


def test_an_uploaded_file_is_called_by_the_name_its_owner_knows(tmp_path: Path) -> None:
    path = written(tmp_path, b"q1 Q0 a\n", "tmp1234")
    with pytest.raises(FormatError, match=r"^mine\.run, line 1: 3 fields instead of 6\. Write query Q0"):
        read_run(path, file_name="mine.run")


def test_a_gzip_bomb_is_not_unpacked_beyond_the_bound(tmp_path: Path) -> None:
    bomb = packed(GOOD * 100_000)
    assert "more than 1,000,000 bytes" in error_of_run(tmp_path, bomb, max_bytes=1_000_000).problem
    unpacked: list[bytes] = []
    with pytest.raises(FormatError):
        unpacked.extend(Source(tmp_path / "bm25.run", "bm25.run", 1_000_000).blocks(size=4096))
    assert 990_000 < sum(map(len, unpacked)) <= 1_000_000


def test_a_plain_file_over_the_bound_is_refused(tmp_path: Path) -> None:
    assert "more than 10 bytes" in error_of_run(tmp_path, GOOD, max_bytes=10).problem


def test_a_missing_file_and_a_folder_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be opened"):
        read_run(tmp_path / "absent.run")
    with pytest.raises(FormatError, match="folder"):
        read_run(tmp_path)


def test_a_pipe_is_refused_before_anything_is_read_from_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FormatError, match=r"a pipe or a device.* Save it to a file first"):
        read_run(tmp_path / "pipe")


def test_ids_are_kept_as_they_are(tmp_path: Path) -> None:
    ids = ["01", "1", "1.0", '"quoted', "a\u00a0b", "x#y", "#z", "\u0085", "é", "e\u0301", "Ä", "-", "null"]
    text = "".join(f"q Q0 {name} {rank} {50 - rank} t\n" for rank, name in enumerate(ids))
    run = read_run(written(tmp_path, text.encode()))
    assert run.frame["document_id"].to_list() == ids
    assert any("look alike" in note for note in run.notes)


def test_only_a_line_that_starts_with_a_hash_is_a_comment(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, GOOD + b"#q9 Q0 a 1 2 t\n #q9 Q0 #d 1 2 t\n"))
    assert run.frame.rows()[3:] == [("#q9", "#d", 2.0)]
    (note,) = run.notes
    assert note.startswith("1 line that starts with # skipped as a comment. Line 4 would be a valid row")


def test_ranks_against_scores_are_noted_and_counted(tmp_path: Path) -> None:
    falling = read_run(written(tmp_path, b"q Q0 a 3 1.0 t\nq Q0 b 1 3.0 t\nq Q0 c 2 2.0 t\n"))
    assert falling.notes == ()
    against = read_run(written(tmp_path, b"q Q0 a 1 1.0 t\nq Q0 b 2 3.0 t\nq Q0 c 3 2.0 t\n"))
    assert "1 row has a higher score than the row before by rank" in against.notes[0]


def test_ranks_are_read_when_asked_for_and_must_then_be_whole(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, GOOD), with_rank=True)
    assert run.frame["rank"].to_list() == [1, 2, 1]
    with pytest.raises(FormatError, match="line 2: the rank 'two' is not a whole number"):
        read_run(written(tmp_path, b"q Q0 a 1 2 t\nq Q0 b two 1 t\n"), with_rank=True)


def test_ranks_that_are_wanted_but_not_needed_are_null_where_one_cannot_be_used(tmp_path: Path) -> None:
    trec = written(tmp_path, b"q Q0 a 1 2 t\nq Q0 b two 1 t\n")
    table = written(tmp_path, b"qid,docid,score\nq,a,2\nq,b,1\n", "bm25.csv")
    for path in (trec, table):
        run = read_run(path, with_rank=True, need_rank=False)
        assert run.frame.rows() == [("q", "a", 2.0, None), ("q", "b", 1.0, None)]


def test_qrels_keep_negative_values_and_take_whole_decimals(tmp_path: Path) -> None:
    content = b"1 2.5  a 0\n1 Q0 b -1\n1\t0\tc\t1.0\n01 0 a 3 \n\n"
    qrels = read_qrels(written(tmp_path, content, "qrels.txt"))
    assert qrels.frame.rows() == [("1", "a", 0), ("1", "b", -1), ("1", "c", 1), ("01", "a", 3)]
    assert qrels.frame.schema["relevance"] == pl.Int32


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"1 0 a 0.5\n", 1, "'0.5' is not a whole number"),
        (b"1 0 a yes\n1 0 b 1\n", 1, "looks like a header"),
        (b"1 0 b 1\n1 0 a yes\n", 2, "'yes' is not a number"),
        (b"1 0 b 1 0.3\n", 1, "5 fields instead of 4"),
        (b"1 Q0 b 1 0.3 t\n", 1, "this looks like a run"),
        (b"1 0 b 99999999999\n", 1, "out of range"),
        (b"search 0 found label\n1 0 b 1\n", 1, "looks like a header"),
        (b"1 0 b 1\n2 0 b 1\n1 0 b 0\n", 3, "has relevance 0 here and 1 on line 1"),
    ],
)
def test_broken_qrels_are_told_their_line_and_problem(
    tmp_path: Path, content: bytes, line: int, problem: str
) -> None:
    with pytest.raises(FormatError) as caught:
        read_qrels(written(tmp_path, content, "qrels.txt"))
    assert caught.value.line == line
    assert problem in caught.value.problem


def test_a_judgment_written_twice_is_read_once_with_a_note(tmp_path: Path) -> None:
    qrels = read_qrels(written(tmp_path, b"1 0 a 1\n1 0 b 0\n1 0 a 1\n", "qrels.txt"))
    assert qrels.frame.rows() == [("1", "a", 1), ("1", "b", 0)]
    assert qrels.notes == ("1 row repeats a pair with the same relevance and was skipped.",)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/bm25.run.gz", "bm25"),
        ("bm25.v2.TXT", "bm25.v2"),
        ("bm25.trec", "bm25"),
        ("x.res.jsonl", "x.res"),
        ("plain", "plain"),
        (".run", ".run"),
        ("odd.dat", "odd.dat"),
    ],
)
def test_a_run_is_called_by_its_file(path: str, name: str) -> None:
    assert name_of(path) == name


WORD = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\0"), min_size=1, max_size=12
)
PAIRS = st.lists(st.tuples(WORD, WORD), min_size=1, max_size=12, unique=True)
SCORE = st.floats(allow_nan=False, allow_infinity=False)


@given(PAIRS, st.data())
def test_a_written_run_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    pairs = [(query.lstrip("#\ufeff") or "q", document) for query, document in pairs]
    pairs = list(dict.fromkeys(pairs))
    scores = data.draw(st.lists(SCORE, min_size=len(pairs), max_size=len(pairs)))
    rows = [(*pair, score) for pair, score in zip(pairs, scores, strict=True)]
    frame = pl.DataFrame(rows, schema=["query_id", "document_id", "score"], orient="row")
    path = tmp_path_factory.mktemp("runs") / "odd.run"
    write_run(frame, path, tag="t")
    assert read_run(path).frame.rows() == rows


@given(st.lists(st.tuples(WORD, WORD, st.sampled_from(["1", "-2.5", "3e2", "+.5"])), min_size=1, max_size=8))
def test_the_fast_readers_agree_with_the_careful_one(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    text = "".join(f"{query} Q0 {document} 1 {score} t\n" for query, document, score in rows)
    path = tmp_path_factory.mktemp("runs") / "odd.run"
    path.write_text(text, encoding="utf-8", newline="")
    source = Source(path, path.name)
    fast = [table for table in (read_plain(source, RUN), read_tidied(source, RUN)) if table]
    careful = [table.frame for table in fast] and read_careful(source, RUN, need_rank=False).frame
    columns = ["query_id", "document_id", "value"]
    assert all(table.frame.select(columns).rows() == careful.select(columns).rows() for table in fast)


REGULAR = re.compile(rb"([^ \t\n#][^ \t\n]* [^ \t\n]+ [^ \t\n]+ [^ \t\n]+(\n|$))+")


@given(
    st.lists(st.sampled_from([b"a", b"#", b"1 0", b"1 0 b 1\n", b" ", b"\n", b"\t"]), min_size=1),
    st.integers(1, 9),
)
def test_the_shape_of_a_file_does_not_depend_on_how_it_is_cut_into_blocks(
    pieces: list[bytes], size: int
) -> None:
    content = b"".join(pieces)
    blocks = [content[start : start + size] for start in range(0, len(content), size)]
    regular = shape_of(blocks, 4, b" ") is not None
    assert regular == (REGULAR.fullmatch(content) is not None)


def test_a_query_id_that_reads_as_a_comment_is_not_written_as_trec(tmp_path: Path) -> None:
    frame = pl.DataFrame({"query_id": ["#1"], "document_id": ["a"], "relevance": [1]})
    with pytest.raises(FormatError, match="begins with #"):
        write_qrels(frame, tmp_path / "qrels.txt")
    assert list(tmp_path.iterdir()) == []


@needs_data
@pytest.mark.parametrize(
    ("file", "pairs"),
    [("qrels.test", 3681), ("qrels.test.with-comments", 3681), ("qrels.comment.test", 5890)],
)
def test_trec_evals_own_qrels_are_read(file: str, pairs: int) -> None:
    assert read_qrels(DATA / "trec_eval" / file).frame.height == pairs


@needs_data
def test_real_qrels_with_doubled_blanks_take_the_fast_way() -> None:
    source = Source(DATA / "covid-r3" / "qrels.txt", "qrels.txt")
    assert read_plain(source, QRELS) is None
    tidied = read_tidied(source, QRELS)
    assert tidied is not None
    assert tidied.frame.height == 12_713
