from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models.functions import Length

from evaluation.facts.comparing import open_facts, top_of
from evaluation.facts.evaluating import HowMeasured, evaluate_table, placed_runs
from evaluation.facts.results import FACT_PRESETS, FactConventions
from evaluation.facts.shapes import ContextFigure, ReportFacts
from evaluation.facts.table import FactTable, RunPlaces, fact_table
from evaluation.measures.intervals import (
    BOOTSTRAP_SAMPLES,
    LEVEL,
    IntervalSettings,
    interval_settings,
    mean_intervals,
)
from evaluation.measures.significance import plain_mean
from evaluation.scoring.conventions import Conventions
from labeling.facts.releasing import has_facts, released_frames
from labeling.models import QrelsRelease
from pooling.heavy import Floats, np, pl
from pooling.interface.problems import InputError
from pooling.models import Collection, Run
from pooling.ranking.ranking import order_run
from pooling.runs.stored import read_stored_run


def fact_places(table: FactTable, run: RunPlaces) -> pl.DataFrame:
    """query_id, fact_id, text, importance, group, place (of the first document that supports the fact; null
    where none is retrieved), document_id (that document), part (the first place that supports a part),
    findable (whether any judged document supports it), judged (whether any document was judged for it). A row
    for each fact."""
    whole, part, first = [], [], []
    for query, places, start in zip(table.queries, run.places, table.starts, strict=True):
        # A last row for no document at all, so that there is always a least one.
        reached = np.append(places, np.inf)[:, None]
        supports = np.vstack((query.supports, np.ones(query.fact_count, dtype=np.bool_)))
        place = np.where(supports, reached, np.inf)
        rows = np.argmin(place, axis=0)
        whole.append(place[rows, np.arange(query.fact_count)])
        part.append(
            np.min(np.where(query.judged_weights >= 0.5, places[:, None], np.inf), axis=0, initial=np.inf)
        )
        first.append(start + rows)
    frame = table.fact_frame.with_columns(
        place=np.concatenate(whole), part=np.concatenate(part), row=np.concatenate(first)
    ).with_columns(
        pl.when(pl.col(name).is_finite()).then(pl.col(name)).cast(pl.UInt32) for name in ("place", "part")
    )
    rows = frame.select(pl.when(pl.col("place").is_not_null()).then("row")).to_series()
    document = table.document_ids.gather(rows)
    names = ("query_id", "fact_id", "text", "importance", "group", "place")
    return frame.select(*names, document, "part", "findable", "judged")


@dataclass(frozen=True)
class DocumentFacts:
    """What the retrieved documents of a run add. frame: query_id, document_id, place, supported (facts that
    it supports), new (those that no document above does), of the documents that support any in the first K.
    """

    table: FactTable
    frame: pl.DataFrame

    def fact_counts(self, cutoffs: Sequence[int]) -> Floats:
        """(Q, C) facts held by the first K."""
        return self._sums("new", cutoffs)

    def nothing_new(self, cutoffs: Sequence[int]) -> Floats:
        """(Q, C) the share of the first K that supports a fact and adds none."""
        stale = self.frame.filter(pl.col("new") == 0).with_columns(one=pl.lit(1))
        counts: Floats = DocumentFacts(self.table, stale)._sums("one", cutoffs) / np.array(cutoffs)
        return counts

    def characters(self, ordered: pl.DataFrame, lengths: Mapping[str, int], cutoffs: Sequence[int]) -> Floats:
        """(Q, C) characters of a run's first K; NaN without a text, or where the query is not answered."""
        first = ordered.filter(
            pl.col("query_id").is_in(list(self.table.query_ids)) & (pl.col("position") <= max(cutoffs))
        )
        length = pl.DataFrame(
            {"document_id": list(lengths), "length": [float(one) for one in lengths.values()]},
            schema={"document_id": pl.String, "length": pl.Float64},
        )
        rows = first.join(length, on="document_id", how="left").select(
            "query_id", place="position", length=pl.col("length").fill_null(float("nan"))
        )
        sums = DocumentFacts(self.table, rows)._sums("length", cutoffs)
        answered = np.isin(np.array(self.table.query_ids), rows["query_id"].unique().to_numpy())
        sums[~answered] = np.nan
        return sums

    def _sums(self, column: str, cutoffs: Sequence[int]) -> Floats:
        """(Q, C) sums of a column over the first K."""
        numbers = {query: number for number, query in enumerate(self.table.query_ids)}
        rows = np.array([numbers[query] for query in self.frame["query_id"].to_list()], dtype=np.int64)
        place = self.frame["place"].to_numpy()
        values = self.frame[column].to_numpy().astype(np.float64)
        count = len(self.table.query_ids)
        return np.stack(
            [np.bincount(rows[place <= k], weights=values[place <= k], minlength=count) for k in cutoffs],
            axis=1,
        ).astype(np.float64)


