"""What the clicks on interleaved lists say of each pair of rankers. The unit is the user, not the click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypedDict

from pooling.formats.wording import aligned, counted, signed
from pooling.heavy import Floats, np
from pooling.interleaving.outcomes import (
    LEVEL,
    PRIOR,
    ROUNDING,
    ClearQuery,
    FirstPicks,
    anytime_p,
    clear_queries,
    confidence_sequence,
    e_value,
    first_outcomes,
    first_picks,
    sign_test,
)
from pooling.interleaving.served import Impression, ServedList
from pooling.ranking.bounds import FEWEST_FOR_INTERVAL, holm

#: With fewer credited clicks nothing is called decided.
FEWEST_CLICKS = 1_000
RESAMPLES = 10_000
#: With a larger share of the clicks on documents that their lists do not have, nothing is called decided: the
#: few that agree with an id do so by chance.
MOST_UNKNOWN = 0.1


class PairVerdict(TypedDict):
    """Ranker `a` against `b`. wins, losses, ties: users, by `first_outcomes`. e_value, anytime_p and share
    (of wins, a confidence sequence): hold at every look; sign_test_p: at one planned look alone. difference:
    Σ (credit of a - credit of b) ÷ Σ (both), with its percentile interval over users (None with too few
    credited) and the p-value of flipped signs."""

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
    on documents that the list does not have, unknown_share: of all clicks, unknown_example: the first, with
    its list; unknown_lists: rows of lists that were not served. first_picks: None without team drafts."""

    impressions: int
    users: int
    clicks: int
    credited_clicks: int
    same_lists: int
    unknown_clicks: int
    unknown_share: float
    unknown_example: list[str] | None
    unknown_lists: int
    first_picks: FirstPicks | None
    clear_queries: list[ClearQuery]
    pairs: list[PairVerdict]


def judge(
    served: Mapping[str, ServedList],
    impressions: Sequence[Impression],
    *,
    unknown_lists: int = 0,
    seed: int = 0,
) -> InterleavingVerdict:
    """Each pair of rankers, corrected for their number (Holm). impressions: in the order of time."""
    runs = next(iter(served.values())).runs
    users = {name: at for at, name in enumerate(dict.fromkeys(one.user for one in impressions))}
    user = np.array([users[one.user] for one in impressions])
    worth = np.array([served[one.served].worth(one.places) for one in impressions])
    # A document that a user clicked on twice in the same list is credited once.
    seen: dict[tuple[str, str], set[int]] = {}
    for one in impressions:
        seen.setdefault((one.served, one.user), set()).update(one.places)
    table, credited = np.zeros((len(users), len(runs))), 0
    for (name, person), places in seen.items():
        table[users[person]] += served[name].worth(sorted(places))
        credited += sum(served[name].first <= place < served[name].end for place in places)
    pairs = [
        _pair(
            (runs[a], runs[b]),
            first_outcomes(user, worth[:, a] - worth[:, b]),
            (table[:, a], table[:, b]),
            seed=seed,
        )
        for a, b in combinations(range(len(runs)), 2)
    ]
    picks = first_picks(served, impressions)
    unknown = [(document, one.served) for one in impressions for document in one.unknown]
    unknown_share = len(unknown) / max(1, len(unknown) + sum(len(one.places) for one in impressions))
    p_values = np.array([one["anytime_p"] for one in pairs])
    for pair, corrected in zip(pairs, holm(p_values).tolist(), strict=True):
        pair["corrected_p"] = corrected
        pair["verdict"] = _in_words(pair, credited, picks, unknown_share)
    return {
        "impressions": len(seen),
        "users": len(users),
        "clicks": sum(map(len, seen.values())),
        "credited_clicks": credited,
        "same_lists": sum(served[name].is_same for name, _ in seen),
        "unknown_clicks": len(unknown),
        "unknown_share": unknown_share,
        "unknown_example": list(unknown[0]) if unknown else None,
        "unknown_lists": unknown_lists,
        "first_picks": picks,
        "clear_queries": [] if unknown_share > MOST_UNKNOWN else clear_queries(served, impressions),
        "pairs": pairs,
    }


