"""Grades and the answer of a report: each sentence from figures set by hand, and the share that turns it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from evaluation import compare, evaluate
from evaluation.comparisons.answer import AnswerBasis, answer_of
from evaluation.comparisons.grades import Grade, graded
from evaluation.comparisons.verdict import Comparison

# a is ahead by .1, beyond chance, with every document judged.
SURE = Comparison(
    first="a",
    second="b",
    measure="recall",
    k=10,
    queries=50,
    difference=0.1,
    low=0.05,
    high=0.15,
    p_value=0.001,
    test="randomisation",
    correction="holm",
    effect=0.5,
    deviation=0.2,
    bounds=(0.1, 0.1),
    top_bounds=(0.1, 0.1),
    settled=50,
    open_pairs=0,
    estimated=None,
    judged=(1.0, 1.0),
)


def bounded(bounds: tuple[float, float] | None, **changes: Any) -> Comparison:
    """The same with these bounds, whichever documents are unjudged."""
    return replace(SURE, bounds=bounds, top_bounds=bounds, **changes)


def opened(turning: float, **changes: Any) -> Comparison:
    """The same with unjudged documents, of which this share turns it."""
    return bounded((-0.2, 0.3), open_pairs=94, turning=turning, **changes)


@pytest.mark.parametrize(
    ("one", "grade"),
    [
        (SURE, Grade.CLEARLY_BETTER),
        (opened(0.5), Grade.CLEARLY_BETTER),
        (opened(0.49), Grade.PROBABLY_BETTER),
        (opened(0.34), Grade.PROBABLY_BETTER),
        (opened(0.33), Grade.LABELS),
        (opened(0.5, p_value=0.06), Grade.PROBABLY_BETTER),
        (opened(0.5, p_value=0.11), Grade.QUERIES),
        # What is unjudged is in neither first K.
        (replace(SURE, bounds=(-0.2, 0.3), top_bounds=(0.1, 0.1)), Grade.CLEARLY_BETTER),
        (replace(SURE, p_value=0.2, low=-0.01), Grade.QUERIES),
        (replace(SURE, low=None, high=None), Grade.QUERIES),  # too few queries for an interval
        (replace(SURE, difference=None), Grade.QUERIES),
        # All labels known and equal: more of them would not tell.
        (bounded((0.0, 0.0), difference=0.0, low=-0.1, high=0.1, p_value=1.0), Grade.QUERIES),
        # The audit speaks of micro recall, so that a difference in mean recall may still matter.
        (
            replace(opened(0.1), difference=0.0, low=-0.01, high=0.01, estimated=(-0.01, 0.01), estimate=0.0),
            Grade.LABELS,
        ),
        (opened(0.05, estimated=(0.02, 0.2), estimate=0.1), Grade.CLEARLY_BETTER),  # by the audit
        (opened(0.9, estimated=(-0.2, -0.02), estimate=-0.1), Grade.LABELS),  # the audit says otherwise
        (bounded(None, measure="ndcg"), Grade.LABELS),
        (bounded((0.0, 0.01), difference=0.004, low=0.001, high=0.009), Grade.NO_DIFFERENCE),
        (bounded((0.0, 0.02), difference=0.004, low=0.001, high=0.009, turning=0.5), Grade.CLEARLY_BETTER),
    ],
)
def test_a_grade_weighs_queries_and_labels(one: Comparison, grade: Grade) -> None:
    assert graded(one).grade is grade


def test_a_grade_is_told_in_a_sentence() -> None:
    assert graded(SURE).sentence == "a is clearly better than b."
    assert graded(opened(0.714)).sentence == (
        "a is clearly better than b, unless more than 71.4 % of the unjudged documents in the first 10 that "
        "would help b are relevant."
    )
    assert graded(opened(0.9996)).sentence == (
        "a is clearly better than b, unless nearly all of the unjudged documents in the first 10 that would "
        "help b are relevant."
    )
    behind = replace(opened(0.1), difference=-0.1, low=-0.15, high=-0.05)
    assert graded(behind).sentence == (
        "Cannot tell yet whether b is better than a: the order reverses if 10.0 % of the unjudged documents "
        "in the first 10 that would help a are relevant. More labels may decide it."
    )


@pytest.mark.parametrize(
    ("difference", "sentence"),
    [(0.5, "are too few for a difference of 0.500."), (0.0, "are too few to tell.")],
)
def test_a_few_queries_are_too_few_for_any_difference(difference: float, sentence: str) -> None:
    few = replace(SURE, difference=difference, low=None, high=None, queries=2)

    assert graded(few).sentence == f"Cannot tell yet whether a is better than b: 2 queries {sentence}"


def test_the_margin_is_a_setting() -> None:
    close = bounded((0.02, 0.02), difference=0.02, low=0.01, high=0.03)

    assert graded(close).grade is Grade.CLEARLY_BETTER
    assert graded(close, margin=0.05).sentence == "a and b do not differ by more than 0.05 in Recall@10."


# Ten queries with two relevant documents: a finds both, b one and one without a label.
QRELS = {f"q{number}": {"d1": 1, "d2": 1} for number in range(10)}


def every(**scores: float) -> dict[str, dict[str, float]]:
    """The same list for every query."""
    return {query: dict(scores) for query in QRELS}


RUNS = {"a": every(d1=2, d2=1), "b": every(d1=2, x=1)}


def test_two_runs_with_the_same_documents_do_not_wait_for_more_queries() -> None:
    lists = {f"q{at}": ["a", "b"] for at in range(6)}
    result = evaluate({query: {"a": 1, "b": 0} for query in lists}, {"x": lists, "y": lists}, k=2)
    assert graded(compare(result, "x", "y")).sentence == "x and y have the same Recall@2 for every query."


def test_the_share_that_turns_it_is_where_the_difference_is_0() -> None:
    # With a share s of b's documents relevant: (2 - 1 - s) / (2 + s) = 0 at s = 1.
    result = evaluate(QRELS, RUNS, k=2)
    assert compare(result, "a", "b").turning == pytest.approx(1)

    # a finds one of two, b none: (1 - 2 s) / (2 + 2 s) = 0 at s = 1/2, seen from either side.
    runs = {"a": every(d1=2), "b": every(x=2, y=1)}
    result = evaluate(QRELS, runs, k=2)
    assert compare(result, "a", "b").turning == pytest.approx(0.5, abs=1e-3)
    assert compare(result, "b", "a").turning == pytest.approx(0.5, abs=1e-3)


def test_what_no_label_can_turn_has_no_such_share_and_what_is_equal_has_0() -> None:
    judged = {query: {**labels, "x": 0} for query, labels in QRELS.items()}
    assert compare(evaluate(judged, RUNS, k=2), "a", "b").turning is None
    assert compare(evaluate(QRELS, {"a": RUNS["b"], "b": RUNS["b"]}, k=2), "a", "b").turning == 0


def test_a_pool_that_nobody_judged_widens_the_bounds_and_changes_no_sentence() -> None:
    # a is ahead in nine of ten queries, by one of two documents; x, which b alone has, is open in five.
    qrels = {f"q{at}": {"d1": 1, "d2": 1} | ({} if at < 5 else {"x": 0}) for at in range(10)}
    runs = {"a": every(d1=2, d2=1), "b": every(d1=2, x=1) | {"q0": {"d1": 2.0, "d2": 1.0}}}
    same = {"a": every(d1=2, d2=1), "b": every(d1=2, d2=1)}
    small, large = (
        pl.DataFrame(
            [(query, f"{more}") for query in qrels for more in range(many)],
            schema=["query_id", "document_id"],
            orient="row",
        )
        for many in (1, 50)
    )
    for lists in (runs, same):
        one, other = (compare(evaluate(qrels, lists, k=2, pool=pool), "a", "b") for pool in (small, large))
        assert (one.turning, one.top_bounds) == (other.turning, other.top_bounds)
        assert graded(one) == graded(other)
    ahead = [compare(evaluate(qrels, runs, k=2, pool=pool), "a", "b") for pool in (small, large)]
    assert ahead[0].bounds is not None
    assert ahead[1].bounds is not None
    assert 0 < ahead[1].bounds[0] < ahead[0].bounds[0]
    assert [graded(one).grade for one in ahead] == [Grade.CLEARLY_BETTER] * 2


@pytest.mark.parametrize(
    ("p_value", "queries", "end"),
    [
        (0.10, 50, "More labels may decide it."),
        (0.11, 50, "More labels may decide it for these 50 queries, too few to tell of others."),
        (0.11, 1, "More labels may decide it for this query, too few to tell of others."),
    ],
)
def test_what_labels_cannot_decide_because_queries_are_few_says_so(
    p_value: float, queries: int, end: str
) -> None:
    assert graded(opened(0.1, p_value=p_value, queries=queries)).sentence.endswith(f"are relevant. {end}")


def figures(**means: float | None) -> Any:
    """Runs with a mean recall and full coverage."""
    own = {"low": 0.5, "high": 0.7, "queries": 50}
    return {
        run: {"recall@10": {"mean": mean, **own}, "judged@10": {"mean": 1.0}} for run, mean in means.items()
    }


def test_the_answer_names_the_best_run_and_the_next_with_signs_in_favour_of_the_best() -> None:
    second = replace(SURE, first="c", second="a", difference=-0.02, low=-0.04, high=-0.01)
    second = replace(second, bounds=(-0.02, -0.02))
    found = answer_of(figures(a=0.6, b=0.5, c=0.58), [SURE, second], k=10, basis=AnswerBasis(9))

    assert found is not None
    assert (found.run, found.recall, found.judged) == ("a", 0.6, 1.0)
    rival = found.rival
    assert rival is not None
    assert (rival.run, rival.difference, rival.low, rival.high) == ("c", 0.02, 0.01, 0.04)
    assert (rival.pairs, rival.grade) == (2, "clearly_better")
    assert json.loads(json.dumps(found.to_dict()))["rival"]["grade"] == "clearly_better"


def test_the_next_step_is_labels_or_queries() -> None:
    labels = answer_of(figures(a=0.6, b=0.5), [opened(0.1)], k=10, basis=AnswerBasis(9))
    assert labels is not None
    assert labels.next is not None
    assert (labels.next.kind, labels.next.count) == ("judge", 94)

    # By Student's quantiles of 49: ((2.010 + 0.849) × 0.2 / 0.04)² = 204.3
    small = replace(SURE, difference=0.04, low=-0.02, high=0.1, p_value=0.2, bounds=(0.04, 0.04))
    queries = answer_of(figures(a=0.54, b=0.5), [small], k=10, basis=AnswerBasis(9))
    assert queries is not None
    assert queries.next is not None
    assert (queries.next.kind, queries.next.count) == ("queries", 205)


def test_runs_that_are_level_have_no_order_that_labels_reverse() -> None:
    level = graded(opened(0.0, difference=0.0, low=-0.1, high=0.1, p_value=1.0))
    assert level.grade is Grade.LABELS
    assert level.sentence == (
        "Cannot tell yet whether a is better than b: they are level by the labels so far. More labels may "
        "decide it for these 50 queries, too few to tell of others."
    )


def test_of_equal_runs_the_first_by_name_is_named_in_whatever_order_they_come() -> None:
    equal = replace(SURE, difference=0.0, low=-0.02, high=0.02, bounds=(0.0, 0.0))
    for means in ({"a": 0.6, "b": 0.6}, {"b": 0.6, "a": 0.6}):
        found = answer_of(figures(**means), [equal], k=10, basis=AnswerBasis(9))
        assert found is not None
        assert found.run == "a"


def test_one_run_and_no_run_have_no_rival() -> None:
    found = answer_of(figures(a=0.6), [], k=10, basis=AnswerBasis(9))
    assert found is not None
    assert (found.rival, found.next, found.sentence) == (None, None, "a is the only run.")
    assert answer_of(figures(a=None), [], k=10, basis=AnswerBasis(9)) is None
