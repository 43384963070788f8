"""The pictures of a report by name: what each shows, its table, and how it is drawn. No Django here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.charts.drawing import picture_size, recall_curve
from evaluation.charts.line_ends import are_enough
from evaluation.charts.of_facts import (
    context_chart,
    context_summary,
    context_table,
    fact_curve_table,
    facts_summary,
    has_context,
    has_facts,
)
from evaluation.charts.of_queries import (
    GAINS_SIZES,
    coverage_chart,
    distribution_chart,
    gains_chart,
    lines_size,
    precision_recall_chart,
    relevant_chart,
    rows_size,
)
from evaluation.charts.tables import (
    HIGHEST,
    LEAST_JUDGED,
    MOST_CHOSEN,
    Figures,
    best_runs,
    coverage_by_run,
    coverage_table,
    curve_table,
    distribution_table,
    estimated_table,
    gains_table,
    precision_recall_table,
    relevant_bins,
    relevant_table,
    rows_of_many,
)
from evaluation.measures import titled
from pooling.formats.wording import in_a_row, signed
from pooling.heavy import alt, pd

Size = tuple[int, int]


@dataclass(frozen=True)
class ChartChoice:
    """A measure and a K of a report's pictures, the runs in colour, and the two that are compared."""

    measure: str
    k: int
    chosen: tuple[str, ...]
    first: str
    second: str

    @property
    def title(self) -> str:
        """`Recall@10`."""
        return titled(self.measure, self.k)


@dataclass(frozen=True)
class ChartKind:
    """A picture. table: its numbers, in the order of the picture. rows: what a page shows of them. summary:
    the picture in words. size: of the whole picture, known before it is drawn. is_by_query: of each query's
    value of the measure. is_live: a page can show the bands of the run that is pointed at.
    is_of_audit: of estimates and not of the labels at hand. row_choice: which of many runs have a row."""

    name: str
    title: Callable[[ChartChoice], str]
    reading: str
    table: Callable[[Figures, ChartChoice], pd.DataFrame]
    draw: Callable[..., alt.LayerChart]
    size: Callable[..., Size]
    rows: Callable[[pd.DataFrame, ChartChoice], pd.DataFrame]
    summary: Callable[[pd.DataFrame, ChartChoice], str]
    is_there: Callable[[Figures], bool] = lambda figures: True
    is_by_query: bool = False
    is_live: bool = False
    is_of_audit: bool = False
    row_choice: Callable[[Figures, ChartChoice], str] = lambda figures, choice: ""


def default_choice(figures: Figures, measure: str = "recall", k: int | None = None) -> ChartChoice:
    cutoffs = figures.cutoffs(measure)
    at = k if k in cutoffs else min(cutoffs or [10], key=lambda cutoff: abs(cutoff - 10))
    best = best_runs(figures, measure, at if cutoffs else None)
    two = sorted(best, key=lambda run: -(figures.mean(run, measure, at) or 0.0))
    first, second = two[0], two[1] if len(two) > 1 else two[0]
    return ChartChoice(measure, at, tuple(best), first, second)


# --- The curve --------------------------------------------------------------------------------------------


def _curve_title(choice: ChartChoice) -> str:
    return f"{titled(choice.measure, None)} over K"


def _draw_curve(
    table: pd.DataFrame, figures: Figures, choice: ChartChoice, *, note: str = "", **look: Any
) -> alt.LayerChart:
    single = list(dict.fromkeys(table["k"]))
    title = titled(choice.measure, single[0] or None if len(single) == 1 else None)
    title += "@K" * (len(single) > 1) + note
    return recall_curve(table, title=title, chosen=_in_colour(figures, choice), **look)


def _highest_rows(figures: Figures, choice: ChartChoice) -> str:
    return rows_of_many(len(figures.runs), HIGHEST)


def _rows_at_one_k(figures: Figures, choice: ChartChoice) -> str:
    return "" if len(figures.cutoffs(choice.measure)) > 1 else _highest_rows(figures, choice)


def _in_colour(figures: Figures, choice: ChartChoice) -> Sequence[str]:
    return [run for run in figures.runs if run in choice.chosen]


def _curve_size(figures: Figures, choice: ChartChoice, *, narrow: bool = False) -> Size:
    cutoffs = figures.cutoffs(choice.measure) or [0]
    runs = figures.runs if len(cutoffs) == 1 else _in_colour(figures, choice)
    return picture_size(
        len(runs),
        len(cutoffs),
        narrow=narrow,
        bounds=bounds_open(figures, choice.measure),
        legend=not are_enough(runs, narrow=narrow),
    )


