"""Reports: stored runs measured on a qrels release, once, with everything needed to measure them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from django.conf import settings
from django.db import transaction

from evaluation.charts.stored import chart_svg, kinds_of, usual_choice
from evaluation.comparisons.stored import comparisons_of, store_comparisons, unjudged_frame
from evaluation.models import Report
from evaluation.pool_estimates.of_pool import estimates_of, too_large
from evaluation.pool_estimates.pool_choice import pool_to_rest_on, pools_to_rest_on
from evaluation.pool_estimates.report_basis import basis_of
from evaluation.pool_estimates.report_powered import powered_of
from evaluation.pool_estimates.report_score_audit import score_audit_of
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
from evaluation.report_store.files import delete_parts, store_parts
from evaluation.report_store.links import Link, link_to
from evaluation.report_store.software import software_versions
from evaluation.scoring.config import Settings
from labeling.qrels.releases import read_release
from pooling.interface.charting import VARIANTS
from pooling.interface.problems import InputError
from pooling.interface.progress import Progress
from pooling.jobs.running import job_kind, start_job
from pooling.models import Collection, Job, Pool, Run
from pooling.pools.building import pooled_frame
from pooling.runs.stored import provenance_of, read_stored_run
from pooling.storage.storing import checked_name, disk_errors_named

if TYPE_CHECKING:
    import polars as pl
    from django.contrib.auth.models import User

    from evaluation.comparisons.stored import StoredComparisons
    from evaluation.scoring.conventions import Conventions
    from evaluation.scoring.estimate_figures import Estimates
    from evaluation.scoring.figures import EvaluationResult, PlainConventions
    from evaluation.scoring.results import Evaluation
    from labeling.models import QrelsRelease
    from pooling.runs.stored import RunProvenance


LEVEL = 0.95
SEED = 0
SAMPLES = 10_000


@dataclass(frozen=True)
class ReportRequest:
    """What somebody asks for, by name and in plain values, so that a job can hold it; None takes the default.

    release: the newest. runs: all. k: 1 3 5 10 20 50 100 as far as pool and runs go. conventions: a preset's
    name under `preset`, and values that win over it under the names of `evaluation.Conventions`. settings:
    confidence, tags, minimum_queries, thresholds, samples and seed as in an evaluation file. pool: what the
    estimates rest on; the one whose audit is furthest answered. again_of: the report that this one is to
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
    again_of: int | None = None


def request_again(report: Report, user: User | None, *, pool: str | None = None) -> Report | Job:
    """Make a report again: the same settings, on the release and the runs of the same names as they are, its
    estimates on the same pool, or on another that is named."""
    options = report.options
    names = ("confidence", "tags", "minimum_queries", "thresholds", "seed")
    held = {name: options[name] for name in names if options.get(name) not in (None, [], {})}
    request = ReportRequest(
        name=f"{report.name[:180]}, again",
        release=options["release"]["name"],
        runs=[run["name"] for run in options["runs"]],
        k=options["k"],
        measures=options.get("asked") or options["measures"],
        conventions=options["conventions"],
        settings={**held, "samples": options["bootstrap_samples"]},
        pool=pool or options.get("pool"),
        again_of=report.pk,
    )
    return request_report(report.collection, request, user)


def request_report(collection: Collection, request: ReportRequest, user: User | None) -> Report | Job:
    """Create the report that is asked for, or the job that will when the runs are large.

    What can be refused is refused here, before a job is queued: `InputError` names the field.
    """
    asked = _resolved(collection, request)
    if sum(run.row_count for run in asked.runs) > settings.BACKGROUND_REPORT_ROWS:
        fixed = {"release": asked.release.name, "runs": [run.name for run in asked.runs], "k": asked.k}
        return start_job(collection, "report", {**asdict(request), **fixed}, user)
    return create_report(collection, asked, user=user)


@job_kind("report")
def _create_in_background(job: Job, progress: Progress) -> Link:
    asked = _resolved(job.collection, ReportRequest(**job.arguments))
    return link_to(create_report(job.collection, asked, user=job.created_by, progress=progress))


@dataclass(frozen=True)
class ReportInput:
    """What a report is made of: a request with its names looked up and its defaults filled in.

    held: confidence, tags, thresholds, minimum of queries, samples and seed. pool: what estimates rest on;
    None is the one whose audit is furthest answered.
    """

    release: QrelsRelease
    runs: Sequence[Run]
    k: Sequence[int]
    measures: Sequence[str]
    conventions: Conventions
    name: str | None = None
    held: Settings = field(default_factory=Settings)
    pool: Pool | None = None
    again_of: int | None = None