def document_facts(table: FactTable, run: RunPlaces, deepest: int) -> DocumentFacts:
    """The documents in the first `deepest` that support a fact, with how many they support and add."""
    queries, rows, place, supported, new = [], [], [], [], []
    for number, (query, places) in enumerate(zip(table.queries, run.places, strict=True)):
        order = np.flatnonzero((places <= deepest) & (query.support_counts > 0))
        order = order[np.argsort(places[order], kind="stable")]
        supports = query.supports[order]
        queries.append(np.full(len(order), number))
        rows.append(table.starts[number] + order)
        place.append(places[order])
        supported.append(query.support_counts[order])
        new.append(np.count_nonzero(supports & (np.cumsum(supports, axis=0) == 1), axis=1))
    frame = pl.DataFrame(
        {
            "query_id": pl.Series(table.query_ids, dtype=pl.String).gather(np.concatenate(queries)),
            "document_id": table.document_ids.gather(np.concatenate(rows)),
            "place": np.concatenate(place),
            "supported": np.concatenate(supported),
            "new": np.concatenate(new),
        }
    )
    return DocumentFacts(table, frame.cast(dict.fromkeys(("place", "supported", "new"), pl.UInt32)))


def context_figures(
    runs: Mapping[str, DocumentFacts],
    frames: Mapping[str, pl.DataFrame],
    lengths: Mapping[str, int],
    *,
    cutoffs: Sequence[int],
    intervals: IntervalSettings,
) -> dict[str, dict[str, ContextFigure]]:
    """By run and K: see `ContextFigure`. A query with a text that is not known in its first K is left out."""
    characters = [runs[name].characters(frame, lengths, cutoffs) for name, frame in frames.items()]
    densities = []
    for name, lengths_of_run in zip(frames, characters, strict=True):
        counts = runs[name].fact_counts(cutoffs)
        with np.errstate(divide="ignore", invalid="ignore"):
            densities.append(np.where(lengths_of_run > 0, 1000 * counts / lengths_of_run, np.nan))
    low, high = _limits(np.concatenate(densities, axis=1), intervals)
    figures: dict[str, dict[str, ContextFigure]] = {}
    for number, name in enumerate(frames):
        stale, density, first = runs[name].nothing_new(cutoffs), densities[number], number * len(cutoffs)
        figures[name] = {
            str(k): {
                "characters": plain_mean(characters[number][:, place]),
                "facts": plain_mean(density[:, place]),
                "low": low[first + place],
                "high": high[first + place],
                "nothing_new": plain_mean(stale[:, place]),
            }
            for place, k in enumerate(cutoffs)
        }
    return figures


def _limits(values: Floats, made: IntervalSettings) -> tuple[Sequence[float | None], Sequence[float | None]]:
    limits = mean_intervals(values, samples=made["samples"], seed=made["seed"], level=made["level"])
    low, high = ([None if np.isnan(one) else float(one) for one in limits[side]] for side in (0, 1))
    return low, high


MEASURES = ("fact_recall", "alpha_ndcg", "redundancy")
BATCH = 5_000