def bounds_open(figures: Figures, measure: str) -> bool:
    """True where unjudged documents leave some number of the measure open."""
    cutoffs: list[int | None] = [*figures.cutoffs(measure)]
    all_figures = (figures.figure(run, measure, k) for run in figures.runs for k in cutoffs or [None])
    ends = [figure.get("bounds", (None, None)) for figure in all_figures if figure]
    return any(least is not None and most is not None and least < most for least, most in ends)


def _curve_summary(table: pd.DataFrame, choice: ChartChoice) -> str:
    last = table[table["k"] == table["k"].max()].dropna(subset="mean").sort_values("mean", ascending=False)
    if last.empty:
        return "No run has a mean."
    best, worst = last.iloc[0], last.iloc[-1]
    at = "over the whole run" if best["k"] == 0 else f"at K = {best['k']}"
    summary = (
        f"{_curve_title(choice)} of {table['run'].nunique()} runs; {at} {best['run']} has {best['mean']:.3f}"
    )
    return summary + (f", {worst['run']} {worst['mean']:.3f}." if len(last) > 1 else ".")


CURVE = ChartKind(
    name="curve",
    title=_curve_title,
    reading="Mean over queries, by the labels at hand: recall is that of the relevant documents found so "
    "far, unless these are all. The band is its interval, which covers the choice of queries. The "
    "lighter band with thin edges shows the bounds for any labels of the unjudged documents. K "
    "is on a logarithmic axis; runs not chosen are grey.",
    table=lambda figures, choice: curve_table(figures, choice.measure),
    draw=_draw_curve,
    size=_curve_size,
    rows=lambda table, choice: table.dropna(axis="columns", how="all"),
    summary=_curve_summary,
    is_live=True,
    row_choice=_rows_at_one_k,
)

# --- The curve by the audit -------------------------------------------------------------------------------


def _as_curve(estimated: pd.DataFrame) -> pd.DataFrame:
    return estimated.rename(columns={"recall": "mean"})


def _of_recall(choice: ChartChoice) -> ChartChoice:
    return replace(choice, measure="recall")


def _estimated_size(figures: Figures, choice: ChartChoice, *, narrow: bool = False) -> Size:
    table = estimated_table(figures)
    there, cutoffs = set(table["run"]), table["k"].nunique()
    runs = [run for run in figures.runs if run in there and (cutoffs == 1 or run in choice.chosen)]
    return picture_size(len(runs), cutoffs, narrow=narrow, legend=not are_enough(runs, narrow=narrow))


ESTIMATED = ChartKind(
    name="estimated-curve",
    title=lambda choice: "Recall@K, estimated",
    reading="By the audit, of everything that it was drawn from, found or not; over all relevant documents "
    "at once where the headline is so. The band covers the choice of queries and of the documents drawn.",
    table=lambda figures, choice: estimated_table(figures),
    draw=lambda table, figures, choice, **look: _draw_curve(
        _as_curve(table), figures, _of_recall(choice), note=", estimated", **look
    ),
    size=_estimated_size,
    rows=lambda table, choice: table,
    summary=lambda table, choice: f"By the audit. {_curve_summary(_as_curve(table), _of_recall(choice))}",
    is_there=lambda figures: not estimated_table(figures).empty,
    is_live=True,
    is_of_audit=True,
    row_choice=lambda figures, choice: _rows_at_one_k(figures, _of_recall(choice)),
)


def first_curve(figures: Figures, measure: str = "recall") -> ChartKind:
    """The curve that people look at first: recall by the audit where it estimates that, else the means."""
    return ESTIMATED if measure == "recall" and ESTIMATED.is_there(figures) else CURVE


# --- The distribution -------------------------------------------------------------------------------------


def _rows_size(figures: Figures, choice: ChartChoice, *, narrow: bool = False, legend: int = 0) -> Size:
    return rows_size(len(figures.runs), narrow=narrow, legend=legend)


def _distribution_summary(table: pd.DataFrame, choice: ChartChoice) -> str:
    parts = [
        f"{row.run}: half of the queries between {row.p25:.2f} and {row.p75:.2f}, {row.at_0:.0f} % at 0"
        for row in table.head(MOST_CHOSEN).assign(at_0=100 * table["at_0"]).itertuples()
    ]
    return f"{choice.title} by query. {'; '.join(parts)}."


