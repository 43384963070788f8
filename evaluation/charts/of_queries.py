"""Pictures of the queries behind a mean: how values are spread, who gains where, what is judged. No Django.

Every picture is readable without its colours: by named rows, by the side of a line, by marks or dashes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from evaluation.charts.drawing import Look
from evaluation.charts.tables import (
    HIGHEST,
    JUDGED,
    LEAST_JUDGED,
    MOST_RUN_ROWS,
    bin_edges,
    coverage_cells,
    lines_of,
    relevant_bins,
    rows_of_many,
    with_row,
)
from pooling.formats.wording import counted
from pooling.heavy import alt, np, pd
from pooling.interface.charting import DARK, LIGHT, finished

# More points than this are put together where they nearly meet.
MOST_POINTS = 1_500
# With more runs than this, only the first is named K by K.
MOST_NAMED = 3


def rows_size(rows: int, *, narrow: bool = False, legend: int = 0) -> tuple[int, int]:
    """Width and height of a picture with one named row per run, and `legend` points for what is below."""
    return (380 if narrow else 860), 74 + (20 if rows > 12 else 30) * min(rows, MOST_RUN_ROWS) + legend


def lines_size(lines: int, *, narrow: bool = False) -> tuple[int, int]:
    return (380, 370 + 23 * lines) if narrow else (860, 420)


GAINS_SIZES = {False: (860, 320), True: (380, 340)}


def distribution_chart(
    table: pd.DataFrame, *, title: str, dark: bool = False, narrow: bool = False
) -> alt.LayerChart:
    """A box for each run: its middle half, a line at the median, whiskers from the 5th to the 95th
    percentile, a diamond at the mean, and at both ends a disc as large as the share of queries there.

    A box and no density, because fifty rows stay readable; the discs, because the recall of a query takes few
    values, and a box hides how many of them are exactly 0 or 1. table: as `distribution_table` gives it.
    """
    theme = DARK if dark else LIGHT
    titles = lines_of(title, rows_of_many(len(table), HIGHEST))
    table = table.head(MOST_RUN_ROWS)
    scale = alt.Scale(domain=[-0.04, 1.04], nice=False)
    axis = alt.Axis(format=".1f", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    names = alt.Axis(labelLimit=130 if narrow else 280, grid=False)
    run = alt.Y("run:N", sort=list(table["run"]), title=None, axis=names)
    thick = 9 if len(table) > 12 else 14

    def at(column: str) -> alt.X:
        return alt.X(f"{column}:Q", title=titles, scale=scale, axis=axis)

    base = alt.Chart(table.assign(zero=0.0, one=1.0)).encode(y=run)
    sizes = alt.Scale(domain=[0, 1], range=[0, 420])
    discs = [
        base.mark_point(filled=True, color=theme.runs[1], opacity=0.75).encode(
            x=at(place), size=alt.Size(f"{share}:Q", scale=sizes, legend=None)
        )
        for place, share in (("zero", "at_0"), ("one", "at_1"))
    ]
    layers = [
        *discs,
        base.mark_rule(color=theme.quiet, strokeWidth=1.5).encode(x=at("p5"), x2=alt.X2("p95:Q")),
        base.mark_bar(color=theme.runs[0], opacity=0.5, size=thick).encode(x=at("p25"), x2=alt.X2("p75:Q")),
        base.mark_tick(color=theme.ink, thickness=2.5, size=thick + 4).encode(x=at("p50")),
        base.mark_point(
            shape="diamond", filled=True, color=theme.ink, stroke=theme.background, size=60, opacity=1
        ).encode(x=at("mean")),
    ]
    return finished(layers, rows_size(len(table), narrow=narrow), theme)


def gains_chart(
    table: pd.DataFrame, first: str, second: str, *, title: str, dark: bool = False, narrow: bool = False
) -> alt.LayerChart:
    """Gains (above the line) and losses (below) of the first run in each query, sorted; where the queries are
    too many for a bar each, the mean of neighbours. table: as `gains_table` gives it."""
    theme = DARK if dark else LIGHT
    edges = bin_edges(len(table))
    gains = table["gain"].to_numpy()
    bars = pd.DataFrame(
        [(low, high, gains[low:high].mean()) for low, high in itertools.pairwise(edges)],
        columns=["start", "end", "gain"],
    )
    named = {
        "first": f"{first} ahead ({(gains > 0).sum():,})",
        "second": f"{second} ahead ({(gains < 0).sum():,})",
    }
    bars["side"] = [named["first"] if gain >= 0 else named["second"] for gain in bars["gain"]]
    reach = max(float(abs(gains).max()) if len(gains) else 0.0, 0.05) * 1.05
    legend = alt.Legend(
        title=None, orient="bottom", direction="vertical" if narrow else "horizontal", labelLimit=340
    )
    side = alt.Color(
        "side:N", scale=alt.Scale(domain=list(named.values()), range=list(theme.runs[:2])), legend=legend
    )
    mean = "" if len(table) == len(bars) else f" (means of about {round(len(table) / len(bars))})"
    across = _over_queries(len(table), f"by gain{mean}")
    height = alt.Y(
        "gain:Q",
        title=title,
        scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=alt.Axis(format="+.2f"),
    )
    bar_chart = alt.Chart(bars).mark_rect(stroke=theme.background, strokeWidth=0.5)
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=theme.ink)
    layers = [
        bar_chart.encode(x=across, x2=alt.X2("end:Q"), y=height, y2=alt.datum(0), color=side),
        zero.encode(y=alt.Y("zero:Q")),
    ]
    return finished(layers, GAINS_SIZES[narrow], theme)


def _over_queries(count: int, order: str, words: str = "") -> alt.X:
    return alt.X(
        "start:Q",
        title=lines_of(f"{counted(count, 'query')}, {order}", words, ";"),
        scale=alt.Scale(domain=[0, max(count, 1)], nice=False),
        axis=alt.Axis(format=",d", grid=False, tickMinStep=1),
    )


def relevant_chart(
    table: pd.DataFrame, runs: Sequence[str], *, title: str, dark: bool = False, narrow: bool = False
) -> alt.LayerChart:
    """Queries by their number of relevant documents: a dot for each of the first run's, larger where several
    meet, and for every run a line through the means of the bins. table: as `relevant_table` gives it."""
    look = Look(runs, DARK if dark else LIGHT, narrow)
    across = alt.X(
        "relevant:Q",
        title="Relevant documents of the query (logarithmic)",
        scale=alt.Scale(type="symlog", constant=1, nice=False, zero=False),
        axis=alt.Axis(values=[0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], format=",d", grid=False),
    )
    height = alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, 1], nice=False), axis=_tenths())
    points = table.loc[table["run"] == runs[0], ["relevant", "value"]]
    if len(points.drop_duplicates()) > MOST_POINTS:
        near = np.rint(np.exp(np.rint(np.log(np.maximum(points["relevant"], 1)) / 0.1) * 0.1))
        points = points.assign(relevant=near, value=(points["value"] * 40).round() / 40)
    points = points.groupby(["relevant", "value"]).size().rename("queries").reset_index()
    most = max(float(points["queries"].max()) if len(points) else 1.0, 12.0)
    size = alt.Size("queries:Q", scale=alt.Scale(domain=[0, most], range=[10, 300]), legend=None)
    dots = alt.Chart(points).mark_point(filled=True, color=look.theme.quiet, opacity=0.45)
    means = relevant_bins(table)[["run", "relevant", "mean"]].rename(columns={"mean": "value"})
    base = alt.Chart(means).encode(x=across, y=height, color=look.colour())
    layers = [
        dots.encode(x=across, y=height, size=size),
        base.mark_line(strokeWidth=2.25).encode(strokeDash=look.dash()),
        base.mark_point(filled=True, size=60, opacity=1).encode(shape=look.shape()),
    ]
    return finished(layers, lines_size(len(runs), narrow=narrow), look.theme)


def precision_recall_chart(
    table: pd.DataFrame, chosen: Sequence[str], *, dark: bool = False, narrow: bool = False
) -> alt.LayerChart:
    """Precision over recall, one line per run through its K, with the K at the points; the runs that were not
    chosen are thin and grey. table: as `precision_recall_table` gives it."""
    look = Look(chosen, DARK if dark else LIGHT, narrow)

    def scale(column: str) -> alt.Scale:
        highest = table[column].max()
        return alt.Scale(domain=[0, min(1.0, highest * 1.08) if highest > 0 else 1.0], nice=False)

    across = alt.X("recall:Q", title="Mean recall", scale=scale("recall"), axis=_tenths())
    height = alt.Y("precision:Q", title="Mean precision", scale=scale("precision"), axis=_tenths())
    named = chosen if len(chosen) <= MOST_NAMED else chosen[:1]
    return lines_through_k(table, look, (across, height), named=named)


def lines_through_k(
    table: pd.DataFrame, look: Look, place: tuple[alt.X, alt.Y], *, named: Sequence[str]
) -> alt.LayerChart:
    """A line per run through its K, with the K at the points of `named`; runs not in `look` thin and grey."""
    across, height = place
    in_front = table["run"].isin(set(look.runs))
    behind = alt.Chart(table[~in_front]).mark_line(strokeWidth=1, opacity=0.45, color=look.theme.quiet)
    base = alt.Chart(table[in_front]).encode(x=across, y=height, color=look.colour(), order=alt.Order("k:Q"))
    words = alt.Chart(table[table["run"].isin(set(named))]).mark_text(
        align="left", dx=7, dy=-7, fontSize=12, color=look.theme.ink
    )
    layers = [
        behind.encode(x=across, y=height, detail=alt.Detail("run:N"), order=alt.Order("k:Q")),
        base.mark_line(strokeWidth=2.25).encode(strokeDash=look.dash()),
        base.mark_point(filled=True, size=50, opacity=1).encode(shape=look.shape()),
        words.encode(x=across, y=height, text=alt.Text("k:Q", format="d")),
    ]
    size = lines_size(len(look.runs), narrow=look.narrow)
    return finished(layers[1:] if in_front.all() else layers, size, look.theme)


def coverage_chart(
    table: pd.DataFrame, runs: Sequence[str], k: int, *, dark: bool = False, narrow: bool = False
) -> alt.LayerChart:
    """judged@k as a heat map: a row for each run, a column for each query, the least judged first; of many
    queries the mean of neighbours. Neighbouring cells of one colour are drawn as one, so that it stays small.
    table: as `coverage_table` gives it."""
    theme, words = DARK if dark else LIGHT, rows_of_many(len(runs), LEAST_JUDGED)
    if words:
        means = table[[f"{JUDGED}{run}" for run in runs if f"{JUDGED}{run}" in table]].mean()
        columns = with_row(means, least=True)
        table = table[["query_id", "mean", *columns]]
        runs = [name.removeprefix(JUDGED) for name in columns]
    cells = merged(coverage_cells(table))
    each = len(table) / max(len(bin_edges(len(table))) - 1, 1)
    mean = "" if each <= 1 else f" (means of about {round(each)})"
    across = _over_queries(len(table), f"the least judged first{mean}", words)
    run = alt.Y(
        "run:N",
        sort=list(runs),
        title=None,
        axis=alt.Axis(labelLimit=130 if narrow else 280, grid=False),
        scale=alt.Scale(paddingInner=0.08),
    )
    legend = alt.Legend(
        title=f"judged@{k}",
        titleColor=theme.quiet,
        orient="top",
        direction="horizontal",
        format=".0%",
        gradientLength=220,
        values=[0, 0.25, 0.5, 0.75, 1],
    )
    colour = alt.Color("judged:Q", scale=alt.Scale(domain=[0, 1], scheme="cividis"), legend=legend)
    cell_chart = alt.Chart(cells).mark_rect(stroke=None)
    layers = [cell_chart.encode(x=across, x2=alt.X2("end:Q"), y=run, color=colour)]
    return finished(layers, rows_size(len(runs), narrow=narrow, legend=46), theme)


def merged(cells: pd.DataFrame) -> pd.DataFrame:
    """`coverage_cells` to the nearest fortieth, with equal neighbours put together; no missing ones."""
    rounded = cells.assign(judged=(cells["judged"].astype(float) * 40).round() / 40)
    rows: list[list[Any]] = []
    for run, start, end, judged in rounded[["run", "start", "end", "judged"]].itertuples(index=False):
        if judged != judged:
            continue
        if rows and rows[-1][0] == run and rows[-1][3] == judged and rows[-1][2] == start:
            rows[-1][2] = end
        else:
            rows.append([run, start, end, judged])
    return pd.DataFrame(rows, columns=["run", "start", "end", "judged"])


def _tenths() -> alt.Axis:
    return alt.Axis(format=".2~f", tickCount=6)
