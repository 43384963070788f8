"""Reports: stored runs measured on a qrels release, once, with everything needed to measure them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from evaluation.charts.kinds import first_curve
from evaluation.charts.stored import chart_svg, figures_of, kinds_of, usual_choice
from evaluation.comparisons.answer import Answer
from evaluation.comparisons.answering import AnswerRequest, answered
from evaluation.comparisons.stored import StoredComparisons, compared_runs, store_comparisons, unjudged_frame
from evaluation.comparisons.tables import answer_part
from evaluation.comparisons.verdict import Comparison
from evaluation.estimates.of_pool import Basis, estimates_of, too_large
from evaluation.estimates.pool_choice import pool_to_rest_on, pools_to_rest_on
from evaluation.estimates.report_basis import basis_of, powered_of
from evaluation.estimates.report_score_audit import score_audit_of
from evaluation.failures.fact_reports import FactRequest, MeasuredFacts, measured_facts
from evaluation.failures.stored_facts import store_facts
from evaluation.models import Report
from evaluation.rendering.cells import Part
from evaluation.report_store.choices import (
    MEASURES,
    checked_cutoffs,
    checked_measures,
    conventions_from,
    default_cutoffs,
    own_cutoffs,
    release_chosen,
    runs_chosen,
    settings_chosen,
    strata_chosen,
)
from evaluation.report_store.completing import (
    complete_queries,
    complete_words,
    completed_labels,
    completeness,
)
from evaluation.report_store.files import delete_parts, runs_of, store_parts
from evaluation.report_store.links import Link, link_to
from evaluation.report_store.options import ReportOptions
from evaluation.report_store.provenance import software_versions
from evaluation.report_store.settings import pool_of_estimates
from evaluation.reports.summaries import summarised
from evaluation.reports.weighing import checked_weights, taken_back
from evaluation.scoring.config import MARGIN, Settings
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.estimate_figures import COMPLETE, LABELS, Estimates, runs_with_estimates
from evaluation.scoring.evaluating import evaluate
from evaluation.scoring.figures import EvaluationResult
from evaluation.scoring.results import Evaluation
from labeling.models import QrelsRelease
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_once
from pooling.models import Collection, Job, Pool, Run
from pooling.pools.building import pooled_pairs
from pooling.runs.stored import provenance_of, read_stored_run
from pooling.storage.storing import checked_name, disk_errors_named

LEVEL = 0.95
SEED = 0
SAMPLES = 10_000
FEW_RUNS = 8  # beyond them, comparing each with each takes longest


@dataclass(frozen=True)
class ReportRequest:
    """A request by name and in plain values, so that a job can hold it; None takes the default.

    release: the newest. runs: all. k: 1 3 5 10 20 50 100 as far as pool and runs go. conventions: a preset's
    name under `preset`, and values that win over it under the names of `evaluation.Conventions`. settings:
    confidence, tags, minimum_queries, thresholds, samples, seed and margin as in an evaluation file. pool:
    what the estimates rest on; the one whose audit is furthest answered. weights: `traffic`, `queries` or
    `none`; to the traffic where every scored query was drawn. again_of: the report that this one is to
    repeat.
    """

    name: str | None = None
    release: str | None = None
    runs: Sequence[str] | None = None
    k: Sequence[int] | None = None
    measures: Sequence[str] | None = None
    conventions: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] | None = None
    pool: str | None = None
    weights: str | None = None
    again_of: int | None = None


def request_again(report: Report, user: User | None, *, pool: str | None = None) -> Report | Job:
    """Make a report again: the same settings, on the release and the runs of the same names as they are, its
    estimates on the same pool, or on another that is named."""
    options = report.options
    names = ("confidence", "tags", "minimum_queries", "thresholds", "seed", "margin")
    chosen = {name: options[name] for name in names if options.get(name) not in (None, [], {})}
    same = pool_of_estimates(report)
    request = ReportRequest(
        name=f"{report.name[:180]}, again",
        release=report.release.name,
        runs=[run.name for run in runs_of(report)],
        k=options["k"],
        measures=options["asked"],
        conventions=options["conventions"],
        settings={**chosen, "samples": options["bootstrap_samples"]},
        pool=pool or (same.name if same else options.get("pool")),
        weights=options.get("weights"),
        again_of=report.pk,
    )
    return request_report(report.collection, request, user)


def request_report(collection: Collection, request: ReportRequest, user: User | None) -> Report | Job:
    """Create the report, or a job for large runs; `InputError` names a refused field before that."""
    inputs = _resolved(collection, request)
    if is_large(inputs.runs):
        fixed = {"release": inputs.release.name, "runs": [run.name for run in inputs.runs], "k": inputs.k}
        return start_once(collection, "report", {**asdict(request), **fixed}, user)
    return create_report(collection, inputs, user=user)


def is_large(runs: Sequence[Run]) -> bool:
    """A report that takes more than about a second, which is the worker's."""
    return len(runs) > FEW_RUNS or bool(sum(run.row_count for run in runs) > settings.BACKGROUND_REPORT_ROWS)


