"""The labels that would decide: bounds over every outcome, and the set that is asked for."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.comparisons.deciding import LEAST, Standing, can_decide, deciding_set, expected_share

SCHEMA = {"query": pl.UInt32, "document_id": pl.String, "is_first": pl.Boolean, "rank": pl.Int64}

#: Of a query: relevant documents of the first run alone, of the other alone, and elsewhere; unjudged ones of
#: the first alone, of the other alone, and of both or neither.
one_query = st.tuples(*[st.integers(0, 2)] * 3, *[st.integers(0, 3)] * 2, st.integers(0, 2))
some_queries = st.lists(one_query.filter(lambda one: sum(one[:3]) > 0), min_size=1, max_size=3)


def standing(some: list[Any]) -> Standing:
    rows = [
        (query, f"d{query}-{is_first}-{at}", is_first, at + 1)
        for query, (*_, mine, other, _further) in enumerate(some)
        for is_first, count in ((True, mine), (False, other))
        for at in range(count)
    ]
    return Standing(
        [f"q{query}" for query in range(len(some))],
        np.array([first - second for first, second, *_ in some], dtype=float),
        np.array([first + second + elsewhere for first, second, elsewhere, *_ in some], dtype=float),
        np.array([further for *_, further in some], dtype=float),
        pl.DataFrame(rows, schema=SCHEMA, orient="row"),
    )


def turned(one: Standing) -> Standing:
    return replace(one, ahead=-one.ahead, alone=one.alone.with_columns(~pl.col("is_first")))


def labelled(one: Standing, labels: dict[str, bool]) -> Standing:
    """How it stands once these documents are judged."""
    ahead, relevant = one.ahead.copy(), one.relevant.copy()
    for query, document, is_first, _ in one.alone.rows():
        if labels.get(document):
            ahead[query] += 1 if is_first else -1
            relevant[query] += 1
    left = one.alone.filter(~pl.col("document_id").is_in(list(labels)))
    return replace(one, ahead=ahead, relevant=relevant, alone=left)


@given(some=some_queries)
def test_bounds_are_the_extremes_over_every_label_that_is_missing(some: list[Any]) -> None:
    lowest, highest = [], []
    for first, second, elsewhere, mine, other, further in some:
        every = [
            (first + of_first - second - of_other) / (first + second + elsewhere + of_first + of_other + more)
            for of_first, of_other, more in product(range(mine + 1), range(other + 1), range(further + 1))
        ]
        lowest.append(min(every))
        highest.append(max(every))
    found = standing(some)
    low, high = np.mean(lowest), np.mean(highest)

    assert found.bounds() == pytest.approx((low, high))
    assert found.decided == int(low > 1e-12) - int(high < -1e-12)
    back = turned(found)
    assert back.bounds() == pytest.approx((-high, -low))
    assert back.decided == -found.decided


@given(some=some_queries, chance=st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]))
def test_a_set_is_of_unjudged_documents_once_each_and_the_same_for_either_order_of_runs(
    some: list[Any], chance: float
) -> None:
    found = standing(some)
    bounds = found.bounds()
    assert bounds is not None
    chosen = deciding_set(found, chance)

    assert chosen["document_id"].is_unique().all()
    assert set(chosen.rows()) <= set(found.alone.rows())
    if found.decided:
        assert chosen.is_empty()
        return
    assert chosen.height >= min(LEAST, found.alone.height)
    # Within a query and a run, what stands higher is judged first.
    for _, rows in chosen.group_by("query", "is_first", maintain_order=True):
        assert rows["rank"].to_list() == list(range(1, rows.height + 1))
    if abs(sum(bounds)) > 1e-9:
        assert deciding_set(turned(found), chance)["document_id"].to_list() == chosen["document_id"].to_list()


@settings(max_examples=15)
@given(queries=st.integers(6, 14), ahead=st.integers(1, 2), chance=st.sampled_from([0.1, 0.3]))
def test_labels_against_the_worst_case_on_the_whole_set_decide(
    queries: int, ahead: int, chance: float
) -> None:
    # The first run leads on each query, by less than the unjudged documents of the other could make good.
    found = standing([(ahead, 0, 1, 1, 3, 1)] * queries)
    assert found.decided == 0
    chosen = deciding_set(found, chance)
    assert chosen.height < found.alone.height

    best = labelled(found, dict(chosen.select("document_id", "is_first").iter_rows()))
    worst = labelled(found, dict(chosen.select("document_id", ~pl.col("is_first")).iter_rows()))

    assert best.decided == 1
    assert worst.decided < 1  # it can even turn the sign
    # Whatever is told, no bound is wider than before.
    low, high = found.bounds() or (0, 0)
    for told in (best, worst):
        now = told.bounds()
        assert now is not None
        assert low - 1e-12 <= now[0] <= now[1] <= high + 1e-12


@pytest.mark.parametrize(
    ("hits", "judged", "own_hits", "own_judged", "share"),
    [
        (0, 0, 0, 0, 1 / 4),  # nothing is known
        (30, 98, 0, 0, 31 / 200),  # half of what both runs' first K had
        (30, 98, 5, 10, (5 + 1.55) / 20),  # ten labels of such documents weigh as much as all of that
        (30, 98, 0, 90, 1.55 / 100),  # and ninety nine times as much
        (0, 1_000, 90, 90, (90 + 5 / 1_002) / 100),
    ],
)
def test_the_expected_share_goes_over_to_what_such_documents_turned_out_to_be(
    hits: float, judged: float, own_hits: int, own_judged: int, share: float
) -> None:
    assert expected_share(hits, judged, own_hits, own_judged) == pytest.approx(share)


@pytest.mark.parametrize(("further", "first_query"), [(20, 1), (0, 0)])
def test_a_lead_that_the_rest_of_the_pool_can_thin_out_gains_less_by_a_label(
    further: int, first_query: int
) -> None:
    # In query 0 the first run leads by two of two, and by one of three at worst. One label fewer against it
    # lifts that bound from 1/23 to 2/22 where 20 more may be relevant, and from 1/3 to 2/2 where none can be.
    # In query 1 it lifts -2/6 to -1/5.
    chosen = deciding_set(standing([(2, 0, 0, 0, 1, further), (2, 2, 0, 0, 2, 0)]), 0.5)

    assert chosen["query"].to_list() == ([1, 1, 0] if first_query else [0, 1, 1])


def test_queries_that_are_too_few_for_a_difference_are_counted() -> None:
    """Ten queries with ten relevant documents each, in nine of which both runs find the same."""
    close = standing([(1, 0, 9, 0, 0, 0)] + [(0, 0, 10, 0, 0, 0)] * 9)
    apart = standing([(4, 0, 6, 0, 0, 0), (5, 0, 5, 0, 0, 0)] * 5)

    assert close.queries_needed() == 99
    assert apart.queries_needed() is None


def test_labels_that_are_expected_to_leave_it_open_are_told_apart() -> None:
    """The first run is ahead by one document; three that only the other has are not judged."""
    one = standing([(1, 0, 0, 0, 3, 0)])

    assert can_decide(one, 0.1)
    assert not can_decide(one, 0.5)