def _resolved(collection: Collection, request: ReportRequest) -> ReportInput:
    """What a request stands for; `InputError` for a name that is not there and for what cannot be."""
    release = release_chosen(collection, request.release)
    runs = runs_chosen(collection, request.runs)
    pool = pool_to_rest_on(collection, request.pool) if request.pool else None
    pools = [pool] if pool else pools_to_rest_on(collection)
    return ReportInput(
        name=checked_name(request.name, "report") if request.name else None,
        release=release,
        runs=runs,
        k=checked_cutoffs(default_cutoffs(runs, pools) if request.k is None else request.k),
        measures=_measures(MEASURES if request.measures is None else request.measures),
        conventions=conventions_from(request.conventions or {}),
        held=_held(collection, request.settings or {}),
        pool=pool,
        again_of=request.again_of,
    )


def _measures(names: Sequence[str]) -> Sequence[str]:
    """The names as they are, once each is known to be one; a K in them becomes one of the report's."""
    checked_measures(names)
    return names


def _held(collection: Collection, values: Mapping[str, Any]) -> Settings:
    held = settings_chosen(values)
    strata_chosen(collection, held.tags)
    return held


def create_report(
    collection: Collection,
    asked: ReportInput,
    *,
    user: User | None = None,
    progress: Progress | None = None,
) -> Report:
    """Measure runs on a release at every K and keep the result; `progress` hears how far.

    A K that a measure or a threshold names is one of the report's. Recall and coverage are always measured.
    The bounds of recall at K rest on every pool of the collection and on the run's first K. `InputError` for
    an empty list of runs, a K below 1, a measure or tag that does not exist, and a run without any query of
    the release.
    """
    in_background, progress = progress is not None, progress or (lambda share, detail: None)
    asked = _settled(asked)
    release, runs = asked.release, asked.runs
    strata = strata_chosen(collection, asked.held.tags)
    name = checked_name(
        asked.name or f"{release.name}, {len(runs)} run{'s' if len(runs) > 1 else ''}", "report"
    )
    pools = list(collection.pools.defer("diagnostics"))
    qrels = read_release(release)
    evaluation = _evaluation(qrels, asked, _pool_of_bounds(pools), strata, progress=progress)
    progress(0.75, "Comparing.")
    large = too_large(evaluation)
    basis = None if large else basis_of(collection, release, qrels, evaluation, asked=asked.pool)
    others = None if basis is None else (comparisons_of(basis), unjudged_frame(basis, qrels))
    progress(0.85, "Storing.")
    made = Report(collection=collection, name=name, release=release, created_by=user)
    made.options = _options(asked, pools)
    rests_on = basis.pool.described["name"] if basis and basis.pool else asked.pool and asked.pool.name
    made.options["pool"] = rests_on
    if asked.again_of is not None:
        made.options["again_of"] = asked.again_of
    estimates: Estimates = {
        **estimates_of(basis),
        "prediction_powered": powered_of(basis),
        "audit_by_scores": score_audit_of(collection, release, qrels, basis),
    }
    made.result = {**_with_chunks(evaluation.to_dict(), runs), "estimates": estimates}
    drawing = progress if in_background else None
    return _stored(made, runs, evaluation, qrels, comparisons=others, progress=drawing)


def _settled(asked: ReportInput) -> ReportInput:
    """The same with every K and measure that is named anywhere, and with defaults for the intervals."""
    if not asked.runs:
        raise InputError("A report needs at least one run.", fields={"runs": "Choose at least one run."})
    held = asked.held.over(Settings(confidence=LEVEL, samples=SAMPLES, seed=SEED))
    named = [*asked.measures, *(held.thresholds or {})]
    measures = checked_measures(named)
    cutoffs = checked_cutoffs([*asked.k, *own_cutoffs(named)])
    return replace(asked, k=cutoffs, measures=measures, held=held)


def _with_chunks(result: EvaluationResult, runs: Sequence[Run]) -> EvaluationResult:
    """The result with how chunks became documents in the lines of the runs that held some."""
    for run in runs:
        if words := provenance_of(run).get("chunks"):
            for figure in result["runs"][run.name].values():
                figure["line"] += f" · {words}"
    return result


