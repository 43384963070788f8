"""Passes of pre-labels as people start, pause, resume and cancel them: in the background, or at a terminal.

In the background passes have a separate worker, so that no import waits for a model; and they take turns
there: after a minute a pass lets the others go first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypedDict

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django_tasks import task

from labeling.exposure.use import follow_prelabeler
from labeling.models import Prelabeler, PrelabelFailure, PrelabelJob, Queue
from labeling.models.prelabels import is_in_queue
from labeling.prelabels.client import ModelClient
from labeling.prelabels.costs import Prices
from labeling.prelabels.journal import Journal, journal_path, read_journal
from labeling.prelabels.options import (
    asking_of,
    current_prompt,
    key_for,
    missing_key,
    site_prices,
    uses_site_key,
)
from labeling.prelabels.running import BUDGET, CANCEL, PAUSE, STOP, TURN, Ending, Pass, Progress, Sleep
from labeling.prelabels.storing import store_outcomes
from labeling.prelabels.work import chunks, pending_pairs
from pooling.formats.wording import counted
from pooling.interface.problems import InputError, refusals
from pooling.jobs.workers import is_gone, this_worker
from pooling.people.activity_log import record_action
from pooling.tidying.kinds import when

logger = logging.getLogger(__name__)

LANE = "models"
TURN_SECONDS = 60.0
MOST_CONCURRENCY = 256
MOST_PAIRS = 10**9
# A worker says that it is there twice a second; anyone who is not its successor gives it a moment.
SHORT_SILENCE = timedelta(seconds=30)
State = PrelabelJob.State
RESUMABLE = (State.PAUSED, State.FAILED)


@dataclass(frozen=True)
class PassOptions:
    """Settings of a pass. None for `prices` is what the settings say of the model."""

    concurrency: int = 8
    limit: int | None = None
    budget: Decimal | None = None
    prices: Prices | None = None
    retries_failed: bool = False


def start_pass(
    queue: Queue, prelabeler: Prelabeler, options: PassOptions, *, by: User | None = None
) -> PrelabelJob:
    pause_abandoned_passes(SHORT_SILENCE)
    with transaction.atomic():
        job = _made(queue, prelabeler, options=options, by=by, state=State.QUEUED)
        transaction.on_commit(lambda: run_in_background.enqueue(job.pk))
    return job


def run_here(
    queue: Queue,
    prelabeler: Prelabeler,
    options: PassOptions,
    *,
    progress: Progress | None = None,
    sleep: Sleep | None = None,
    started: Callable[[Pass], None] | None = None,
) -> PrelabelJob:
    """Run a pass to its end in this process, a new or an interrupted one; `started` gets it first."""
    pause_abandoned_passes()
    stopped = PrelabelJob.objects.filter(queue=queue, prelabeler=prelabeler, state__in=RESUMABLE)
    job = next((job for job in stopped if job.can_resume), None)
    if job is None:
        job = _made(queue, prelabeler, options=options, by=None, state=State.RUNNING)
    else:
        values = _values(prelabeler, options)
        for name, value in values.items():
            setattr(job, name, value)
        _check(job, None)
        _begin_again(job, State.RUNNING, **values, worker=this_worker(), seen_at=timezone.now())
    while _work(job, progress=progress, sleep=sleep, started=started).word == TURN:
        _step(job, (State.QUEUED,), State.RUNNING)
    return job


def pause_pass(job: PrelabelJob, *, by: User | None = None) -> None:
    """Let a pass stop where it is; what was sent is waited for."""
    _ask_for(job, PAUSE, State.PAUSED, by)


@transaction.atomic
def cancel_pass(job: PrelabelJob, *, by: User | None = None) -> None:
    """End a pass for good; its pre-labels stay."""
    if _step(job, RESUMABLE, State.CANCELLED, detail="Cancelled. Answers received so far are kept."):
        record_action(job.queue.collection, by, "pre-labels cancelled", job.queue.name)
        return
    _ask_for(job, CANCEL, State.CANCELLED, by)


@when("deleted", Queue)
def _pause_passes(queue: Queue, by: User | None) -> None:
    """Nobody pays for the pre-labels of a deleted queue."""
    for job in PrelabelJob.objects.filter(queue=queue, state__in=(State.QUEUED, State.RUNNING)):
        pause_pass(job, by=by)


def resume_pass(job: PrelabelJob, *, budget: Decimal | None = None, by: User | None = None) -> None:
    """Go on with a pass that was paused or failed, perhaps with another cap; no answer is asked for again."""
    pause_abandoned_passes(SHORT_SILENCE)
    job.refresh_from_db()
    if job.state == State.FAILED and not job.can_resume:
        problem = "All pairs of this pass failed: nothing is left to resume. Start a pass that retries them."
        raise InputError(problem, conflict=True)
    current_prompt(job.prelabeler)
    if budget is not None:
        job.budget = budget
    _check(job, by)
    with transaction.atomic():
        _begin_again(job, State.QUEUED, detail="Waiting for the worker.")
        record_action(job.queue.collection, by, "pre-labels resumed", job.queue.name)
        transaction.on_commit(lambda: run_in_background.enqueue(job.pk))


def _begin_again(job: PrelabelJob, state: str, **values: Any) -> None:
    try:
        with transaction.atomic():
            job.on_site_key = _is_on_site_key(job)
            values |= {"budget": job.budget, "on_site_key": job.on_site_key}
            if not _step(job, RESUMABLE, state, asked="", finished_at=None, **values):
                job.refresh_from_db()
                problem = f"This pass is {job.state}; only a paused or failed pass can be resumed."
                raise InputError(problem, conflict=True)
    except IntegrityError:
        raise _in_the_way() from None


def pause_abandoned_passes(silence: timedelta = timedelta(0)) -> int:
    """Pause the passes of killed processes, silent for `silence`, to be resumed; how many those were."""
    running = PrelabelJob.objects.filter(state=State.RUNNING)
    detail = "The process was stopped during this pass. No answers are lost; resume it."
    gone = [
        job
        for job in running
        if _is_abandoned(job, silence) and _step(job, (State.RUNNING,), State.PAUSED, detail=detail)
    ]
    for job in gone:
        _store_journal(job)
        _follow(job)
    return len(gone)


def _store_journal(job: PrelabelJob) -> None:
    """Put what an interrupted run left in its journal into the database, where the journal lies here."""
    if journal_path(settings.LLM_JOURNAL_DIR, job).exists():
        _recovered(job).close(remove=True)


@task(queue_name=LANE)
def run_in_background(job_id: int) -> None:
    """Do one turn of a pass; where something is left, it queues up again."""
    job = PrelabelJob.objects.select_related("queue__collection", "prelabeler__collection").get(pk=job_id)
    if not _step(job, (State.QUEUED,), State.RUNNING, worker=this_worker(), seen_at=timezone.now()):
        return
    if _work(job, seconds=TURN_SECONDS).word == TURN:
        run_in_background.enqueue(job.pk)


def _made(
    queue: Queue, prelabeler: Prelabeler, *, options: PassOptions, by: User | None, state: str
) -> PrelabelJob:
    values = _values(prelabeler, options)
    job = PrelabelJob(queue=queue, prelabeler=prelabeler, state=state, created_by=by, **values)
    current_prompt(prelabeler)
    _check(job, by)
    for earlier in prelabeler.jobs.filter(state__in=(*RESUMABLE, State.CANCELLED)):
        _store_journal(earlier)
    job.worker, job.seen_at, job.on_site_key = this_worker(), timezone.now(), _is_on_site_key(job)
    job.detail = "Waiting for the worker." if state == State.QUEUED else "Started."
    try:
        with transaction.atomic():
            job.save()
            facts = {"model": str(prelabeler), "budget": options.budget and str(options.budget)}
            record_action(queue.collection, by, "pre-labels started", queue.name, **facts)
    except IntegrityError:
        raise _in_the_way() from None
    return job


class _Values(TypedDict):
    concurrency: int
    pair_limit: int | None
    budget: Decimal | None
    retries_failed: bool
    input_price: Decimal | None
    output_price: Decimal | None
    currency: str


def _values(prelabeler: Prelabeler, options: PassOptions) -> _Values:
    prices = options.prices or site_prices(prelabeler.model)
    return {
        "concurrency": options.concurrency,
        "pair_limit": options.limit,
        "budget": options.budget,
        "retries_failed": options.retries_failed,
        "input_price": prices.input if prices else None,
        "output_price": prices.output if prices else None,
        "currency": settings.LLM_CURRENCY,
    }


def _is_on_site_key(job: PrelabelJob) -> bool:
    return uses_site_key(job.prelabeler.collection, job.prelabeler.base_url)


def _check(job: PrelabelJob, by: User | None) -> None:
    """`InputError` for what cannot be begun, or not by this person."""
    problems = {
        "concurrency": not 1 <= job.concurrency <= MOST_CONCURRENCY
        and f"Send 1 to {MOST_CONCURRENCY} requests at a time.",
        "limit": job.pair_limit is not None
        and (
            (job.pair_limit < 1 and "Ask about at least one pair.")
            or (job.pair_limit > MOST_PAIRS and f"Ask about {MOST_PAIRS:,} pairs at most, or about all.")
        ),
        "budget": job.budget is not None
        and (
            (job.budget <= 0 and "The budget must be more than 0.")
            or (
                prices_in(job) is None
                and f"A budget needs the prices of “{job.prelabeler.model}”. Set SOUNDINGS_LLM_PRICES, "
                "or give prices with the budget."
            )
        ),
        "model": missing_key(job.prelabeler.collection, job.prelabeler.base_url, by),
    }
    faults = {name: problem for name, problem in problems.items() if isinstance(problem, str) and problem}
    if faults:
        raise InputError(next(iter(faults.values())), fields=faults)


def prices_in(job: PrelabelJob) -> Prices | None:
    if job.input_price is None or job.output_price is None:
        return None
    return Prices(job.input_price, job.output_price)


def _work(
    job: PrelabelJob,
    *,
    seconds: float | None = None,
    progress: Progress | None = None,
    sleep: Sleep | None = None,
    started: Callable[[Pass], None] | None = None,
) -> Ending:
    """Run a pass whose state is `running`, and write down how it ended."""
    try:
        prompt = current_prompt(job.prelabeler)
        journal = _recovered(job)
        pairs = pending_pairs(job)
        first: dict[str, Any] = {"started_at": job.started_at or timezone.now(), "detail": ""}
        command = store_outcomes(job, [], pair_count=job.done_count + len(pairs), **first)
        collection, url = job.prelabeler.collection, job.prelabeler.base_url
        if not job.on_site_key and uses_site_key(collection, url):
            return _ended(job, Ending(PAUSE, "The collection's key was removed. Resume to use the site's."))
        running = Pass(
            job=job,
            prompt=prompt,
            asking=asking_of(job.prelabeler, prompt),
            client=ModelClient(url, key_for(collection, url), timeout=settings.LLM_TIMEOUT),
            journal=journal,
            work=chunks(job, pairs),
            prices=prices_in(job),
            seconds=seconds,
            progress=progress,
            sleep=sleep,
        )
        if command:
            running.stop(command)
        if started is not None:
            started(running)
        ending = running.run()
        journal.close(remove=True)
    except refusals() as error:
        return _ended(job, Ending(STOP, str(error)))
    except Exception:
        logger.exception("pre-label pass %s failed", job.pk)
        detail = f"Something went wrong; the server log has the details under pass {job.pk}."
        return _ended(job, Ending(STOP, detail))
    except BaseException:
        _ended(job, Ending(PAUSE, "Interrupted. No answers are lost; resume it."))
        raise
    return _ended(job, ending)


def _recovered(job: PrelabelJob) -> Journal:
    path = journal_path(settings.LLM_JOURNAL_DIR, job)
    if path.exists():
        left = read_journal(path, job.journal_offset)
        uncertain = job.uncertain_cost + left.uncertain
        job.uncertain_cost = uncertain
        store_outcomes(job, left.outcomes, offset=left.offset)
    else:
        store_outcomes(job, [], offset=0)
    journal = Journal(path)
    journal.recovered()
    return journal


def _follow(job: PrelabelJob) -> None:
    """Let verdicts that came before the pass ask for second opinions; what fails here, the next end does."""
    try:
        follow_prelabeler(job.prelabeler)
    except Exception:
        logger.exception("second opinions after pre-label pass %s failed", job.pk)


def _ended(job: PrelabelJob, ending: Ending) -> Ending:
    # Before the end is written down: a pass killed in between is resumed, and comes here again.
    _follow(job)
    now = timezone.now()
    if ending.word in ("", STOP) and 0 < job.failed_count == job.done_count:
        ending = _without_answer(job, ending)
    state, detail, finished = {
        "": (State.DONE, "" if ending.word else _done(job), now),
        PAUSE: (State.PAUSED, ending.detail or "Paused.", None),
        CANCEL: (State.CANCELLED, "Cancelled. Answers received so far are kept.", now),
        TURN: (State.QUEUED, "Waiting for the next run.", None),
        BUDGET: (
            State.PAUSED,
            "The budget is used up: the next request could exceed it. Raise it to continue.",
            None,
        ),
        STOP: (State.FAILED, ending.detail, now),
    }[ending.word]
    _step(job, (State.RUNNING,), state, detail=detail, finished_at=finished, pair_count=job.pair_count)
    return ending


def _without_answer(job: PrelabelJob, ending: Ending) -> Ending:
    """The ending of a pass whose answers all failed, with an example; one that stopped early has its own."""
    if not ending.word:
        job.pair_count = job.done_count  # what was deleted meanwhile is not left to ask
    elif job.done_count < job.pair_count:
        return ending
    failure = job.failures.select_related("query", "document").first()
    example = ""
    if failure is not None:
        reason = (failure.detail or failure.get_reason_display()).rstrip(".")
        example = f", for example {failure.query.external_id} × {failure.document.external_id}: {reason}"
    pairs = counted(job.failed_count, "pair")
    problem = f"No pair got an answer: {pairs} failed{example}. Retry failed pairs in another pass."
    return Ending(STOP, problem)


def _done(job: PrelabelJob) -> str:
    if job.failed_count:
        return f"Done. {job.failed_count:,} failed and can be retried."
    earlier = PrelabelFailure.objects.filter(is_in_queue(job.queue), prelabeler=job.prelabeler)
    if not job.done_count and (failed := earlier.count()):
        return f"Nothing to ask: {counted(failed, 'pair')} failed in an earlier pass and can be retried."
    return "Done."


@transaction.atomic
def _ask_for(job: PrelabelJob, command: str, state: str, by: User | None) -> None:
    word = {PAUSE: "paused", CANCEL: "cancelled"}[command]
    now = PrelabelJob.objects.filter(pk=job.pk, state=State.RUNNING)
    if _step(job, (State.QUEUED,), state, detail=f"{word.capitalize()}.") or now.update(asked=command):
        record_action(job.queue.collection, by, f"pre-labels {word}", job.queue.name)
        return
    job.refresh_from_db()
    raise InputError(f"This pass is already {job.state}.", conflict=True)


def _step(job: PrelabelJob, before: tuple[str, ...], state: str, **values: Any) -> bool:
    """Take a pass from one state to another if it is still there; whether it was."""
    values["state"] = state
    if not PrelabelJob.objects.filter(pk=job.pk, state__in=before).update(**values):
        return False
    for name, value in values.items():
        setattr(job, name, value)
    return True


def _in_the_way() -> InputError:
    return InputError(
        "A pass with the same model and prompt is already running. Wait for it, or pause it.", conflict=True
    )


def _is_abandoned(job: PrelabelJob, silence: timedelta) -> bool:
    seen_at = job.seen_at or job.created_at
    return timezone.now() - seen_at >= silence and is_gone(job.worker, seen_at)
