"""Reports: stored runs measured on a qrels release, once, with everything needed to measure them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

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
from evaluation.report_store.software import software_versions
from evaluation.scoring.config import Settings
from labeling.qrels.releases import read_release
from pooling.formats.wording import plural
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

    from evaluation.scoring.conventions import Conventions
    from evaluation.scoring.estimate_figures import Estimates
    from evaluation.scoring.figures import EvaluationResult
    from evaluation.scoring.results import Evaluation
    from labeling.models import QrelsRelease


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
    if sum(run.row_count for run in asked["runs"]) > settings.BACKGROUND_REPORT_ROWS:
        fixed = {
            "release": asked["release"].name,
            "runs": [run.name for run in asked["runs"]],
            "k": asked["k"],
        }
        return start_job(collection, "report", {**asdict(request), **fixed}, user)
    return create_report(collection, user=user, **asked)


@job_kind("report")
def _create_in_background(job: Job, report: Progress) -> dict[str, Any]:
    asked = _resolved(job.collection, ReportRequest(**job.arguments))
    return result_of(create_report(job.collection, user=job.created_by, report=report, **asked))


def result_of(report: Report) -> dict[str, Any]:
    """What the HTTP interface and a finished job say of a new report."""
    return {"id": report.pk, "name": report.name, "url": report.get_absolute_url()}


def _resolved(collection: Collection, request: ReportRequest) -> dict[str, Any]:
    """The arguments of `create_report` that a request stands for."""
    release = release_chosen(collection, request.release)
    runs = runs_chosen(collection, request.runs)
    pool = pool_to_rest_on(collection, request.pool) if request.pool else None
    pools = [pool] if pool else pools_to_rest_on(collection)
    return {
        "name": checked_name(request.name, "report") if request.name else None,
        "release": release,
        "runs": runs,
        "k": checked_cutoffs(default_cutoffs(runs, pools) if request.k is None else request.k),
        "measures": _measures(MEASURES if request.measures is None else request.measures),
        "conventions": conventions_from(request.conventions or {}),
        "held": _held(collection, request.settings or {}),
        "pool": pool,
        "again_of": request.again_of,
    }


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
    *,
    name: str | None = None,
    release: QrelsRelease,
    runs: Sequence[Run],
    k: Sequence[int],
    measures: Sequence[str],
    conventions: Conventions,
    held: Settings | None = None,
    pool: Pool | None = None,
    again_of: int | None = None,
    user: User | None = None,
    report: Progress | None = None,
) -> Report:
    """Measure `runs` on `release` at every K and keep the result; `report(share, detail)` hears how far.

    `held` says the rest: confidence, tags, thresholds, minimum of queries, samples and seed. A K that a
    measure or a threshold names is one of the report's. Recall and coverage are always measured. The bounds
    of recall at K rest on every pool of the collection and on the run's first K; estimates rest on `pool`, or
    on the one whose audit is furthest answered. `InputError` for an empty list of runs, a K below 1, a
    measure or tag that does not exist, and a run without any query of the release.
    """
    in_background, report = report is not None, report or (lambda share, detail: None)
    if not runs:
        raise InputError("A report needs at least one run.", fields={"runs": "Choose at least one run."})
    held = (held or Settings()).over(Settings(confidence=LEVEL, samples=SAMPLES, seed=SEED))
    measures = [*measures, *(held.thresholds or {})]
    chosen = checked_measures(measures)
    cutoffs = checked_cutoffs([*k, *own_cutoffs(measures)])
    strata = strata_chosen(collection, held.tags)
    name = checked_name(name or f"{release.name}, {len(runs)} {plural(len(runs), 'run')}", "report")
    pools = list(collection.pools.defer("diagnostics"))
    qrels, read = read_release(release), _readers(runs, conventions, report)
    pairs = _pool_of_bounds(pools)
    evaluation = _evaluation(qrels, read, cutoffs, chosen, conventions, pairs, held, strata, report)
    report(0.75, "Comparing.")
    large = too_large(evaluation)
    basis = None if large else basis_of(collection, release, qrels, evaluation, asked=pool)
    others = None if basis is None else (comparisons_of(basis), unjudged_frame(basis, qrels))
    report(0.85, "Storing.")
    made = Report(collection=collection, name=name, release=release, created_by=user)
    made.options = _options(release, runs, cutoffs, chosen, conventions, pools, held)
    made.options["pool"] = basis.pool.described["name"] if basis and basis.pool else pool and pool.name
    if again_of is not None:
        made.options["again_of"] = again_of
    estimates: Estimates = {
        **estimates_of(basis),
        "prediction_powered": powered_of(basis),
        "audit_by_scores": score_audit_of(collection, release, qrels, basis),
    }
    made.result = {**_with_chunks(evaluation.to_dict(), runs), "estimates": estimates}
    return _stored(made, runs, evaluation, qrels, others, report if in_background else None)


def _with_chunks(result: EvaluationResult, runs: Sequence[Run]) -> EvaluationResult:
    """The result with how chunks became documents in the lines of the runs that held some."""
    for run in runs:
        if words := provenance_of(run).get("chunks"):
            for figure in result["runs"][run.name].values():
                figure["line"] += f" · {words}"
    return result


def _readers(
    runs: Sequence[Run], conventions: Conventions, report: Progress
) -> dict[str, Callable[[], pl.DataFrame]]:
    """How to read each run from storage when its turn comes, so that not all are in memory at once."""

    def reader(run: Run, done: int) -> Callable[[], pl.DataFrame]:
        def read() -> pl.DataFrame:
            report(0.5 * done / len(runs), f"Measuring “{run.name}”.")
            return read_stored_run(run, need_rank=conventions.ties == "rank")

        return read

    return {run.name: reader(run, done) for done, run in enumerate(runs)}


def _evaluation(
    qrels: pl.DataFrame,
    runs: Mapping[str, Callable[[], pl.DataFrame]],
    cutoffs: Sequence[int],
    measures: Sequence[str],
    conventions: Conventions,
    pool: pl.DataFrame | None,
    held: Settings,
    strata: Mapping[str, Sequence[str]],
    report: Progress,
) -> Evaluation:
    from evaluation.scoring.evaluating import evaluate

    try:
        return evaluate(
            qrels,
            runs,
            cutoffs,
            measures,
            conventions,
            pool=pool,
            strata=strata,
            progress=lambda share, detail: report(0.5 + 0.25 * share, detail),
            **held.arguments(),
        )
    except ValueError as error:
        raise InputError(str(error)) from error


def _pool_of_bounds(pools: Sequence[Pool]) -> pl.DataFrame | None:
    """The pairs on which the bounds of recall rest beside each run's own first K; None without a pool."""
    if not pools:
        return None
    import polars as pl

    return pl.concat([pooled_frame(pool) for pool in pools]).unique()


