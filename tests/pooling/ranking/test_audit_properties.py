"""The audit rule: the greedy part never looks ahead, and so what is left can be estimated without bias."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.ranking.sample import walk
from pooling.strategies import STRATEGIES, Candidates, Strategy
from pooling.strategies.audited import Audited, Hybrid, campaign
from tests.pooling.pools_at_random import pool_of, random_pool, runs_of

GREEDY = ["depth", "mtf", "maxmean", "hedge", "learned"]
#: Two runs that share c, over five documents: of six, each test would try six times as many orders.
FIVE = pool_of(runs_of(q=["acd", "bce"]))
TRUTHS = ["a", "be", "acd", "abcde"]


def audited(one: Candidates, order: Sequence[int], greedy: str = "maxmean") -> Audited:
    return Audited(
        {one.query_id: one}, greedy=STRATEGIES[greedy].make, orders={one.query_id: np.array(order)}
    )


def only(pool: dict[str, Candidates]) -> Candidates:
    return next(iter(pool.values()))


def estimate(strategy: Audited, one: Candidates, relevant: Sequence[bool]) -> Fraction:
    """Reached relevant documents, and those of the audit in the rest times (documents there) / (audit
    there).
    """
    reached, drawn = strategy.reached[one.query_id], strategy.in_audit[one.query_id]
    certain = sum(relevant[number] for number in np.flatnonzero(reached))
    rest, sample = int((~reached).sum()), np.flatnonzero(drawn & ~reached)
    if not rest:
        return Fraction(certain)
    assert len(sample), "the rest has no audit document, so nothing can be said about it"
    return certain + Fraction(rest * sum(relevant[number] for number in sample), len(sample))


def greedy_picks(
    strategy: Audited, one: Candidates, relevant: Sequence[bool], audit: int, count: int
) -> list[int]:
    """Judge the audit first, then follow the greedy part for some documents."""
    for _ in range(audit):
        number = strategy.draw(one)
        assert number is not None
        strategy.tell_number(one, number, relevant[number])
    picks: list[int] = []
    while len(picks) < count:
        number = strategy.reach(one, np.ones(len(one), dtype=bool))
        assert number is not None
        strategy.tell_number(one, number, relevant[number])
        picks.append(number)
    return picks


@given(data=st.data())
def test_unreached_audit_documents_and_their_labels_never_change_the_next_pick(data: st.DataObject) -> None:
    one = only(random_pool(data.draw(st.integers(0, 20)), queries=1))
    size, greedy = len(one), data.draw(st.sampled_from(GREEDY))
    relevant = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    order = data.draw(st.permutations(range(size)))
    audit, count = data.draw(st.integers(1, size)), data.draw(st.integers(0, size - 2))
    picks = greedy_picks(audited(one, order, greedy), one, relevant, audit, count + 1)
    # Another draw with the same members among what was reached, and other labels for all that was not.
    rest = sorted(set(range(size)) - set(picks[:-1]))
    swapped = dict(zip(rest, data.draw(st.permutations(rest)), strict=True))
    turned = [not label if number in rest else label for number, label in enumerate(relevant)]
    other_order = [swapped.get(number, number) for number in order]
    other = greedy_picks(audited(one, other_order, greedy), one, turned, audit, count + 1)
    assert other == picks


def mean_estimate(
    judge: Callable[[Audited], None], truth: str, greedy: str, make: type[Audited] = Audited
) -> Fraction:
    one = only(FIVE)
    relevant = [document in truth for document in one.documents]
    total, draws = Fraction(0), 0
    for order in permutations(range(len(one))):
        strategy = make({"q": one}, greedy=STRATEGIES[greedy].make, orders={"q": np.array(order)})
        judge(strategy)
        total += estimate(strategy, one, relevant)
        draws += 1
    return total / draws


@pytest.mark.parametrize("greedy", ["maxmean", "hedge"])
@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize(("budget", "audit"), [(2, 1), (3, 2), (4, 1), (4, 3)])
def test_over_all_draws_the_estimate_is_right_when_audit_hits_are_free(
    greedy: str, truth: str, budget: int, audit: int
) -> None:
    """The budgets include those that use the audit up, where the last judgment goes to a new audit
    document.
    """
    one = only(FIVE)

    def judge(strategy: Audited) -> None:
        campaign(strategy, one, budget=budget, audit=audit, answer=lambda n: one.documents[n] in truth)

    assert mean_estimate(judge, truth, greedy) == len(truth)


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize(("steps", "audit"), [(2, 1), (3, 2), (4, 3)])
def test_over_all_draws_the_estimate_is_right_when_audit_hits_count(
    truth: str, steps: int, audit: int
) -> None:
    """The greedy part stops after a number of documents, those of the audit counted; a used-up audit is
    renewed.
    """
    one = only(FIVE)
    relevant = [document in truth for document in one.documents]

    def judge(strategy: Audited) -> None:
        greedy_picks(strategy, one, relevant, audit, steps)
        if not (strategy.in_audit["q"] & ~strategy.reached["q"]).any():
            number = strategy.draw(one)
            assert number is not None
            strategy.tell_number(one, number, relevant[number])

    assert mean_estimate(judge, truth, "maxmean") == len(truth)


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("judgments", [1, 2, 3, 4])
def test_over_all_draws_the_estimate_of_the_hybrid_is_right_after_any_number(
    truth: str, judgments: int
) -> None:
    def judge(strategy: Audited) -> None:
        for _ in range(judgments):
            for document in strategy.next("q"):
                strategy.tell("q", document, document in truth)

    assert mean_estimate(judge, truth, "maxmean", Hybrid) == len(truth)


@pytest.mark.parametrize("budget", [1, 2, 3, 4, 5])
def test_a_fixed_order_reaches_what_the_pool_was_built_with(budget: int) -> None:
    one = only(pool_of(runs_of(q=["abcde"])))
    for order in permutations(range(5)):
        for audit in range(1, budget + 1):
            strategy = audited(one, order, "rrf")
            campaign(strategy, one, budget=budget, audit=audit, answer=lambda number: number % 2 == 0)
            reached, sample = walk(np.array(order), budget, audit)
            assert np.flatnonzero(strategy.reached["q"]).tolist() == list(range(reached))
            assert np.flatnonzero(strategy.in_audit["q"]).tolist() == sorted(sample.tolist())


def test_the_hybrid_gives_each_document_the_probability_it_had() -> None:
    strategy = STRATEGIES["hybrid"].start(random_pool(3, queries=1, documents=20), seed=1)
    one = only(strategy.candidates)
    for document in strategy.next("q0", 8):
        strategy.tell("q0", document, document < "h")
    probability = strategy.probabilities(one)
    assert probability is not None
    assert np.nansum(1 / probability) == pytest.approx(len(one))
    assert (~np.isnan(probability)).sum() == 8


def test_a_leased_audit_document_is_reached_but_not_handed_out_twice() -> None:
    one = only(FIVE)
    strategy: Strategy = audited(one, [0, 1, 2, 3, 4])
    assert isinstance(strategy, Audited)
    leased = one.documents[strategy.draw(one) or 0]
    assert leased not in strategy.next("q", 2, taken=[leased])
    assert strategy.reached["q"][0]


def test_priority_sampling_weighs_each_document_to_one() -> None:
    """Over many draws the mean of chosen/π is 1 for every document: 5 standard errors of room."""
    pool = random_pool(8, queries=1, documents=16)
    one = only(pool)
    weights = []
    for seed in range(3000):
        probability = STRATEGIES["sampling"].start(pool, seed=seed)
        weights.append(np.nan_to_num(1 / probability.probabilities_after(one, 5)))  # type: ignore[attr-defined]
    values = np.array(weights)
    error = values.std(axis=0) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - 1) < 5 * error).all()
