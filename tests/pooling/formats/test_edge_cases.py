"""The input on which evaluators disagree, and what Soundings makes of each: the part that reading decides."""

from pathlib import Path

import pytest

from pooling.formats import FormatError, read_qrels, read_run
from pooling.ranking.ranking import order_run


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "file.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def ranked(path: Path, scores: str = "float64") -> list[str]:
    return order_run(read_run(path).frame, scores=scores)["document_id"].to_list()


ACCEPTED_RUNS = {
    # four equal scores: document id falling, whatever the order of the lines
    "ties": ("1 Q0 a 1 5 t\n1 Q0 b 2 5 t\n1 Q0 d 3 5 t\n1 Q0 c 4 5 t\n", ["d", "c", "b", "a"]),
    # equal in single precision only: double precision tells them apart
    "near scores": ("1 Q0 a 1 30.123456789 t\n1 Q0 b 2 30.123456788 t\n", ["a", "b"]),
    "crlf": ("1 Q0 a 1 2 t\r\n1 Q0 b 2 1 t\r\n", ["a", "b"]),
    "byte order mark": (b"\xef\xbb\xbf1 Q0 a 1 2 t\n", ["a"]),
    "no-break space in an id": ("1 Q0 a\u00a0b 1 2 t\n", ["a\u00a0b"]),
    # the score decides; a note counts the rows
    "rank against score": ("1 Q0 a 1 1 t\n1 Q0 b 2 2 t\n", ["b", "a"]),
    "comment": ("# made by hand\n# twice\n1 Q0 a 1 2 t\n", ["a"]),
    "blank line": ("1 Q0 a 1 2 t\n\n1 Q0 b 2 1 t\n", ["a", "b"]),
}


@pytest.mark.parametrize("case", ACCEPTED_RUNS)
def test_runs_that_are_read(tmp_path: Path, case: str) -> None:
    content, expected = ACCEPTED_RUNS[case]
    assert ranked(write(tmp_path, content)) == expected


def test_single_precision_ties_are_an_option(tmp_path: Path) -> None:
    path = write(tmp_path, ACCEPTED_RUNS["near scores"][0])
    assert ranked(path, scores="float32") == ["b", "a"]


REFUSED_RUNS = {
    "document twice": ("1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", 2, "appears again"),
    "fields after the tag": ("1 Q0 a 1 2 t x\n", 1, "7 fields instead of 6"),
    "no tag": ("1 Q0 a 1 2\n", 1, "5 fields instead of 6"),
    "qrels": ("1 0 3 1\n1 0 4 1\n", 1, "4 fields instead of 6"),
    "nan": ("1 Q0 a 1 nan t\n", 1, "not a finite number"),
    "infinity": ("1 Q0 a 1 2 t\n1 Q0 b 1 inf t\n", 2, "not a finite number"),
}


@pytest.mark.parametrize("case", REFUSED_RUNS)
def test_runs_that_are_refused(tmp_path: Path, case: str) -> None:
    content, line, problem = REFUSED_RUNS[case]
    with pytest.raises(FormatError) as caught:
        read_run(write(tmp_path, content))
    assert caught.value.line == line
    assert problem in caught.value.problem


ACCEPTED_QRELS = {
    "blank line": ("1 0 a 1\n\n1 0 b 0\n", [("1", "a", 1), ("1", "b", 0)]),
    "crlf": ("1 0 a 1\r\n", [("1", "a", 1)]),
    "byte order mark": (b"\xef\xbb\xbf1 0 a 1\n", [("1", "a", 1)]),
    "whole decimal": ("1 0 a 1.0\n", [("1", "a", 1)]),
    "negative": ("1 0 a -1\n1 0 b -2\n", [("1", "a", -1), ("1", "b", -2)]),
    "equal labels twice": ("1 0 a 1\n1 0 a 1\n", [("1", "a", 1)]),
    "two comments in a row": ("# one\n# two\n1 0 a 1\n", [("1", "a", 1)]),
    "query without a relevant document": ("1 0 a 0\n", [("1", "a", 0)]),
}


@pytest.mark.parametrize("case", ACCEPTED_QRELS)
def test_qrels_that_are_read(tmp_path: Path, case: str) -> None:
    content, expected = ACCEPTED_QRELS[case]
    assert read_qrels(write(tmp_path, content)).frame.rows() == expected


REFUSED_QRELS = {
    "conflicting labels": ("1 0 a 1\n1 0 a 0\n", 2, "has relevance 0 here and 1 on line 1"),
    "five fields": ("1 0 a 1 x\n", 1, "5 fields instead of 4"),
    "half a point": ("1 0 a 0.5\n", 1, "not a whole number"),
}


@pytest.mark.parametrize("case", REFUSED_QRELS)
def test_qrels_that_are_refused(tmp_path: Path, case: str) -> None:
    content, line, problem = REFUSED_QRELS[case]
    with pytest.raises(FormatError) as caught:
        read_qrels(write(tmp_path, content))
    assert caught.value.line == line
    assert problem in caught.value.problem