# What `create_report` tells of its progress.
STAGES = (
    (0.0, "Measure the runs"),
    (0.5, "Work out intervals"),
    (0.75, "Compare the runs"),
    (0.85, "Store the report"),
    (0.88, "Draw the pictures"),
)


@job_kind("report", title="Making a report", stages=STAGES, begins_at="report_new")
def _create_in_background(job: Job, progress: Progress) -> Link:
    request = ReportRequest(**job.arguments)
    return link_to(create_requested(job.collection, request, user=job.created_by, progress=progress))


def create_requested(
    collection: Collection,
    request: ReportRequest,
    *,
    user: User | None = None,
    progress: Progress | None = None,
) -> Report:
    """Create the report that is asked for, here and now; `InputError` as for `create_report`."""
    return create_report(collection, _resolved(collection, request), user=user, progress=progress)


@dataclass(frozen=True)
class ReportInput:
    """A request with its names looked up and its defaults filled in.

    settings: confidence, tags, thresholds, minimum of queries, samples, seed and margin. pool: what estimates
    rest on; None is the one whose audit is furthest answered. names_k: whether somebody named the K.
    """

    release: QrelsRelease
    runs: Sequence[Run]
    k: Sequence[int]
    measures: Sequence[str]
    conventions: Conventions
    name: str | None = None
    settings: Settings = field(default_factory=Settings)
    pool: Pool | None = None
    weights: str | None = None
    again_of: int | None = None
    names_k: bool = False


def _resolved(collection: Collection, request: ReportRequest) -> ReportInput:
    """`InputError` for a name that is not there and for what cannot be."""
    release = release_chosen(collection, request.release)
    runs = runs_chosen(collection, request.runs)
    pool = pool_to_rest_on(collection, request.pool) if request.pool else None
    pools = [pool] if pool else pools_to_rest_on(collection)
    chosen = settings_chosen(request.settings or {})
    strata_chosen(collection, chosen.tags)
    return ReportInput(
        name=checked_name(request.name, "report") if request.name else None,
        release=release,
        runs=runs,
        k=checked_cutoffs(default_cutoffs(runs, pools) if request.k is None else request.k),
        measures=_measures(MEASURES if request.measures is None else request.measures),
        conventions=conventions_from(request.conventions or {}),
        settings=chosen,
        pool=pool,
        weights=checked_weights(collection, request.weights),
        again_of=request.again_of,
        names_k=request.k is not None,
    )


def _measures(names: Sequence[str]) -> Sequence[str]:
    """The names as they are, once each is known to be one; a K in them becomes one of the report's."""
    checked_measures(names)
    return names


