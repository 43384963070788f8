"""Wins and losses of an interleaving experiment, what it leaves to a pool, and whether it ran as drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, exp, inf, lgamma, log
from typing import TypedDict

from pooling.heavy import Floats, Integers, np, pl, special
from pooling.interleaving.served import Impression, ServedList

#: One side wins a query clearly with this share of the users who decided, and so many of them.
CLEAR_SHARE, FEWEST_USERS = 0.8, 20
#: Sums of credits such as 1/3 differ in their last digit alone where users did the same.
ROUNDING = 1e-12
#: Below this chance first picks were not drawn evenly.
UNEVEN = 0.0005
TEAM_DRAFT = "team-draft"
#: Both parameters of the mixture's Beta distribution: most power for 5 to 10 % more wins than losses.
PRIOR = 50.0
LEVEL = 0.95
_STEPS = 200


class FirstPicks(TypedDict):
    """How often users saw a list whose first credited place each ranker had picked, and on how many lists.
    balanced: whether even draws explain it."""

    counts: dict[str, int]
    lists: int
    p: float
    balanced: bool


class ClearQuery(TypedDict):
    """A query that `winner` wins against `loser`. wins, losses, ties: users, by `first_outcomes`."""

    query_id: str
    winner: str
    loser: str
    wins: int
    losses: int
    ties: int


def first_outcomes(user: Integers, ahead: Floats) -> Floats:
    """(users,) what each user's first impression that was not a tie says: 1, -1, or 0 where there is none.

    user: (impressions,) numbers from 0, in the order of time. What came later would turn outcomes over that
    were looked at already, and then looks err more often than they promise.
    """
    outcomes = np.zeros(int(user.max()) + 1)
    decided = np.flatnonzero(np.abs(ahead) > ROUNDING)[::-1]
    # From the last to the first: of a user's impressions the one stored last stays.
    outcomes[user[decided]] = np.sign(ahead[decided])
    return outcomes


def first_picks(served: Mapping[str, ServedList], impressions: Sequence[Impression]) -> FirstPicks | None:
    """The first picks of team drafts, by χ² against equal shares; None where no draft tells rankers apart.

    A list that was seen again was not drawn again: χ² is divided by Σ n² ÷ Σ n over lists seen n times (Rao
    and Scott, 1981). Other methods draw first places by other laws.
    """
    seen: dict[str, set[str]] = {}
    for one in impressions:
        if served[one.served].method == TEAM_DRAFT and not served[one.served].is_same:
            seen.setdefault(one.served, set()).add(one.user)
    if not seen:
        return None
    runs = served[next(iter(seen))].runs
    times = np.array([len(users) for users in seen.values()])
    picks = [int(np.argmax([credit[served[name].first] for credit in served[name].credits])) for name in seen]
    counts = np.bincount(picks, weights=times, minlength=len(runs))
    even = times.sum() / len(runs)
    far = float(((counts - even) ** 2 / even).sum() * times.sum() / (times**2).sum())
    p = float(special.chdtrc(len(runs) - 1, far))
    named = dict(zip(runs, counts.astype(int).tolist(), strict=True))
    return {"counts": named, "lists": len(seen), "p": p, "balanced": p >= UNEVEN}


def clear_queries(served: Mapping[str, ServedList], impressions: Sequence[Impression]) -> list[ClearQuery]:
    """The queries on which one ranker wins four fifths of at least twenty users who prefer one of a pair."""
    by_query: dict[str, list[Impression]] = {}
    for one in impressions:
        by_query.setdefault(served[one.served].query_id, []).append(one)
    runs = next(iter(served.values())).runs
    queries: list[ClearQuery] = []
    for query, own in by_query.items():
        users = {name: at for at, name in enumerate(dict.fromkeys(one.user for one in own))}
        user = np.array([users[one.user] for one in own])
        worth = np.array([served[one.served].worth(one.places) for one in own])
        for a, b in combinations(range(len(runs)), 2):
            outcomes = first_outcomes(user, worth[:, a] - worth[:, b])
            wins, losses = int((outcomes > 0).sum()), int((outcomes < 0).sum())
            more, fewer = max(wins, losses), min(wins, losses)
            if more + fewer >= FEWEST_USERS and more >= CLEAR_SHARE * (more + fewer):
                names = (runs[a], runs[b]) if wins > losses else (runs[b], runs[a])
                queries.append(
                    ClearQuery(
                        query_id=query,
                        winner=names[0],
                        loser=names[1],
                        wins=more,
                        losses=fewer,
                        ties=len(users) - more - fewer,
                    )
                )
    return queries


def clear_lines(queries: Sequence[ClearQuery]) -> Iterator[str]:
    columns = tuple(ClearQuery.__annotations__)
    yield "\t".join(columns) + "\n"
    for one in queries:
        yield "\t".join(str(one[name]) for name in columns) + "\n"  # type: ignore[literal-required]


def served_run(served: Mapping[str, ServedList], impressions: Sequence[Impression]) -> pl.DataFrame:
    """Documents shown for each query (query_id, document_id, 1 ÷ rank): by best place, times shown, id."""
    places: dict[str, dict[str, tuple[int, int]]] = {}
    for one in impressions:
        of_query = places.setdefault(served[one.served].query_id, {})
        for place, document in enumerate(served[one.served].ranking):
            best, times = of_query.get(document, (place, 0))
            of_query[document] = min(best, place), times + 1
    rows = [
        (query, document, 1 / rank)
        for query, of_query in places.items()
        for rank, document in enumerate(
            sorted(of_query, key=lambda one: (of_query[one][0], -of_query[one][1], one)), 1
        )
    ]
    columns = {"query_id": pl.String, "document_id": pl.String, "score": pl.Float64}
    return pl.DataFrame(rows, schema=columns, orient="row")


# Wins against losses, looked at as often as one likes: e-values and confidence sequences.
#
# A test whose p-value is looked at again and again errs ever more often. An e-value may be looked at at any
# time: the chance that it ever reaches 1/α without a difference is at most α.
def e_value(wins: int, losses: int, prior: float = PRIOR) -> float:
    """2ⁿ · B(a + wins, a + losses) ÷ B(a, a): how much better a mixture of Beta(a, a) says what came than a
    coin does. Robbins, Statistical methods related to the law of the iterated logarithm (1970).

    >>> round(e_value(65, 35, prior=1), 6)
    11.461394
    """
    return exp((wins + losses) * log(2) + _mixture(wins, losses, prior))


def _mixture(wins: int, losses: int, prior: float) -> float:
    return _log_beta(prior + wins, prior + losses) - _log_beta(prior, prior)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def anytime_p(wins: int, losses: int, prior: float = PRIOR) -> float:
    """1 ÷ the e-value, at most 1."""
    return min(1.0, 1 / e_value(wins, losses, prior))


def confidence_sequence(wins: int, losses: int, *, prior: float = PRIOR) -> tuple[float, float]:
    """The shares of wins p that are not refuted: B(a + wins, a + losses) ÷ B(a, a) < p^wins (1-p)^losses ÷ α.

    Holds at all looks together with the probability `LEVEL`.
    """
    bound = _mixture(wins, losses, prior) + log(1 - LEVEL)

    def excess(p: float) -> float:
        """Above 0 where p is not refuted."""
        likelihood = (wins * log(p) if wins else 0.0) + (losses * log(1 - p) if losses else 0.0)
        return likelihood - bound

    middle = wins / (wins + losses) if wins + losses else 0.5
    low = 0.0 if not wins else _edge(excess, 0.0, middle)
    high = 1.0 if not losses else _edge(excess, 1.0, middle)
    return low, high


def _edge(excess: Callable[[float], float], outside: float, inside: float) -> float:
    """Where the excess changes its sign, by halving."""
    if not 0 < inside < 1:
        inside = min(max(inside, 1e-12), 1 - 1e-12)
    for _ in range(_STEPS):
        middle = (outside + inside) / 2
        if middle in (outside, inside):
            break
        value = excess(middle) if 0 < middle < 1 else -inf
        outside, inside = (outside, middle) if value > 0 else (middle, inside)
    return inside


def sign_test(wins: int, losses: int) -> float:
    """The exact two-sided p-value of wins against losses; ties are left out before.

    >>> round(sign_test(65, 35), 6)
    0.003518
    """
    n, fewer = wins + losses, min(wins, losses)
    tail = sum(comb(n, at) for at in range(fewer + 1))
    return min(1.0, float(Fraction(2 * tail, 2**n)))