def _options(
    release: QrelsRelease,
    runs: Sequence[Run],
    cutoffs: Sequence[int],
    measures: Sequence[str],
    conventions: Conventions,
    pools: Sequence[Pool],
    held: Settings,
) -> dict[str, Any]:
    """What it takes to make the same report again, and to see whether its inputs are still the same."""
    return {
        "release": {"name": release.name, "sha256": release.sha256},
        "runs": [provenance_of(run) for run in runs],
        "k": list(cutoffs),
        # The page chooses among names; `asked` has `map@10` beside `map`.
        "measures": list(dict.fromkeys(key.partition("@")[0] for key in measures)),
        "asked": list(measures),
        "conventions": asdict(conventions),
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
    comparisons: tuple[dict[str, Any], pl.DataFrame] | None,
    report: Progress | None,
) -> Report:
    """Write the files, and in the background the pictures of the page, then the row; when either fails or is
    cancelled, nothing stays behind."""
    with disk_errors_named():
        try:
            store_parts(made, evaluation, qrels)
            if comparisons is not None:
                store_comparisons(made, *comparisons)
            if report:
                _draw(made, report)
            with transaction.atomic():
                made.save()
                made.runs.set(runs)
        except BaseException:
            delete_parts(made)
            raise
    return made


def _draw(made: Report, report: Progress) -> None:
    """The pictures of recall that pages and the HTML file show; without a worker they are drawn when somebody
    looks."""
    kinds, choice = kinds_of(made), usual_choice(made)
    wide = ("light", "dark")
    wanted = [(kind, variant) for kind in kinds.values() for variant in wide]
    wanted += [(kinds["curve"], variant) for variant in VARIANTS if variant not in wide]
    for place, (kind, variant) in enumerate(wanted):
        report(0.88 + 0.12 * place / len(wanted), f"Drawing: {kind.title(choice)}.")
        chart_svg(made, kind, choice, variant)
