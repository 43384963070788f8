"""The picture of a model's calibration: what its scores promise, and what people say. No Django here."""

from __future__ import annotations

from collections.abc import Sequence

from labeling.worth.facts import CalibrationBin
from pooling.heavy import alt, pd
from pooling.interface.charting import DARK, LIGHT, finished, to_svg

SHARE = ("value", "low", "high")


def picture_size(*, narrow: bool = False) -> tuple[int, int]:
    return (340, 320) if narrow else (480, 400)


def calibration_chart(bins: Sequence[CalibrationBin], *, dark: bool, narrow: bool) -> alt.LayerChart:
    """The share of relevant over the mean score of each bin, with 95 % intervals, next to the diagonal of a
    model whose scores are chances; bins as in `labeling.worth.worth.worth`.
    """
    theme = DARK if dark else LIGHT
    table = pd.DataFrame(
        [{"score": row["score"], **row["relevant"]} for row in bins],
        columns=["score", *SHARE],
    ).astype(float)
    scale = alt.Scale(domain=[0, 1], nice=False)
    across = alt.X(
        "score:Q",
        title="Score: probability of relevant, from the model",
        scale=scale,
        axis=alt.Axis(format=".0%", tickCount=5, grid=False),
    )

    def at(column: str) -> alt.Y:
        return alt.Y(
            f"{column}:Q",
            title="Share relevant, from people",
            scale=scale,
            axis=alt.Axis(format=".0%", tickCount=5),
        )

    ideal = alt.Chart(pd.DataFrame({"score": [0.0, 1.0], "value": [0.0, 1.0]})).mark_line(
        color=theme.quiet, strokeDash=[4, 4], strokeWidth=1
    )
    base = alt.Chart(table).encode(x=across)
    interval = base.mark_rule(strokeWidth=3, color=theme.runs[0], opacity=0.45)
    mark = base.mark_point(filled=True, size=70, color=theme.runs[0], opacity=1)
    layers = [
        ideal.encode(x=across, y=at("value")),
        interval.encode(y=at("low"), y2=alt.Y2("high:Q")),
        mark.encode(y=at("value")),
    ]
    return finished(layers, picture_size(narrow=narrow), theme)


def calibration_svg(bins: Sequence[CalibrationBin], variant: str) -> bytes:
    """The picture as SVG; `variant` is one of `pooling.interface.charting.VARIANTS`."""
    return to_svg(calibration_chart(bins, dark=variant.startswith("dark"), narrow=variant.endswith("narrow")))
