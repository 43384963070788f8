"""Intervals of recall over the draw of the audit: which method is chosen, and its limits by hand."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.estimates.intervals import (
    BOOTSTRAP,
    COMPLETE,
    EXACT_BOUND,
    GAMMA,
    LEAST_LEVEL,
    METHODS,
    POWERED,
    SPAN,
    UNDEFINED,
    Kind,
    furthest,
    interval_of_micro_recall,
    interval_of_micro_recall_difference,
    interval_of_total,
    with_queries,
)
from evaluation.estimates.totals import SampleArrays
from tests.evaluation.estimates.test_estimates import STRATUM, pairs_of, sample_of


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


def test_round_an_exact_bound_queries_vary_as_far_as_their_certain_documents_tell() -> None:
    # Two certain relevant documents a query, both found in four queries and one in four: ±0.5 of 16 each, so
    # the error of 12 of 16 is .03125·√(8/7·8), and 2.3646 of it the limit of Student's t at 7.
    certain = [(f"q{number}", document, 1, 1.0) for number in range(8) for document in "ab"]
    sample = sample_of(*certain, ("q0", "x", 1, 0.5), ("q0", "y", 0, 0.5))
    retrieved = pl.concat(pairs_of(f"q{number}", "ab" if number < 4 else "a") for number in range(8))
    labels = interval_of_micro_recall(sample, retrieved)
    assert (labels.method, labels.low is not None, labels.high is not None) == (EXACT_BOUND, True, True)
    reach = 2.36462 * 0.03125 * math.sqrt(64 / 7)
    low, high = with_queries(sample, retrieved, labels)
    assert low == pytest.approx(labels.low * (1 - reach / 0.75), abs=1e-5)
    assert high == pytest.approx(labels.high + reach, abs=1e-5)
    assert 0 < low < labels.low < labels.high < high < 1


@pytest.mark.parametrize("found", ["ab", "z"])
def test_a_run_that_found_all_or_nothing_can_do_otherwise_in_other_queries(found: str) -> None:
    # Eight queries of two relevant documents and four of one are worth 20² / (8 · 4 + 4) = 11.1 alike.
    names = {f"q{number:02}": "ab" if number < 8 else "a" for number in range(12)}
    sample = sample_of(*[(query, one, 1, 1.0) for query, some in names.items() for one in some])
    retrieved = pl.concat(pairs_of(query, found) for query in names)

    low, high = with_queries(sample, retrieved, interval_of_micro_recall(sample, retrieved))

    unlike = 1 - 0.025 ** (36 / 400)
    assert (low, high) == pytest.approx((1 - unlike, 1.0) if found == "ab" else (0.0, unlike))


def test_the_exact_bound_of_a_difference_holds_both_runs() -> None:
    found = interval_of_micro_recall_difference(STRATUM, pairs_of("q", "ax"), pairs_of("q", "c"))
    # a only in the first; c only in the second, seen at ½. At 1.25 %: none seen, up to 6; one, up to 9.
    assert found.method == EXACT_BOUND
    assert (found.low, found.high) == (pytest.approx((1 - 9) / 10), pytest.approx((7 - 1) / 8))


def test_the_difference_of_two_runs_is_that_of_their_recalls() -> None:
    first, second = pairs_of("q", "abc"), pairs_of("q", "cd")
    # Of 1 + 1/½ = 3 relevant the first run finds all, the second the 2 that c stands for.
    assert interval_of_micro_recall_difference(STRATUM, first, second).value == pytest.approx(1 - 2 / 3)
    itself = interval_of_micro_recall_difference(STRATUM, first, first)
    assert (itself.value, itself.p_value) == (0, 1)


def test_documents_that_both_runs_have_say_nothing_of_their_difference() -> None:
    same = interval_of_micro_recall_difference(STRATUM, pairs_of("q", "abc"), pairs_of("q", "cab"))
    assert (same.value, same.low, same.high) == (0, 0, 0)
    # a is certain and relevant: however many relevant documents there are, only the first run has one more.
    more = interval_of_micro_recall_difference(STRATUM, pairs_of("q", "abc"), pairs_of("q", "cb"))
    assert 0 < more.low < more.value < more.high < 1


# Gamma limits


def test_a_kind_counts_what_is_certain_and_weighs_what_was_drawn() -> None:
    kind = Kind.of(SampleArrays.of(STRATUM), np.ones(6), np.array([False, False, True, True, True, True]))
    assert (kind.certain, kind.probabilities.tolist(), kind.lightest) == (1.0, [0.5], 0.5)
    assert (kind.seen, kind.value) == (2.0, 3.0)


def test_gamma_limits_are_quantiles_of_what_was_not_seen() -> None:
    # Mean (1 - ½)/½ = 1, variance 2: the chi-squared distribution with one degree of freedom. Half a document
    # more of weight ½: mean 1.5, variance 3, shape ¾ and scale 2.
    low, high = Kind(1.0, np.array([0.5]), 0.5).gamma_limits(0.025)
    assert low == pytest.approx(2 + stats.chi2.ppf(0.025, 1))
    assert high == pytest.approx(2 + stats.gamma.ppf(0.975, 0.75, scale=2))


def test_a_kind_of_which_nothing_was_drawn_may_still_be_there() -> None:
    low, high = Kind(3.0, np.zeros(0), 0.1).gamma_limits(0.025)
    # Half a document of weight 9 with variance 90/2: shape 0.45, scale 10.
    assert (low, high) == (3.0, pytest.approx(3 + stats.gamma.ppf(0.975, 0.45, scale=10)))


def test_a_kind_of_which_nothing_can_be_left_is_certain() -> None:
    assert Kind(3.0, np.zeros(0), None).gamma_limits(0.025) == (3.0, 3.0)
    assert Kind(3.0, np.zeros(0), None).most(0.025) == 3.0


def test_joined_limits_solve_the_quadratic() -> None:
    # 2 found for certain, missed 1 with limits 0 and 4: r at which (1 - r) 2 = r · limit.
    parts = [(2.0, 2.0, 2.0), (1.0, 0.0, 4.0)]
    limits = [furthest(parts, lambda r: (1 - r, -r), 2 / 3, end) for end in (0.0, 1.0)]
    assert limits == [pytest.approx(2 / 6), pytest.approx(1.0)]
    # Both uncertain: (2(1-r) - r)² = ((1-r)·1)² + (r·½)²: 7.75 r² - 10 r + 3 = 0.
    parts = [(2.0, 1.0, 3.0), (1.0, 0.5, 1.5)]
    limits = [furthest(parts, lambda r: (1 - r, -r), 2 / 3, end) for end in (0.0, 1.0)]
    assert limits == [pytest.approx((10 - math.sqrt(7)) / 15.5), pytest.approx((10 + math.sqrt(7)) / 15.5)]


def drawn_from(relevant: str, missed: str) -> pl.DataFrame:
    """Twenty drawn of forty, beside ten certain documents of which five are relevant."""
    certain = [("q", f"c{number}", int(number < 5), 1) for number in range(10)]
    letters = [chr(ord("a") + number) for number in range(20)]
    return sample_of(*certain, *(("q", one, int(one in relevant + missed), 0.5) for one in letters))


def test_from_five_relevant_audit_documents_on_gamma_limits_are_taken() -> None:
    few = interval_of_micro_recall(drawn_from("ab", "cd"), pairs_of("q", "abx"))
    enough = interval_of_micro_recall(drawn_from("ab", "cde"), pairs_of("q", "abx"))
    assert [few.method, enough.method] == [EXACT_BOUND, GAMMA]
    assert [few.relevant_drawn, enough.relevant_drawn] == [4, 5]
    assert enough.value == pytest.approx(4 / 15)  # 2/½ found, 5 certain and 3/½ missed
    assert 0 < (enough.low or 0) < 4 / 15 < (enough.high or 0) < 1


def test_a_run_whose_top_is_judged_can_only_lose() -> None:
    """Nothing of it is left to be found, so its recall is at most what was seen of the missed leaves."""
    top = pl.DataFrame({"query_id": ["q"] * 5, "document_id": [f"c{number}" for number in range(5)]})
    found = interval_of_micro_recall(drawn_from("", "abcde"), top)
    assert found.value == pytest.approx(5 / 15)
    assert (found.high or 1) <= 5 / 10


def test_swapping_two_runs_turns_the_difference_round() -> None:
    sample = drawn_from("ab", "cdefg")
    first, second = pairs_of("q", "abcx"), pairs_of("q", "defy")
    there = interval_of_micro_recall_difference(sample, first, second)
    back = interval_of_micro_recall_difference(sample, second, first)
    assert there.method == GAMMA
    assert there.value == pytest.approx(-(back.value or 0))
    assert (there.low, there.high) == (pytest.approx(-(back.high or 0)), pytest.approx(-(back.low or 0)))


def test_the_total_has_an_interval_too() -> None:
    found = interval_of_total(drawn_from("abcde", ""))
    assert (found.value, found.method) == (pytest.approx(15.0), GAMMA)
    assert 10 <= (found.low or 0) < 15 < (found.high or 0)
    few = interval_of_total(STRATUM)
    # One seen at ½ beside a certain one: (M + 1)/2^M > .025 up to M = 8.
    assert (few.low, few.high, few.method) == (2.0, 9.0, EXACT_BOUND)
    assert interval_of_total(sample_of(("q", "a", 0, 1))).method == COMPLETE


@given(data=st.data())
def test_limits_lie_round_the_estimate_and_within_their_range(data: st.DataObject) -> None:
    letters = [chr(ord("a") + number) for number in range(20)]
    relevant = data.draw(st.lists(st.sampled_from(letters), min_size=1, unique=True))
    lists = st.lists(st.sampled_from([*letters, "x"]), min_size=1)
    runs = [pairs_of("q", "".join(data.draw(lists))) for _ in range(2)]
    sample = drawn_from("".join(relevant), "")
    one, two = interval_of_micro_recall(sample, runs[0]), interval_of_micro_recall_difference(sample, *runs)
    for found, least in ((one, 0), (two, -1)):
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        assert least <= found.low <= found.value + 1e-9
        assert found.value - 1e-9 <= found.high <= 1


@given(st.data())
def test_the_p_value_of_a_difference_is_the_level_at_which_its_interval_reaches_0(
    data: st.DataObject,
) -> None:
    relevant, first, second = (
        data.draw(st.sets(st.sampled_from("abcdefghijklmnop"), min_size=1)) for _ in range(3)
    )
    sample = sample_of(*(("q", one, int(one in relevant), 1 if one < "e" else 0.3) for one in "abcdefghijkl"))
    runs = pairs_of("q", "".join(first)), pairs_of("q", "".join(second))
    found = interval_of_micro_recall_difference(sample, *runs)

    if found.p_value is None:
        assert found.method == UNDEFINED
        return
    assert LEAST_LEVEL <= found.p_value <= 1
    # At the least of all, the run that is behind can find nothing more: its interval never crosses 0, though
    # it can come as near as rounding lets it.
    is_least = found.p_value == LEAST_LEVEL
    below = [] if is_least else [found.p_value * 0.98]
    for level in (*below, *([found.p_value * 1.02] if found.p_value < 0.9 else [])):
        made = interval_of_micro_recall_difference(sample, *runs, confidence=1 - level)
        assert made.low is not None
        assert made.high is not None
        if is_least:
            assert made.low > -1e-9 or made.high < 1e-9
        else:
            assert (made.low > 1e-9 or made.high < -1e-9) == (level > found.p_value), (level, found)


# Whole draws


@pytest.mark.parametrize("truth", ["ab", "abcd", "aceg", "abcdefgh"])
def test_over_all_draws_limits_hold_at_their_rate(truth: str) -> None:
    """All 210 audits of four in ten documents, two more certain; a run that found c to g."""
    rest = "abcdefghij"
    true = sum(document in truth for document in "cdefg") / (len(truth) + 2)
    run = pairs_of("q", "cdefg")
    held = []
    for audit in combinations(rest, 4):
        drawn = [("q", one, int(one in truth), 0.4) for one in audit]
        found = interval_of_micro_recall(sample_of(("q", "y", 1, 1), ("q", "z", 1, 1), *drawn), run)
        held.append((found.low or 0) - 1e-9 <= true <= (found.high or 1) + 1e-9)
    assert np.mean(held) >= 0.95


def test_every_method_says_what_it_is() -> None:
    assert set(METHODS) == {COMPLETE, GAMMA, EXACT_BOUND, POWERED, BOOTSTRAP, SPAN, UNDEFINED}
