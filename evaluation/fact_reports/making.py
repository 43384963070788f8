"""The facts of a release measured for a report: figures, and for each run where every fact stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models.functions import Length

from evaluation.fact_reports.places import context_figures, document_facts, fact_places
from evaluation.facts.comparing import open_facts, top_of
from evaluation.facts.evaluating import HowMeasured, evaluate_table, placed_runs
from evaluation.facts.results import FACT_PRESETS, FactConventions
from evaluation.facts.shapes import ReportFacts
from evaluation.facts.table import RunPlaces, fact_table
from evaluation.measures.significance import BOOTSTRAP_SAMPLES, LEVEL, IntervalSettings, interval_settings
from evaluation.scoring.conventions import Conventions
from labeling.facts.releasing import has_facts, released_frames
from labeling.models import QrelsRelease
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Collection, Run
from pooling.ranking.ranking import order_run
from pooling.runs.stored import read_stored_run

MEASURES = ("fact_recall", "alpha_ndcg", "redundancy")
BATCH = 5_000


@dataclass(frozen=True)
class FactRequest:
    """What the report asks: its runs and cutoffs, how runs are ordered, and how intervals are made."""

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
    """The report's runs on the facts of its release; None where the release has none that anybody judged.
    labels: of documents, the release's own."""
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
            "runs": evaluation.with_lines(),
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
