"""The learned order against least squares with NumPy, and what labels may do to it."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from pooling.strategies import Candidates
from pooling.strategies.learned import Learned
from tests.pooling.pools_at_random import query_of

Floats = NDArray[np.float64]
Labels = dict[str, dict[int, bool]]

RUNS = 3


def campaign(seed: int) -> tuple[dict[str, Candidates], Labels]:
    """Some queries of three runs, each partly judged, the last one not at all."""
    chance = random.Random(seed)
    pools = {}
    for name in ("q1", "q2", "q3"):
        lists = ["".join(chance.sample("abcdefghij", chance.randint(4, 9))) for _ in range(RUNS)]
        pools[name] = query_of(*lists, name=name, depth=9)
    labels = {
        name: {number: chance.random() < 0.4 for number in chance.sample(range(len(one)), len(one) - 2)}
        for name, one in pools.items()
    }
    return pools, labels | {"q3": {}}


def told(pools: dict[str, Candidates], labels: Labels) -> Learned:
    strategy = Learned(pools)
    for name, some in labels.items():
        for number, relevant in some.items():
            strategy.tell(name, pools[name].documents[number], relevant)
    return strategy


def features(one: Candidates) -> Floats:
    """(documents, runs) 60/(60 + rank), to a 1024th; 0 for what a run did not find."""
    table = np.zeros((len(one), one.runs))
    table[one.document, one.run] = np.round(60 / (60 + one.rank) * 1024) / 1024
    return table


def shared_by_least_squares(pools: dict[str, Candidates], labels: Labels) -> Floats:
    """Weights of the runs that predict all labels best, each query with its own level, drawn to the start
    as by thirty labels more."""
    spread = np.mean([features(one).sum(axis=1).std() for one in pools.values()])
    start = np.full(RUNS, 0.3 / spread)
    rows, wanted = [], []
    for at, (name, one) in enumerate(pools.items()):
        for number, relevant in labels[name].items():
            rows.append([*features(one)[number], *(float(at == other) for other in range(len(pools)))])
            wanted.append(float(relevant))
    drawn = np.hstack([np.sqrt(30) * np.eye(RUNS), np.zeros((RUNS, len(pools)))])
    table, target = np.vstack([rows, drawn]), np.concatenate([wanted, np.sqrt(30) * start])
    return np.asarray(np.linalg.lstsq(table, target, rcond=None)[0][:RUNS])


def own_by_least_squares(one: Candidates, labels: dict[int, bool], shared: Floats) -> Floats:
    """What the query's own labels add: the rest that the shared weights leave, with a level three times as
    free, both drawn to 0 as by thirty labels."""
    centred = features(one) - np.round(features(one).mean(axis=0) * 1024) / 1024
    level = (sum(labels.values()) + 1) / (len(labels) + 2)
    rows = [[*centred[number], 3.0] for number in labels]
    rest = [relevant - level - centred[number] @ shared for number, relevant in labels.items()]
    table, target = (
        np.vstack([rows, np.sqrt(30) * np.eye(RUNS + 1)]),
        np.concatenate([rest, np.zeros(RUNS + 1)]),
    )
    return np.asarray(np.linalg.lstsq(table, target, rcond=None)[0][:RUNS])


@pytest.mark.parametrize("seed", range(6))
def test_weights_and_order_are_those_of_two_ridge_regressions(seed: int) -> None:
    pools, labels = campaign(seed)
    strategy = told(pools, labels)
    shared = shared_by_least_squares(pools, labels)

    assert strategy.shared_weights() == pytest.approx(shared)
    for name, one in pools.items():
        own = own_by_least_squares(one, labels[name], shared) if labels[name] else 0.0
        scores = features(one) @ (shared + own)
        left = [number for number in range(len(one)) if number not in labels[name]]
        expected = sorted(left, key=lambda number: (-round(float(scores[number]), 9), number))
        assert strategy.next(name, 100) == [one.documents[number] for number in expected]


def test_without_a_label_it_is_reciprocal_ranks_alone() -> None:
    pools, _ = campaign(1)
    strategy = Learned(pools)

    for name, one in pools.items():
        by_sum = np.argsort(-np.round(features(one).sum(axis=1), 9), kind="stable")
        assert strategy.next(name, 100) == [one.documents[number] for number in by_sum]


def test_a_run_that_copies_another_gains_nothing_by_it() -> None:
    # Runs 0 and 1 are the same, run 2 is another's. Labels side with run 2: the copies share one opinion.
    pools = {f"q{at}": query_of("abcdef", "abcdef", "uvwxyz", name=f"q{at}") for at in range(4)}
    strategy = Learned(pools)
    for name in pools:
        for document in "abcdefuvwxyz":
            strategy.tell(name, document, document >= "u")

    first, copy, other = strategy.shared_weights()

    assert first == pytest.approx(copy)
    assert other > first


def test_one_label_raises_its_document_in_its_own_query_and_moves_no_other() -> None:
    pools, labels = campaign(2)
    one = pools["q3"]
    for number in range(len(one)):
        yes, no = (told(pools, labels | {"q3": {number: relevant}}) for relevant in (True, False))
        # A single label is taken up by its query's level, so that it says nothing of runs elsewhere.
        assert yes.shared_weights() == pytest.approx(no.shared_weights())
        gained = yes.score(one) - no.score(one)
        centred = features(one) - features(one).mean(axis=0)
        assert gained[number] - gained.mean() > 0
        assert (gained - gained.mean()) @ (centred @ centred[number]) > 0