DISTRIBUTION = ChartKind(
    name="distribution",
    title=lambda choice: f"{choice.title}, query by query",
    reading="The box contains the middle half of a run's queries, the line is the median, the diamond "
    "the mean; the whiskers go from the 5th to the 95th percentile. The size of the discs at "
    "both ends shows the share of queries at exactly 0 and exactly 1.",
    table=lambda figures, choice: distribution_table(figures, choice.measure, choice.k),
    draw=lambda table, figures, choice, **look: distribution_chart(table, title=choice.title, **look),
    size=_rows_size,
    rows=lambda table, choice: table,
    summary=_distribution_summary,
    is_there=lambda figures: bool(figures.cutoffs("recall")),
    is_by_query=True,
    row_choice=_highest_rows,
)

# --- Gains and losses -------------------------------------------------------------------------------------


def _draw_gains(table: pd.DataFrame, figures: Figures, choice: ChartChoice, **look: Any) -> alt.LayerChart:
    title = f"{choice.title} of A minus B"
    return gains_chart(table, choice.first, choice.second, title=title, **look)


def _gains_summary(table: pd.DataFrame, choice: ChartChoice) -> str:
    gains = table["gain"]
    if gains.empty:
        return "No query counts for both runs."
    return (
        f"{choice.first} is ahead of {choice.second} in {(gains > 0).sum():,} queries, behind in "
        f"{(gains < 0).sum():,}, equal in {(gains == 0).sum():,}; "
        f"from {signed(gains.max())} to {signed(gains.min())}."
    )


def _ends(table: pd.DataFrame, most: int = 20) -> pd.DataFrame:
    if len(table) <= 2 * most:
        return table
    return pd.concat([table.head(most), table.tail(most)])


GAINS = ChartKind(
    name="gains",
    title=lambda choice: f"Where {choice.first} gains on {choice.second}, and where it loses",
    reading="One bar for each query scored for both runs, sorted: above the line A (the first run) is "
    "ahead, below it B. A mean difference can come from a few large gains or many small ones.",
    table=lambda figures, choice: gains_table(
        figures, (choice.first, choice.second), choice.measure, choice.k
    ),
    draw=_draw_gains,
    size=lambda figures, choice, narrow=False: GAINS_SIZES[narrow],
    rows=lambda table, choice: _ends(table),
    summary=_gains_summary,
    is_there=lambda figures: len(figures.runs) > 1 and bool(figures.cutoffs("recall")),
    is_by_query=True,
)

# --- Recall against the number of relevant documents ------------------------------------------------------


def _lines_size(figures: Figures, choice: ChartChoice, *, narrow: bool = False) -> Size:
    return lines_size(len(_in_colour(figures, choice)), narrow=narrow)


def _relevant_summary(table: pd.DataFrame, choice: ChartChoice) -> str:
    bins = relevant_bins(table)
    if bins.empty:
        return "No query counts."
    parts = [
        f"{run} falls from {rows['mean'].iloc[0]:.2f} to {rows['mean'].iloc[-1]:.2f}"
        if rows["mean"].iloc[-1] < rows["mean"].iloc[0]
        else f"{run} goes from {rows['mean'].iloc[0]:.2f} to {rows['mean'].iloc[-1]:.2f}"
        for run, rows in bins.groupby("run", sort=False)
    ]
    low, high = bins["from"].min(), bins["to"].max()
    return f"{choice.title} of queries with {low:,} to {high:,} relevant documents: {in_a_row(parts)}."


RELEVANT = ChartKind(
    name="relevant",
    title=lambda choice: f"{choice.title} by the number of relevant documents",
    reading="A dot for each query of the first run in colour, larger where several meet, and for each run a "
    "line through the means of queries with 1, 2–3, 4–7, 8–15 … relevant documents. Where a query has more "
    "relevant documents than K, its recall cannot be 1.",
    table=lambda figures, choice: relevant_table(
        figures, _in_colour(figures, choice), choice.measure, choice.k
    ),
    draw=lambda table, figures, choice, **look: relevant_chart(
        table, _in_colour(figures, choice), title=choice.title, **look
    ),
    size=_lines_size,
    rows=lambda table, choice: relevant_bins(table),
    summary=_relevant_summary,
    is_there=lambda figures: bool(figures.cutoffs("recall")),
    is_by_query=True,
)

# --- Precision and recall ---------------------------------------------------------------------------------


def _precision_recall_summary(table: pd.DataFrame, choice: ChartChoice) -> str:
    parts = []
    for run in choice.chosen:
        rows = table[table["run"] == run].dropna()
        if not rows.empty:
            first, last = rows.iloc[0], rows.iloc[-1]
            parts.append(
                f"{run} from recall {first['recall']:.2f} and precision {first['precision']:.2f} at K = "
                f"{first['k']} to {last['recall']:.2f} and {last['precision']:.2f} at {last['k']}"
            )
    return f"{'; '.join(parts)}." if parts else "No run has both means."


