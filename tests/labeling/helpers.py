"""What the tests of judging need beyond the world: a pool by rows, a queue, and short words for acts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from labeling.adaptive.options import AdaptiveOptions
from labeling.exposure.showing import is_blind
from labeling.exposure.use import PrelabelUse, change_use
from labeling.judging.leases import claim
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import Outcome, record_judgment
from labeling.models import Item, ItemCount, Lease, Prelabel, Prelabeler, Queue
from labeling.queues.opening import open_queue
from pooling.models import Document, Pool, PoolEntry, PoolRun, Query, Run
from pooling.storage.rows import add_rows
from tests.world import World

_keys = count(1)
SLOTS = ("needed", "done", "needed_at_least", "needed_at_most")
# With quotes and a tag, so that it is found in pages however they escape it: by its one odd word.
SENTINEL = "zyxwvut"
REASONING = f"It <b>says</b> so: {SENTINEL}."


def assert_counts_are_true(after: str = "") -> None:
    """What the database keeps of items that are alike is what a walk over all items finds."""
    of_counts = ("queue", "is_placed", "state", "is_expecting", *SLOTS, "many")
    kept: Counter[tuple[Any, ...]] = Counter()
    for *kind, many in ItemCount.objects.values_list(*of_counts):
        kept[tuple(kind)] += many
    of_items = ("queue", "order_key", "state", "expected", *SLOTS)
    walked = Counter(
        (queue, order_key > 0, state, expected != "", *slots)
        for queue, order_key, state, expected, *slots in Item.objects.values_list(*of_items)
    )
    assert {kind: many for kind, many in kept.items() if many} == walked, after


def make_pool(world: World, name: str = "pool", queries: int = 3, documents: int = 2) -> Pool:
    """A pool of the first documents of each of the first queries, everything in the budget."""
    pool = Pool.objects.create(collection=world.collection, name=name, depth=2, strategy="rrf")
    chosen = list(Document.objects.order_by("external_id")[:documents])
    add_rows(
        [
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
            for query in Query.objects.order_by("external_id")[:queries]
            for position, document in enumerate(chosen, start=1)
        ]
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


def make_adaptive_pool(
    world: World,
    name: str = "live pool",
    *,
    queries: int = 3,
    documents: int = 3,
    strategy: str = "learned",
    audit_share: float = 0.3,
) -> Pool:
    """The first documents of each of the first queries: run 0 found the first half, best first, run 1 the
    other half, backwards."""
    pool = make_pool(world, name=name, queries=queries, documents=documents)
    pool.strategy, pool.audit_share, pool.depth = strategy, audit_share, documents
    pool.pair_count, pool.query_count = queries * documents, queries
    pool.save()
    facts = {"row_count": 0, "query_count": 0, "depth": documents}
    for index in (0, 1):
        run, _ = Run.objects.get_or_create(collection=world.collection, name=f"run {index}", defaults=facts)
        PoolRun.objects.create(pool=pool, run=run, index=index)
    entries = list(pool.entries.all())
    for entry in entries:
        ranks = enumerate((entry.position, documents + 1 - entry.position))
        entry.found_by = [[run, rank] for run, rank in ranks if rank <= (documents + 1) // 2]
        entry.rrf = sum(1 / (60 + rank) for _, rank in entry.found_by)
    PoolEntry.objects.bulk_update(entries, ["found_by", "rrf"])
    return pool


def make_adaptive_queue(
    world: World, needed: int = 1, *, adaptive: AdaptiveOptions | None = None, **options: Any
) -> Queue:
    """An adaptive queue over a pool of `make_adaptive_pool`, whose options it takes."""
    name = options.pop("name", f"live queue {next(_keys)}")
    of_pool = {
        word: options.pop(word)
        for word in ("queries", "documents", "strategy", "audit_share")
        if word in options
    }
    pool = make_adaptive_pool(world, f"pool of {name}", **of_pool)
    options |= {"name": name, "judgments_per_item": needed, "seed": 1, "user": world.ada}
    return open_queue(pool, adaptive=adaptive or AdaptiveOptions(), **options)


def make_prelabels(
    world: World, model: str = "small", *, verdict: str = "relevant", score: float | None = 0.97
) -> Prelabeler:
    """A model that says the same of every pair of the collection, for a `reasoning` that is easily found."""
    prelabeler = Prelabeler.objects.create(
        collection=world.collection, model=model, prompt="binary", prompt_version=1, options_hash=model
    )
    Prelabel.objects.bulk_create(
        Prelabel(
            prelabeler=prelabeler,
            query=query,
            document=document,
            verdict=verdict,
            score=score,
            reasoning=REASONING,
            document_version=document.version,
            created_at=timezone.now(),
        )
        for query in Query.objects.all()
        for document in Document.objects.all()
    )
    return prelabeler


def show_prelabels(
    queue: Queue, mode: str, prelabeler: Prelabeler, *, control: Sequence[Item] = (), **more: Any
) -> None:
    """Turn a mode on, with a seed that draws no pair into the control arm but those of `control`."""
    pairs = {item.pk: (item.query_id, item.document_id) for item in queue.items.all()}
    wanted = {item.pk for item in control}
    queue.blind_seed = next(
        seed
        for seed in count()
        if {key for key, pair in pairs.items() if is_blind(seed, 0.1, *pair)} == wanted
    )
    queue.save()
    change_use(queue, PrelabelUse(mode, prelabeler, **more), understood=True)