def _readers(
    runs: Sequence[Run], conventions: Conventions, progress: Progress
) -> dict[str, Callable[[], pl.DataFrame]]:
    """How to read each run from storage when its turn comes, so that not all are in memory at once."""

    def reader(run: Run, done: int) -> Callable[[], pl.DataFrame]:
        def read() -> pl.DataFrame:
            progress(0.5 * done / len(runs), f"Measuring “{run.name}”.")
            return read_stored_run(run, need_rank=conventions.ties == "rank")

        return read

    return {run.name: reader(run, done) for done, run in enumerate(runs)}


def _evaluation(
    qrels: pl.DataFrame,
    asked: ReportInput,
    pool: pl.DataFrame | None,
    strata: Mapping[str, Sequence[str]],
    *,
    progress: Progress,
) -> Evaluation:
    from evaluation.scoring.evaluating import evaluate

    try:
        return evaluate(
            qrels,
            _readers(asked.runs, asked.conventions, progress),
            asked.k,
            asked.measures,
            asked.conventions,
            pool=pool,
            strata=strata,
            progress=lambda share, detail: progress(0.5 + 0.25 * share, detail),
            **asked.held.arguments(),
        )
    except ValueError as error:
        raise InputError(str(error)) from error


def _pool_of_bounds(pools: Sequence[Pool]) -> pl.DataFrame | None:
    """The pairs on which the bounds of recall rest in addition to each run's own first K; None without a
    pool.
    """
    if not pools:
        return None
    import polars as pl

    return pl.concat([pooled_frame(pool) for pool in pools]).unique()


class ReleaseStamp(TypedDict):
    """The labels of a report."""

    name: str
    sha256: str


class ReportOptions(TypedDict):
    """What it takes to make the same report again, and to see whether its inputs are still the same.

    measures: names, of which the page offers each; asked: as they were asked for, with `map@10` next to
    `map`. pools: those of the bounds; pool: that of the estimates. again_of: the report that this one
    repeats.
    """

    release: ReleaseStamp
    runs: list[RunProvenance]
    k: list[int]
    measures: list[str]
    asked: list[str]
    conventions: PlainConventions
    confidence: float | None
    tags: list[str]
    minimum_queries: int | None
    thresholds: dict[str, float]
    bootstrap_samples: int | None
    seed: int | None
    pools: list[str]
    software: dict[str, str]
    pool: NotRequired[str | None]
    again_of: NotRequired[int]


def _options(asked: ReportInput, pools: Sequence[Pool]) -> ReportOptions:
    held = asked.held
    return {
        "release": {"name": asked.release.name, "sha256": asked.release.sha256},
        "runs": [provenance_of(run) for run in asked.runs],
        "k": list(asked.k),
        "measures": list(dict.fromkeys(key.partition("@")[0] for key in asked.measures)),
        "asked": list(asked.measures),
        "conventions": asked.conventions.to_dict(),
        "confidence": held.confidence,
        "tags": list(held.tags or ()),
        "minimum_queries": held.minimum_queries,
        "thresholds": dict(held.thresholds or {}),
        "bootstrap_samples": held.samples,
        "seed": held.seed,
        "pools": [pool.name for pool in pools],
        "software": software_versions(),
    }


def _stored(
    made: Report,
    runs: Sequence[Run],
    evaluation: Evaluation,
    qrels: pl.DataFrame,
    *,
    comparisons: tuple[StoredComparisons, pl.DataFrame] | None,
    progress: Progress | None,
) -> Report:
    """Write the files, and in the background the pictures of the page, then the row; when either fails or is
    cancelled, nothing stays behind."""
    with disk_errors_named():
        try:
            store_parts(made, evaluation, qrels)
            if comparisons is not None:
                store_comparisons(made, *comparisons)
            if progress:
                _draw(made, progress)
            with transaction.atomic():
                made.save()
                made.runs.set(runs)
        except BaseException:
            delete_parts(made)
            raise
    return made


def _draw(made: Report, progress: Progress) -> None:
    """The pictures of recall that pages and the HTML file show; without a worker they are drawn when somebody
    looks."""
    kinds, choice = kinds_of(made), usual_choice(made)
    wide = ("light", "dark")
    wanted = [(kind, variant) for kind in kinds.values() for variant in wide]
    wanted += [(kinds["curve"], variant) for variant in VARIANTS if variant not in wide]
    for place, (kind, variant) in enumerate(wanted):
        progress(0.88 + 0.12 * place / len(wanted), f"Drawing: {kind.title(choice)}.")
        chart_svg(made, kind, choice, variant)