def create_report(
    collection: Collection, inputs: ReportInput, *, user: User | None = None, progress: Progress | None = None
) -> Report:
    """Measure runs on a release at every K and keep the result; `progress` hears how far.

    A K that a measure or a threshold names is one of the report's. Recall and coverage are always measured.
    The bounds of recall at K rest on every pool of the collection and on the run's first K. `InputError` for
    an empty list of runs, a K below 1, a measure or tag that does not exist, and a run without any query of
    the release.
    """
    in_background, progress = progress is not None, progress or (lambda share, detail: None)
    inputs = _settled(inputs)
    release, runs = inputs.release, inputs.runs
    strata = strata_chosen(collection, inputs.settings.tags)
    name = checked_name(inputs.name or f"{release.name}, {counted(len(runs), 'run')}", "report")
    pools = list(collection.pools.defer("diagnostics"))
    pooled = pooled_pairs(pools)
    frames = chain((read_stored_run(run) for run in runs), [] if pooled is None else [pooled])
    qrels = completed_labels(release, frames)
    evaluation = _evaluation(qrels, inputs, pooled, strata, progress=progress)
    evaluation = taken_back(evaluation, collection, inputs.weights)
    progress(0.75, "Comparing.")
    large = too_large(evaluation)
    basis = None if large else basis_of(collection, release, qrels, evaluation, named_pool=inputs.pool)
    made_of_pairs, others = _pairs(basis, qrels)
    declared, frame = completeness(release, evaluation, qrels)
    complete = declared or frame is not None
    recalled = estimates_of(basis, complete=complete)
    answer = answered(
        evaluation,
        AnswerRequest(_margin(inputs), complete=complete, frame=frame, names_k=inputs.names_k),
        basis=basis,
        made=made_of_pairs,
        estimates=recalled,
    )
    progress(0.85, "Storing.")
    made = Report(collection=collection, name=name, release=release, created_by=user)
    made.options = _options(inputs, pools)
    if answer is not None:
        made.options["headline"] = answer.k
    rests_on = basis.pool.described["name"] if basis and basis.pool else inputs.pool and inputs.pool.name
    made.options["pool"] = rests_on
    if "weights" in evaluation.settings:
        made.options["weights"] = evaluation.settings["weights"]["target"]
    if inputs.again_of is not None:
        made.options["again_of"] = inputs.again_of
    # What a model's scores add is of the pool, and not taken back to a log.
    is_plain = evaluation.design is None
    estimates: Estimates = {
        **recalled,
        "prediction_powered": powered_of(basis) if is_plain else None,
        "audit_by_scores": score_audit_of(collection, release, qrels, basis) if is_plain else None,
    }
    measured = _with_more(evaluation.to_dict(), release, runs)
    for threshold in measured.get("thresholds", {}).values():
        threshold["basis"] = COMPLETE if complete else LABELS
    made.result = {
        **measured,
        "runs": runs_with_estimates(measured["runs"], recalled),
        "estimates": estimates,
        "answer": None if answer is None else answer.to_dict(),
        **({"notes": list(evaluation.strangers)} if evaluation.strangers else {}),
    }
    of_facts = FactRequest(runs, inputs.k, inputs.conventions, inputs.settings.arguments())
    facts = measured_facts(release, of_facts, qrels, pooled)
    if facts is not None:
        made.result["facts"] = facts.figures
    more = _More(others, facts)
    return _stored(made, runs, evaluation, qrels, more=more, progress=progress if in_background else None)


class _More(NamedTuple):
    comparisons: tuple[StoredComparisons, pl.DataFrame] | None
    facts: MeasuredFacts | None


def _margin(inputs: ReportInput) -> float:
    return MARGIN if inputs.settings.margin is None else inputs.settings.margin


def _pairs(
    basis: Basis | None, qrels: pl.DataFrame
) -> tuple[Sequence[Comparison], tuple[StoredComparisons, pl.DataFrame] | None]:
    if basis is None:
        return (), None
    made, stored = compared_runs(basis)
    return () if stored["left_out"] else made, (stored, unjudged_frame(basis, qrels))


def _settled(inputs: ReportInput) -> ReportInput:
    """With every K and measure that is named anywhere, and with defaults for the intervals."""
    if not inputs.runs:
        raise InputError("A report needs at least one run.", fields={"runs": "Choose at least one run."})
    chosen = inputs.settings.over(Settings(confidence=LEVEL, samples=SAMPLES, seed=SEED, margin=MARGIN))
    named = [*inputs.measures, *(chosen.thresholds or {})]
    measures = checked_measures(named)
    cutoffs = checked_cutoffs([*inputs.k, *own_cutoffs(named)])
    return replace(inputs, k=cutoffs, measures=measures, settings=chosen)


