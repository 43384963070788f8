"""The strategies against their definitions, written out slowly, on pools made by chance."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from pooling.strategies import STRATEGIES, Candidates
from tests.pooling.pools_at_random import random_pool

Labels = dict[int, bool]
Choice = Callable[[Candidates, Labels], int]


def ranks(one: Candidates) -> list[dict[int, int]]:
    """By run: document number -> rank."""
    lists: list[dict[int, int]] = [{} for _ in range(one.runs)]
    for document, run, rank in zip(one.document, one.run, one.rank, strict=True):
        lists[run][int(document)] = int(rank)
    return lists


def best(one: Candidates, labels: Labels, score: Callable[[int], float]) -> int:
    return max((n for n in range(len(one)) if n not in labels), key=lambda n: (round(score(n), 12), -n))


def maxmean(one: Candidates, labels: Labels) -> int:
    offers = []
    for found in ranks(one):
        judged = [labels[number] for number in found if number in labels]
        left = [number for number in sorted(found, key=found.__getitem__) if number not in labels]
        if left:
            offers.append((-(1 + sum(judged)) / (2 + len(judged)), left[0]))
    return min(offers)[1]


def hedge(one: Candidates, labels: Labels) -> int:
    depth = one.depth
    elsewhere = sum(0.5 * math.log(depth / rank) for rank in range(depth + 1, 2 * depth + 1)) / depth

    def stake(found: dict[int, int], number: int) -> float:
        return 0.5 * math.log(depth / found[number]) if number in found else elsewhere

    weights = [
        0.5 ** sum((-1 if relevant else 1) * stake(found, number) for number, relevant in labels.items())
        for found in ranks(one)
    ]
    return best(
        one,
        labels,
        lambda n: (
            sum(w * stake(found, n) for w, found in zip(weights, ranks(one), strict=True)) / sum(weights)
        ),
    )


def rbp_adaptive(one: Candidates, labels: Labels) -> int:
    def weight(found: dict[int, int]) -> float:
        credit = {number: 0.05 * 0.95 ** (rank - 1) for number, rank in found.items()}
        base = sum(credit[number] for number, relevant in labels.items() if relevant and number in found)
        residual = 1 - sum(credit[number] for number in labels if number in found)
        return residual * (base + residual / 2) ** 3

    return best(
        one,
        labels,
        lambda n: sum(0.05 * 0.95 ** (found[n] - 1) * weight(found) for found in ranks(one) if n in found),
    )


def posterior(one: Candidates, labels: Labels) -> int:
    def weight(found: dict[int, int]) -> float:
        judged = [labels[number] for number in found if number in labels]
        return ((1 + sum(judged)) / (3 + len(judged))) ** 2

    return best(
        one, labels, lambda n: sum(weight(found) / (60 + found[n]) for found in ranks(one) if n in found)
    )


def mtf(one: Candidates, labels: Labels) -> int:
    """The labels in the order in which they came; the owner of one is the run that pays for it or stays."""
    lists, failures, front = ranks(one), [0] * one.runs, None
    for number, relevant in labels.items():
        finders = [run for run, found in enumerate(lists) if number in found]
        owner = front
        if owner not in finders:
            owner = min(finders, key=lambda run: (failures[run], lists[run][number], run))
        failures[owner] += not relevant
        front = owner if relevant else None
    offers = {
        run: min(left, key=found.__getitem__)
        for run, found in enumerate(lists)
        if (left := found.keys() - labels.keys())
    }
    if front in offers:
        return offers[front]
    fewest = min(failures[run] for run in offers)
    return min(number for run, number in offers.items() if failures[run] == fewest)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("maxmean", maxmean),
        ("hedge", hedge),
        ("rbp-adaptive", rbp_adaptive),
        ("posterior-rrf", posterior),
        ("mtf", mtf),
        ("mtf-global", mtf),  # within one query the same
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_each_next_document_is_that_of_the_definition(name: str, reference: Choice, seed: int) -> None:
    chance = random.Random(seed)
    for one in random_pool(seed, runs=5).values():
        strategy = STRATEGIES[name].start({one.query_id: one})
        labels: Labels = {}
        while documents := strategy.next(one.query_id):
            number = one.number[documents[0]]
            assert number == reference(one, labels)
            labels[number] = chance.random() < 0.4
            strategy.tell(one.query_id, documents[0], labels[number])