@dataclass(frozen=True)
class FactRequest:
    runs: Sequence[Run]
    k: Sequence[int]
    conventions: Conventions
    intervals: Mapping[str, Any]

    def facts(self, importance: Literal["all", "vital"] = "all") -> FactConventions:
        """Which facts count: under the conventions of a program over facts, as it counts them."""
        for name, denominator in FACT_PRESETS.items():
            if self.conventions == Conventions.preset(name):
                return FactConventions(importance, denominator, least_judged=0.0)
        return FactConventions(importance)

    def settings_of(self, queries: int) -> IntervalSettings:
        given = self.intervals
        samples, seed = given.get("bootstrap_samples", BOOTSTRAP_SAMPLES), given.get("seed", 0)
        return interval_settings(queries, samples, seed, given.get("confidence", LEVEL))


@dataclass(frozen=True)
class MeasuredFacts:
    """Figures, and frames: see `fact_places`, `document_facts` and `top_of`, with `run` before the rest."""

    figures: ReportFacts
    places: pl.DataFrame
    documents: pl.DataFrame
    tops: pl.DataFrame


def measured_facts(
    release: QrelsRelease, request: FactRequest, labels: pl.DataFrame, pool: pl.DataFrame | None
) -> MeasuredFacts | None:
    """The runs on the release's facts; None where nobody judged any. labels: of documents, of the release."""
    if not has_facts(release):
        return None
    facts, supports = released_frames(release)
    if supports.is_empty():
        return None
    covered_by = release.sidecar["facts"]["covered_by"]
    names = [name for name in MEASURES if covered_by is None or name == "fact_recall"]
    keys = [(name, k) for name in names for k in request.k]
    frames = {run.name: _ordered(run, request) for run in request.runs}
    table = fact_table(facts, supports, labels=labels)
    intervals = request.settings_of(len(table.query_ids))
    recall_alone = [("fact_recall", k) for k in request.k]
    try:
        placed = placed_runs(table, frames.items(), keys)
        how = HowMeasured(request.facts(), request.conventions, intervals)
        evaluation = evaluate_table(table, placed, keys, how, pool=pool)
        how = HowMeasured(request.facts("vital"), request.conventions, intervals)
        vital = evaluate_table(table.vital(), placed, recall_alone, how, pool=pool)
    except ValueError as error:
        raise InputError(str(error)) from error
    judged = open_facts(table)
    lengths = _lengths(release.collection, placed)
    documents = {name: document_facts(table, run, max(request.k)) for name, run in placed.items()}
    return MeasuredFacts(
        {
            **evaluation.to_dict(),
            "vital": vital.with_lines(),
            "context": context_figures(documents, frames, lengths, cutoffs=request.k, intervals=intervals),
            "covered_by": covered_by,
        },
        pl.concat(fact_places(table, run).select(_named(name), pl.all()) for name, run in placed.items()),
        pl.concat(rows.frame.select(_named(name), pl.all()) for name, rows in documents.items()),
        pl.concat(top_of(table, judged, run).select(_named(name), pl.all()) for name, run in placed.items()),
    )


def _ordered(run: Run, request: FactRequest) -> pl.DataFrame:
    conventions = request.conventions
    frame = read_stored_run(run, need_rank=conventions.ties == "rank")
    return order_run(frame, ties=conventions.ties, scores=conventions.scores)


def _named(name: str) -> pl.Expr:
    return pl.lit(name).alias("run")


def _lengths(collection: Collection, placed: Mapping[str, RunPlaces]) -> dict[str, int]:
    """Characters of the texts in the first K of queries with facts; those without a text are left out."""
    ids = pl.concat([run.top["document_id"] for run in placed.values()]).unique().sort().to_list()
    length_of: dict[str, int] = {}
    for start in range(0, len(ids), BATCH):
        rows = collection.documents.filter(external_id__in=ids[start : start + BATCH])
        length_of.update(rows.exclude(text=None).values_list("external_id", Length("text")))
    return length_of
