"""Output of an evaluation: plain values for JSON, pandas frames for people, and the convention lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.measures import Floats, Integers, key_of, split_name, titled
from evaluation.measures.hajek import Design
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.coverage import ids_where
from evaluation.scoring.duplicates import order_of_sources
from evaluation.scoring.estimate_figures import COMPLETE, LABELS
from evaluation.scoring.expectations import below, too_few_queries
from evaluation.scoring.figures import (
    EvaluationResult,
    Extras,
    Figure,
    MeasuredHow,
    QueryCounts,
    RunFigures,
    StratumResult,
    StratumRow,
    SummaryRow,
    as_read,
    mean_as_read,
    values_frame,
)
from evaluation.scoring.scoring import Labels, ScoredRun
from evaluation.scoring.spans import SpanEvaluation, is_of_spans
from evaluation.scoring.strata import Stratum
from evaluation.scoring.wording import decimal as decimal
from evaluation.scoring.wording import interval as interval
from evaluation.scoring.wording import interval_or_why_not, rests_on
from evaluation.scoring.wording import percent as percent
from evaluation.scoring.wording import share_in_words as share_in_words
from pooling.formats.wording import counted as in_number
from pooling.heavy import Booleans, np, npt, pd, pl
from pooling.inputs.given import RunSource, Source


@dataclass(frozen=True)
class RunEvaluation:
    """One run: (Q, C) values per measure, NaN where a query does not count, and the figures of the means.

    scored: (Q,) whether the query is in the means. figures: `measure@k`, or `measure` over the whole run, ->
    the JSON object of that key. whole: (Q,) values over the whole run. unjudged: of several runs the
    documents without a label in the first places, down to the K nearest 10: the query's number, the pair's
    key and the place; None where recall was not measured at a K. bounds: (Q, C) least and largest recall.
    """

    name: str
    counted: ScoredRun
    scored: npt.NDArray[np.bool_]
    values: Mapping[str, Floats]
    figures: RunFigures
    whole: Mapping[str, Floats] = field(default_factory=dict)
    unjudged: pl.DataFrame | None = None
    bounds: tuple[Floats, Floats] | None = None


@dataclass(frozen=True)
class Evaluation:
    """Runs × qrels under one set of conventions. Made by `evaluation.evaluate`.

    conventions, cutoffs (C,), measures, keys (measure and k, None over the whole run): what was asked
    for. labels: the qrels. in_mean: (Q,) the queries that count under `zero_relevant`, whatever a run
    answers. runs: name -> its values and figures. settings: how the intervals and bounds were made. notes:
    what the readers of the files noticed. strangers: those of them on runs whose ids do not meet the labels.
    sources, pool, qrels: what was given, for comparisons, which look
    at unjudged documents again. strata: tag -> the same over its queries. thresholds, minimum_queries: what
    the evaluation is checked against. design: (Q,) how the queries were drawn from a log, where means are
    taken back to it; those outside the draw have no importance. spans: what chunks hold of excerpts, where
    these were given; its figures are among those that are handed out.
    """

    conventions: Conventions
    cutoffs: Integers
    measures: tuple[str, ...]
    keys: tuple[tuple[str, int | None], ...]
    labels: Labels
    in_mean: Booleans
    runs: Mapping[str, RunEvaluation]
    settings: MeasuredHow
    notes: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()
    sources: Mapping[str, RunSource] = field(default_factory=dict, repr=False, compare=False)
    pool: Source | None = field(default=None, repr=False, compare=False)
    qrels: Source | None = field(default=None, repr=False, compare=False)
    strata: Mapping[str, Stratum] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    minimum_queries: int | None = None
    design: Design | None = field(default=None, repr=False, compare=False)
    spans: SpanEvaluation | None = field(default=None, repr=False, compare=False)

    @property
    def confidence(self) -> float:
        """The level of the intervals."""
        return self.settings["interval"]["level"]

    @property
    def order_of_sources(self) -> Conventions:
        """The conventions by which `sources` are put in order."""
        return order_of_sources(self.conventions, self.settings.get("duplicates"))

    @property
    def weights(self) -> Floats | None:
        """(Q,) how much each query counts in a mean; None where each counts once."""
        return None if self.design is None else self.design.weights

    def design_of(self, ids: Sequence[str]) -> Design:
        """How these queries were drawn, where they alone have a value; without labels a query is outside."""
        assert self.design is not None
        numbers = {query: row for row, query in enumerate(self.labels.query_ids.to_list())}
        outside = len(numbers)
        design = self.design
        every = (
            np.append(one, none)
            for one, none in ((design.importance, 0.0), (design.probability, 1.0), (design.stratum, 0))
        )
        rows = np.array([numbers.get(query, outside) for query in ids], dtype=np.int64)
        return Design(*every).of(rows)

    def of_draw(self, values: Floats) -> Floats:
        """(Q,) values, NaN for queries outside the draw that means are taken back from."""
        return values if self.design is None else np.where(self.design.importance > 0, values, np.nan)

    @property
    def outside_draw(self) -> Booleans:
        """(Q,) the queries that are in no mean because they were not drawn."""
        return np.isnan(self.of_draw(np.zeros(self.labels.query_count)))

    def below(self) -> list[str]:
        """A sentence for every run's mean that is below its threshold."""
        return [sentence for *_, sentence in below(self.runs, self.thresholds, self.rests_on)]

    @property
    def rests_on(self) -> str:
        return rests_on(complete="complete" in self.settings)

    def warnings(self) -> list[str]:
        """That the means rest on fewer queries than was wanted, and how many it takes to see a difference."""
        if self.minimum_queries is None:
            return []
        measure, k = self.example_key()
        column = -1 if k is None else self.cutoffs.tolist().index(k)
        return too_few_queries(self.runs, (measure, k), column, self.minimum_queries)

    def left_out(self) -> list[str]:
        """A sentence on each run that has queries without a label."""
        return [
            f"{name}: ignored {in_number(run.counted.unknown, 'query')} without a label."
            for name, run in self.runs.items()
            if run.counted.unknown
        ]

    def example_key(self) -> tuple[str, int | None]:
        """The figure that sentences are about: the first measure, at K = 10 where it is."""
        first = self.measures[0]
        cutoffs = [k for measure, k in self.keys if measure == first]
        return first, 10 if 10 in cutoffs else cutoffs[-1]

    def to_dict(self) -> EvaluationResult:
        """Plain values: {"conventions": {...}, "queries": {...}, "runs": {name: {"recall@10": {...}}}}.

        What is undefined is None. Every figure carries its convention line under "line". With strata there is
        "strata": {tag: {"queries": {...}, "runs": as above, without the lines}}; with thresholds and a
        minimum of queries, what became of them is under "thresholds" and "warnings".
        """
        runs: dict[str, dict[str, Figure]] = {
            name: {key: {**figure, "line": self._line(name, key)} for key, figure in run.figures.items()}
            for name, run in self.runs.items()
        }
        for name, figures in ({} if self.spans is None else self.spans.with_lines()).items():
            runs[name] |= figures
        return {
            "conventions": {
                **self.conventions.to_dict(),
                "k": self.cutoffs.tolist(),
                "measures": list(self.measures),
                **self.settings,
            },
            "queries": self._query_counts(),
            "runs": runs,
            **self._extras(),
        }

    def _extras(self) -> Extras:
        result: Extras = {}
        if self.thresholds:
            missed = below(self.runs, self.thresholds)
            wanted = {key_of(*split_name(name)): least for name, least in self.thresholds.items()}
            result["thresholds"] = {
                name: {
                    "at_least": least,
                    "below": [run for run, key, _ in missed if key == name],
                    "basis": COMPLETE if "complete" in self.settings else LABELS,
                }
                for name, least in wanted.items()
            }
        if self.minimum_queries is not None:
            result["minimum_queries"] = self.minimum_queries
            result["warnings"] = self.warnings()
        if self.strata:
            result["strata"] = self._strata()
        if self.spans is not None:
            result["spans"] = self.spans.measured_how()
        return result

    def _strata(self) -> dict[str, StratumResult]:
        results: dict[str, StratumResult] = {}
        for tag, stratum in self.strata.items():
            inside, lacking = ~self.outside_draw[stratum.rows], ~self.labels.has_relevant[stratum.rows]
            results[tag] = {
                "queries": {
                    "labelled": len(stratum.rows),
                    "scored": int((self.in_mean[stratum.rows] & inside).sum()),
                    "without_relevant": int((lacking & inside).sum()),
                },
                "runs": stratum.figures,
            }
        return results

    def figure(self, run: str, measure: str, k: int | None = None) -> Figure:
        """The figures of one measure: mean, low, high, queries, and for recall micro, bounds and ties."""
        return self.figures_of(run)[self._key(measure, k)]

    def figures_of(self, run: str) -> RunFigures:
        """All figures of a run by key, those over excerpts last."""
        return {**self._run(run).figures, **({} if self.spans is None else self.spans.runs[run])}

    def convention_line(self, run: str, measure: str, k: int | None = None) -> str:
        """One figure with all that it depends on, as one line of text."""
        return self._line(run, self._key(measure, k))

    def summary(self) -> pd.DataFrame:
        """One row per run, measure and k (missing: the whole run); NaN where not defined."""
        table = pd.DataFrame(self.summary_rows())
        return table.astype({"k": "Int64"}) if self._any_whole() else table

    def strata_summary(self) -> pd.DataFrame:
        """The rows of `summary` for the queries with each tag, with the tag in the first column."""
        table = pd.DataFrame(self.strata_rows())
        return table.astype({"k": "Int64"}) if len(table) and self._any_whole() else table

    def strata_rows(self) -> list[StratumRow]:
        return [
            {"tag": tag, **summary_row(name, key, figure)}
            for tag, stratum in self.strata.items()
            for name, figures in stratum.figures.items()
            for key, figure in figures.items()
        ]

    def summary_rows(self) -> list[SummaryRow]:
        return [
            summary_row(name, key, figure)
            for name, run in self.runs.items()
            for key, figure in run.figures.items()
        ] + ([] if self.spans is None else self.spans.summary_rows())

    def per_query(self) -> pd.DataFrame:
        """Values by run, query_id, measure and k (missing: the whole run); NaN for a query left out."""
        frame = self.per_query_frame()
        values = frame["value"].fill_null(np.nan).to_numpy()
        text = {name: frame[name].to_list() for name in ("run", "query_id", "measure")}
        k = pd.array(frame["k"].to_list(), dtype="Int64") if self._any_whole() else frame["k"].to_numpy()
        return pd.DataFrame({**text, "k": k, "value": values})

    def per_query_frame(self) -> pl.DataFrame:
        """The rows of `per_query` as a Polars frame, with null where the query does not count."""
        depths = {name: [k for measure, k in self.keys if measure == name and k] for name in self.measures}
        parts = []
        for name, run in self.runs.items():
            for measure in self.measures:
                if depths[measure]:
                    parts.append(self._values_frame(name, measure, run.values[measure], depths[measure]))
                if measure in run.whole:
                    whole = name, measure, None, run.whole[measure]
                    parts.append(values_frame(self.labels.query_ids, [whole]))
        if self.spans is not None:
            parts.append(self.spans.per_query_frame())
        return pl.concat(parts)

    def curve(self, measure: str = "recall") -> pd.DataFrame:
        """The measure over K: run, k, mean, low, high, and for recall its lower_bound and upper_bound."""
        table = self.summary()
        columns = ["run", "k", "mean", "low", "high"]
        columns += ["lower_bound", "upper_bound"] if measure == "recall" else []
        return table.loc[table["measure"] == measure, columns].reset_index(drop=True)

    def relevant_frame(self) -> pl.DataFrame:
        """query_id, document_id, relevance, and `ranks` by run, of every relevant pair; null if absent."""
        rows = np.flatnonzero(self.labels.relevant)
        positions = [run.counted.position[rows] for run in self.runs.values()]
        ranks = np.stack(positions, axis=1) if positions else np.zeros((len(rows), 0), dtype=np.int64)
        return pl.DataFrame(
            {
                "query_id": self.labels.query_ids.gather(self.labels.query[rows]),
                "document_id": self.labels.document_ids.gather(rows),
                "relevance": self.labels.relevance[rows],
                "ranks": pl.Series(ranks, dtype=pl.Array(pl.Int64, len(positions))).cast(pl.List(pl.Int64)),
            }
        ).with_columns(pl.col("ranks").list.eval(pl.when(pl.element() > 0).then(pl.element())))

    def worst_queries(self, run: str, k: int, n: int = 10) -> pd.DataFrame:
        """The n scored queries with the lowest Recall@k: query_id, recall, relevant, missed (document ids).

        Equal values are ordered by the number of missed documents, falling, then by query id.
        """
        self._key("recall", k)
        scored = self._run(run)
        column = int(np.flatnonzero(self.cutoffs == k)[0])
        counts = scored.counted.counts
        missed = counts.relevant - counts.hits[:, column]
        recall = counts.hits[:, column] / np.maximum(counts.relevant, 1)
        chosen = np.flatnonzero(scored.scored & (counts.relevant > 0))
        worst = chosen[np.lexsort((chosen, -missed[chosen], recall[chosen]))][:n]
        rows = [
            (
                self.labels.query_ids[int(q)],
                float(recall[q]),
                int(counts.relevant[q]),
                self._missed(scored, q, k),
            )
            for q in worst
        ]
        return pd.DataFrame(rows, columns=["query_id", "recall", "relevant", "missed"])

    def _missed(self, run: RunEvaluation, query: int, k: int) -> list[str]:
        first, end = np.searchsorted(self.labels.query, [query, query + 1])
        position = run.counted.position[first:end]
        missed = self.labels.relevant[first:end] & ((position == 0) | (position > k))
        return sorted(self.labels.document_ids.gather(first + np.flatnonzero(missed)).to_list())

    def _values_frame(self, run: str, measure: str, values: Floats, depths: Sequence[int]) -> pl.DataFrame:
        columns = np.flatnonzero(np.isin(self.cutoffs, depths))
        queries, cutoffs = len(values), len(columns)
        frame = pl.DataFrame(
            {
                "query_id": self.labels.query_ids.gather(np.repeat(np.arange(queries), cutoffs)),
                "k": np.tile(self.cutoffs[columns], queries),
                "value": values[:, columns].ravel(),
            }
        )
        return frame.select(
            pl.lit(run).alias("run"),
            "query_id",
            pl.lit(measure).alias("measure"),
            "k",
            pl.col("value").fill_nan(None),
        )

    def _any_whole(self) -> bool:
        return any(k is None for _, k in self.keys)

    def _query_counts(self) -> QueryCounts:
        queries = self.labels.queries
        inside = ~self.outside_draw
        lacking, counted = ~self.labels.has_relevant & inside, self.in_mean & inside
        missing = {name: counted & run.counted.missing for name, run in self.runs.items()}
        return {
            "labelled": self.labels.query_count,
            "scored": int(counted.sum()),
            "without_relevant": int(lacking.sum()),
            "missing": {name: int(mask.sum()) for name, mask in missing.items()},
            "unknown": {name: run.counted.unknown for name, run in self.runs.items()},
            "without_relevant_ids": ids_where(queries, lacking),
            "missing_ids": {name: ids_where(queries, mask) for name, mask in missing.items()},
        }

    def _line(self, run: str, key: str) -> str:
        if self.spans is not None and is_of_spans(key):
            return self.spans.line(run, key)
        stored = self._run(run).figures[key]
        figure = as_read(stored)
        measure, k = split_name(key)
        # Over the whole run, the coverage of its deepest K stands for that of the rest.
        at = int(self.cutoffs[-1]) if k is None else k
        judged = self._run(run).figures.get(f"judged@{at}")
        spread = interval_or_why_not(figure, self.confidence) if figure is stored else ""
        value = f"{titled(measure, k)} {decimal(figure['mean'])}{spread}"
        outside = self.outside_draw
        conventions = self.conventions.line(
            scored=figure["queries"],
            total=self.labels.query_count,
            without_relevant=int((~self.labels.has_relevant & ~outside).sum()),
            missing=int((self.in_mean & self._run(run).counted.missing & ~outside).sum()),
            outside=int(outside.sum()),
        )
        coverage = (
            "" if judged is None or measure == "judged" else f" · judged@{at} {percent(mean_as_read(judged))}"
        )
        return f"{value} · {conventions}{self.inputs_in_words}{coverage}"

    @property
    def inputs_in_words(self) -> str:
        """The source of documents made of chunks, what counts of near-identical ones, and the declaration
        that labels are complete, where there are any."""
        settings = self.settings
        rules = (settings.get("weights"), settings.get("chunks"), settings.get("duplicates"))
        words = [*(rule["words"] for rule in rules if rule), settings.get("complete", "")]
        return "".join(f" · {one}" for one in words if one)

    def _run(self, name: str) -> RunEvaluation:
        if name not in self.runs:
            raise ValueError(f"There is no run {name!r}; the runs are {', '.join(self.runs)}.")
        return self.runs[name]

    def _key(self, measure: str, k: int | None) -> str:
        key = key_of(measure, k)
        keys = {*self.keys, *(() if self.spans is None else self.spans.keys)}
        if (measure, k) not in keys:
            raise ValueError(f"{key} was not evaluated; name it among the measures and cutoffs.")
        return key


def summary_row(run: str, key: str, figure: Figure) -> SummaryRow:
    """One row of the summary from one JSON figure."""
    measure, k = split_name(key)
    lower, upper = figure.get("bounds", (None, None))
    ties = figure.get("ties")
    return {
        "run": run,
        "measure": measure,
        "k": k,
        "mean": figure["mean"],
        "low": figure["low"],
        "high": figure["high"],
        "micro": figure.get("micro"),
        "lower_bound": lower,
        "upper_bound": upper,
        "tie_min": ties["min"] if ties else None,
        "tie_expected": ties["expected"] if ties else None,
        "tie_max": ties["max"] if ties else None,
        "queries": figure["queries"],
    }
