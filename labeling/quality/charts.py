"""Pictures of the quality page: Altair specifications of what `queue_quality` found. No Django here."""

from __future__ import annotations

from collections.abc import Sequence

from labeling.quality.facts import DayFigures, PlaceFigures, QueueQuality
from pooling.heavy import alt, pd
from pooling.interface.charting import DARK, LIGHT, finished, to_svg

# Days that a picture holds; of a longer queue, the last ones.
MOST_DAYS = 60


def picture_size(*, narrow: bool = False) -> tuple[int, int]:
    return (360, 260) if narrow else (540, 280)


def position_chart(rows: Sequence[PlaceFigures], *, dark: bool, narrow: bool) -> alt.LayerChart:
    """The share of relevant by place in a session, with 95 % intervals; rows as in `queue_quality`."""
    theme = DARK if dark else LIGHT
    groups = [(f"{row['first']}–{row['last']}" if row["last"] else f"{row['first']} on", row) for row in rows]
    table = pd.DataFrame(
        [
            {"place": name, "share": row["share"], "low": row["low"], "high": row["high"]}
            for name, row in groups
            if row["verdicts"]
        ],
        columns=["place", "share", "low", "high"],
    ).astype({"share": float, "low": float, "high": float})
    order = [name for name, _ in groups]
    axis = alt.Axis(labelAngle=0, grid=False)
    across = alt.X(
        "place:N", title="Place in the session", sort=order, axis=axis, scale=alt.Scale(domain=order)
    )
    scale = alt.Scale(domainMin=0, nice=True)

    def at(column: str) -> alt.Y:
        return alt.Y(
            f"{column}:Q",
            title="Share of relevant",
            scale=scale,
            axis=alt.Axis(format=".0%", tickCount=5),
        )

    base = alt.Chart(table).encode(x=across)
    interval = base.mark_rule(strokeWidth=3, color=theme.runs[0], opacity=0.45)
    mark = base.mark_point(filled=True, size=70, color=theme.runs[0], opacity=1)
    layers = [interval.encode(y=at("low"), y2=alt.Y2("high:Q")), mark.encode(y=at("share"))]
    return finished(layers, picture_size(narrow=narrow), theme)


def pace_chart(rows: Sequence[DayFigures], *, dark: bool, narrow: bool) -> alt.LayerChart:
    """Verdicts by day; rows as in `queue_quality`."""
    theme = DARK if dark else LIGHT
    days = list(rows)[-MOST_DAYS:]
    table = pd.DataFrame(
        {"day": [row["day"].isoformat() for row in days], "verdicts": [row["verdicts"] for row in days]}
    ).astype({"day": str, "verdicts": float})
    width = max(2, min(24, (picture_size(narrow=narrow)[0] - 110) // max(1, _span(days))))
    across = alt.X(
        "day:T",
        title="Day",
        axis=alt.Axis(format="%-d %b", grid=False, tickCount=4 if narrow else 6, labelOverlap=True),
        scale=alt.Scale(type="utc", padding=width),
    )
    height = alt.Y(
        "verdicts:Q",
        title="Verdicts that stand",
        scale=alt.Scale(domainMin=0, nice=True),
        axis=alt.Axis(format=",d", tickCount=5, tickMinStep=1),
    )
    bars = alt.Chart(table).mark_bar(color=theme.runs[0], width=width).encode(x=across, y=height)
    return finished([bars], picture_size(narrow=narrow), theme)


def _span(days: Sequence[DayFigures]) -> int:
    return (days[-1]["day"] - days[0]["day"]).days + 1 if days else 1


PICTURES = ("position", "pace")


def quality_svg(quality: QueueQuality, picture: str, variant: str) -> bytes:
    """One of PICTURES as SVG; `variant` is one of `pooling.interface.charting.VARIANTS`."""
    dark, narrow = variant.startswith("dark"), variant.endswith("narrow")
    if picture == "position":
        return to_svg(position_chart(quality["by_position"], dark=dark, narrow=narrow))
    return to_svg(pace_chart(quality["per_day"], dark=dark, narrow=narrow))
