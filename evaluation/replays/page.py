"""A replay's page, from the stored result: figures as cells, and warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from evaluation.charts.drawing import picture_size
from evaluation.models import Replay
from evaluation.replays.files import by_share, replay_key, result_in_order
from evaluation.replays.simulation import LabelledPoolResult, OutcomeResult
from pooling.formats.wording import plural
from pooling.strategies import STRATEGIES

# Above this share of pairs without a label, a replay says little about the whole pool.
MANY_UNLABELLED = 0.2
# With fewer queries than this, one query moves the means.
FEW_QUERIES = 10
SETTINGS = ("depth", "seeds", "noise", "batch", "k")


class PoolPart(TypedDict):
    """The replayed pool; left_out: pairs without a label."""

    runs: int
    depth: int
    pairs: int
    labelled: int
    unlabelled_share: float
    queries: int
    queries_left_out: int
    relevant: int
    left_out: int


def replay_context(replay: Replay) -> dict[str, Any]:
    """Everything the template needs; nothing is replayed again."""
    result = result_in_order(replay)
    strategies, pool = result["strategies"], result["pool"]
    budgets = [float(share) for share in by_share(result["all_knowing"]["found"])]
    middle = f"{budgets[len(budgets) // 2]:g}"
    ranked = sorted(strategies, key=lambda name: -(strategies[name]["found"][middle] or 0.0))
    return {
        "budgets": [rounded_percent(budget) for budget in budgets],
        "efforts": [rounded_percent(float(share)) for share in result["all_knowing"]["effort"]],
        "middle": rounded_percent(float(middle)),
        "rows": [strategy_row(name, strategies[name]) for name in ranked],
        "best": decimals(result["all_knowing"]["found"]) + decimals(result["all_knowing"]["effort"]),
        "sampled": any(
            value is not None
            for figures in strategies.values()
            for value in figures["estimated_recall_error"].values()
        ),
        "pool": {**pool, "left_out": pool["pairs"] - pool["labelled"]},
        "unlabelled": rounded_percent(pool["unlabelled_share"]),
        "warnings": replay_warnings(replay, pool),
        "summary": finds_in_words(strategies, ranked, middle),
        "settings": {name: replay.options[name] for name in SETTINGS},
        "labels": replay.options["labels"],
        "runs": [run["name"] for run in replay.options["runs"]],
        "chart_key": replay_key(replay),
        "wide_size": picture_size(len(strategies), 2),
        "narrow_size": picture_size(len(strategies), 2, narrow=True),
    }


def rounded_percent(share: float) -> str:
    """A share as words: `25 %`, `2.5 %`."""
    return f"{round(100 * share, 1):g} %"


def strategy_row(name: str, figures: OutcomeResult) -> dict[str, Any]:
    return {
        "name": name,
        "summary": STRATEGIES[name].summary if name in STRATEGIES else "",
        "finds": decimals(figures["found"]) + decimals(figures["effort"]),
        "spread": max((value or 0.0 for value in figures["spread"].values()), default=0.0),
        "tau": decimals(figures["tau"]),
        "raw": decimals(figures["micro_recall_error"]),
        "estimated": decimals(figures["estimated_recall_error"]),
    }


def decimals(values: Mapping[str, float | None]) -> list[str]:
    return ["–" if value is None else f"{value:.3f}" for value in values.values()]


def finds_in_words(strategies: Mapping[str, OutcomeResult], ranked: Sequence[str], middle: str) -> str:
    """The first and the last at the middle budget, in a sentence."""
    share = rounded_percent(float(middle))
    first, last = ranked[0], ranked[-1]
    best = rounded_percent(strategies[first]["found"][middle] or 0.0)
    if len(ranked) == 1:
        return f"After {share} of each query's pool, {first} has found {best} of what is relevant."
    worst = rounded_percent(strategies[last]["found"][middle] or 0.0)
    return (
        f"After {share} of each query's pool, {first} has found {best} of what is relevant, {last} {worst}."
    )


def replay_warnings(replay: Replay, pool: LabelledPoolResult) -> list[str]:
    """Limits of this replay, each in words."""
    warnings = []
    for part in replay.options["chosen_by"]:
        warnings.append(
            f"Pool “{part['name']}” was judged in part: {part['chosen_count']:,} of its "
            f"{part['pair_count']:,} pairs, which the strategy {part['strategy']} had chosen. What it left "
            f"out has no label and is missing here, so these labels speak for that strategy and its kin."
        )
    if pool["unlabelled_share"] > MANY_UNLABELLED:
        warnings.append(
            f"{rounded_percent(pool['unlabelled_share'])} of the pairs have no label and are left out. The "
            "order among the others is compared fairly; how much there is to find in the whole pool is not "
            "known."
        )
    if pool["runs"] == 1:
        warnings.append(
            "There is only one run. With nothing to compare it to, every strategy follows its list, so "
            "they differ little or not at all, and there is no ranking of runs."
        )
    if pool["queries"] < FEW_QUERIES:
        count = pool["queries"]
        warnings.append(
            f"Only {count} {plural(count, 'query counts', 'queries count')}: a single one moves these means."
        )
    return warnings
