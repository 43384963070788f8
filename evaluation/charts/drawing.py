"""Pictures of an evaluation: Altair specifications. No Django here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.charts import line_ends
from evaluation.charts.tables import HIGHEST, MOST_RUN_ROWS, lines_of, rows_of_many, with_row
from pooling.heavy import alt, pd
from pooling.interface.charting import DARK, LIGHT, Theme, finished, to_pdf, to_png, to_svg

__all__ = [
    "DARK",
    "LIGHT",
    "forest",
    "forest_size",
    "picture_size",
    "recall_curve",
    "strategy_curves",
    "to_pdf",
    "to_png",
    "to_svg",
]

# Runs share a colour only from the ninth on, and then differ by dash; neighbours differ by mark as well, so
# that no reader needs the colour. Each colour has a contrast of at least 3 to 1 with its background.
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 3), (9, 3, 2, 3), (4, 4), (12, 4), (1, 5))
# What the legend calls the uncertainty of a curve: as everywhere, the interval is thick and the bounds thin.
INTERVAL, BOUNDS = "interval: which queries", "bounds: unjudged documents"
# Of more runs than this the bands hide each other.
MOST_BANDS = 2
WIDTHS = {INTERVAL: 5, BOUNDS: 1}
# Conditions of a live picture, whose parameter `pointed` names a run.
NOBODY, THIS = "pointed == ''", "datum.run == pointed"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")


def recall_curve(
    curve: pd.DataFrame,
    *,
    dark: bool = False,
    narrow: bool = False,
    title: str = "Recall@K",
    chosen: Sequence[str] | None = None,
    live: bool = False,
) -> alt.LayerChart:
    """The curve of one measure over K, one line per run with its interval as a band.

    curve: one row per run and K with the columns `run`, `k`, `mean`, `low`, `high` (`low` and `high` may be
    missing values: then there is no band), and perhaps `lower_bound` and `upper_bound`: where some differ,
    they are a lighter band with thin edges, and the legend names both. Of more than two runs only the best
    has bands. Runs keep the order of the rows. Their names are at the ends of their lines; of many runs only
    the best have theirs there, and all have a place in a legend. At a single K each run has a row, of many
    runs those with the highest means.
    `narrow` is for a phone. K is on a logarithmic axis, because the first ranks matter most. `chosen`: only
    these have colour, band and name; the others are thin grey lines behind them. `live` adds what a page can
    do and a file cannot: words on hovering, and the parameter `pointed`, a run that has its bands while the
    others are dimmed.
    """
    runs = list(dict.fromkeys(curve["run"]))
    coloured = runs if chosen is None else [run for run in runs if run in set(chosen)]
    look = Look(coloured, DARK if dark else LIGHT, narrow, _pointing() if live else None)
    share = {"title": title, "scale": _share_scale(curve)}
    cutoffs, bounds = curve["k"].nunique(), _has_bounds(curve)
    if cutoffs == 1:
        share["title"] = lines_of(title, rows_of_many(len(runs), HIGHEST))
        runs = with_row(curve.set_index("run")["mean"])
        curve = curve[curve["run"].isin(runs)]
        look = replace(look, runs=runs)
        layers = _dots(curve, look, share, bounds=bounds)
        size = picture_size(len(runs), cutoffs, narrow=narrow, bounds=bounds)
    else:
        room, is_named = (
            line_ends.room_of(coloured, narrow=narrow),
            line_ends.are_enough(coloured, narrow=narrow),
        )
        look = replace(look, room=room, is_named=is_named)
        in_front = curve[curve["run"].isin(coloured)]
        layers = _lines(in_front, look, share, bounds=bounds)
        # Above the bands, which would hide them, and below the lines.
        layers[-2:-2] = _behind(curve[~curve["run"].isin(coloured)], look, share)
        size = picture_size(len(coloured), cutoffs, narrow=narrow, bounds=bounds, legend=not is_named)
        layers += _names(in_front, look, share, plot_height=size[1] - _beside_the_plot(look, bounds=bounds))
    if live:
        layers += [_hovered(curve, look, share, single=cutoffs == 1)]
    picture = finished(layers, size, look.theme)
    return picture.properties(usermeta={"runs": runs}) if live else picture


def _pointing() -> alt.Parameter:
    """The run that somebody points at in a page, by mouse, finger or keys; empty when nobody does."""
    return alt.param(name="pointed", value="")


def _names(curve: pd.DataFrame, look: Look, share: dict[str, Any], *, plot_height: int) -> list[alt.Chart]:
    if not look.room or curve["mean"].isna().all():
        return []
    cutoffs = sorted({int(k) for k in curve["k"]})
    ends = line_ends.ends_of(curve, top=share["scale"]["domain"][1], plot_height=plot_height)
    layers = line_ends.names(ends, _cutoff_axis(cutoffs), share, room=look.room)
    return [look.dimmed(layer.encode(color=look.colour()), 1, rest=0.35) for layer in layers]


def _beside_the_plot(look: Look, *, bounds: bool) -> int:
    """Pixels of a picture's height that its axis, its legends and its edges take, rather more than less."""
    legend = 0 if look.is_named or not look.narrow else 23 * len(look.runs)
    return 75 + legend + (46 if look.narrow else 34) * bounds


