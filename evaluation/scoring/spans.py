"""Excerpts that answer, and how much of them the first K chunks hold, however the documents were cut.

A chunk is the characters that a map of chunks gives it. In the first K of a run characters count once for
recall and precision, and as often as they come for the length of the context.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evaluation.measures import SPAN_MEASURES, Floats, key_of
from evaluation.measures.intervals import (
    BOOTSTRAP_SAMPLES,
    LEVEL,
    IntervalSettings,
    interval_settings,
    mean_intervals,
)
from evaluation.measures.significance import plain, plain_mean
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.figures import (
    Figure,
    SpanCounts,
    SpanFigures,
    SpanResult,
    SummaryRow,
    values_frame,
)
from evaluation.scoring.inputs import DEFAULT_CUTOFFS, cutoffs_array
from evaluation.scoring.wording import decimal, interval_or_why_not
from pooling.chunks.excerpts import Excerpts, read_excerpts
from pooling.chunks.given import Records
from pooling.chunks.intervals import Range, Ranges, difference, intersection, length, union
from pooling.chunks.maps import ChunkMap, Place, read_map
from pooling.formats.errors import excerpt
from pooling.formats.wording import counted, plural
from pooling.heavy import np, pl
from pooling.inputs.given import Runs, RunSource
from pooling.inputs.reading import named_runs, run_frame
from pooling.ranking.ranking import order_run
from pooling.ranking.shared_ids import Side, no_query_in_common, sentence_on

Key = tuple[str, int]


def is_of_spans(measure: str) -> bool:
    """Whether a measure, with or without its K, is over excerpts."""
    return measure.strip().lower().partition("@")[0] in SPAN_MEASURES


def span_keys(measures: Iterable[str], cutoffs: Sequence[int]) -> tuple[Key, ...]:
    """Measure and K: `span_recall@10` at its own, `span_recall` at each; both at each where none is named."""
    keys: list[Key] = []
    for one in list(measures) or SPAN_MEASURES:
        name, at, k = one.strip().lower().partition("@")
        if name not in SPAN_MEASURES or (at and not (k.isascii() and k.isdecimal() and int(k))):
            raise ValueError(f"{one!r} is not a measure over excerpts; write for instance span_recall@10.")
        keys += [(name, int(each)) for each in ([k] if at else cutoffs)]
    return tuple(sorted(dict.fromkeys(keys), key=lambda key: (list(SPAN_MEASURES).index(key[0]), key[1])))


@dataclass(frozen=True)
class SpanEvaluation:
    """Excerpts × runs of chunks. Made by `evaluate_spans`.

    keys: measure and K as asked. runs: name -> key -> figure, in which `characters` is the mean length of
    the first K chunks. values: name -> measure -> (Q, C), NaN where a query does not count. missing: name ->
    queries with excerpts that the run lacks, and queries of the run without excerpts.
    """

    excerpts: Excerpts
    chunks: ChunkMap
    order: Conventions
    cutoffs: Sequence[int]
    keys: Sequence[Key]
    query_ids: Sequence[str]
    runs: Mapping[str, Mapping[str, Figure]]
    values: Mapping[str, Mapping[str, Floats]]
    missing: Mapping[str, tuple[int, int]]
    interval: IntervalSettings
    notes: Sequence[str] = ()

    @cached_property
    def counts(self) -> SpanCounts:
        """Of the queries that were asked for."""
        by_query, asked = self.excerpts.by_query, set(self.query_ids)
        return {
            "queries": len(self.query_ids),
            "excerpts": sum(one.query_id in asked for one in self.excerpts.excerpts),
            "characters": sum(length(one) for query in self.query_ids for one in by_query[query].values()),
        }

    def with_lines(self) -> dict[str, dict[str, Figure]]:
        """The figures of each run with their convention lines."""
        return {
            name: {key: {**figure, "line": self.line(name, key)} for key, figure in figures.items()}
            for name, figures in self.runs.items()
        }

    def to_dict(self) -> SpanFigures:
        """What `evaluate --spans --format json` prints without labels."""
        return {**self.measured_how(), "runs": self.with_lines()}

    def measured_how(self) -> SpanResult:
        """All but the figures."""
        order = self.order.to_dict()
        return {
            "conventions": {
                "spans": self.excerpts.name,
                "chunk_map": self.chunks.name,
                "missing": order["missing"],
                "ties": order["ties"],
                "scores": order["scores"],
                "interval": self.interval,
            },
            "counts": self.counts,
        }

    def summary_rows(self) -> list[SummaryRow]:
        """One row per run, measure and K."""
        none = ("micro", "lower_bound", "upper_bound", "tie_min", "tie_expected", "tie_max")
        return [
            {
                "run": run,
                "measure": name,
                "k": k,
                "mean": figure["mean"],
                "low": figure["low"],
                "high": figure["high"],
                **dict.fromkeys(none),  # type: ignore[typeddict-item]  # what only recall of documents has
                "queries": figure["queries"],
                "characters": figure["characters"],
            }
            for run, figures in self.runs.items()
            for name, k, figure in ((name, k, figures[key_of(name, k)]) for name, k in self.keys)
        ]

    def per_query_frame(self) -> pl.DataFrame:
        """run, query_id, measure, k, value (null: the query does not count)."""
        return values_frame(
            self.query_ids,
            (
                (run, name, k, by_measure[name][:, list(self.cutoffs).index(k)])
                for run, by_measure in self.values.items()
                for name, k in self.keys
            ),
        )

    def line(self, run: str, key: str) -> str:
        """One figure with all that it depends on, as one line of text."""
        name, _, k = key.partition("@")
        figure, lacking = self.runs[run][key], self.missing[run][0]
        spread = interval_or_why_not(figure, self.interval["level"])
        aside = f" ({lacking} missing from the run)" if lacking else ""
        counts = self.counts
        return " · ".join(
            (
                f"{SPAN_MEASURES[name]}@{k} {decimal(figure['mean'])}{spread}",
                f"{figure['queries']} of {counted(len(self.query_ids), 'query')}{aside}",
                "missing = 0" if self.order.missing == "zero" else "missing = skipped",
                f"characters of {counted(counts['excerpts'], 'excerpt')} ({counts['characters']:,}) in "
                f"chunks by {self.chunks.name}, each once",
                f"ties: {self.order.order_in_words}",
                f"context@{k}: {figure['characters'] or 0:,.0f} characters",
            )
        )


def evaluate_spans(
    spans: Records,
    chunk_map: Records,
    runs: Runs,
    k: int | Iterable[int] = DEFAULT_CUTOFFS,
    *,
    measures: Sequence[str] = (),
    conventions: Conventions | None = None,
    queries: Collection[str] | None = None,
    bootstrap_samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 0,
    confidence: float = LEVEL,
) -> SpanEvaluation:
    """How much of the excerpts that answer the first K chunks of each run hold.

    - `spans`: a file, a frame or dicts: query_id, document_id, start, end, half open, in characters.
    - `chunk_map`: likewise chunk_id, document_id, start, end.
    - `runs`: of chunks, as `evaluate` takes them.
    - `measures`: `span_recall`, characters of excerpts in the first K ÷ characters of excerpts, and
      `span_precision`, the same ÷ characters of the first K; at each `k`, or at their own (`span_recall@10`).
    - `conventions`: how a run is ordered, and whether queries that it lacks count 0 or are left out.

    Means and intervals are over the queries that have excerpts. Raises ValueError (FormatError for files)
    where excerpts, chunks and runs do not meet.

    >>> chunk = {"document_id": "d", "start": 0, "end": 10}
    >>> spans = [{"query_id": "q", "document_id": "d", "start": 5, "end": 15}]
    >>> result = evaluate_spans(spans, [{"chunk_id": "c", **chunk}], {"bm25": {"q": ["c"]}}, 1)
    >>> figures = result.runs["bm25"]
    >>> figures["span_recall@1"]["mean"], figures["span_precision@1"]["mean"]
    (0.5, 0.5)
    """
    asked = SpanRequest(
        read_excerpts(spans), read_map(chunk_map), span_keys(measures, cutoffs_array(k).tolist())
    )
    how = interval_settings(1, bootstrap_samples, seed, confidence)
    return asked.measured(named_runs(runs), conventions or Conventions(), queries, how)


class SpanRequest(NamedTuple):
    """What is to be measured over excerpts, read and checked."""

    excerpts: Excerpts
    chunks: ChunkMap
    keys: tuple[Key, ...]

    def measured(
        self,
        runs: Mapping[str, RunSource],
        order: Conventions,
        queries: Collection[str] | None,
        how: IntervalSettings,
    ) -> SpanEvaluation:
        """Each run in turn. queries: only these; how: samples, seed and level of the intervals."""
        notes = self.excerpts.notes_on(self.chunks, then="no run can hold what is outside")
        ids = [one for one in self.excerpts.by_query if queries is None or one in queries]
        if not ids:
            raise ValueError(f"No query of {self.excerpts.name} is left to score; check the queries chosen.")
        cutoffs = cutoffs_array([k for _, k in self.keys]).tolist()
        tables, missing = [], {}
        for name, source in runs.items():
            frame = run_frame(name, source, with_rank=order.ties == "rank")
            top = order_run(frame, ties=order.ties, scores=order.scores, depth=cutoffs[-1])
            lists = self._lists(name, top, notes)
            lacking = sum(query not in lists for query in ids)
            if lacking == len(ids) and queries is None:
                raise no_query_in_common(name, frame["query_id"], self.excerpts.name, pl.Series(ids))
            missing[name] = lacking, len(lists.keys() - self.excerpts.by_query.keys())
            tables.append(self._table(ids, lists, cutoffs, skips=order.missing == "skip"))
        made = interval_settings(len(ids), how["samples"], how["seed"], how["level"])
        columns = dict(zip(SPAN_MEASURES, (0, 1), strict=True))
        places = [(cutoffs.index(k), columns[name]) for name, k in self.keys]
        stacked = np.stack([table[:, at, column] for table in tables for at, column in places], axis=1)
        limits = mean_intervals(stacked, samples=made["samples"], seed=made["seed"], level=made["level"])
        figures: dict[str, dict[str, Figure]] = {}
        for number, (name, table) in enumerate(zip(runs, tables, strict=True)):
            figures[name] = {}
            for place, (key, (at, _)) in enumerate(zip(self.keys, places, strict=True)):
                column = number * len(places) + place
                figures[name][key_of(*key)] = {
                    "mean": plain_mean(stacked[:, column]),
                    "low": plain(limits[0][column]),
                    "high": plain(limits[1][column]),
                    "queries": int(np.count_nonzero(~np.isnan(stacked[:, column]))),
                    "characters": plain_mean(table[:, at, 2]),
                }
        values = {
            name: {measure: table[:, :, column] for measure, column in columns.items()}
            for name, table in zip(runs, tables, strict=True)
        }
        return SpanEvaluation(
            self.excerpts,
            self.chunks,
            order,
            cutoffs,
            self.keys,
            ids,
            figures,
            values,
            missing,
            made,
            tuple(notes),
        )

    def _lists(self, name: str, top: pl.DataFrame, notes: list[str]) -> dict[str, list[Place | None]]:
        """Query -> its chunks in order, None for those that the map lacks; `notes` hears of these."""
        lists: dict[str, list[Place | None]] = {}
        strangers = []
        for query, chunk in top.select("query_id", "document_id").iter_rows():
            place = self.chunks.places.get(chunk)
            lists.setdefault(query, []).append(place)
            if place is None:
                strangers.append(chunk)
        if strangers and len(strangers) == top.height:
            here = Side(f"chunks of run {name}", top["document_id"])
            there = Side(f"chunks of {self.chunks.name}", pl.Series(list(self.chunks.places)))
            raise ValueError(f"Run {name} has no chunk of {self.chunks.name}. {sentence_on(here, there)}")
        if strangers:
            count = len(strangers)
            notes.append(
                f"Run {name}: {count:,} of the {top.height:,} chunks in its lists "
                f"{plural(count, 'is', 'are')} not in {self.chunks.name}, such as {excerpt(strangers[0])}; "
                f"{plural(count, 'it holds', 'they hold')} nothing."
            )
        return lists

    def _table(
        self,
        ids: Sequence[str],
        lists: Mapping[str, Sequence[Place | None]],
        cutoffs: Sequence[int],
        *,
        skips: bool,
    ) -> Floats:
        """(Q, C, 3) recall, precision and characters of context; NaN where a query does not count."""
        table = np.zeros((len(ids), len(cutoffs), 3))
        for row, query in enumerate(ids):
            if query in lists:
                table[row] = _of_query(self.excerpts.by_query[query], lists[query], cutoffs)
            elif skips:
                table[row] = np.nan
        return table


def _of_query(
    evidence: Mapping[str, Ranges], places: Sequence[Place | None], cutoffs: Sequence[int]
) -> list[tuple[float, float, float]]:
    """Recall, precision and characters of context at each K."""
    total = sum(map(length, evidence.values()))
    covered: dict[str, list[Range]] = {}
    hits = distinct = context = 0
    rows = [(0.0, 0.0, 0.0)]
    for place in places[: cutoffs[-1]]:
        if place is not None:
            before = covered.get(place.document_id, [])
            fresh = difference([place.range], before)
            hits += length(intersection(fresh, evidence.get(place.document_id, ())))
            distinct += length(fresh)
            context += place.end - place.start
            covered[place.document_id] = union([*before, place.range])
        rows.append((hits / total, hits / distinct if distinct else 0.0, float(context)))
    return [rows[min(k, len(rows) - 1)] for k in cutoffs]


def span_request(
    measures: Sequence[str], cutoffs: Sequence[int], spans: Records | None, chunk_map: Records | None
) -> SpanRequest | None:
    """What `measures` ask of excerpts, with the files read; None without `spans`, ValueError for odd ones."""
    named = [one for one in measures if is_of_spans(one)]
    if spans is None:
        if named or chunk_map is not None:
            what = f"{named[0]} is measured" if named else "A map of chunks is for measures"
            raise ValueError(f"{what} over excerpts; give them as spans, next to chunk_map.")
        return None
    if chunk_map is None:
        raise ValueError("Excerpts are measured by chunk_map, which says where each chunk begins and ends.")
    return SpanRequest(read_excerpts(spans), read_map(chunk_map), span_keys(named, cutoffs))
