"""The picture of a breakdown: a dot with its interval for each group and run. No Django here."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.charts.drawing import SHAPES
from pooling.heavy import alt, pd
from pooling.interface.charting import DARK, LIGHT, finished

# More runs would lie on each other, and more groups would not fit a screen.
MOST_RUNS = 8
MOST_GROUPS = 20
_ROW, _GAP = 17, 16


def breakdown_size(groups: int, runs: int, *, narrow: bool = False) -> tuple[int, int]:
    """Width and height of the picture of this many groups and runs, legend included."""
    height = 70 + groups * (_ROW * runs + _GAP)
    if narrow:
        return 380, height + (23 * runs + 16 if runs > 1 else 0)
    return 860, max(height, 60 + 24 * runs)


def breakdown_picture(
    table: pd.DataFrame, runs: Sequence[str], *, title: str, dark: bool = False, narrow: bool = False
) -> alt.LayerChart:
    """Groups as bands in their order, in each a row per run: its mean, and its interval where there is one.

    table: group (its label), run, mean, low, high; missing values are not drawn. Runs differ by colour and
    by mark.
    """
    theme = DARK if dark else LIGHT
    groups = list(dict.fromkeys(table["group"]))
    ends = table[["mean", "high"]].max().max()
    top = 1.0 if not ends <= 1 else min(1.0, -(-float(ends) * 10 // 1) / 10 or 1.0)
    scale = alt.Scale(domain=[0, max(top, 0.1)], nice=False)
    legend = None
    if len(runs) > 1:
        legend = alt.Legend(
            title=None,
            orient="bottom" if narrow else "right",
            columns=1,
            labelLimit=280,
            symbolLimit=0,
            symbolSize=90,
            symbolOpacity=1,
        )
    names = alt.Axis(labelLimit=130 if narrow else 260, grid=False, ticks=False, domain=False)
    bands = alt.Scale(paddingInner=0.12, paddingOuter=0.06)
    base = alt.Chart(table).encode(
        y=alt.Y("group:N", sort=groups, title=None, axis=names, scale=bands),
        yOffset=alt.YOffset("run:N", sort=list(runs), scale=alt.Scale(domain=list(runs))),
        color=alt.Color(
            "run:N", scale=alt.Scale(domain=list(runs), range=list(theme.runs[: len(runs)])), legend=legend
        ),
    )

    def across(column: str) -> alt.X:
        axis = alt.Axis(format=".1f", tickCount=6)
        return alt.X(f"{column}:Q", title=title, scale=scale, axis=axis)

    rule = base.mark_rule(opacity=0.55, strokeWidth=3).encode(x=across("low"), x2="high:Q")
    shapes = [SHAPES[number % len(SHAPES)] for number in range(len(runs))]
    dot = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=across("mean"),
        shape=alt.Shape("run:N", scale=alt.Scale(domain=list(runs), range=shapes), legend=legend),
    )
    between = alt.Chart(table.drop_duplicates("group")).mark_bar(color=theme.line, opacity=0.35)
    stripes = between.encode(
        y=alt.Y("group:N", sort=groups, title=None, axis=names, scale=bands),
        x=alt.value(0),
        x2=alt.value("width"),
    )
    return finished([stripes, rule, dot], breakdown_size(len(groups), len(runs), narrow=narrow), theme)