def _behind(curve: pd.DataFrame, look: Look, share: dict[str, Any]) -> list[alt.Chart]:
    """Runs that nobody chose, as thin grey lines; in a page, the one pointed at is stronger."""
    if curve.empty:
        return []

    cutoffs = sorted({int(k) for k in curve["k"]})
    base = alt.Chart(curve).encode(x=_cutoff_axis(cutoffs), detail=alt.Detail("run:N"))
    line = base.mark_line(strokeWidth=1, color=look.theme.quiet).encode(y=alt.Y("mean:Q", **share))
    if look.pointed is None:
        return [line.encode(opacity=alt.value(0.5))]
    strength = alt.when(NOBODY).then(alt.value(0.5)).when(THIS).then(alt.value(1)).otherwise(alt.value(0.1))
    band = base.mark_area(color=look.theme.quiet).encode(y=alt.Y("low:Q", **share), y2=alt.Y2("high:Q"))
    return [look.of_pointed(band, 0.2, ()), line.encode(opacity=strength)]


def _hovered(curve: pd.DataFrame, look: Look, share: dict[str, Any], *, single: bool) -> alt.Chart:
    """Unseen marks, larger than those below them, that say run, K, mean, interval and bounds."""
    rows = curve.assign(
        interval=_spans(curve, "low", "high"), bounds=_spans(curve, "lower_bound", "upper_bound")
    )
    words = [
        alt.Tooltip("run:N", title="run"),
        *([] if single else [alt.Tooltip("k:Q", title="K")]),
        alt.Tooltip("mean:Q", title="mean", format=".3f"),
        alt.Tooltip("interval:N", title="interval"),
        *([alt.Tooltip("bounds:N", title="bounds")] if _has_bounds(curve) else []),
    ]
    mark = alt.Chart(rows).mark_point(filled=True, size=260, opacity=0.0)
    if single:
        place = {"x": alt.X("mean:Q", **share), "y": alt.Y("run:N", sort=list(look.runs))}
    else:
        cutoffs = sorted({int(k) for k in curve["k"]})
        place = {"x": _cutoff_axis(cutoffs), "y": alt.Y("mean:Q", **share)}
    hovered: alt.Chart = mark.encode(tooltip=words, **place)
    return hovered


def _spans(curve: pd.DataFrame, low: str, high: str) -> list[str]:
    if low not in curve.columns:
        return [""] * len(curve)
    ends = zip(curve[low], curve[high], strict=True)
    return ["none" if math.isnan(least) else f"{least:.3f} to {most:.3f}" for least, most in ends]


