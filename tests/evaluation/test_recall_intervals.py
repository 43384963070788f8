"""Intervals of recall over the draw of the audit: which method is chosen, and its limits by hand."""

from __future__ import annotations

import pytest

from evaluation.recall_intervals import (
    COMPLETE,
    EXACT_BOUND,
    UNDEFINED,
    interval_of_micro_recall,
    interval_of_micro_recall_difference,
)
from tests.evaluation.test_estimates import STRATUM, pairs_of, sample_of


def test_everything_judged_leaves_no_interval() -> None:
    found = interval_of_micro_recall(sample_of(("q", "a", 1, 1), ("q", "b", 1, 1)), pairs_of("q", "a"))
    assert (found.value, found.low, found.high, found.method) == (0.5, 0.5, 0.5, COMPLETE)


def test_without_a_relevant_pair_recall_is_undefined() -> None:
    found = interval_of_micro_recall(sample_of(("q", "a", 0, 0.5)), pairs_of("q", "a"))
    assert (found.value, found.low, found.high, found.method) == (None, None, None, UNDEFINED)


def test_few_relevant_audit_documents_take_the_exact_bound() -> None:
    found = interval_of_micro_recall(STRATUM, pairs_of("q", "abx"))
    # a is found, c missed. Of the missed one was seen at ½: (M + 1)/2^M > .025 up to M = 8, so 1 of 9 at
    # least. Of the found none was seen in the rest: ½^M > .025 up to M = 5, so 1 + 5 of 6 + 1 at most.
    assert (found.method, found.relevant_drawn) == (EXACT_BOUND, 1)
    assert (found.low, found.high) == (pytest.approx(1 / 9), pytest.approx(6 / 7))


def test_the_exact_bound_of_a_difference_holds_both_runs() -> None:
    found = interval_of_micro_recall_difference(STRATUM, pairs_of("q", "ax"), pairs_of("q", "c"))
    # a only in the first; c only in the second, seen at ½. At 1.25 %: none seen, up to 6; one, up to 9.
    assert found.method == EXACT_BOUND
    assert (found.low, found.high) == (pytest.approx((1 - 9) / 10), pytest.approx((7 - 1) / 8))
