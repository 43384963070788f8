"""Verdicts and their tables, from what is known of a pair: where the lines lie, and that they mirror."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.comparisons.tables import comparison_cells, comparison_part
from evaluation.comparisons.verdict import Comparison, excludes_zero
from evaluation.comparisons.wording import span
from pooling.formats.wording import signed

KNOWN = Comparison(
    *("a", "b", "recall", 10, 20, 0.1, 0.02, 0.18, 0.01, "t", "holm", 0.5, 0.2),
    *((-0.1, 0.3), 4, 1_234, None, (0.9, 0.92)),
)


@pytest.mark.parametrize(
    ("interval", "side"),
    [
        (None, 0),
        ((0.1, 0.2), 1),
        ((-0.2, -0.1), -1),
        ((-0.1, 0.1), 0),
        ((0.0, 0.2), 0),  # 0 itself is not excluded
        ((-0.2, 0.0), 0),
        ((1e-15, 0.2), 0),  # nor what a sum's last digits make of it
        ((-0.2, -1e-15), 0),
    ],
)
def test_which_side_of_0_an_interval_lies_on(interval: Any, side: int) -> None:
    assert excludes_zero(interval) == side
    assert KNOWN.leader is None
    assert replace(KNOWN, bounds=interval).leader == {1: "a", 0: None, -1: "b"}[side]


@pytest.mark.parametrize(
    ("changed", "leader", "decided_by"),
    [
        ({}, None, None),
        ({"bounds": (0.01, 0.3)}, "a", "bounds"),
        # The bounds speak whatever an audit says.
        ({"bounds": (0.01, 0.3), "estimated": (-0.3, -0.1)}, "a", "bounds"),
        ({"estimated": (0.05, 0.2)}, "a", "audit"),
        ({"estimated": (0.05, 0.2), "estimate": 0.1, "estimate_p_value": 0.05}, "a", "audit"),
        ({"estimated": (0.05, 0.2), "estimate": 0.1, "estimate_p_value": 0.051}, None, None),
        ({"estimated": (0.05, 0.2), "estimate_p_value": 0.09, "confidence": 0.9}, "a", "audit"),
        # As labelled a leads: an audit that favours b decides nothing.
        ({"estimated": (-0.2, -0.05), "estimate": -0.1}, None, None),
        ({"estimated": (-0.2, -0.05), "difference": -0.1}, "b", "audit"),
        ({"estimated": (-0.2, -0.05), "difference": 0.0}, "b", "audit"),
        ({"bounds": None, "estimated": (0.05, 0.2)}, "a", "audit"),
    ],
)
def test_what_decides(changed: dict[str, Any], leader: str | None, decided_by: str | None) -> None:
    made = replace(KNOWN, **changed)

    assert (made.leader, made.decided_by) == (leader, decided_by)
    assert made.to_dict()["leader"] == leader
    assert made.verdict().startswith("Not ranked" if leader is None else f"{leader} beats ")


spans = st.lists(st.integers(-20, 20), min_size=3, max_size=3).map(
    lambda some: sorted(one / 20 for one in some)
)


@given(
    raw=spans,
    audit=spans,
    limits=spans,
    has=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    p=st.sampled_from([0.01, 0.05, 0.2]),
)
def test_a_verdict_does_not_depend_on_which_run_is_named_first(
    raw: list[float], audit: list[float], limits: list[float], has: tuple[bool, bool, bool], p: float
) -> None:
    estimated, valued, bounded = has

    def made(first: str, second: str, sign: int) -> Comparison:
        def ends(some: list[float]) -> tuple[float, float]:
            low, high = sorted((sign * some[0], sign * some[2]))
            return low, high

        return replace(
            KNOWN,
            first=first,
            second=second,
            difference=sign * raw[1],
            low=ends(raw)[0],
            high=ends(raw)[1],
            bounds=ends(limits) if bounded else None,
            estimated=ends(audit) if estimated else None,
            estimate=sign * audit[1] if estimated and valued else None,
            estimate_p_value=p if estimated else None,
        )

    there, back = made("a", "b", 1), made("b", "a", -1)

    assert (there.leader, there.decided_by, there.contradicted) == (
        back.leader,
        back.decided_by,
        back.contradicted,
    )
    assert there.verdict().split(" (")[0].split(" by ")[0] == back.verdict().split(" (")[0].split(" by ")[
        0
    ] or ("audit’s estimate of a − b" in there.verdict() and "audit’s estimate of b − a" in back.verdict())


@pytest.mark.parametrize(
    ("judged", "warned"),
    [
        ((0.9, 0.85), False),  # five points apart can still be read
        ((0.9, 0.849), True),
        ((0.849, 0.9), True),
        ((1.0, 1.0), False),
        ((None, 0.2), False),  # nothing is known of one of them
    ],
)
def test_runs_judged_more_than_five_points_apart_come_with_a_warning(judged: Any, warned: bool) -> None:
    assert bool(replace(KNOWN, judged=judged).warnings) == warned


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {},
            "As labelled, another choice of queries would rarely reverse it (t p = 0.01 by Holm, 20 queries)",
        ),
        ({"correction": "none"}, "would rarely reverse it (t p = 0.01, 20 queries)."),
        ({"correction": "benjamini-hochberg"}, "(t p = 0.01 by Benjamini-Hochberg, 20 queries)."),
        ({"p_value": 0.051}, "another choice of queries could reverse it"),
        # A small p with an interval that holds 0: the more careful of the two is told.
        ({"low": -0.01}, "another choice of queries could reverse it"),
        ({"low": None, "high": None}, "Recall@10 +0.100 (too few queries for an interval))"),
        ({"confidence": 0.9}, "[+0.020, +0.180] at 90 %"),
        ({"queries": 1_234}, "1,234 queries)."),
        ({"open_pairs": 1_234}, "judging the 1,234 that only one of the two has"),
        ({"bounds": (-0.0004, 0.3)}, "anything from +0.000 to +0.300"),  # no −0.000
        ({"estimated": (-0.1, 0.2), "estimate": 0.1, "estimate_p_value": 0.00004}, "p < 0.0001 by Holm"),
        (
            {"estimated": (-0.1, 0.2), "estimate": 0.1, "more_labels": 98_765},
            "about 98,765 more audit labels",
        ),
    ],
)
def test_the_words_of_what_is_known(changed: dict[str, Any], said: str) -> None:
    assert said in replace(KNOWN, **changed).verdict()


def test_the_power_is_told_for_the_spread_of_this_pair() -> None:
    # By Student's quantiles of 19: ((2.093024 + .860951) · .2 / .05)² = 139.6, and for a tenth a quarter.
    assert KNOWN.power() == "80 % power for a difference of 0.05 needs about 140 queries; there are 20."
    assert "0.1 needs about 35 queries" in KNOWN.power(0.1)
    assert replace(KNOWN, deviation=None).power().startswith("Fewer than two queries")
    same = "The difference is the same in all 20 queries, so the power is unknown."
    assert replace(KNOWN, deviation=0.0).power() == same


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (None, "–"),
        (0.1234, "+0.123"),
        (-0.1236, "−0.124"),
        (-0.0004, "+0.000"),
        (0.0, "+0.000"),
        (1, "+1.000"),
    ],
)
def test_a_signed_number_has_three_decimals_and_no_negative_0(number: float | None, shown: str) -> None:
    assert signed(number) == shown
    assert span(number, number) == ("" if number is None else f"[{shown}, {shown}]")


def test_the_table_shows_the_cutoff_that_is_read_first() -> None:
    at_5, at_20 = replace(KNOWN, k=5), replace(KNOWN, k=20, bounds=(0.05, 0.2))
    assert comparison_cells([at_5, KNOWN, at_20]).rows == comparison_cells([KNOWN]).rows

    cells = comparison_cells([at_5, at_20])

    assert cells.header[0] == "Recall@20"
    assert cells.rows == (("a - b", "0.100 [0.020, 0.180]", "0.01", "0.050 to 0.200", "a (by bounds)"),)
    assert cells.notes[0] == at_20.verdict()
    assert cells.notes[-1] == at_20.power()
    unknown = replace(KNOWN, p_value=None, bounds=None, low=None, high=None)
    assert comparison_cells([unknown]).rows == (("a - b", "0.100", "–", "–", "not ranked"),)


def test_the_part_of_a_report_has_every_comparison_with_its_power() -> None:
    part = comparison_part([replace(KNOWN, k=5), KNOWN])

    assert [(one["k"], one["power"]) for one in part.data] == [(5, KNOWN.power()), (10, KNOWN.power())]
    assert part.data[1]["verdict"] == KNOWN.verdict()
