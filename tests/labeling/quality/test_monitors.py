"""What the stream of verdicts says of care: tables worked by hand."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.quality.monitors import (
    Speed,
    hard_queries,
    leniency,
    longest_streak,
    relevant_by_position,
    speed,
)

NINE = datetime(2026, 3, 2, 9)


def frame(rows: list[tuple[str, str, str, float, bool | None]]) -> pl.DataFrame:
    """annotator, query, document, minutes after nine, relevant."""
    names = ["annotator", "query_id", "document_id", "minutes", "relevant"]
    at = pl.lit(NINE) + pl.duration(seconds=pl.col("minutes") * 60)
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(at=at)


def test_leniency_is_measured_on_shared_pairs_only() -> None:
    said = {"ben": "++++", "cleo": "+---", "dan": "++--"}
    rows = [
        (who, "q", f"d{at}", 0.0, sign == "+") for who, signs in said.items() for at, sign in enumerate(signs)
    ]
    rows.append(("ben", "q", "alone", 0.0, False))
    found = {row["annotator"]: row for row in leniency(frame(rows)).to_dicts()}  # type: ignore[arg-type]
    assert (found["ben"]["pairs"], found["ben"]["own"]) == (4, 1)
    # The others on the four pairs: 1, 1/2, 0, 0.
    assert found["ben"]["others"] == pytest.approx(0.375)
    assert found["ben"]["difference"] == pytest.approx(0.625)
    assert found["ben"]["low"] == pytest.approx(0.625 - 1.96 * np.std([0, 0.5, 1, 1], ddof=1) / 2)
    assert found["cleo"]["difference"] == pytest.approx(0.25 - 0.75)


@pytest.mark.parametrize(("queries", "unseen"), [(26, 0.1287), (1, 0.1287), (13, 0.2281)])
def test_people_who_always_agree_may_still_differ(queries: int, unseen: float) -> None:
    rows = [(who, f"q{at % queries}", f"d{at}", 0.0, True) for who in ("ben", "cleo") for at in range(26)]
    table = leniency(frame(rows))  # type: ignore[arg-type]
    assert table["difference"].to_list() == [0, 0]
    assert table["high"].to_list() == pytest.approx([unseen] * 2, abs=1e-4)
    assert table["low"].to_list() == pytest.approx([-unseen] * 2, abs=1e-4)


def test_leniency_of_one_person_alone_is_an_empty_table() -> None:
    assert leniency(frame([("ben", "q", "d", 0, True)])).is_empty()


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.sampled_from([0.1, 0.4, 0.5]))
def test_the_chance_of_a_streak_is_never_below_the_exact_one(said: list[bool], share: float) -> None:
    streak = longest_streak(said, share)
    exact = 0.0
    for others in product([False, True], repeat=len(said)):
        if any(
            others[at : at + streak.length] == (streak.relevant,) * streak.length for at in range(len(said))
        ):
            exact += share ** sum(others) * (1 - share) ** (len(said) - sum(others))
    assert streak.chance >= exact - 1e-9
    assert said == [streak.relevant] * len(said) or streak.length < len(said)


def test_always_no_is_an_odd_streak_and_a_poor_query_is_none() -> None:
    assert longest_streak([False] * 100, 0.1).is_odd
    assert not longest_streak([False] * 20 + [True] + [False] * 20, 0.1).is_odd
    assert not longest_streak([], 0.1).is_odd


def test_speed_collapses_when_most_of_the_last_verdicts_come_at_once() -> None:
    def of(times: list[int]) -> Speed:
        return speed(times, [240] * len(times))

    steady = [8_000] * 40
    assert of(steady).too_fast == 0
    assert not of([*steady, *[300] * 13]).has_collapsed
    assert of([*steady, *[300] * 14]).has_collapsed
    # Somebody who was always quick has never read.
    assert of([700] * 60).has_collapsed
    assert of([]).median_ms is None


def test_positions_count_anew_after_half_an_hour() -> None:
    morning = [("ben", "q", f"d{at}", at, at < 10) for at in range(30)]
    noon = [("ben", "q", f"e{at}", 120 + at, True) for at in range(5)]
    table = relevant_by_position(frame(morning + noon)).to_dicts()  # type: ignore[operator]
    assert [(row["first"], row["verdicts"]) for row in table] == [
        (1, 15),
        (11, 15),
        (26, 5),
        (51, 0),
        (101, 0),
    ]
    assert [row["share"] for row in table] == [1, 0, 0, None, None]
    assert table[0]["low"] == pytest.approx(15 / (15 + 1.96**2), abs=1e-3)


def test_a_pause_of_exactly_half_an_hour_ends_no_session() -> None:
    rows = [("ben", "q", f"d{at}", at * 30, True) for at in range(12)]
    assert relevant_by_position(frame(rows))["verdicts"].to_list()[:2] == [10, 2]  # type: ignore[arg-type]
    later = frame(rows).with_columns(at=pl.col("at") + pl.int_range(pl.len()) * timedelta(seconds=1))  # type: ignore[arg-type]
    assert relevant_by_position(later)["verdicts"].to_list()[:2] == [12, 0]


def test_queries_that_people_cannot_judge_come_first() -> None:
    rows = [("ben", "bad", f"d{at}", 0, None if at < 2 else True) for at in range(8)]
    rows += [("ben", "new", "d", 0, None), ("ben", "good", "d", 0, True)]
    table = hard_queries(frame(rows)).rows()  # type: ignore[arg-type]
    assert table == [("new", 1, 1, 1.0, False), ("bad", 8, 2, 0.25, True)]