def _with_more(result: EvaluationResult, release: QrelsRelease, runs: Sequence[Run]) -> EvaluationResult:
    """The result with what its lines say more: how chunks became documents, and which labels are complete."""
    complete = complete_words(release)
    for run in runs:
        words = [part for part in (provenance_of(run).get("chunks"), complete) if part]
        for figure in result["runs"][run.name].values():
            figure["line"] = " · ".join([figure["line"], *words])
    return result


def _readers(
    runs: Sequence[Run], conventions: Conventions, progress: Progress
) -> dict[str, Callable[[], pl.DataFrame]]:
    """Functions that read a run from storage when its turn comes, so that not all are in memory at once."""

    def reader(run: Run, done: int) -> Callable[[], pl.DataFrame]:
        def read() -> pl.DataFrame:
            progress(0.5 * done / len(runs), f"Measuring “{run.name}”.")
            return read_stored_run(run, need_rank=conventions.ties == "rank")

        return read

    return {run.name: reader(run, done) for done, run in enumerate(runs)}


def _evaluation(
    qrels: pl.DataFrame,
    inputs: ReportInput,
    pool: pl.DataFrame | None,
    strata: Mapping[str, Sequence[str]],
    *,
    progress: Progress,
) -> Evaluation:
    try:
        return evaluate(
            qrels,
            _readers(inputs.runs, inputs.conventions, progress),
            inputs.k,
            inputs.measures,
            inputs.conventions,
            pool=None if pool is None else pool.join(qrels, on="query_id", how="semi"),
            strata=strata,
            complete=complete_queries(inputs.release),
            progress=lambda share, detail: progress(0.5 + 0.25 * share, detail),
            **inputs.settings.arguments(),
        )
    except ValueError as error:
        raise InputError(str(error)) from error


def _options(inputs: ReportInput, pools: Sequence[Pool]) -> ReportOptions:
    chosen = inputs.settings
    return {
        "release": {"name": inputs.release.name, "sha256": inputs.release.sha256},
        "runs": [provenance_of(run) for run in inputs.runs],
        "k": list(inputs.k),
        "measures": list(dict.fromkeys(key.partition("@")[0] for key in inputs.measures)),
        "asked": list(inputs.measures),
        "conventions": inputs.conventions.to_dict(),
        "confidence": chosen.confidence,
        "tags": list(chosen.tags or ()),
        "minimum_queries": chosen.minimum_queries,
        "thresholds": dict(chosen.thresholds or {}),
        "bootstrap_samples": chosen.samples,
        "seed": chosen.seed,
        "margin": chosen.margin,
        "pools": [pool.name for pool in pools],
        "software": software_versions(),
        "queries": inputs.release.collection.queries.listed().count(),
    }


def _stored(
    made: Report,
    runs: Sequence[Run],
    evaluation: Evaluation,
    qrels: pl.DataFrame,
    *,
    more: _More,
    progress: Progress | None,
) -> Report:
    """Write the files, in the background the pictures, then the row; nothing stays behind after a failure."""
    with disk_errors_named():
        try:
            store_parts(made, evaluation, qrels, _answer_part(made))
            if more.comparisons is not None:
                store_comparisons(made, *more.comparisons)
            if more.facts is not None:
                store_facts(made, more.facts)
            made.summary = summarised(made)
            if progress:
                _draw(made, progress)
            with transaction.atomic():
                made.save()
                made.runs.set(runs)
        except BaseException:
            delete_parts(made)
            raise
    return made


def _answer_part(made: Report) -> Part | None:
    answer = made.result["answer"]
    return None if answer is None else answer_part(Answer.from_dict(answer))


def _draw(made: Report, progress: Progress) -> None:
    """The pictures of recall on pages and in the HTML file; without a worker drawn when looked at."""
    kinds, choice = kinds_of(made), usual_choice(made)
    wanted = [*((kind, "light") for kind in kinds.values()), (first_curve(figures_of(made)), "light-narrow")]
    for place, (kind, variant) in enumerate(wanted):
        progress(0.88 + 0.12 * place / len(wanted), f"Drawing: {kind.title(choice)}.")
        chart_svg(made, kind, choice, variant)
