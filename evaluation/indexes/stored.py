"""Latency reports: stored runs against an exact one, with the latency of each, measured once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from evaluation.indexes.latency import IndexSetting, latency_table, parse_index_settings, settings_of_runs
from evaluation.indexes.recall import recall_against
from evaluation.indexes.tables import against_as_dict
from evaluation.models import LatencyReport
from evaluation.report_store.links import Link, link_to
from evaluation.report_store.provenance import software_versions
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_job
from pooling.models import Collection, Job, Run
from pooling.runs.stored import provenance_of, read_stored_run, runs_named
from pooling.storage.storing import checked_name

MOST_K = 1_000_000


@dataclass(frozen=True)
class LatencyRequest:
    """A request by name and in plain values, so that a job can hold it.

    settings: the text of the file of settings. runs: those that it names. target: the recall at `k` that a
    setting should reach.
    """

    exact: str
    settings: str
    runs: Sequence[str] | None = None
    k: int = 10
    target: float | None = None
    name: str | None = None


@dataclass(frozen=True)
class LatencyInputs:
    name: str
    exact: Run
    runs: list[Run]
    settings: list[IndexSetting]
    k: int
    target: float | None


def request_latency_report(
    collection: Collection, request: LatencyRequest, user: User | None
) -> LatencyReport | Job:
    """Create the report, or a job for large runs; `InputError` names a refused field before that."""
    inputs = _resolved(collection, request)
    if sum(run.row_count for run in [inputs.exact, *inputs.runs]) > settings.BACKGROUND_REPORT_ROWS:
        return start_job(collection, "latency report", asdict(request), user)
    return _create(collection, request, inputs, user)


@job_kind("latency report", title="Comparing indexes", begins_at="latency_new")
def _create_in_background(job: Job, progress: Progress) -> Link:
    request = LatencyRequest(**job.arguments)
    inputs = _resolved(job.collection, request)
    return link_to(_create(job.collection, request, inputs, job.created_by, progress=progress))


def _resolved(collection: Collection, request: LatencyRequest) -> LatencyInputs:
    problems = {
        "k": 1 <= request.k <= MOST_K or f"K is a number from 1 to {MOST_K:,}.",
        "target": request.target is None
        or 0 <= request.target <= 1
        or "A target is a recall from 0 to 1, such as 0.95.",
    }
    fields = {name: problem for name, problem in problems.items() if isinstance(problem, str)}
    if fields:
        raise InputError(" ".join(fields.values()), fields=fields)
    exact = _exact(collection, request.exact)
    try:
        index_settings = parse_index_settings(request.settings.encode(), "settings")
        names = [one.run for one in index_settings] if request.runs is None else list(request.runs)
        index_settings = settings_of_runs(index_settings, names, "settings")
    except ValueError as error:
        raise InputError(str(error), field="settings") from None
    try:
        runs = runs_named(collection, names)
    except InputError as error:
        field = "settings" if request.runs is None else "runs"
        raise InputError(str(error), field=field) from None
    title = request.name or f"Against {exact.name}, K = {request.k}"
    return LatencyInputs(
        checked_name(title, "latency report"), exact, runs, index_settings, request.k, request.target
    )


def _exact(collection: Collection, name: str) -> Run:
    try:
        return runs_named(collection, [name])[0]
    except InputError as error:
        raise InputError(str(error), field="exact") from None


def _create(
    collection: Collection,
    request: LatencyRequest,
    inputs: LatencyInputs,
    user: User | None,
    *,
    progress: Progress | None = None,
) -> LatencyReport:
    progress = progress or (lambda share, detail: None)
    runs = inputs.runs
    sources = {run.name: _Reader(run, done / len(runs), progress) for done, run in enumerate(runs)}
    try:
        against = recall_against(
            _Reader(inputs.exact, 0.0, progress), sources, inputs.k, exact_name=inputs.exact.name
        )
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error), field="runs") from error
    table = latency_table(against, inputs.settings, inputs.k, inputs.target)
    made = LatencyReport(collection=collection, name=inputs.name, exact=inputs.exact, created_by=user)
    made.options = {
        "exact": provenance_of(inputs.exact),
        "runs": [provenance_of(run) for run in runs],
        "k": inputs.k,
        "target": inputs.target,
        "settings": request.settings,
        "parameters": list(inputs.settings[0].parameters),
        "software": software_versions(),
    }
    made.result = against_as_dict(against, table)
    with transaction.atomic():
        made.save()
        made.runs.set(runs)
    return made


@dataclass(frozen=True)
class _Reader:
    run: Run
    share: float
    progress: Progress

    def __call__(self) -> pl.DataFrame:
        self.progress(0.9 * self.share, f"Measuring “{self.run.name}”.")
        return read_stored_run(self.run).select("query_id", "document_id", "score")
