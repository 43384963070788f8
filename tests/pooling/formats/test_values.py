"""Numbers as files write them: each is looked at once, however long it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pooling.formats import FormatError, read_qrels, read_run
from tests.bounded import run_bounded

RELEVANCE_OF = """
from pooling.formats.values import BadValueError, parse_relevance
beginning, piece, end = arguments
try:
    result = parse_relevance(beginning + piece * 1_000_000 + end)
except BadValueError as error:
    result = error.problem
"""


@pytest.mark.parametrize(
    ("beginning", "piece", "end"), [("", "1", "x"), ("1.", "1", "x"), (".", "1", "x"), ("1e", "1", "x")]
)
def test_a_number_of_a_million_digits_is_looked_at_once(beginning: str, piece: str, end: str) -> None:
    said, _ = run_bounded(RELEVANCE_OF, beginning, piece, end)
    assert said.startswith("the relevance '")
    assert len(said) < 100


@pytest.mark.parametrize("digits", [31, 5_000])
def test_a_rank_of_many_digits_is_refused_in_a_sentence(tmp_path: Path, digits: int) -> None:
    path = tmp_path / "one.run"
    path.write_text(f"q1 Q0 d1 {'1' * digits} 0.5 tag\n")
    with pytest.raises(FormatError, match=r"one\.run, line 1: the rank '1+' is not a whole number"):
        read_run(path, with_rank=True)
    assert read_run(path).frame.height == 1


def test_a_relevance_of_many_digits_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "one.qrels"
    path.write_text(f"q1 0 d1 {'1' * 5_000}\n")
    with pytest.raises(FormatError, match="line 1: the relevance"):
        read_qrels(path)


@pytest.mark.parametrize(
    ("name", "content", "remedy"),
    [
        ("de.csv", b"qid;docid;score\nq1;d1;0,5\n", "Write a point, not a comma"),
        ("runs.xlsx", b"PK\x03\x04", "Save the sheet as CSV in UTF-8"),
    ],
)
def test_what_a_spreadsheet_wrote_is_refused_with_what_to_do(
    tmp_path: Path, name: str, content: bytes, remedy: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError, match=remedy):
        read_run(path)
