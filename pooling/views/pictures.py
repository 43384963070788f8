"""Figures of a pool as rows for tables: how it grows with depth, how runs overlap, what each found alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SHOWN_DEPTHS = (1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000)


@dataclass(frozen=True)
class Bar:
    """A labelled bar; `share` is its length, 0 to 1."""

    label: str
    value: int
    share: float


@dataclass(frozen=True)
class HeatCell:
    """How much of one run's top another run found too; `heat` is one of eleven colours."""

    percent: int
    heat: int
    own: bool


@dataclass(frozen=True)
class HeatRow:
    """A run with its overlap with every run, and the pairs that it alone found."""

    number: int
    run: str
    cells: list[HeatCell]


def growth(diagnostics: dict[str, Any]) -> list[Bar]:
    """Pairs in the pool at some depths, the last one always among them."""
    sizes = diagnostics["size_by_depth"]
    depths = [depth for depth in SHOWN_DEPTHS if depth < len(sizes)] + [len(sizes)]
    return [Bar(str(depth), sizes[depth - 1], sizes[depth - 1] / sizes[-1]) for depth in depths]


def distribution(diagnostics: dict[str, Any]) -> list[Bar]:
    """Queries by the number of their pairs."""
    bins = diagnostics["sizes"]["bins"]
    largest = max(queries for _, _, queries in bins)
    return [
        Bar(str(low) if low == high else f"{low}–{high}", queries, queries / largest)
        for low, high, queries in bins
    ]


def curve(diagnostics: dict[str, Any]) -> str:
    """The growth with depth as points of an SVG of 100 by 40, from the origin on."""
    sizes = diagnostics["size_by_depth"]
    step = -(-len(sizes) // 200)
    points = [(0, 0), *((depth, sizes[depth - 1]) for depth in [*range(1, len(sizes), step), len(sizes)])]
    return " ".join(
        f"{100 * depth / len(sizes):.1f},{40 - 40 * pairs / sizes[-1]:.1f}" for depth, pairs in points
    )


@dataclass(frozen=True)
class RunRow:
    """A run in a pool: pairs found, pairs that it alone found, and its near-duplicates."""

    run: str
    pairs: int | None
    alone: int
    share: float
    family: list[str]


def by_run(diagnostics: dict[str, Any]) -> list[RunRow]:
    """The runs, those that found most alone first; pools of older versions do not know `pairs`."""
    alone, contributed = diagnostics["unique_finds"], diagnostics.get("contributed", {})
    largest = max(alone.values()) or 1
    kin = {name: group for group in diagnostics.get("families", []) for name in group}
    return [
        RunRow(
            run,
            contributed.get(run),
            count,
            count / largest,
            [name for name in kin.get(run, []) if name != run],
        )
        for run, count in sorted(alone.items(), key=lambda item: (-item[1], item[0]))
    ]


def label_rows(diagnostics: dict[str, Any], finds: dict[str, Any]) -> list[Bar]:
    """Relevant pairs that one run alone found, most first."""
    alone = finds["relevant_alone"]
    largest = max(alone.values()) or 1
    ranked = sorted(diagnostics["runs"], key=lambda run: (-alone[run], run))
    return [Bar(run, alone[run], alone[run] / largest) for run in ranked]


def heat_map(diagnostics: dict[str, Any]) -> list[HeatRow]:
    """The overlap of every two runs, row by row."""
    return [
        HeatRow(
            row + 1,
            run,
            [
                HeatCell(round(100 * share), round(10 * share), row == column)
                for column, share in enumerate(shares)
            ],
        )
        for row, (run, shares) in enumerate(zip(diagnostics["runs"], diagnostics["overlap"], strict=True))
    ]
