"""Opening a queue within a request, or for a large pool by the background worker."""

from __future__ import annotations

from dataclasses import asdict

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse

from labeling.adaptive.options import AdaptiveOptions
from labeling.adaptive.state import pairs_left
from labeling.gold.options import GoldOptions
from labeling.items.results import QueueResult
from labeling.models import Queue
from labeling.queues.opening import free_name, open_queue
from labeling.queues.options import QueueOptions
from pooling.formats.wording import counted
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_job
from pooling.models import Job, Pool


def open_or_start(
    pool: Pool, options: QueueOptions, *, name: str | None = None, user: User | None = None
) -> Queue | Job:
    """Open the queue of a small pool at once, that of a large one in the background.

    What can be refused without reading the pool's pairs is refused now.
    """
    if (pool.pair_count if options.adaptive else pool.chosen_count) <= settings.BACKGROUND_QUEUE_PAIRS:
        return open_queue(pool, name=name, user=user, **vars(options))
    chosen = asdict(options.checked(pool))
    arguments = {"pool": pool.pk, "name": free_name(pool, name), **chosen}
    return start_job(pool.collection, "queue", arguments, user)


class QueueOpened(QueueResult):
    """The queue that was opened."""

    pairs: int


def opening_result(queue: Queue) -> QueueOpened:
    pairs = pairs_left(queue)
    return {
        "id": queue.pk,
        "name": queue.name,
        "pairs": pairs,
        "detail": f"Queue “{queue.name}”: {counted(pairs, 'pair')} to judge.",
        "url": reverse("queue", args=[queue.pk]),
    }


@job_kind(
    "queue",
    title="Opening a queue",
    stages=((0.0, "Read the pool"), (0.2, "Put the pairs in order"), (0.5, "Store the pairs")),
    begins_at="queue_new",
)
def _open_in_background(job: Job, progress: Progress) -> QueueOpened:
    arguments = dict(job.arguments)
    pool = job.collection.pools.get(pk=arguments.pop("pool"))
    gold = GoldOptions(**arguments.pop("gold"))
    chosen = arguments.pop("adaptive")
    adaptive = None if chosen is None else AdaptiveOptions(**chosen)
    return opening_result(
        open_queue(pool, gold=gold, adaptive=adaptive, user=job.created_by, progress=progress, **arguments)
    )
