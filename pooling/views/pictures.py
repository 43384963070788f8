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


def finds(diagnostics: dict[str, Any]) -> list[Bar]:
    """Pairs that one run alone found, most first."""
    unique = diagnostics["unique_finds"]
    largest = max(unique.values()) or 1
    ranked = sorted(unique.items(), key=lambda item: -item[1])
    return [Bar(run, count, count / largest) for run, count in ranked]


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