PRECISION_RECALL = ChartKind(
    name="precision-recall",
    title=lambda choice: "Precision and recall, K by K",
    reading="Each run goes from its lowest K on the left to its highest on the right; K is written at "
    "the points of the first run, or of all runs if there are few. A run above another at "
    "every recall is better at every trade-off.",
    table=lambda figures, choice: precision_recall_table(figures),
    draw=lambda table, figures, choice, **look: precision_recall_chart(
        table, _in_colour(figures, choice), **look
    ),
    size=_lines_size,
    rows=lambda table, choice: table,
    summary=_precision_recall_summary,
    is_there=lambda figures: bool(set(figures.cutoffs("recall")) & set(figures.cutoffs("precision"))),
)

# --- Coverage ---------------------------------------------------------------------------------------------


def _coverage_summary(table: pd.DataFrame, choice: ChartChoice) -> str:
    rows = coverage_by_run(table)
    if rows.empty:
        return "No query counts."
    least = rows.sort_values("mean", kind="stable").iloc[0]
    return (
        f"judged@{choice.k} of {len(rows)} runs by {len(table):,} queries: the mean is lowest for "
        f"{least['run']}, {100 * least['mean']:.0f} %, of whose queries {100 * least['below 0.8']:.0f} % are "
        "judged by less than 80 %."
    )


COVERAGE = ChartKind(
    name="coverage",
    title=lambda choice: f"What is judged: the first {choice.k} of every query and run",
    reading="One row for each run, one column for each query, least judged first. The lighter, the "
    "more of the K places hold a document with a label. A dark row is a run that did not contribute "
    "to the pool, or has short lists; dark columns are queries with few labels. More than 200 queries "
    "are grouped into a hundred columns.",
    table=lambda figures, choice: coverage_table(figures, choice.k),
    draw=lambda table, figures, choice, **look: coverage_chart(table, figures.runs, choice.k, **look),
    size=lambda figures, choice, narrow=False: _rows_size(figures, choice, narrow=narrow, legend=46),
    rows=lambda table, choice: coverage_by_run(table),
    summary=_coverage_summary,
    is_there=lambda figures: bool(figures.cutoffs("judged")),
    row_choice=lambda figures, choice: rows_of_many(len(figures.runs), LEAST_JUDGED),
)

# --- Facts ------------------------------------------------------------------------------------------------


def _facts_size(figures: Figures, choice: ChartChoice, *, narrow: bool = False) -> Size:
    table = fact_curve_table(figures)
    runs, cutoffs = _in_colour(figures, choice), table["k"].nunique()
    return picture_size(
        len(figures.runs if cutoffs == 1 else runs),
        cutoffs,
        narrow=narrow,
        bounds=bool((table["lower_bound"] < table["upper_bound"]).any()),
        legend=not are_enough(runs, narrow=narrow),
    )


FACTS = ChartKind(
    name="facts",
    title=lambda choice: "Fact recall over K",
    reading="The share of a query's confirmed facts that the first K documents support, mean over queries. "
    "The band is its interval; the lighter band shows the bounds for any verdicts on the pairs of a fact and "
    "a document that nobody judged.",
    table=lambda figures, choice: fact_curve_table(figures),
    draw=lambda table, figures, choice, **look: recall_curve(
        table, title="Fact recall@K", chosen=_in_colour(figures, choice), **look
    ),
    size=_facts_size,
    rows=lambda table, choice: table.dropna(axis="columns", how="all"),
    summary=lambda table, choice: facts_summary(table),
    is_there=has_facts,
)

FACTS_BY_CHARACTERS = ChartKind(
    name="facts-by-characters",
    title=lambda choice: "Fact recall over characters of context",
    reading="What a longer context buys: each point is one K, at the mean length of the texts of its first K "
    "documents. A run whose line is higher at the same length holds more for the same cost; where a line "
    "becomes flat, more documents bring nothing new.",
    table=lambda figures, choice: context_table(figures),
    draw=lambda table, figures, choice, **look: context_chart(table, _in_colour(figures, choice), **look),
    size=lambda figures, choice, narrow=False: lines_size(len(_in_colour(figures, choice)), narrow=narrow),
    rows=lambda table, choice: table,
    summary=lambda table, choice: context_summary(table),
    is_there=has_context,
)

KINDS: dict[str, ChartKind] = {
    kind.name: kind
    for kind in (
        *(ESTIMATED, CURVE, DISTRIBUTION, GAINS, RELEVANT, PRECISION_RECALL, COVERAGE),
        *(FACTS, FACTS_BY_CHARACTERS),
    )
}
