"""The small files on which evaluators disagree, each with what we answer.

A number is Recall@1, None is undefined; of an error the file and the line are named.
"""
# ruff: noqa: E501 -- one case a line

from pathlib import Path

import pytest

from evaluation import Conventions, evaluate
from evaluation.scoring.strangers import notes_on_first_lines
from pooling.formats import FormatError

PLAIN_RUN = "q Q0 a 1 2.0 t\nq Q0 b 2 1.0 t\n"
PLAIN_QRELS = "q 0 a 1\n"


def recall(folder: Path, qrels: str, run: str, conventions: Conventions, k: int = 1) -> float | None:
    (folder / "qrels.txt").write_bytes(qrels.encode())
    (folder / "bm25.run").write_bytes(run.encode())
    result = evaluate(folder / "qrels.txt", [folder / "bm25.run"], k=k, conventions=conventions)
    mean: float | None = result.figure("bm25", "recall", k)["mean"]
    return mean


@pytest.mark.parametrize(
    ("qrels", "run", "preset", "value"),
    [
        pytest.param("q 0 a 1\n", "q Q0 a 1 1 t\nq Q0 b 2 1 t\nq Q0 c 3 1 t\nq Q0 d 4 1 t\n", None, 0.0, id="a four-way tie goes to the highest id"),
        pytest.param("q 0 a 1\n", "q Q0 a 1 30.123456789 t\nq Q0 b 2 30.123456788 t\n", None, 1.0, id="scores are read in double precision"),
        pytest.param("q 0 a 1\n", "q Q0 a 1 30.123456789 t\nq Q0 b 2 30.123456788 t\n", "trec_eval-9", 0.0, id="trec_eval 9 reads them in single precision"),
        pytest.param("q 0 a 0\n", PLAIN_RUN, None, None, id="no relevant label: undefined"),
        pytest.param("q 0 a 0\n", PLAIN_RUN, "trec_eval", 0.0, id="no relevant label: 0 as in trec_eval"),
        pytest.param("q 0 a -1\n", PLAIN_RUN, None, None, id="only a negative label: undefined"),
        pytest.param("q 0 a -1\n", PLAIN_RUN, "trec_eval", 0.0, id="only a negative label: 0 as in trec_eval"),
        pytest.param("q 0 a 1\nz 0 a 1\n", PLAIN_RUN, None, 0.5, id="a query missing from the run counts 0"),
        pytest.param("q 0 a 1\nz 0 a 1\n", PLAIN_RUN, "trec_eval", 1.0, id="trec_eval skips a missing query"),
        pytest.param("q 0 a 1\nz 0 a 1\n", PLAIN_RUN, "trec_eval-c", 0.5, id="trec_eval -c counts it 0"),
        pytest.param("q 0 a 1\n", PLAIN_RUN + "z Q0 a 1 1 t\n", None, 1.0, id="a run query without qrels is ignored"),
        pytest.param("q 0 a 1\r\n", PLAIN_RUN.replace("\n", "\r\n"), None, 1.0, id="CRLF"),
        pytest.param("\ufeffq 0 a 1\n", "\ufeff" + PLAIN_RUN, None, 1.0, id="a byte order mark is no part of the id"),
        pytest.param("q 0 a\u00a0b 1\n", "q Q0 a\u00a0b 1 1 t\n", None, 1.0, id="a no-break space belongs to the id"),
        pytest.param("q 0 a 1.0\n", PLAIN_RUN, None, 1.0, id="a relevance of 1.0 is 1"),
        pytest.param("q 0 a 1\n", "q Q0 b 1 1 t\nq Q0 a 2 2 t\n", None, 1.0, id="the score wins over the rank"),
        pytest.param("# made by us\nq 0 a 1\n", PLAIN_RUN, None, 1.0, id="a comment line is skipped"),
        pytest.param("q 0 a 1\n", "q Q0 a 1 1 t\n", None, 1.0, id="a run shorter than K"),
        pytest.param("q 0 a 1\n\n", PLAIN_RUN, None, 1.0, id="a blank line at the end"),
        pytest.param("01 0 a 1\n1 0 a 0\n", "1 Q0 a 1 1 t\n01 Q0 b 1 1 t\n", None, 0.0, id="01 and 1 are two queries"),
    ],
)  # fmt: skip
def test_our_value(tmp_path: Path, qrels: str, run: str, preset: str | None, value: float | None) -> None:
    conventions = Conventions.preset(preset) if preset else Conventions()

    assert recall(tmp_path, qrels, run, conventions) == value


