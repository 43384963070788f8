"""Release and measure: the labels frozen and every run measured on them, in one step with names proposed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from django.contrib.auth.models import User

from evaluation.models import Report
from evaluation.report_store.choices import runs_chosen
from evaluation.report_store.links import Link, link_to
from evaluation.reports.making import STAGES, ReportRequest, create_requested, is_large
from labeling.consensus.rules import RULES_IN_WORDS
from labeling.models import QrelsRelease
from labeling.qrels.labels import has_labels
from labeling.qrels.releases import free_name, no_labels, release_qrels, take_back
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_once
from pooling.models import Collection, Job

# Nobody who clicks twice waits longer in between.
TWO_CLICKS = timedelta(minutes=1)
NUMBERED = re.compile(r"v(\d{1,6})", re.ASCII)


@dataclass(frozen=True)
class Measuring:
    """A request in plain values, so that a job can hold it; None takes the default.

    release: the name of the new release, v1, v2 and so on. rule: how verdicts become a label. runs: all.
    """

    release: str | None = None
    rule: str = "majority"
    runs: Sequence[str] | None = None


def proposed_release(collection: Collection) -> str:
    """The next of v1, v2 and so on, after the largest there is."""
    names = collection.releases.filter(name__startswith="v").values_list("name", flat=True)
    numbers = [int(match[1]) for name in names if (match := NUMBERED.fullmatch(name))]
    return f"v{max(numbers, default=0) + 1}"


def request_measuring(collection: Collection, choice: Measuring, user: User | None) -> Report | Job:
    """Release the labels and measure, or a job for large runs; `InputError` names a refused field before."""
    runs = runs_chosen(collection, choice.runs)
    settled = Measuring(
        release=free_name(collection, choice.release) if choice.release else None,
        rule=_checked_rule(choice.rule),
        runs=[run.name for run in runs],
    )
    if not has_labels(collection):
        raise no_labels(collection)
    if is_large(runs):
        return start_once(collection, "release and measure", asdict(settled), user)
    return release_and_measure(collection, settled, user=user)


def _checked_rule(rule: str) -> str:
    if rule not in RULES_IN_WORDS:
        problem = f"There is no rule “{rule}”. Choose one of {', '.join(RULES_IN_WORDS)}."
        raise InputError(problem, field="rule")
    return rule


def _is_second_click(before: QrelsRelease, release: QrelsRelease) -> bool:
    """The newest release before one has its labels, and is as young as that of somebody who clicks twice."""
    apart = release.released_at - before.released_at
    same = ("sha256", "rule", "released_by_id")
    return apart < TWO_CLICKS and all(getattr(before, name) == getattr(release, name) for name in same)


def _report_on(release: QrelsRelease, runs: Sequence[str] | None) -> Report | None:
    """The newest report on a release that measures just these runs."""
    reports = Report.objects.filter(release=release).order_by("-pk")
    return next((report for report in reports if runs and set(report.result["runs"]) == set(runs)), None)


@job_kind(
    "release and measure",
    title="Releasing the labels and measuring the runs",
    stages=STAGES,
    begins_at="releases",
)
def _in_background(job: Job, progress: Progress) -> Link:
    choice = Measuring(**job.arguments)
    return link_to(release_and_measure(job.collection, choice, user=job.created_by, progress=progress))


def release_and_measure(
    collection: Collection, choice: Measuring, *, user: User | None = None, progress: Progress | None = None
) -> Report:
    """Freeze the labels and measure the runs; where that fails, the release is taken back."""
    if progress:
        progress(0.0, "Releasing the labels.")
    name = choice.release or proposed_release(collection)
    before = collection.releases.order_by("-pk").first()
    release = release_qrels(collection, name=name, rule=choice.rule, user=user)
    if not choice.release and before and _is_second_click(before, release):
        take_back(release, by=user)
        release = before
    request = ReportRequest(release=release.name, runs=choice.runs)
    if release == before and (made := _report_on(before, choice.runs)):
        return made
    try:
        return create_requested(collection, request, user=user, progress=progress)
    except BaseException:
        if release != before:
            take_back(release, by=user)
        raise
