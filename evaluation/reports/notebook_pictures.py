"""Charts that a notebook shows as SVG, without a network."""

from __future__ import annotations

from typing import Any, cast

from evaluation.charts.html_file import figures_of
from evaluation.charts.kinds import KINDS, default_choice, first_curve
from evaluation.scoring.estimate_figures import Estimates
from evaluation.scoring.results import Evaluation
from pooling.heavy import alt
from pooling.interface.charting import to_svg


class Picture(alt.LayerChart):
    """An Altair chart whose picture is drawn here; Altair's own would load its scripts from a server."""

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> dict[str, str]:
        return {"image/svg+xml": to_svg(self).decode()}


def picture_of(
    result: Evaluation, kind: str, measure: str, estimates: Estimates | None, *, dark: bool
) -> Picture:
    figures = figures_of(result, estimates)
    there = {name: one for name, one in KINDS.items() if one.is_there(figures)}
    kind = kind or first_curve(figures, measure).name
    if kind not in there:
        raise ValueError(f"There is no chart {kind!r} of this result; choose one of {', '.join(there)}.")
    if measure not in result.measures:
        names = ", ".join(result.measures)
        raise ValueError(f"{measure} was not measured; choose one of {names}, or name it under measures.")
    choice = default_choice(figures, measure)
    table = there[kind].table(figures, choice)
    chart = there[kind].draw(table, figures, choice, dark=dark)
    object.__setattr__(chart, "__class__", Picture)  # Altair keeps what is set as part of the picture
    return cast(Picture, chart)
