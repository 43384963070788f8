"""Figures of a pool as rows for tables: how it grows with depth, how runs overlap, what each found alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from pooling.merging.stored_diagnosis import Diagnosis, Sizes

# Columns that a page has room for.
MOST_RUNS = 20
TABLE_DEPTHS = (1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000)


@dataclass(frozen=True)
class Bar:
    """A labelled bar; `share` is its length, 0 to 1."""

    label: str
    value: int
    share: float


OWN = '<td class="self">–</td>'


@dataclass(frozen=True)
class HeatRow:
    number: int
    run: str
    cells: SafeString


@dataclass(frozen=True)
class Overlap:
    """percent: of the documents of `run` that `other` has too."""

    run: str
    other: str
    percent: int


@dataclass(frozen=True)
class HeatMap:
    """The overlap of the runs that found most alone, in the order of all runs. more: how many are left out;
    then most and least: the two extremes of all pairs of runs."""

    rows: Sequence[HeatRow]
    more: int = 0
    most: Overlap | None = None
    least: Overlap | None = None


def growth(sizes: Sequence[int]) -> list[Bar]:
    """Pairs in the pool at some depths, the last one always among them; sizes: pairs at depth 1, 2, …."""
    depths = [depth for depth in TABLE_DEPTHS if depth < len(sizes)] + [len(sizes)]
    return [Bar(str(depth), sizes[depth - 1], sizes[depth - 1] / sizes[-1]) for depth in depths]


def distribution(sizes: Sizes) -> list[Bar]:
    bins = sizes["bins"]
    largest = max(queries for _, _, queries in bins)
    return [
        Bar(str(low) if low == high else f"{low}–{high}", queries, queries / largest)
        for low, high, queries in bins
    ]


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis, in per cent of the whole picture."""

    label: str
    at: float


@dataclass(frozen=True)
class Curve:
    """A line with its axes. points: in a box of 100 by 40; marked: the place of a depth that stands out."""

    points: str
    pairs: list[Tick]
    depths: list[Tick]
    marked: Tick | None = None


# The box of the line within the picture, in per cent.
LEFT, RIGHT, TOP, BOTTOM = 12.0, 97.0, 12.0, 80.0


def curve(sizes: Sequence[int], marked: int | None = None) -> Curve:
    """The growth with depth, from the origin on; sizes: pairs at depth 1, 2, …; `marked`: a depth to show."""
    step = -(-len(sizes) // 200)
    points = [(0, 0), *((depth, sizes[depth - 1]) for depth in [*range(1, len(sizes), step), len(sizes)])]

    def across(depth: int) -> float:
        return LEFT + (RIGHT - LEFT) * depth / len(sizes)

    return Curve(
        " ".join(
            f"{100 * depth / len(sizes):.1f},{40 - 40 * pairs / sizes[-1]:.1f}" for depth, pairs in points
        ),
        [
            Tick(_short(pairs), BOTTOM - (BOTTOM - TOP) * pairs / sizes[-1])
            for pairs in round_numbers(sizes[-1])
        ],
        [Tick(f"{depth:,}", across(depth)) for depth in round_numbers(len(sizes))],
        None if marked is None or marked > len(sizes) else Tick(f"{marked:,}", across(marked)),
    )


def _short(pairs: int) -> str:
    """Short enough for a phone."""
    return f"{pairs // 1000:,} k" if pairs >= 10_000 else f"{pairs:,}"


def round_numbers(most: int) -> list[int]:
    """From 0 to at most `most` in steps of 1, 2 or 5 times a power of ten, six at most.

    >>> round_numbers(1769)
    [0, 500, 1000, 1500]
    >>> round_numbers(3)
    [0, 1, 2, 3]
    """
    steps = (digit * 10**power for power in range(12) for digit in (1, 2, 5))
    step = next(step for step in steps if most <= 5 * step)
    return list(range(0, most + 1, step))


@dataclass(frozen=True)
class RunRow:
    run: str
    pairs: int
    alone: int
    share: float
    family: list[str]


def by_run(diagnosis: Diagnosis) -> list[RunRow]:
    """The runs, those that found most alone first."""
    alone, contributed = diagnosis["unique_finds"], diagnosis["contributed"]
    largest = max(alone.values()) or 1
    kin = {name: group for group in diagnosis["families"] for name in group}
    return [
        RunRow(
            run, contributed[run], count, count / largest, [name for name in kin.get(run, []) if name != run]
        )
        for run, count in sorted(alone.items(), key=lambda item: (-item[1], item[0]))
    ]


def label_rows(runs: Sequence[str], alone: Mapping[str, int]) -> list[Bar]:
    """Relevant pairs that one run alone found, by its name, most first."""
    largest = max(alone.values()) or 1
    ranked = sorted(runs, key=lambda run: (-alone[run], run))
    return [Bar(run, alone[run], alone[run] / largest) for run in ranked]


def heat_map(runs: Sequence[str], overlap: Sequence[Sequence[float]], alone: Mapping[str, int]) -> HeatMap:
    """The overlap of two runs, row by row; `overlap[i][j]`: share of run i's top that run j has too."""
    ranked = sorted(range(len(runs)), key=lambda place: (-alone[runs[place]], runs[place]))
    places = sorted(ranked[:MOST_RUNS])
    rows = [
        HeatRow(number, runs[place], _heat_cells(number, [overlap[place][other] for other in places]))
        for number, place in enumerate(places, 1)
    ]
    if len(places) == len(runs):
        return HeatMap(rows)
    pairs = [
        (share, row, column)
        for row, shares in enumerate(overlap)
        for column, share in enumerate(shares)
        if row != column
    ]
    extremes = (max(pairs), min(pairs))
    most, least = (Overlap(runs[row], runs[column], round(100 * share)) for share, row, column in extremes)
    return HeatMap(rows, len(runs) - len(places), most, least)


def _heat_cells(own: int, shares: Sequence[float]) -> SafeString:
    cells = (OWN if number == own else _heat(share) for number, share in enumerate(shares, 1))
    return mark_safe("".join(cells))  # noqa: S308  numbers alone


def _heat(share: float) -> str:
    """A cell, in one of eleven colours; a template would take a second for those of a hundred runs."""
    return f'<td class="heat-{round(10 * share)}">{round(100 * share)}</td>'
