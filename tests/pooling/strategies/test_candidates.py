"""One query's pool as arrays: by hand, the same from rows and from a frame, and where each list is open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooling.strategies import candidates_of_query
from pooling.strategies.candidates import Cursors
from tests.pooling.pools_at_random import pool_of, query_of, random_runs

ARRAYS = (
    "document",
    "run",
    "rank",
    "run_count",
    "best_rank",
    "starts",
    "lists",
    "list_starts",
    "list_position",
)


def test_every_array_by_hand() -> None:
    # The second run found c at rank 1 and the first run at 3; the third found nothing.
    one = query_of("abc", "ca", "", "d")

    assert (one.documents, len(one), one.runs, one.depth) == (["a", "c", "d", "b"], 4, 4, 3)
    assert one.rrf.tolist() == pytest.approx([1 / 61 + 1 / 62, 1 / 61 + 1 / 63, 1 / 61, 1 / 62])
    found = {name: getattr(one, name).tolist() for name in ARRAYS}
    assert found == {
        # The finds of each document, best rank first: c is first of run 1 and third of run 0.
        "document": [0, 0, 1, 1, 2, 3],
        "run": [0, 1, 1, 0, 3, 0],
        "rank": [1, 2, 1, 3, 1, 2],
        "run_count": [2, 2, 1, 1],
        "best_rank": [1, 1, 1, 2],
        "starts": [0, 2, 4, 5, 6],
        # The lists one after the other: a b c, c a, nothing, d.
        "lists": [0, 3, 1, 1, 0, 2],
        "list_starts": [0, 3, 5, 5, 6],
        "list_position": [1, 2, 1, 3, 1, 2],
    }
    assert one.number == {"a": 0, "c": 1, "d": 2, "b": 3}
    assert one.finders(1).tolist() == [1, 0]
    assert one.total(np.array([1.0, 2, 3, 4, 5, 6])).tolist() == [3, 7, 5, 6]


def test_places_in_a_list_leave_out_ranks_that_are_not_in_the_pool() -> None:
    one = candidates_of_query("q", [("a", 1 / 62, [(0, 2)]), ("b", 1 / 67, [(0, 7)])], runs=1, depth=7)

    assert (one.rank.tolist(), one.list_position.tolist()) == ([2, 7], [1, 2])


@settings(max_examples=6)
@given(seed=st.integers(0, 10_000), chance=st.randoms(use_true_random=False))
def test_rows_and_frame_make_the_same_candidates(seed: int, chance: Any) -> None:
    # A live queue makes them from stored rows in any order, a replay from the frame of merged runs.
    for one in pool_of(random_runs(seed, runs=3, documents=8)).values():
        rows = []
        for number in chance.sample(range(len(one)), len(one)):
            some = slice(one.starts[number], one.starts[number + 1])
            finds = [(int(run), int(rank)) for run, rank in zip(one.run[some], one.rank[some], strict=True)]
            rows.append((one.documents[number], float(one.rrf[number]), chance.sample(finds, len(finds))))
        other = candidates_of_query(one.query_id, rows, runs=one.runs, depth=one.depth)

        assert other.documents == one.documents
        for name in ARRAYS:
            assert getattr(other, name).tolist() == getattr(one, name).tolist(), name


lists = st.lists(
    st.lists(st.sampled_from("abcdef"), unique=True).map("".join), min_size=1, max_size=4
).filter(any)


@given(some=lists, masks=st.lists(st.sets(st.sampled_from("abcdef")), min_size=1, max_size=5))
def test_each_run_offers_its_first_open_document_also_after_one_has_opened_again(
    some: list[str], masks: list[set[str]]
) -> None:
    one = query_of(*some)
    cursors = Cursors(one)

    for closed in masks:
        is_open = np.array([document not in closed for document in one.documents])
        expected = [next((d for d in documents if d not in closed), None) for documents in some]
        offered = [one.documents[n] if n < len(one) else None for n in cursors.first_open(is_open).tolist()]
        assert offered == expected