def _pair(
    names: tuple[str, str], outcomes: Floats, credits: tuple[Floats, Floats], *, seed: int
) -> PairVerdict:
    ours, theirs = credits
    ahead = np.where(np.abs(ours - theirs) < ROUNDING, 0.0, ours - theirs)
    wins, losses = int((outcomes > 0).sum()), int((outcomes < 0).sum())
    both = np.abs(ours) + np.abs(theirs)
    low, high, p = _resampled(ahead, both, seed)
    total = float(both.sum())
    return {
        "a": names[0],
        "b": names[1],
        "wins": wins,
        "losses": losses,
        "ties": len(outcomes) - wins - losses,
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


def _resampled(ahead: Floats, both: Floats, seed: int) -> tuple[float | None, float | None, float | None]:
    """Percentiles over users drawn again (none of few who clicked), and the p-value of flipped signs."""
    if not both.any():
        return None, None, None
    rng = np.random.default_rng(seed)
    differences, flipped = np.empty(RESAMPLES), np.empty(RESAMPLES)
    for start in range(0, RESAMPLES, 500):
        rows = rng.integers(0, len(ahead), (500, len(ahead)))
        below = both[rows].sum(axis=1)
        differences[start : start + 500] = np.divide(
            ahead[rows].sum(axis=1), below, out=np.zeros(500), where=below > 0
        )
        signs = rng.integers(0, 2, (500, len(ahead))) * 2 - 1
        flipped[start : start + 500] = np.abs(signs @ ahead)
    tail = (1 - LEVEL) / 2
    extreme = int((flipped >= abs(ahead.sum()) - 1e-9).sum())
    p_value = (extreme + 1) / (RESAMPLES + 1)
    if np.count_nonzero(both) < FEWEST_FOR_INTERVAL:
        return None, None, p_value
    low, high = np.quantile(differences, [tail, 1 - tail])
    return float(low), float(high), p_value


def _in_words(pair: PairVerdict, credited: int, picks: FirstPicks | None, unknown_share: float) -> str:
    ahead, behind = (pair["a"], pair["b"]) if pair["wins"] >= pair["losses"] else (pair["b"], pair["a"])
    nothing = f"Nothing can be said of {pair['a']} and {pair['b']}"
    if unknown_share > MOST_UNKNOWN:
        return f"{nothing}: too many clicks are on documents that their lists do not have."
    if pair["wins"] + pair["losses"] == 0:
        return f"No user told {pair['a']} and {pair['b']} apart."
    if picks is not None and not picks["balanced"]:
        return f"{nothing}: first picks were not drawn evenly."
    if credited < FEWEST_CLICKS:
        needed = f"{counted(credited, 'credited click')} of the {FEWEST_CLICKS:,} that a decision needs"
        return f"Too early to tell {ahead} from {behind}: {needed}."
    if pair["corrected_p"] <= 1 - LEVEL:
        return f"{ahead} is preferred to {behind}."
    return f"Not decided: {ahead} is ahead of {behind}, within what chance does."


HEADER = ("a", "b", "wins of a", "losses", "ties", "share of wins", "e-value", "p at any time", "difference")


def verdict_text(verdict: InterleavingVerdict) -> str:
    table = aligned([HEADER, *map(_row, verdict["pairs"])])
    notes = [
        f"{counted(verdict['impressions'], 'impression')} by {counted(verdict['users'], 'user')}, "
        f"{counted(verdict['clicks'], 'click')}, {verdict['credited_clicks']:,} of them credited.",
        "Wins, losses and ties are users, by the first list that decided. Share, e-value and p hold at every "
        "look; p is corrected for the number of pairs (Holm).",
    ]
    if same := verdict["same_lists"]:
        notes.append(f"{counted(same, 'impression')} of lists on which the runs agree.")
    unknown = _unknown_clicks(verdict)
    is_large = verdict["unknown_share"] > MOST_UNKNOWN
    if unknown and not is_large:
        notes.append(unknown)
    if strangers := verdict["unknown_lists"]:
        notes.append(f"{counted(strangers, 'row')} of lists that were not served, left out.")
    if picks := verdict["first_picks"]:
        counts = ", ".join(f"{count:,} by {name}" for name, count in picks["counts"].items())
        notes.append(f"First picks of {counted(picks['lists'], 'list')}: {counts}.")
        if not picks["balanced"]:
            notes.append(
                f"The chance of that with even draws is {picks['p']:.2g}: look for lists that were not "
                "served, not logged, or not drawn for each user."
            )
    if clear := verdict["clear_queries"]:
        one = clear[0]
        notes.append(
            f"On {counted(len(clear), 'query')} one run wins four of five users, such as {one['winner']} on "
            f"“{one['query_id']}” ({one['wins']:,} to {one['losses']:,}); --clear-queries writes them."
        )
    verdicts = [pair["verdict"] for pair in verdict["pairs"]]
    return "\n".join([*([unknown] if is_large else []), *verdicts, "", *table, "", *notes])


def _unknown_clicks(verdict: InterleavingVerdict) -> str:
    if verdict["unknown_example"] is None:
        return ""
    document, served = verdict["unknown_example"]
    return (
        f"{100 * verdict['unknown_share']:.1f} % of the clicks ({verdict['unknown_clicks']:,}) are on "
        f"documents that their lists do not have, such as “{document}” in “{served}”, and are left out."
    )


def _row(pair: PairVerdict) -> tuple[str, ...]:
    low, high = pair["share"]
    difference = signed(pair["difference"])
    if pair["difference_low"] is not None:
        difference += f" [{signed(pair['difference_low'])}, {signed(pair['difference_high'])}]"
    elif pair["difference"] is not None:
        difference += " (too few users for an interval)"
    return (
        pair["a"],
        pair["b"],
        f"{pair['wins']:,}",
        f"{pair['losses']:,}",
        f"{pair['ties']:,}",
        f"{low:.3f}–{high:.3f}",
        f"{pair['e_value']:.3g}",
        f"{pair['corrected_p']:.3g}",
        difference,
    )
