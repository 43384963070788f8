"""Recall against latency as a picture. No Django here."""

from __future__ import annotations

import math

from evaluation.indexes.latency import LatencyTable
from pooling.heavy import alt, pd
from pooling.interface.charting import LIGHT, finished

# From this ratio of the slowest setting to the fastest on, milliseconds stand on a logarithmic axis.
WIDE = 8.0
FRONT, BEHIND = "Pareto front", "dominated"


def latency_chart_size(*, narrow: bool = False) -> tuple[int, int]:
    return (380, 420) if narrow else (860, 460)


def recall_and_latency(table: LatencyTable, *, narrow: bool = False) -> alt.LayerChart:
    """Each setting a mark with the interval of its recall; those on the Pareto front joined by a line.

    What another setting beats in both is a hollow, quiet mark, and labelled too. The target is a dashed line.
    """
    theme = LIGHT
    rows = [
        {
            "run": row["run"],
            "latency": row["latency_ms"],
            "mean": row["mean"],
            "low": row["low"],
            "high": row["high"],
            "kind": FRONT if row["on_front"] else BEHIND,
        }
        for row in table.rows
        if row["mean"] is not None
    ]
    frame = pd.DataFrame(rows, columns=["run", "latency", "mean", "low", "high", "kind"])
    times = frame["latency"]
    wide = len(frame) > 1 and times.max() / times.min() >= WIDE
    # Room for the names on both sides.
    span = times.max() / times.min() if wide else times.max() - times.min() or times.max()
    room = span**0.12 if wide else 0.14 * span
    ends = [times.min() / room, times.max() * room] if wide else [times.min() - room, times.max() + room]
    across = alt.X(
        "latency:Q",
        title="Latency of a query in milliseconds" + (" (logarithmic)" if wide else ""),
        scale=alt.Scale(type="log" if wide else "linear", domain=[float(end) for end in ends], nice=False),
        axis=alt.Axis(tickCount=4 if narrow else 8, format="~g", grid=False),
    )
    lowest = [frame["mean"].min(), frame["low"].min(), table.target["at_least"] if table.target else 1.0]
    bottom = math.floor(20 * min(float(value) for value in lowest if not math.isnan(value)) - 0.2) / 20
    share = alt.Scale(domain=[max(bottom, 0.0), 1.0], nice=False)
    axis = alt.Axis(format=".2f", tickCount=6)

    def height(column: str) -> alt.Y:
        return alt.Y(f"{column}:Q", title=f"Recall@{table.k} of the exact run", scale=share, axis=axis)

    kinds = alt.Scale(domain=[FRONT, BEHIND], range=[theme.runs[0], theme.quiet])
    legend = alt.Legend(title=None, orient="top", direction="horizontal", symbolOpacity=1, labelLimit=280)
    colour = alt.Color("kind:N", scale=kinds, legend=legend)
    shapes = alt.Scale(domain=[FRONT, BEHIND], range=["circle", "diamond"])
    base = alt.Chart(frame).encode(x=across, color=colour)
    front = base.transform_filter(f"datum.kind == '{FRONT}'")
    layers = [
        front.mark_line(strokeWidth=1.75, clip=True).encode(y=height("mean")),
        base.mark_rule(strokeWidth=3, opacity=0.4, clip=True).encode(y=height("low"), y2=alt.Y2("high:Q")),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            y=height("mean"), shape=alt.Shape("kind:N", scale=shapes, legend=legend)
        ),
        *_names(frame, across, height("mean"), narrow=narrow, inks=(theme.ink, theme.quiet)),
    ]
    if table.target is not None:
        least = table.target["at_least"]
        facts = {"mean": [least], "latency": [float(ends[1])], "name": [f"target {least:g}"]}
        line = alt.Chart(pd.DataFrame(facts)).encode(y=height("mean"))
        rule = line.mark_rule(strokeDash=[6, 4], strokeWidth=1.5, color=theme.runs[1])
        name = line.mark_text(align="right", dx=-2, dy=10, fontSize=12, color=theme.runs[1])
        layers += [rule, name.encode(x=across, text=alt.Text("name:N"))]
    return finished(layers, latency_chart_size(narrow=narrow), theme)


def _names(
    frame: pd.DataFrame, across: alt.X, height: alt.Y, *, narrow: bool, inks: tuple[str, str]
) -> list[alt.Chart]:
    """The settings' names: above and left of the front, below and right of what lies behind it."""
    size, limit = (10, 110) if narrow else (12, 220)

    def named(kind: str, ink: str, *, left: bool) -> alt.Chart:
        some = alt.Chart(frame[frame["kind"] == kind]).encode(x=across, y=height, text=alt.Text("run:N"))
        words: alt.Chart = (
            some.mark_text(align="right", dx=-7, dy=-10, fontSize=size, color=ink, limit=limit)
            if left
            else some.mark_text(align="left", dx=8, dy=12, fontSize=size, color=ink, limit=limit)
        )
        return words

    return [named(FRONT, inks[0], left=True), named(BEHIND, inks[1], left=False)]
