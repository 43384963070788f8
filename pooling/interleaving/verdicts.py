"""What the clicks on interleaved lists say of each pair of rankers. The unit is the user, not the click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypedDict

from pooling.heavy import np, npt
from pooling.interleaving.sequential import (
    LEVEL,
    PRIOR,
    anytime_p,
    confidence_sequence,
    e_value,
    sign_test,
)
from pooling.interleaving.served import Impression, ServedList

#: With fewer credited clicks nothing is called decided.
FEWEST_CLICKS = 1_000
RESAMPLES = 10_000


class PairVerdict(TypedDict):
    """Ranker `a` against `b`. wins, losses, ties: users. e_value, anytime_p and share (of wins, a confidence
    sequence): hold at every look; sign_test_p: at one planned look alone. difference: Σ (credit of a - credit
    of b) ÷ Σ (both), with its percentile interval over users and the p-value of flipped signs.
    """

    a: str
    b: str
    wins: int
    losses: int
    ties: int
    e_value: float
    anytime_p: float
    corrected_p: float
    share: list[float]
    sign_test_p: float
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    randomisation_p: float | None
    verdict: str


class InterleavingVerdict(TypedDict):
    """What came, and each pair. same_lists: impressions of lists on which the rankers agree; unknown_clicks:
    on documents that the list does not have; unknown_lists: rows of lists that were not served."""

    impressions: int
    users: int
    clicks: int
    credited_clicks: int
    same_lists: int
    unknown_clicks: int
    unknown_lists: int
    pairs: list[PairVerdict]


def judge(
    served: Mapping[str, ServedList],
    impressions: Sequence[Impression],
    *,
    unknown_lists: int = 0,
    seed: int = 0,
) -> InterleavingVerdict:
    """Each pair of rankers, corrected for their number (Holm)."""
    runs = next(iter(served.values())).runs
    credits: dict[str, npt.NDArray[np.float64]] = {}
    credited = 0
    for one in impressions:
        worth = np.array(served[one.served].worth(one.places))
        credits[one.user] = credits.get(one.user, np.zeros(len(runs))) + worth
        edges = served[one.served]
        credited += sum(edges.first <= place < edges.end for place in one.places)
    table = np.array(list(credits.values())).reshape(-1, len(runs))
    pairs = [
        _pair((runs[a], runs[b]), table[:, a], table[:, b], seed=seed)
        for a, b in combinations(range(len(runs)), 2)
    ]
    for pair, corrected in zip(pairs, _holm([one["anytime_p"] for one in pairs]), strict=True):
        pair["corrected_p"] = corrected
        pair["verdict"] = _in_words(pair, credited)
    return {
        "impressions": len(impressions),
        "users": len(credits),
        "clicks": sum(len(one.places) for one in impressions),
        "credited_clicks": credited,
        "same_lists": sum(served[one.served].is_same for one in impressions),
        "unknown_clicks": sum(one.unknown for one in impressions),
        "unknown_lists": unknown_lists,
        "pairs": pairs,
    }


def _pair(
    names: tuple[str, str], ours: npt.NDArray[np.float64], theirs: npt.NDArray[np.float64], *, seed: int
) -> PairVerdict:
    ahead = ours - theirs
    # Sums of credits such as 1/3 differ in their last digit alone where users did the same.
    ahead = np.where(np.abs(ahead) < 1e-12, 0.0, ahead)
    wins, losses = int((ahead > 0).sum()), int((ahead < 0).sum())
    both = np.abs(ours) + np.abs(theirs)
    low, high, p = _resampled(ahead, both, seed)
    total = float(both.sum())
    return {
        "a": names[0],
        "b": names[1],
        "wins": wins,
        "losses": losses,
        "ties": len(ahead) - wins - losses,
        "e_value": e_value(wins, losses, PRIOR),
        "anytime_p": anytime_p(wins, losses, PRIOR),
        "corrected_p": 1.0,
        "share": list(confidence_sequence(wins, losses, prior=PRIOR)),
        "sign_test_p": sign_test(wins, losses),
        "difference": float(ahead.sum()) / total if total else None,
        "difference_low": low,
        "difference_high": high,
        "randomisation_p": p,
        "verdict": "",
    }


def _resampled(
    ahead: npt.NDArray[np.float64], both: npt.NDArray[np.float64], seed: int
) -> tuple[float | None, float | None, float | None]:
    """Percentiles of the difference over users drawn again, and the p-value of flipped signs."""
    if not both.any():
        return None, None, None
    rng = np.random.default_rng(seed)
    drawn, flipped = np.empty(RESAMPLES), np.empty(RESAMPLES)
    for start in range(0, RESAMPLES, 500):
        rows = rng.integers(0, len(ahead), (500, len(ahead)))
        below = both[rows].sum(axis=1)
        drawn[start : start + 500] = np.divide(
            ahead[rows].sum(axis=1), below, out=np.zeros(500), where=below > 0
        )
        signs = rng.integers(0, 2, (500, len(ahead))) * 2 - 1
        flipped[start : start + 500] = np.abs(signs @ ahead)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    extreme = int((flipped >= abs(ahead.sum()) - 1e-9).sum())
    return float(low), float(high), (extreme + 1) / (RESAMPLES + 1)


def _holm(p_values: Sequence[float]) -> list[float]:
    order = np.argsort(p_values, kind="stable")
    corrected, before = [1.0] * len(p_values), 0.0
    for step, at in enumerate(order.tolist()):
        before = max(before, min(1.0, (len(p_values) - step) * p_values[at]))
        corrected[at] = before
    return corrected


def _in_words(pair: PairVerdict, credited: int) -> str:
    ahead, behind = (pair["a"], pair["b"]) if pair["wins"] >= pair["losses"] else (pair["b"], pair["a"])
    if pair["wins"] + pair["losses"] == 0:
        return f"No user told {pair['a']} and {pair['b']} apart."
    if credited < FEWEST_CLICKS:
        return f"Too early: {credited:,} credited clicks of the {FEWEST_CLICKS:,} that a decision needs."
    if pair["corrected_p"] <= 1 - LEVEL:
        return f"{ahead} is preferred to {behind}."
    return f"Not decided: {ahead} is ahead of {behind}, within what chance does."