def strategy_curves(
    curves: Mapping[str, Sequence[float]],
    shares: Sequence[float],
    best: Sequence[float],
    *,
    narrow: bool = False,
) -> alt.LayerChart:
    """Shares of the relevant documents found after judging shares of a pool, one line each from the origin
    on.

    curves: by strategy, the share of the relevant documents found at each of `shares`. best: the same for
    somebody who knows the labels, drawn dotted.
    """
    look = Look(list(curves), LIGHT, narrow)
    rows = [
        (name, share, recall)
        for name, curve in curves.items()
        for share, recall in zip((0.0, *shares), (0.0, *curve), strict=True)
    ]
    base = alt.Chart(pd.DataFrame(rows, columns=["run", "share", "found"]))
    # From 0 to 1 both ways, so that two pictures can be held side by side.
    scale, axis = alt.Scale(domain=[0, 1], nice=False), alt.Axis(format=".0%", tickCount=6)
    across = alt.X("share:Q", title="Judged, of each query's pool", scale=scale, axis=axis)
    height = alt.Y("found:Q", title="Found, of the relevant documents", scale=scale, axis=axis)
    lines = base.encode(x=across, y=height, color=look.colour())
    line = lines.mark_line(strokeWidth=1.75, clip=True).encode(strokeDash=look.dash())
    tenths = lines.transform_filter("abs(datum.share * 10 - round(datum.share * 10)) < 0.001")
    mark = tenths.mark_point(filled=True, size=40, opacity=1).encode(shape=look.shape())
    limit = pd.DataFrame({"share": [0.0, *shares], "found": [0.0, *best]})
    dotted = alt.Chart(limit).mark_line(strokeDash=[2, 4], strokeWidth=1.5, color=look.theme.quiet)
    layers = [dotted.encode(x=across, y=height), line, *([] if look.many else [mark])]
    return finished(layers, picture_size(len(curves), len(shares), narrow=narrow), look.theme)


def picture_size(
    run_count: int, cutoff_count: int, *, narrow: bool = False, bounds: bool = False, legend: bool = True
) -> tuple[int, int]:
    """Width and height of a picture of this many runs and K, with or without a legend; `bounds` differ."""
    width = 380 if narrow else 860
    named = (46 if narrow else 26) * bounds
    if cutoff_count == 1:
        return width, 70 + 34 * min(run_count, MOST_RUN_ROWS) + named
    if narrow:
        return width, 360 + 23 * run_count * legend + named
    return width, 500 if run_count > len(LIGHT.runs) else 400


