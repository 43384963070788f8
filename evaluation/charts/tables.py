"""The numbers behind each picture of a report, as a frame in the picture's order. No Django here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.facts.shapes import ReportFacts
from evaluation.measures import key_of
from evaluation.scoring.figures import EvaluationResult, Figure, HeadlineEstimate, as_read
from pooling.heavy import np, pd, pl

# More columns than this nobody tells apart: queries are put together, this many bins of equal size.
MOST_COLUMNS, BINS = 200, 100
# Runs that have colour and a place in the legend; the colours of a theme are as many.
MOST_CHOSEN = 8
# Runs that have a row in a picture; its table has all.
MOST_RUN_ROWS = 50
HIGHEST, LEAST_JUDGED = "with the highest means", "that are judged least"


def rows_of_many(count: int, which: str) -> str:
    """Which of `count` runs have a row; empty where all have."""
    return f"the {MOST_RUN_ROWS} of {count:,} runs {which}" if count > MOST_RUN_ROWS else ""


def lines_of(title: str, words: str, mark: str = ",") -> list[str]:
    """A title with `words` on a separate line, where there are any: a phone is too narrow for both on one."""
    return [f"{title}{mark}", words] if words else [title]


def with_row(means: pd.Series, *, least: bool = False) -> list[str]:
    """The runs with a row, of the highest means or the least, in the order of `means`; missing ones last."""
    ranked = set(means.sort_values(ascending=least, kind="stable").index[:MOST_RUN_ROWS])
    return [str(run) for run in means.index if run in ranked]


@dataclass(frozen=True)
class Figures:
    """What pictures are made of.

    result: the object that `evaluate --format json` prints. runs: their names in order. per_query: run,
    query_id, measure, k, value (null: the query does not count). relevant: query_id, once for each relevant
    document. facts: what a report holds of facts, where its release has some.
    """

    result: EvaluationResult
    runs: Sequence[str]
    per_query: pl.LazyFrame
    relevant: pl.LazyFrame
    facts: ReportFacts | None = None

    def figure(self, run: str, measure: str, k: int | None) -> Figure | None:
        """The stored figure of one run as people read it, or None."""
        figure = self.result["runs"][run].get(key_of(measure, k))
        return figure and as_read(figure)

    def estimate(self, run: str, k: int) -> HeadlineEstimate | None:
        """Recall by the audit, where it has a value and an interval."""
        figure = self.figure(run, "recall", k)
        estimate = figure and figure.get("estimate")
        return estimate if estimate and None not in (estimate["value"], estimate["low"]) else None

    def mean(self, run: str, measure: str, k: int | None) -> float | None:
        """The mean of one run; None where it is undefined, or was not measured."""
        figure = self.figure(run, measure, k)
        return figure["mean"] if figure else None

    def cutoffs(self, measure: str) -> list[int]:
        pairs = (key.partition("@") for key in self.result["runs"][self.runs[0]])
        return sorted(int(k) for name, _, k in pairs if name == measure and k)

    def values(self, measure: str, k: int, runs: Sequence[str] | None = None) -> pl.DataFrame:
        """run, query_id, value of the queries that count; runs in order, queries in that of the labels."""
        condition = (pl.col("measure") == measure) & (pl.col("k") == k) & pl.col("value").is_not_null()
        if runs is not None:
            condition &= pl.col("run").is_in(list(runs))
        return self.per_query.filter(condition).select("run", "query_id", "value").collect()


def best_runs(figures: Figures, measure: str, k: int | None, count: int = MOST_CHOSEN) -> list[str]:
    """The runs with the highest means, at most `count`, in the order of the report."""
    means = {run: figures.mean(run, measure, k) for run in figures.runs}
    ranked = sorted(figures.runs, key=lambda run: -(means[run] or 0.0))
    return [run for run in figures.runs if run in ranked[:count]]


def curve_table(figures: Figures, measure: str) -> pd.DataFrame:
    """run, k, mean, low, high, lower_bound, upper_bound (the last two missing but for recall); over the whole
    run, where a measure is that alone, k is 0."""
    names = ("mean", "low", "high", "lower_bound", "upper_bound")
    rows = []
    cutoffs: list[int | None] = [*figures.cutoffs(measure)]
    for run in figures.runs:
        for k in cutoffs or [None]:
            numbers = _curve_numbers(figures.figure(run, measure, k))
            rows.append({"run": run, "k": k or 0, **dict(zip(names, numbers, strict=True))})
    return pd.DataFrame(rows).astype(dict.fromkeys(names, float))


def _curve_numbers(figure: Figure | None) -> tuple[float | None, ...]:
    if figure is None:
        return (None,) * 5
    return figure["mean"], figure["low"], figure["high"], *figure.get("bounds", (None, None))


def estimated_table(figures: Figures) -> pd.DataFrame:
    """run, k, recall, low, high, by the audit; empty where some are means over queries and some are not."""
    made = {(run, k): figures.estimate(run, k) for run in figures.runs for k in figures.cutoffs("recall")}
    there = {place: one for place, one in made.items() if one is not None}
    is_one = len({one["average"] for one in there.values()}) == 1
    rows = [(*place, one["value"], one["low"], one["high"]) for place, one in there.items() if is_one]
    return pd.DataFrame(rows, columns=["run", "k", "recall", "low", "high"])


def distribution_table(figures: Figures, measure: str, k: int) -> pd.DataFrame:
    """One row per run, the highest mean first: queries, mean, the percentiles 5, 25, 50, 75 and 95 (linear
    between values), and the shares of queries at exactly 0 and exactly 1."""
    value = pl.col("value")
    shares = {"at_0": (value == 0).mean(), "at_1": (value == 1).mean()}
    cuts = {f"p{cut}": value.quantile(cut / 100, "linear") for cut in (5, 25, 50, 75, 95)}
    table = (
        figures.values(measure, k)
        .group_by("run", maintain_order=True)
        .agg(queries=pl.len(), mean=value.mean(), **cuts, **shares)
        .sort("mean", descending=True, maintain_order=True)
    )
    return _pandas(table)


def gains_table(figures: Figures, pair: tuple[str, str], measure: str, k: int) -> pd.DataFrame:
    """query_id, first, second, gain of queries that count for both, the greatest gain first, then by id."""
    values = figures.values(measure, k, pair)
    mine, other = (values.filter(pl.col("run") == run).drop("run") for run in pair)
    both = mine.rename({"value": "first"}).join(other.rename({"value": "second"}), on="query_id")
    gains = both.with_columns(gain=pl.col("first") - pl.col("second"))
    return _pandas(gains.sort("gain", "query_id", descending=[True, False]))


def relevant_table(figures: Figures, runs: Sequence[str], measure: str, k: int) -> pd.DataFrame:
    """One row per run and query that counts: run, query_id, relevant (documents), value."""
    counts = figures.relevant.group_by("query_id").agg(relevant=pl.len()).collect()
    values = figures.values(measure, k, runs).join(counts, on="query_id", how="left", maintain_order="left")
    counted = values.with_columns(pl.col("relevant").fill_null(0))
    return _pandas(counted.select("run", "query_id", "relevant", "value"))


def relevant_bins(table: pd.DataFrame) -> pd.DataFrame:
    """`relevant_table` by run and doubling numbers of relevant documents: from, to, queries, means."""
    if table.empty:
        return pd.DataFrame(columns=["run", "from", "to", "queries", "relevant", "mean"])
    exponent = np.floor(np.log2(np.maximum(table["relevant"], 1))).astype(int)
    least = np.where(table["relevant"] == 0, 0, 2**exponent)
    most = np.where(table["relevant"] == 0, 0, 2 ** (exponent + 1) - 1)
    grouped = table.assign(**{"from": least, "to": most}).groupby(["run", "from", "to"], sort=False)
    named = {"queries": ("value", "size"), "relevant": ("relevant", "mean"), "mean": ("value", "mean")}
    bins = grouped.agg(**named).reset_index()
    places = {run: place for place, run in enumerate(dict.fromkeys(table["run"]))}
    ordered = bins.assign(place=bins["run"].map(places)).sort_values(["place", "from"], ignore_index=True)
    return ordered.drop(columns="place")


def precision_recall_table(figures: Figures) -> pd.DataFrame:
    """run, k, recall, precision: the means at each K that has both."""
    both = [k for k in figures.cutoffs("recall") if k in figures.cutoffs("precision")]
    rows = [
        (run, k, *(figures.mean(run, measure, k) for measure in ("recall", "precision")))
        for run in figures.runs
        for k in both
    ]
    table = pd.DataFrame(rows, columns=["run", "k", "recall", "precision"])
    return table.astype({"recall": float, "precision": float})


def coverage_table(figures: Figures, k: int) -> pd.DataFrame:
    """One row per query, the least judged first: query_id, mean over runs, and judged@k of each run, under
    `judged: NAME`; missing where the query does not count for the run."""
    values = figures.values("judged", k)
    wide = values.pivot(on="run", index="query_id", values="value", maintain_order=True)
    runs = [run for run in figures.runs if run in wide.columns]
    if not runs:
        return _pandas(pl.DataFrame(schema={"query_id": pl.String, "mean": pl.Float64}))
    named = wide.select(
        "query_id",
        pl.mean_horizontal(runs).alias("mean"),
        *(pl.col(run).alias(f"{JUDGED}{run}") for run in runs),
    )
    return _pandas(named.sort("mean", "query_id"))


JUDGED = "judged: "


def coverage_cells(table: pd.DataFrame) -> pd.DataFrame:
    """`coverage_table` as the cells of a heat map: run, start, end (places of queries), judged (mean)."""
    edges = np.array(bin_edges(len(table)))
    parts = []
    for name in table.columns if len(table) else ():
        if not name.startswith(JUDGED):
            continue
        values = table[name].to_numpy(dtype=float)
        counts = np.add.reduceat((~np.isnan(values)).astype(float), edges[:-1])
        sums = np.add.reduceat(np.nan_to_num(values), edges[:-1])
        means = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
        cells = {"run": name.removeprefix(JUDGED), "start": edges[:-1], "end": edges[1:], "judged": means}
        parts.append(pd.DataFrame(cells))
    return (
        pd.concat(parts, ignore_index=True)
        if parts
        else pd.DataFrame(columns=["run", "start", "end", "judged"])
    )


def bin_edges(count: int) -> list[int]:
    """Edges of a picture's columns, `count` last: a column for each query, or BINS of nearly equal size."""
    columns = count if count <= MOST_COLUMNS else BINS
    return [round(count * column / columns) for column in range(columns + 1)] if count else [0]


def _pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """Without PyArrow; null becomes NaN."""
    columns = {}
    for name in frame.columns:
        series = frame[name]
        numeric = series.dtype.is_numeric()
        columns[name] = series.to_numpy() if numeric and not series.null_count() else series.to_list()
    table = pd.DataFrame(columns, columns=frame.columns)
    floats = [name for name in frame.columns if frame[name].dtype.is_float()]
    return table.astype(dict.fromkeys(floats, float))


def coverage_by_run(table: pd.DataFrame) -> pd.DataFrame:
    """`coverage_table` in short: queries, mean, shares wholly judged and below 80 %, and the least one."""
    rows = []
    for name in (column for column in table.columns if column.startswith(JUDGED)):
        values = table[name].to_numpy(dtype=float)
        counted = values[~np.isnan(values)]
        if not len(counted):
            continue
        least = int(np.nanargmin(values))
        rows.append(
            {
                "run": name.removeprefix(JUDGED),
                "queries": len(counted),
                "mean": float(counted.mean()),
                "wholly judged": float((counted == 1).mean()),
                "below 0.8": float((counted < 0.8).mean()),
                "least judged": table["query_id"].iloc[least],
                "judged there": float(values[least]),
            }
        )
    return pd.DataFrame(rows)
