"""What the tests of judging need beyond the world: a pool by rows, a queue, and short words for acts."""

from __future__ import annotations

from itertools import count
from typing import Any

from django.contrib.auth.models import User

from labeling.models import Lease, Queue
from labeling.queues import Outcome, Submission, claim, open_queue, record_judgment
from pooling.models import Document, Pool, PoolEntry, Query
from tests.world import World

_keys = count(1)


def make_pool(world: World, name: str = "pool", queries: int = 3, documents: int = 2) -> Pool:
    """A pool of the first documents of each of the first queries, everything in the budget."""
    pool = Pool.objects.create(collection=world.collection, name=name, depth=2, strategy="rrf")
    chosen = list(Document.objects.order_by("external_id"))[:documents]
    PoolEntry.objects.bulk_create(
        PoolEntry(
            pool=pool,
            query=query,
            document=document,
            position=position,
            run_count=1,
            best_rank=position,
            rrf=0.1,
            inclusion_probability=1.0,
        )
        for query in list(Query.objects.order_by("external_id"))[:queries]
        for position, document in enumerate(chosen, start=1)
    )
    return pool


def make_queue(world: World, needed: int = 1, pairs: int = 6, **options: Any) -> Queue:
    """A queue over `pairs` pairs (2 or 6), each needing as many judgments."""
    name = options.setdefault("name", f"queue {next(_keys)}")
    pool = make_pool(world, name=f"pool of {name}", queries=pairs // 2)
    return open_queue(pool, judgments_per_item=needed, seed=1, user=world.ada, **options)


def only_lease(queue: Queue, annotator: User, **options: Any) -> Lease:
    """Claim one item and return its lease."""
    (lease,) = claim(queue, annotator, 1, **options).leases
    return lease


def judge(
    queue: Queue, annotator: User, item: int, verdict: str = "relevant", *, now: Any = None, **options: Any
) -> Outcome:
    """Record a verdict under a fresh key."""
    key = options.pop("key", f"key-{next(_keys)}")
    return record_judgment(queue, annotator, Submission(item, key, verdict, **options), now=now)
