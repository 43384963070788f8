"""A replay as files to take away, and its picture, which is drawn once and then kept."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from evaluation.charts import drawing as charts
from evaluation.models import Replay
from pooling.formats.cells import table_text
from pooling.interface.downloads import Download
from pooling.storage.pictures import kept_svg

if TYPE_CHECKING:
    pass

# Counts up when the picture changes, so that those of older versions are drawn again.
LOOK = 1
FIGURES = (
    "found",
    "spread",
    "effort",
    "tau",
    "recall_error",
    "micro_recall_error",
    "estimated_recall_error",
)


def result_in_order(replay: Replay) -> dict[str, Any]:
    """The object that `simulate --format json` prints: PostgreSQL hands keys back in an order of its own."""
    result = replay.result
    names = replay.options["strategies"]
    curves = result["curves"]
    return {
        "strategies": {
            name: {figure: by_share(result["strategies"][name][figure]) for figure in FIGURES}
            for name in names
        },
        "all_knowing": {figure: by_share(values) for figure, values in result["all_knowing"].items()},
        "curves": {
            "share": curves["share"],
            "found": {name: curves["found"][name] for name in names},
            "all_knowing": curves["all_knowing"],
        },
        "pool": result["pool"],
        "settings": result["settings"],
    }


def by_share(values: dict[str, Any]) -> dict[str, Any]:
    """The same values, the least share first."""
    return {share: values[share] for share in sorted(values, key=float)}


def chart_key(replay: Replay) -> str:
    """Differs between any two pictures: what makes an address safe to cache for ever."""
    drawn = json.dumps([LOOK, replay.options["strategies"], replay.result["curves"]], sort_keys=True)
    return hashlib.sha256(drawn.encode()).hexdigest()[:16]


def chart_svg(replay: Replay, variant: str) -> bytes:
    """The found-by-effort curves as SVG; `variant` is one of `pooling.interface.charting.VARIANTS`."""
    name = f"replays/{chart_key(replay)}-{variant}.svg"
    return kept_svg(name, lambda: draw(replay, variant))


def draw(replay: Replay, variant: str) -> Any:
    """The Altair chart of the curves."""
    curves = result_in_order(replay)["curves"]
    return charts.found_curves(
        curves["found"],
        curves["share"],
        curves["all_knowing"],
        dark=variant.startswith("dark"),
        narrow=variant.endswith("narrow"),
    )


def as_json(replay: Replay) -> bytes:
    """The contract's object, indented."""
    return (json.dumps(result_in_order(replay), ensure_ascii=False, indent=2) + "\n").encode()


def as_csv(replay: Replay) -> bytes:
    """One row per strategy; a column for each figure and share, such as `found@0.25`."""
    strategies = result_in_order(replay)["strategies"]
    first = next(iter(strategies.values()))
    columns = ["strategy", *(f"{figure}@{share}" for figure in FIGURES for share in first[figure])]
    rows = [
        [name, *(value for figure in FIGURES for value in figures[figure].values())]
        for name, figures in strategies.items()
    ]
    return table_text(columns, rows).encode()


FILES: dict[str, Download[[Replay]]] = {
    "csv": Download(".csv", "text/csv", as_csv),
    "json": Download(".json", "application/json", as_json),
    "svg": Download(".svg", "image/svg+xml", lambda replay: chart_svg(replay, "light")),
}
