"""Runs over reports, as a picture. No Django here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from evaluation.charts.drawing import SHAPES
from pooling.heavy import alt, pd
from pooling.interface.charting import LIGHT, Theme, finished


def over_time_size(runs: int, *, narrow: bool = False) -> tuple[int, int]:
    return (380, 360 + 23 * runs) if narrow else (860, 400)


def legend_of_runs(*, narrow: bool) -> alt.Legend:
    return alt.Legend(
        title=None,
        orient="bottom" if narrow else "right",
        columns=1,
        labelLimit=280,
        symbolLimit=0,
        symbolOpacity=1,
        symbolSize=90,
    )


def marks_of(column: str, names: Sequence[str], theme: Theme, *, narrow: bool) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape for each name in a column, in one legend."""
    colours = [theme.runs[number % len(theme.runs)] for number in range(len(names))]
    marks = [SHAPES[number % len(SHAPES)] for number in range(len(names))]
    legend = legend_of_runs(narrow=narrow)
    colour = alt.Color(f"{column}:N", scale=alt.Scale(domain=names, range=colours), legend=legend)
    return colour, alt.Shape(f"{column}:N", scale=alt.Scale(domain=names, range=marks), legend=legend)


def heights(ends: Sequence[float], title: str) -> Callable[[str], alt.Y]:
    """The height of a column's shares, on an axis of whole tenths around all `ends`."""
    bottom, top = math.floor(10 * min(ends) - 0.2) / 10, math.ceil(10 * max(ends) + 0.2) / 10
    scale = alt.Scale(domain=[max(bottom, 0.0), min(top, 1.0)], nice=False)
    axis = alt.Axis(format=".2f", tickCount=6)
    return lambda column: alt.Y(f"{column}:Q", title=title, scale=scale, axis=axis)


def runs_over_time(values: pd.DataFrame, *, title: str, narrow: bool = False) -> alt.LayerChart:
    """A line for each run over reports, with its intervals.

    values: run, report (a label; reports stand in the order of the rows), mean, low, high (perhaps missing).
    """
    theme = LIGHT
    runs, reports = (list(dict.fromkeys(values[name])) for name in ("run", "report"))
    axis = alt.Axis(labelAngle=-35 if narrow or len(reports) > 5 else 0, labelLimit=140, grid=False)
    across = alt.X("report:O", title=None, sort=reports, axis=axis)
    height = heights([end for name in ("mean", "low", "high") for end in values[name].dropna()], title)
    colour, shape = marks_of("run", runs, theme, narrow=narrow)
    base = alt.Chart(values).encode(x=across, color=colour)
    layers = [
        base.mark_rule(strokeWidth=4, opacity=0.25).encode(y=height("low"), y2=alt.Y2("high:Q")),
        base.mark_line(strokeWidth=1.75).encode(y=height("mean")),
        base.mark_point(filled=True, size=70, opacity=1).encode(y=height("mean"), shape=shape),
    ]
    return finished(layers, over_time_size(len(runs), narrow=narrow), theme)
