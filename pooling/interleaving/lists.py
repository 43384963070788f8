"""Lists mixed from several rankers, to be served to users whose clicks then say which ranker is better.

No state: the same lists and seed give the same list, so what was served can be worked out again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from pooling.heavy import np

Ranking: TypeAlias = Sequence[str]
Method = Literal["team-draft", "optimized", "pairwise-preference"]
#: Chooses one of so many options, by number.
Choose: TypeAlias = Callable[[int], int]
#: Rankings double with each place; beyond this many places teams are drafted.
LONGEST_OPTIMIZED = 10


@dataclass(frozen=True)
class InterleavedList:
    """One list to serve. credits: for each ranker what a click on each place is worth to it. The places
    before `first` and from `end` on are served and credited to nobody: see `credited_places`."""

    ranking: tuple[str, ...]
    credits: tuple[tuple[float, ...], ...]
    first: int
    end: int


def seed_of(*parts: object) -> int:
    """A seed from an experiment, a query, a user and a day, or whatever else makes a list.

    >>> seed_of("october", "night bus", "u7") == seed_of("october", "night bus", "u7")
    True
    """
    text = "\0".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def chooser(seed: int) -> Choose:
    return Random(seed).randrange  # noqa: S311  # a list that can be made again, not a secret


def credited_places(lists: Sequence[Ranking], k: int) -> tuple[int, int]:
    """From which place (0-based) to which (not included) clicks are credited.

    Documents at equal places in all lists from the top say nothing. Behind the end of the shortest list only
    the other rankers have documents left, which would favour them.
    """
    shortest = min(map(len, lists))
    common = 0
    while common < min(shortest, k) and len({ranking[common] for ranking in lists}) == 1:
        common += 1
    return common, min(shortest, k)


def team_draft(lists: Sequence[Ranking], k: int, choose: Choose) -> InterleavedList:
    """Of the rankers with the fewest picks and documents left, one drawn at random adds its best document
    that is not there yet, up to k; a click is worth 1 to the ranker that picked the document.

    Radlinski, Kurup and Joachims, How does clickthrough data reflect retrieval quality? (2008).

    >>> team_draft([["a", "b"], ["b", "a"]], 2, chooser(1)).ranking
    ('a', 'b')
    """
    ranking: list[str] = []
    team: list[int] = []
    picks = [0] * len(lists)
    left = [list(ranking) for ranking in lists]
    while len(ranking) < k:
        for documents in left:
            while documents and documents[0] in ranking:
                documents.pop(0)
        able = [at for at, documents in enumerate(left) if documents]
        if not able:
            break
        fewest = min(picks[at] for at in able)
        drawing = [at for at in able if picks[at] == fewest]
        ranker = drawing[choose(len(drawing))] if len(drawing) > 1 else drawing[0]
        ranking.append(left[ranker].pop(0))
        team.append(ranker)
        picks[ranker] += 1
    credits = tuple(tuple(float(one == at) for one in team) for at in range(len(lists)))
    return InterleavedList(tuple(ranking), credits, *credited_places(lists, k))


def prefix_rankings(lists: Sequence[Ranking], k: int) -> list[tuple[str, ...]]:
    """Every list whose each document is the best of some ranker that is not there yet; each once."""
    rankings: dict[tuple[str, ...], None] = {}

    def extend(ranking: tuple[str, ...]) -> None:
        left = ([one for one in documents if one not in ranking] for documents in lists)
        nexts = dict.fromkeys(documents[0] for documents in left if documents)
        if len(ranking) == k or not nexts:
            rankings[ranking] = None
            return
        for one in nexts:
            extend((*ranking, one))

    extend(())
    return list(rankings)


def rank_credits(lists: Sequence[Ranking], ranking: Ranking) -> tuple[tuple[float, ...], ...]:
    """What each document is worth to each ranker: 1 ÷ its rank there, 1 ÷ (length + 1) where it is absent."""
    places = [{one: at for at, one in enumerate(documents, start=1)} for documents in lists]
    return tuple(
        tuple(1 / place.get(one, len(documents) + 1) for one in ranking)
        for documents, place in zip(lists, places, strict=True)
    )


def optimized_law(lists: Sequence[Ranking], k: int) -> list[tuple[InterleavedList, float]]:
    """The lists that can be served, and with which probability: of all laws under which clicks that look at
    places alone favour nobody, the one that tells rankers apart best.

    Radlinski and Craswell, Optimized interleaving for online retrieval evaluation (2013); Schuth and others,
    Multileaved comparisons for fast online evaluation (2014). ValueError where there is no such law.
    """
    from scipy.optimize import linprog

    rankings = prefix_rankings(lists, k)
    credits = [rank_credits(lists, ranking) for ranking in rankings]
    rows = []
    for cutoff in range(1, max(map(len, rankings)) + 1):
        sums = np.array([[sum(one[:cutoff]) for one in each] for each in credits])
        rows += [sums[:, at] - sums[:, at + 1] for at in range(len(lists) - 1)]
    equal = np.array([*rows, np.ones(len(rankings))])
    wanted = np.array([*np.zeros(len(rows)), 1.0])
    cost = [_insensitivity(each) for each in credits]
    solved = linprog(cost, A_eq=equal, b_eq=wanted, bounds=(0, 1), method="highs")
    if not solved.success:
        raise ValueError("There is no fair law over these lists; use team-draft.")
    edges = credited_places(lists, k)
    return [
        (InterleavedList(ranking, each, *edges), float(p))
        for ranking, each, p in zip(rankings, credits, solved.x, strict=True)
        if p > 1e-12
    ]


def _insensitivity(credits: Sequence[Sequence[float]]) -> float:
    """Σ over rankers of (credit - mean)², for clicks at 1 ÷ place: a large one tells them apart less well."""
    sums = [sum(one / place for place, one in enumerate(each, start=1)) for each in credits]
    mean = sum(sums) / len(sums)
    return sum((one - mean) ** 2 for one in sums)


def optimized(lists: Sequence[Ranking], k: int, choose: Choose) -> InterleavedList:
    """A list by the law above; by team draft beyond ten places, and where there is no such law."""
    if k > LONGEST_OPTIMIZED:
        return team_draft(lists, k, choose)
    try:
        law = optimized_law(lists, k)
    except ValueError:
        return team_draft(lists, k, choose)
    steps = 2**53
    point, before = choose(steps) / steps, 0.0
    for one, p in law:
        before += p
        if point < before:
            return one
    return law[-1][0]


def pairwise_preference(lists: Sequence[Ranking], k: int, choose: Choose) -> InterleavedList:
    """Each place draws uniformly from the documents that some ranker has there or above and that are not
    listed yet. What clicks say is in `preference_scores`, so there are no credits.

    Oosterhuis and de Rijke, Sensitive and scalable online evaluation with theoretical guarantees (2017).
    """
    ranking: list[str] = []
    for place in range(min(k, len({one for documents in lists for one in documents}))):
        depth = place + 1
        able: dict[str, None] = {}
        while not able:
            able = {one: None for documents in lists for one in documents[:depth] if one not in ranking}
            depth += 1
        ranking.append(list(able)[choose(len(able))] if len(able) > 1 else next(iter(able)))
    return InterleavedList(tuple(ranking), (), 0, len(ranking))


def preference_scores(lists: Sequence[Ranking], ranking: Ranking, clicked: Sequence[int]) -> list[float]:
    """What clicks on these places (0-based) of a list by `pairwise_preference` are worth to each ranker.

    A clicked document beats the unclicked ones above it and the next one. The preference counts for rankers
    that have it higher and against the others, divided by the probability that both were still to be shown,
    if both could have been from that place on.
    """
    best = {one: min(documents.index(one) for documents in lists if one in documents) for one in ranking}
    candidates = [
        len({one for documents in lists for one in documents[: at + 1]}) for at in range(len(ranking))
    ]
    ranks = [{one: at for at, one in enumerate(documents)} for documents in lists]
    scores = [0.0] * len(lists)
    for winner, loser in _preferences(len(ranking), clicked):
        first, second = ranking[winner], ranking[loser]
        top = min(winner, loser)
        if top < max(best[first], best[second]):
            continue
        chance = 1.0
        for at in range(min(best[first], best[second]), top):
            chance *= 1 - 1 / (candidates[at] - at)
        for ranker, rank in enumerate(ranks):
            higher = rank.get(first, len(rank)) < rank.get(second, len(rank))
            lower = rank.get(first, len(rank)) > rank.get(second, len(rank))
            scores[ranker] += (higher - lower) / chance
    return scores


def _preferences(length: int, clicked: Sequence[int]) -> Iterator[tuple[int, int]]:
    chosen = set(clicked)
    for place in sorted(chosen):
        yield from ((place, above) for above in range(place) if above not in chosen)
        if place + 1 < length and place + 1 not in chosen:
            yield place, place + 1


METHODS: dict[Method, Callable[[Sequence[Ranking], int, Choose], InterleavedList]] = {
    "team-draft": team_draft,
    "optimized": optimized,
    "pairwise-preference": pairwise_preference,
}
