"""From a plan to the work: build its pool and open its queue, at once or by the background worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.conf import settings as site
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.plans.results import Campaign, PoolReady
from evaluation.plans.settings import PlanSettings
from labeling.models import Queue
from labeling.queues.costs import change_prices
from labeling.queues.opening import free_name, open_queue
from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import note_stored, start_job
from pooling.models import Collection, Job, Pool
from pooling.pools.building import build_pool, checked_choice, expected_pairs
from pooling.runs.stored import runs_named
from pooling.storage.storing import checked_name


def begin(collection: Collection, settings: PlanSettings, name: str, user: User | None) -> Campaign | Job:
    """Build a plan's pool and queue called `name`, in the background if large; refused before, if at all."""
    settings.checked()
    name = _refuse(collection, settings, name)
    runs = runs_named(collection, settings.runs or collection.runs.listed().values_list("name", flat=True))
    checked_choice(settings.choice, runs)
    most = min(site.BACKGROUND_POOL_PAIRS, site.BACKGROUND_QUEUE_PAIRS)
    if expected_pairs(runs, settings.choice) <= most:
        pool = _built(collection, settings, name, user, progress=_silent)
        return _opened(pool, settings, user, _silent)
    arguments = {**asdict(settings), "runs": [run.name for run in runs], "name": name}
    return start_job(collection, "campaign", arguments, user)


def _refuse(collection: Collection, settings: PlanSettings, name: str) -> str:
    """The name as it will be stored; `InputError` for a taken name and for options that a queue refuses."""
    name = checked_name(name, "pool")
    pool = Pool(collection=collection, name=name, **asdict(settings.choice))
    if collection.pools.filter(name=name).exists():
        problem = f"Pool “{name}” already exists. Choose another name"
        if not collection.queues.filter(pool__name=name).exists():
            problem += ", or open a queue on that pool's page: it has none"
        raise InputError(f"{problem}.", field="name", conflict=True)
    free_name(pool, name)
    settings.queue.checked(pool)
    return name


def _silent(share: float, detail: str) -> None:
    """Nobody waits for a report within a request."""


def _built(
    collection: Collection, settings: PlanSettings, name: str, user: User | None, *, progress: Progress
) -> Pool:
    return build_pool(
        collection,
        name=name,
        runs=runs_named(collection, settings.runs or collection.runs.listed().values_list("name", flat=True)),
        user=user,
        progress=lambda share, detail: progress(0.6 * share, detail),
        **asdict(settings.choice),
    )


def _opened(pool: Pool, settings: PlanSettings, user: User | None, progress: Progress) -> Campaign:
    """The queue of a pool that was built for it alone; without the queue the pool goes again."""
    try:
        queue = open_queue(
            pool,
            name=pool.name,
            user=user,
            progress=lambda share, detail: progress(0.6 + 0.4 * share, detail),
            **vars(settings.queue),
        )
    except Exception:
        pool.delete()
        raise
    prices = {name: getattr(settings, name) for name in ("price_per_judgment", "overhead")}
    if any(value is not None for value in prices.values()):
        change_prices(queue, prices, by=user)
    return _result(pool, queue)


def _result(pool: Pool, queue: Queue) -> Campaign:
    return {
        "pool": pool.pk,
        "queue": queue.pk,
        "name": queue.name,
        "pairs": pool.pair_count,
        "chosen": pool.chosen_count,
        "detail": (
            f"Pool “{pool.name}” of {counted(pool.pair_count, 'pair')} is built, and its queue is open."
        ),
        "url": reverse("queue", args=[queue.pk]),
    }


@job_kind(
    "campaign",
    title="Building a pool and opening its queue",
    stages=((0.0, "Read the runs"), (0.24, "Build the pool"), (0.6, "Open the queue")),
    begins_at="plan",
)
def _begin_in_background(job: Job, progress: Progress) -> Campaign:
    arguments = dict(job.arguments)
    name, stored = arguments.pop("name"), arguments.pop("stored", None)
    settings, user = PlanSettings(**arguments), job.created_by
    pool = (
        _pool_of(job, stored) if stored else _built(job.collection, settings, name, user, progress=progress)
    )
    if queue := pool.queues.filter(kind="pairs").first():
        return _result(pool, queue)
    note_stored(job, _half(pool))
    try:
        return _opened(pool, settings, user, progress)
    except Exception:
        note_stored(job, None)
        raise


def _half(pool: Pool) -> PoolReady:
    detail = f"Pool “{pool.name}” is built, and its queue is not open yet."
    return {"pool": pool.pk, "detail": detail, "url": pool.get_absolute_url()}


def _pool_of(job: Job, stored: Mapping[str, Any]) -> Pool:
    pool = job.collection.pools.filter(pk=stored["pool"]).first()
    if pool is None:
        raise InputError("The pool of this campaign is not there any more. Begin the plan again.")
    return pool