@dataclass(frozen=True)
class Look:
    """Colour and mark of each run in one picture, or colour and dash when they are many."""

    runs: Sequence[str]
    theme: Theme
    narrow: bool
    # The run that is pointed at, in a page.
    pointed: alt.Parameter | None = None
    # The room for names at the ends of lines, and whether they make a legend needless.
    room: int = 0
    is_named: bool = False

    def dimmed(self, chart: alt.Chart, opacity: float, rest: float = 0.12) -> alt.Chart:
        """The chart as strong as `opacity` says, and fainter while another run is pointed at."""
        if self.pointed is None:
            return chart.encode(opacity=alt.value(opacity))
        strength = alt.when(f"{NOBODY} || {THIS}").then(alt.value(opacity))
        return chart.encode(opacity=strength.otherwise(alt.value(opacity * rest)))

    def of_pointed(self, chart: alt.Chart, opacity: float, usual: Sequence[str]) -> alt.Chart:
        """The chart of the run that is pointed at, or of the `usual` runs while none is."""
        if self.pointed is None:
            return chart.encode(opacity=alt.value(opacity))
        is_usual = f"{NOBODY} && indexof({json.dumps(list(usual))}, datum.run) >= 0"
        strength = alt.when(f"{THIS} || {is_usual}").then(alt.value(opacity))
        return chart.encode(opacity=strength.otherwise(alt.value(0)))

    @property
    def many(self) -> bool:
        return len(self.runs) > len(self.theme.runs)

    def colour(self, *, legend: bool = True) -> alt.Color:
        scale = alt.Scale(domain=self.runs, range=_cycle(self.theme.runs, self.runs))
        return alt.Color(
            "run:N", scale=scale, legend=self._legend() if legend and not self.is_named else None
        )

    def shape(self, *, legend: bool = True) -> alt.Shape:
        scale = alt.Scale(domain=self.runs, range=_cycle(SHAPES, self.runs))
        return alt.Shape(
            "run:N", scale=scale, legend=self._legend() if legend and not self.is_named else None
        )

    def dash(self) -> alt.StrokeDash:
        turns = [index // len(self.theme.runs) for index in range(len(self.runs))]
        scale = alt.Scale(domain=self.runs, range=[DASHES[turn % len(DASHES)] for turn in turns])
        return alt.StrokeDash("run:N", scale=scale, legend=self._legend() if self.many else None)

    def _legend(self) -> alt.Legend:
        columns = 1 if self.narrow else -(-len(self.runs) // 20)
        return alt.Legend(
            title=None,
            orient="bottom" if self.narrow else "right",
            offset=18 + line_ends.beside(self.runs, self.room),
            columns=columns,
            labelLimit=280 if self.narrow else 280 // columns,
            symbolType="stroke" if self.many else "circle",
            symbolLimit=0,
            symbolSize=300 if self.many else 90,
            symbolOpacity=1,
            symbolStrokeWidth=2,
        )


def _lines(
    curve: pd.DataFrame, look: Look, share: dict[str, Any], *, bounds: bool = False
) -> list[alt.Chart]:
    """A line with marks for each run over its interval as a band, and over its bounds as a lighter one."""
    cutoffs = sorted({int(k) for k in curve["k"]})
    base = alt.Chart(curve).encode(x=_cutoff_axis(cutoffs), color=look.colour())
    height = alt.Y("mean:Q", axis=alt.Axis(format=".2~f", tickCount=6), **share)
    strength = (0.11, 0.04)
    with_band = _with_band(curve, look)
    banded = base
    # A page shows the bands of each run that is pointed at.
    if look.pointed is None and len(with_band) < len(look.runs):
        some = alt.Chart(curve[curve["run"].isin(with_band)])
        banded = some.encode(x=_cutoff_axis(cutoffs), color=look.colour())
    band = banded.mark_area().encode(y=alt.Y("low:Q", **share), y2=alt.Y2("high:Q"))
    line = base.mark_line(strokeWidth=1.5 if look.many else 2.25)
    mark = base.mark_point(filled=True, size=20 if look.many else 46).encode(y=height)
    marked = look.dimmed(mark if look.many else mark.encode(shape=look.shape()), 1)
    curves = [
        look.of_pointed(band, strength[0], with_band),
        look.dimmed(line.encode(y=height, strokeDash=look.dash()), 1),
        marked if look.pointed is None else marked.add_params(look.pointed),
    ]
    if not bounds:
        return curves
    lighter = banded.mark_area().encode(y=alt.Y("lower_bound:Q", **share), y2=alt.Y2("upper_bound:Q"))
    edge, thin = banded.mark_line(), 0.5
    ends = [
        look.of_pointed(edge.encode(y=alt.Y(f"{end}:Q", **share)), thin, with_band)
        for end in ("lower_bound", "upper_bound")
    ]
    return [
        look.of_pointed(lighter, strength[1], with_band),
        *(_named(end, BOUNDS, look) for end in ends),
        *curves,
    ]


def _with_band(curve: pd.DataFrame, look: Look) -> list[str]:
    """The runs whose interval and bounds are drawn: both of two, of more the best at the deepest K."""
    if len(look.runs) <= MOST_BANDS:
        return list(look.runs)
    last = curve[curve["k"] == curve["k"].max()].dropna(subset="mean")
    return [] if last.empty else [str(last.loc[last["mean"].idxmax(), "run"])]


def _dots(curve: pd.DataFrame, look: Look, share: dict[str, Any], *, bounds: bool = False) -> list[alt.Chart]:
    """One row per run with its mean as a mark on its interval and bounds: a single K is no curve."""
    run = alt.Y("run:N", sort=list(look.runs), title=None, axis=alt.Axis(labelLimit=280, grid=False))
    base = alt.Chart(curve).encode(y=run, color=look.colour(legend=False))
    across = alt.X("mean:Q", axis=alt.Axis(format=".2~f", tickCount=6), **share)
    dot = base.mark_point(filled=True, size=90, opacity=1)
    mark = dot.encode(x=across, shape=look.shape(legend=False))
    rule = base.mark_rule(opacity=0.5)
    thick = rule.encode(x=alt.X("low:Q", **share), x2=alt.X2("high:Q"))
    if not bounds:
        return [thick.encode(strokeWidth=alt.value(3)), mark]
    thin = rule.encode(x=alt.X("lower_bound:Q", **share), x2=alt.X2("upper_bound:Q"))
    return [_named(thin, BOUNDS, look), _named(thick, INTERVAL, look), mark]


def _named(layer: alt.Chart, name: str, look: Look) -> alt.Chart:
    """A layer of lines as thick as the legend shows those of `name`."""
    legend = alt.Legend(
        title=None,
        # Two legends on one side of a narrow picture would be next to each other and run out of it.
        orient="top" if look.narrow else "bottom",
        direction="vertical" if look.narrow else "horizontal",
        labelLimit=280,
        symbolType="stroke",
        symbolStrokeColor=look.theme.ink,
        symbolOpacity=0.5,
        symbolSize=300,
    )
    scale = alt.Scale(domain=list(WIDTHS), range=list(WIDTHS.values()))
    return layer.transform_calculate(band=f"'{name}'").encode(
        strokeWidth=alt.StrokeWidth("band:N", scale=scale, legend=legend)
    )


def _has_bounds(curve: pd.DataFrame) -> bool:
    if not {"lower_bound", "upper_bound"} <= set(curve.columns):
        return False
    return bool((curve["lower_bound"] < curve["upper_bound"]).any())


def _cycle(values: Sequence[str], runs: Sequence[str]) -> list[str]:
    return [values[index % len(values)] for index in range(len(runs))]


def _cutoff_axis(cutoffs: list[int]) -> alt.X:
    low, high = cutoffs[0], cutoffs[-1]
    scale = alt.Scale(type="log", domain=[low * 0.93, high * 1.07], nice=False)
    axis = alt.Axis(values=cutoffs, format="d", grid=False, labelOverlap="greedy", labelFlush=False)
    return alt.X("k:Q", title="K", scale=scale, axis=axis)


def forest_size(rows: int, *, narrow: bool = False) -> tuple[int, int]:
    return (380, 100 + 52 * rows) if narrow else (860, 90 + 46 * rows)


def forest(table: pd.DataFrame, *, title: str, narrow: bool = False) -> alt.LayerChart:
    """Differences of one run from others, a row each: mark and thick line are the mean with its interval over
    queries, the thin line its bounds, the diamond with its line below the estimate from the audit.

    table: run, difference, low, high, least, most, estimate, from, to; missing values are not drawn.
    """
    theme = LIGHT
    ends = ["low", "high", "least", "most", "from", "to", "difference"]
    reach = max(float(table[ends].abs().max().max()), 0.05) * 1.05
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = alt.Axis(format="+.2f", tickCount=5 if narrow else 9)
    names = alt.Axis(labelLimit=120 if narrow else 280, grid=False)
    order = list(table["run"])

    def at(column: str) -> alt.X:
        return alt.X(f"{column}:Q", title=title, scale=scale, axis=axis)

    def row() -> alt.Chart:
        band = alt.Y("run:N", sort=order, title=None, axis=names, scale=alt.Scale(padding=0.4))
        return alt.Chart(table).encode(y=band)

    zero = alt.Chart(table.assign(zero=0.0)).mark_rule(color=theme.quiet, strokeDash=[3, 3])
    rows = row()
    first, second = theme.runs[0], theme.runs[1]
    layers = [
        zero.encode(x=alt.X("zero:Q", title=title, scale=scale, axis=axis)),
        rows.mark_rule(strokeWidth=5, color=first, opacity=0.45).encode(x=at("low"), x2=alt.X2("high:Q")),
        rows.mark_rule(strokeWidth=1.5, color=theme.ink).encode(x=at("least"), x2=alt.X2("most:Q")),
        rows.mark_point(filled=True, size=80, color=first, opacity=1).encode(x=at("difference")),
        rows.mark_rule(strokeWidth=2, color=second, yOffset=11).encode(x=at("from"), x2=alt.X2("to:Q")),
        rows.mark_point(filled=True, size=80, shape="diamond", color=second, opacity=1, yOffset=11).encode(
            x=at("estimate")
        ),
    ]
    return finished(layers, forest_size(len(table), narrow=narrow), theme)


def _share_scale(curve: pd.DataFrame) -> alt.Scale:
    ends = ["mean", "high", *(["upper_bound"] if _has_bounds(curve) else [])]
    highest = curve[ends].max().max()
    # The next tenth above the highest point, and all of [0, 1] where nothing is known.
    top = math.ceil(10 * float(highest) + 0.2) / 10 if highest <= 1 else 1.0
    return alt.Scale(domain=[0, min(top, 1.0)], nice=False)
