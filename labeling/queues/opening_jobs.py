"""Opening a queue within a request, or for a large pool by the background worker."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.urls import reverse

from labeling.adaptive.options import LiveOptions, checked_live
from labeling.gold.options import GoldOptions, checked_options, site_options
from labeling.items.results import QueueResult
from labeling.models import Queue
from labeling.queues.opening import checked_judgments, free_name, open_queue
from pooling.interface.progress import Progress
from pooling.jobs.running import job_kind, start_job
from pooling.models import Job, Pool

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def open_or_start(
    pool: Pool,
    *,
    name: str | None = None,
    judgments_per_item: int = 1,
    most_judgments_per_item: int | None = None,
    seed: int | None = None,
    gold: GoldOptions | None = None,
    live: LiveOptions | None = None,
    user: User | None = None,
) -> Queue | Job:
    """Open the queue of a small pool at once, that of a large one in the background.

    What can be refused without reading the pool's pairs is refused now.
    """
    gold = checked_options(gold or site_options())
    chosen: dict[str, Any] = {
        "judgments_per_item": judgments_per_item,
        "most_judgments_per_item": most_judgments_per_item,
        "seed": seed,
    }
    if (pool.pair_count if live else pool.chosen_count) <= settings.BACKGROUND_QUEUE_PAIRS:
        return open_queue(pool, name=name, gold=gold, live=live, user=user, **chosen)
    if live:
        chosen["live"] = asdict(checked_live(pool, live))
    checked_judgments(judgments_per_item, most_judgments_per_item)
    arguments = {"pool": pool.pk, "name": free_name(pool, name), "gold": asdict(gold), **chosen}
    return start_job(pool.collection, "queue", arguments, user)


class QueueOpened(QueueResult):
    """How many pairs there are to judge."""

    pairs: int


def opening_result(queue: Queue) -> QueueOpened:
    """What a finished job says of the queue that it opened."""
    pairs = queue.items.filter(order_key__gte=0).count()
    return {
        "id": queue.pk,
        "name": queue.name,
        "pairs": pairs,
        "detail": f"Queue “{queue.name}”: {pairs:,} pairs to judge.",
        "url": reverse("queue", args=[queue.pk]),
    }


@job_kind("queue")
def _open_in_background(job: Job, progress: Progress) -> QueueOpened:
    arguments = dict(job.arguments)
    pool = job.collection.pools.get(pk=arguments.pop("pool"))
    gold = GoldOptions(**arguments.pop("gold"))
    live = LiveOptions(**arguments.pop("live")) if "live" in arguments else None
    return opening_result(
        open_queue(pool, gold=gold, live=live, user=job.created_by, progress=progress, **arguments)
    )
