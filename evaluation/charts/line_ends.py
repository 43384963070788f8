"""Names of runs at the ends of their lines, pushed apart where lines end close together. No Django here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pooling.heavy import alt, pd

# Of more runs than this only the best have their names at their lines.
MOST_NAMED = 8
# Where names begin, right of the axis.
BEGIN = 16
# The room of a name: on a phone, next to a legend, and elsewhere.
NARROW, NEXT_TO_LEGEND, WIDE = 92, 140, 280
# Pixels between two names, and a generous guess at the width of a letter: fonts differ by machine.
APART, LETTER = 17, 7.6


def are_enough(runs: Sequence[str], *, narrow: bool = False) -> bool:
    """True where every run has its name at its line, so that the picture needs no legend of runs."""
    return len(runs) <= MOST_NAMED and not (narrow and _longest(runs) > NARROW)


def room_of(runs: Sequence[str], *, narrow: bool = False) -> int:
    """The most pixels that a name may have; 0 where a phone has no room for any."""
    if are_enough(runs, narrow=narrow):
        return NARROW if narrow else WIDE
    return 0 if narrow else NEXT_TO_LEGEND


def beside(runs: Sequence[str], room: int) -> int:
    """Pixels that the names take, between the lines and a legend."""
    return BEGIN + round(min(_longest(runs), room)) if room else 0


def _longest(runs: Sequence[str]) -> float:
    return LETTER * max(map(len, runs), default=0)


def pushed_apart(heights: Sequence[float], apart: float, *, low: float, high: float) -> list[float]:
    """Heights at least `apart` from each other, between low and high if they fit, as near as can be to where
    they were and in the same order.

    >>> pushed_apart([0.5, 0.5, 0.1], 0.25, low=0, high=1)
    [0.375, 0.625, 0.1]
    """
    order = sorted(range(len(heights)), key=lambda at: heights[at])
    # Groups of names that touch; a group stands with its middle where the middle of its lines is.
    groups: list[list[int]] = []

    def bottom(group: list[int]) -> float:
        span = apart * (len(group) - 1)
        middle = sum(heights[at] for at in group) / len(group)
        return max(low, min(middle - span / 2, high - span))

    for at in order:
        groups.append([at])
        while len(groups) > 1 and bottom(groups[-2]) + apart * len(groups[-2]) > bottom(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    placed = {at: bottom(group) + apart * place for group in groups for place, at in enumerate(group)}
    return [placed[at] for at in range(len(heights))]


def ends_of(curve: pd.DataFrame, *, top: float, plot_height: int) -> pd.DataFrame:
    """The last points of the best runs, with the height `name_at`. top: axis end; plot_height: pixels."""
    points = curve.dropna(subset="mean")
    last = points.loc[points.groupby("run", sort=False)["k"].idxmax()]
    best = last.nlargest(MOST_NAMED, "mean", keep="first")
    heights = pushed_apart(list(best["mean"]), APART * top / plot_height, low=0.0, high=top)
    return best[["run", "k", "mean"]].assign(name_at=heights)


def names(ends: pd.DataFrame, across: alt.X, share: dict[str, Any], *, room: int) -> list[alt.Chart]:
    """A name for each row of `ends`, and a thin line to it from its own line's end; room: pixels at most."""
    base = alt.Chart(ends)
    leader = base.mark_rule(strokeWidth=1).encode(
        x=across,
        x2=alt.value(alt.expr(f"width + {BEGIN - 3}")),
        y=alt.Y("mean:Q", **share),
        y2=alt.Y2("name_at:Q"),
    )
    words = base.mark_text(align="left", baseline="middle", fontSize=13, limit=room).encode(
        x=alt.value(alt.expr(f"width + {BEGIN}")), y=alt.Y("name_at:Q", **share), text=alt.Text("run:N")
    )
    return [leader, words]
