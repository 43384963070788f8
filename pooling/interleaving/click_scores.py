"""Scores of query-document pairs from clicks, with intervals, and none where clicks cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pooling.heavy import Floats, Integers, np, special
from pooling.interleaving.click_models import (
    click_rates,
    clicks_over_expected,
    dependent,
    expected_clicks,
    joined_to_first,
    position_based_each,
    weighed,
)
from pooling.interleaving.impressions import Impressions

ESTIMATES = {"sdbn": dependent, "ctr": click_rates}
LEAST_IMPRESSIONS, LEAST_USERS = 10, 3
DRAWS = 200
LEVEL = 0.95
#: Standard deviations: more than 1.96, since those of few clicks are too small themselves.
NORMAL = 2.5
#: A draw without a click counts as this much less than the score, where logarithms are taken.
MOST_TIMES = 20
COLUMNS = ("query", "document_id", "impressions", "clicks", "users", "score", "low", "high", "coec", "note")
FEW = f"fewer than {LEAST_IMPRESSIONS} impressions"
UNSEEN = "was never looked at, as the model has it"
FEW_PEOPLE = f"fewer than {LEAST_USERS} people"
NO_PLACE = "cannot be told from its place"


@dataclass(frozen=True)
class ClickScore:
    """A pair; without a score, `note` says why. coec: clicks over expected clicks, shrunk; 1 is usual."""

    query: str
    document: str
    impressions: int
    clicks: int
    users: int
    score: float | None
    low: float | None
    high: float | None
    coec: float
    note: str


def click_scores(
    seen: Impressions, model: str, propensities: Mapping[int, float] | None = None, *, seed: int = 0
) -> list[ClickScore]:
    """Every pair, by query and document.

    With `propensities` by position, `pbm` divides clicks by the impressions that were looked at. Limits are
    the widest of percentiles of 200 bootstrap draws of users, of 2.5 standard deviations of their
    logarithms, and of those of a count (gamma).
    """
    count = len(seen.pairs)
    impressions = np.bincount(seen.pair, minlength=count)
    clicks = np.bincount(seen.pair, weights=seen.clicked, minlength=count)
    users = _users(seen)
    compared = seen
    if model == "pbm" and propensities is None:
        compared = seen.at(joined_to_first(seen))
    score, low, high, looked = _scored(compared, model, propensities, seed)
    coec = clicks_over_expected(*expected_clicks(seen))
    placed = np.bincount(compared.pair, minlength=count)
    are_few = impressions < LEAST_IMPRESSIONS
    notes = np.where(are_few, FEW, np.where(_users(compared) < LEAST_USERS, FEW_PEOPLE, ""))
    notes = np.where((notes == "") & (looked <= 0), UNSEEN, notes)
    notes = np.where(~are_few & (placed < LEAST_IMPRESSIONS), NO_PLACE, notes)
    scores = [
        ClickScore(
            query=query,
            document=document,
            impressions=int(impressions[at]),
            clicks=int(clicks[at]),
            users=int(users[at]),
            score=None if notes[at] else float(score[at]),
            low=None if notes[at] else float(low[at]),
            high=None if notes[at] else float(high[at]),
            coec=float(coec[at]),
            note=str(notes[at]),
        )
        for at, (query, document) in enumerate(seen.pairs)
    ]
    return sorted(scores, key=lambda one: (one.query, one.document))


def _users(seen: Impressions) -> Integers:
    pairs = np.unique(np.stack([seen.pair, seen.user]), axis=1)[0]
    return np.bincount(pairs, minlength=len(seen.pairs))


def _scored(
    seen: Impressions, model: str, propensities: Mapping[int, float] | None, seed: int
) -> tuple[Floats, Floats, Floats, Floats]:
    count = len(seen.pairs)
    if not len(seen):
        return np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)

    def estimates(draws: Iterable[Floats | None]) -> Iterator[tuple[Floats, Floats]]:
        if propensities is not None:
            return (weighed(seen, propensities, weights) for weights in draws)
        if model == "pbm":
            return position_based_each(seen, draws)
        return (ESTIMATES[model](seen, weights) for weights in draws)

    chance = np.random.default_rng(seed)
    people = int(seen.user.max()) + 1
    times = (np.bincount(chance.integers(people, size=people), minlength=people) for _ in range(DRAWS))
    score, looked = next(estimates([None]))
    draws = np.array([one for one, _ in estimates(time[seen.user].astype(np.float64) for time in times)])
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    # Draws of a pair without a click have none either, which says nothing of how many could have come.
    least, most = _gamma_limits(score * looked, np.where(looked > 0, looked, 1.0))
    reach = np.exp(NORMAL * np.log(np.maximum(draws, np.maximum(score / MOST_TIMES, 1e-9))).std(axis=0))
    low, high = np.minimum(low, score / reach), np.maximum(high, score * reach)
    return score, np.minimum(low, least), np.minimum(np.maximum(high, most), 1.0), looked


def _gamma_limits(clicks: Floats, looked: Floats) -> tuple[Floats, Floats]:
    """Exact limits of a rate: G(.025; c) and G(.975; c + 1), divided by the exposure."""
    tail = (1 - LEVEL) / 2
    low = np.where(clicks > 0, special.gammaincinv(np.maximum(clicks, 1e-9), tail), 0.0) / looked
    return np.minimum(low, 1.0), np.minimum(special.gammaincinv(clicks + 1, 1 - tail) / looked, 1.0)


def score_lines(scores: list[ClickScore]) -> Iterator[str]:
    """Tab-separated values with a header; what there is no score of is empty."""
    yield "\t".join(COLUMNS) + "\n"
    for one in scores:
        figures = ["" if figure is None else f"{figure:.6f}" for figure in (one.score, one.low, one.high)]
        counts = [str(number) for number in (one.impressions, one.clicks, one.users)]
        yield (
            "\t".join(
                [one.query, " ".join(one.document.split()), *counts, *figures, f"{one.coec:.6f}", one.note]
            )
            + "\n"
        )
