"""A canary over the runs imported in time, as a picture. No Django here."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.charts.over_time import heights, marks_of, over_time_size
from pooling.heavy import alt, pd
from pooling.interface.charting import LIGHT, finished


def canary_over_time(
    values: pd.DataFrame,
    *,
    threshold: float,
    title: str,
    breaks: Sequence[str] = (),
    narrow: bool = False,
) -> alt.LayerChart:
    """A line for each family of runs over their import, with intervals, and the threshold as a dashed line.

    values: run, family, at (time of import), stretch (lines end with it), mean, low, high, drop (whether it
    fell beyond noise): those are ringed. Runs of one moment are drawn next to each other in the order of
    import, so that none hides another. breaks: times from which on other queries were measured, as dotted
    lines.
    """
    theme = LIGHT
    families = list(dict.fromkeys(values["family"]))
    across = alt.X(
        "at:T",
        title="Imported",
        axis=alt.Axis(format=_dates(values), tickCount=4 if narrow else 8, grid=False, labelOverlap="greedy"),
        scale=alt.Scale(padding=24),
    )
    ends = [*values["mean"].dropna(), *values["low"].dropna(), *values["high"].dropna(), threshold]
    height = heights(ends, title)
    colour, shape = marks_of("family", families, theme, narrow=narrow)
    base = alt.Chart(values).encode(x=across, color=colour)
    dropped = alt.Chart(values[values["drop"]]).encode(x=across, y=height("mean"))
    line = alt.Chart(pd.DataFrame({"mean": [threshold], "name": [f"threshold {threshold:g}"]}))
    ink = theme.runs[1]
    layers = [
        line.mark_rule(strokeDash=[6, 4], strokeWidth=1.5, color=ink).encode(y=height("mean")),
        line.mark_text(align="right", dx=-2, dy=-8, fontSize=12, color=ink).encode(
            x=alt.value("width"), y=height("mean"), text=alt.Text("name:N")
        ),
        base.mark_line(strokeWidth=1.75).encode(y=height("mean"), detail=alt.Detail("stretch:N")),
        base.mark_rule(strokeWidth=4, opacity=0.35).encode(y=height("low"), y2=alt.Y2("high:Q")),
        base.mark_point(filled=True, size=70, opacity=1).encode(y=height("mean"), shape=shape),
        dropped.mark_point(filled=False, size=330, strokeWidth=2.25, opacity=1, color=theme.ink),
    ]
    if breaks:
        edges = alt.Chart(pd.DataFrame({"at": list(breaks)})).encode(x=across)
        layers.append(edges.mark_rule(strokeDash=[2, 4], strokeWidth=1.5, color=theme.ink))
    return finished(layers, over_time_size(len(families), narrow=narrow), theme)


def _dates(values: pd.DataFrame) -> str:
    """Days, and the time of day where all runs came within a few of them."""
    times = pd.to_datetime(values["at"], utc=True, format="ISO8601")
    return "%-d %b" if times.max() - times.min() > pd.Timedelta(days=4) else "%-d %b %H:%M"
