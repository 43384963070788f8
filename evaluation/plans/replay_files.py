from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from evaluation.charts import drawing as charts
from evaluation.models import Replay
from evaluation.plans.simulation import OutcomeResult, SimulationResult
from pooling.formats.cells import table_text
from pooling.heavy import alt
from pooling.interface.downloads import Download
from pooling.storage.pictures import kept_svg

Value = TypeVar("Value")

# Counts up when the picture changes, so that those of older versions are drawn again.
LOOK = 1


def result_in_order(replay: Replay) -> SimulationResult:
    """The object that `simulate --format json` prints: PostgreSQL hands keys back in its own order."""
    result: SimulationResult = replay.result
    names = replay.options["strategies"]
    curves = result["curves"]
    return {
        "strategies": {name: _in_order(result["strategies"][name]) for name in names},
        "all_knowing": {
            "found": by_share(result["all_knowing"]["found"]),
            "effort": by_share(result["all_knowing"]["effort"]),
        },
        "curves": {
            "share": curves["share"],
            "found": {name: curves["found"][name] for name in names},
            "all_knowing": curves["all_knowing"],
        },
        "pool": result["pool"],
        "settings": result["settings"],
    }


def _in_order(outcome: OutcomeResult) -> OutcomeResult:
    return {
        "found": by_share(outcome["found"]),
        "spread": by_share(outcome["spread"]),
        "effort": by_share(outcome["effort"]),
        "tau": by_share(outcome["tau"]),
        "recall_error": by_share(outcome["recall_error"]),
        "micro_recall_error": by_share(outcome["micro_recall_error"]),
        "estimated_recall_error": by_share(outcome["estimated_recall_error"]),
    }


def by_share(values: dict[str, Value]) -> dict[str, Value]:
    return {share: values[share] for share in sorted(values, key=float)}


def replay_key(replay: Replay) -> str:
    """Differs between any two pictures: what makes an address safe to cache for ever."""
    content = json.dumps([LOOK, replay.options["strategies"], replay.result["curves"]], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def replay_svg(replay: Replay, variant: str) -> bytes:
    """The found-by-effort curves as SVG; `variant` is one of `pooling.interface.charting.VARIANTS`."""
    stem = f"replays/{replay_key(replay)}"
    return kept_svg(stem, variant, lambda is_narrow: replay_picture(replay, narrow=is_narrow))


def replay_picture(replay: Replay, *, narrow: bool = False) -> alt.LayerChart:
    curves = result_in_order(replay)["curves"]
    return charts.strategy_curves(curves["found"], curves["share"], curves["all_knowing"], narrow=narrow)


def replay_json(replay: Replay) -> bytes:
    return (json.dumps(result_in_order(replay), ensure_ascii=False, indent=2) + "\n").encode()


def replay_csv(replay: Replay) -> bytes:
    """One row per strategy; a column for each figure and share, such as `found@0.25`."""
    strategies = result_in_order(replay)["strategies"]
    first = _columns(next(iter(strategies.values())))
    columns = ["strategy", *(name for name, _ in first)]
    rows = [[name, *(value for _, value in _columns(outcome))] for name, outcome in strategies.items()]
    return table_text(columns, rows).encode()


def _columns(outcome: OutcomeResult) -> list[tuple[str, float | None]]:
    """Figure and share such as `found@0.25`, with the value there."""
    figures: Mapping[str, Any] = outcome
    return [(f"{name}@{share}", value) for name, by in figures.items() for share, value in by.items()]


FILES: dict[str, Download[[Replay]]] = {
    "csv": Download(".csv", "text/csv", replay_csv),
    "json": Download(".json", "application/json", replay_json),
    "svg": Download(".svg", "image/svg+xml", lambda replay: replay_svg(replay, "light")),
}