@pytest.mark.parametrize(
    ("qrels", "run", "named"),
    [
        pytest.param(PLAIN_QRELS, "q Q0 a 1 2 t\nq Q0 a 2 1 t\n", "bm25.run, line 2", id="a document twice in a run"),
        pytest.param("q 0 a 1\nq 0 a 0\n", PLAIN_RUN, "qrels.txt, line 2", id="conflicting labels"),
        pytest.param(PLAIN_QRELS, PLAIN_RUN.replace(" t\n", " t more\n"), "bm25.run, line 1", id="fields after the tag"),
        pytest.param(PLAIN_QRELS, PLAIN_RUN.replace(" t\n", "\n"), "bm25.run, line 1", id="no tag"),
        pytest.param("q 0 a 1 0.5\n", PLAIN_RUN, "qrels.txt, line 1", id="five fields in qrels"),
        pytest.param("q 0 a 0.5\n", PLAIN_RUN, "qrels.txt, line 1", id="a relevance of 0.5"),
        pytest.param(PLAIN_QRELS, "q Q0 a 1 nan t\n", "bm25.run, line 1", id="a score that is not a number"),
        pytest.param(PLAIN_QRELS, "q Q0 a 1 inf t\n", "bm25.run, line 1", id="an infinite score"),
        pytest.param(PLAIN_QRELS, "", "bm25.run", id="an empty run"),
    ],
)  # fmt: skip
def test_what_has_no_one_meaning_is_refused(tmp_path: Path, qrels: str, run: str, named: str) -> None:
    with pytest.raises(FormatError, match=named):
        recall(tmp_path, qrels, run, Conventions())


def test_the_same_label_twice_is_read_once(tmp_path: Path) -> None:
    assert recall(tmp_path, "q 0 a 1\nq 0 a 1\nq 0 b 1\n", PLAIN_RUN, Conventions()) == 0.5


def test_a_run_without_a_common_query_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="bm25 has no query in common"):
        recall(tmp_path, "other 0 a 1\n", PLAIN_RUN, Conventions())


def test_one_measure_may_be_named_without_a_list() -> None:
    one = evaluate({"q": {"a": 1}}, {"x": {"q": ["a"]}}, k=1, measures="ndcg")
    assert one.measures == evaluate({"q": {"a": 1}}, {"x": {"q": ["a"]}}, k=1, measures=["ndcg"]).measures


def test_no_resamples_are_refused() -> None:
    with pytest.raises(ValueError, match="0 resamples make no interval; name a number such as 10,000"):
        evaluate({"q": {"a": 1}}, {"x": {"q": ["a"]}}, k=1, bootstrap_samples=0)


def test_labels_of_which_none_is_relevant_are_told() -> None:
    result = evaluate({"q": {"a": 0, "b": 0}}, {"x": {"q": ["a", "b"]}}, k=1)
    assert result.strangers == (
        "No label says that a document is relevant, so recall is defined for no query.",
    )


def test_labels_below_the_least_relevance_are_told_with_the_highest() -> None:
    result = evaluate(
        {"q": {"a": 1, "b": 2}}, {"x": {"q": ["a", "b"]}}, k=1, conventions=Conventions(min_relevance=3)
    )
    assert result.strangers == (
        "The highest label is 2, so none counts as relevant and recall is defined for no query. Lower the least "
        "relevance that counts.",
    )


def test_ranks_that_a_large_file_contradicts_are_told_of_its_first_lines(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("q Q0 a 1 1.0 t\nq Q0 b 2 3.0 t\nq Q0 c 3 2.0 t\nz Q0 a 4 9.0 t\n")
    (note,) = notes_on_first_lines("x", tmp_path / "x.run", smallest=0)
    assert note.startswith("Run x: of its first 4, 1 row has a higher score than the row before by rank")
    assert notes_on_first_lines("x", tmp_path / "x.run") == []
