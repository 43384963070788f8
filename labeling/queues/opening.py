"""Queues: opening one over a pool, and the protocol by which people judge it.

Anyone who judges calls `claim`, `record_judgment`, `skip`, `undo`, `renew` and `release`, which stand in
`leases.py` and `verdicts.py`; `slots.py` keeps the counters, `bookmarks.py` says where to look next. What
they hold to, on PostgreSQL and SQLite alike:

1. Through claims, no item ever has more active leases and judgments than it needs (`done + leased <=
   needed`). Where its queue asks for one more on a tie, or where a verdict contradicts a confident
   pre-label, the need rises with the tie or the contradiction and falls with its end.
2. Nobody is given a pair that they have judged, but as a repeat whose answer never counts, nor one item
   twice at a time; a pair stands in a queue once.
3. A lease is over when the clock says so: nothing has to run for that, and no item starves.
4. Every acknowledged verdict is stored exactly once for its key, however often and however late it comes.
   One beyond the need is kept as an extra judgment, and fills a slot that frees later.
5. Nothing that a person did is changed or discarded: events are appended, and a judgment is the projection
   of one person's events on one pair, the same in every queue of the collection.
6. A gold question looks like any other item but has no slots: answers to it are events and judgments of
   their own kind, and never count. The first answer stays the judgment, unless it was undone before the
   next verdict. Judgments in quarantine do not count either, until they are restored.
   What somebody is asked again is an item of theirs alone; the answer is an event, and no judgment.
7. `needed`, `done`, `leased`, `leased_until` and `state` change in the transaction that changes what they
   count, while the item's row is locked. Rows of several items are locked in key order or not waited for, so
   nobody waits in a circle.

The tests of these sentences are `test_claim.py`, `test_submit.py`, `test_threads.py` and
`test_state_machine.py` in `tests/labeling/judging`, and for a server or a database that fails,
`tests/faults/`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from labeling.adaptive import reordering
from labeling.adaptive.facts import QueueResult
from labeling.adaptive.options import AdaptiveOptions
from labeling.adaptive.query_state import UNPLACED
from labeling.adaptive.state import pairs_left
from labeling.gold.options import GoldOptions
from labeling.gold.questions import follow_gold_in
from labeling.items.ordering import Candidate, fingerprint, order_keys_in_parts, parts_of_draw
from labeling.items.slots import recount, settle, verdicts_by_pair
from labeling.items.statements import be_alone_with_items, queue_up_to_add_items
from labeling.models import (
    GoldQuestion,
    ImportedLabel,
    Item,
    Judgment,
    JudgmentEvent,
    JudgmentImport,
    Quarantine,
    Queue,
)
from labeling.models.words import SAME_PAIR
from labeling.queues.options import QueueOptions, public_name
from pooling.formats.wording import counted, plural
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_job
from pooling.models import Collection, Document, Job, Pool, PoolEntry
from pooling.people.activity_log import record_action
from pooling.pools.picking import numbered_name, pick_pool
from pooling.storage.storing import checked_name, disk_errors_named, insert_frame, tell_the_planner
from pooling.texts.importing import lock

# Of these nothing more is asked.
LEFT_OUT_PAIRS = (
    Q(query__deleted_at__isnull=False)
    | Q(query__archived_at__isnull=False)
    | Q(document__deleted_at__isnull=False)
    | Q(document__archived_at__isnull=False)
)
# No request that judges takes longer, nor do the clocks of two servers differ by more.
LONGEST_REQUEST = timedelta(minutes=10)
STATE_CHANGES = {"open": "queue reopened", "paused": "queue paused", "closed": "queue closed"}
ROWS_AT_ONCE = 10_000
# Items that another queue still has judged.
WAITING = Q(state=Item.State.OPEN) & ~Q(queue__state=Queue.State.CLOSED)


class PoolPair(NamedTuple):
    query: int
    document: int
    query_id: str
    document_id: str
    position: int


def open_queue(
    pool: Pool,
    *,
    name: str | None = None,
    user: User | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Queue:
    """Put the pool's pairs that were chosen for judging (by budget or audit) into a queue.

    options: fields of `QueueOptions`. Pairs with an imported label are left out, and of a later version of a
    pool those that another queue has. Judgments that earlier queues brought count: such an item starts with
    them as `done`. With `most_judgments_per_item`, an item on which as many say relevant as not needs one
    more, up to that number. The order of `labeling/items/ordering.py` is drawn by `seed` (which is drawn
    itself when None) and stored. With `adaptive`, all pairs of the pool may come, and labels move the order
    of what is left (see `labeling/adaptive/reordering.py`). Raises `InputError` when the name is taken or
    nothing is left to judge.
    """
    progress = progress or (lambda share, detail: None)
    chosen = QueueOptions(**options).checked(pool)
    adaptive = chosen.adaptive
    queue = Queue(
        collection=pool.collection,
        pool=pool,
        name=checked_name(name or pool.name, "queue"),
        public_name=chosen.public_name or public_name(pool, name),
        judgments_per_item=chosen.judgments_per_item,
        most_judgments_per_item=chosen.most_judgments_per_item,
        seed=secrets.randbelow(2**31) if chosen.seed is None else chosen.seed,
        highlight=chosen.highlight,
        opened_by=user,
        is_adaptive=adaptive is not None,
        **vars(chosen.gold),
    )
    started = timezone.now()
    progress(0.0, "Reading the pool.")
    pairs = _pairs_to_judge(pool, whole=adaptive is not None)
    if not pairs:
        raise InputError(nothing_left(pool))
    progress(0.2, f"Putting {counted(len(pairs), 'pair')} in order.")
    orders = _orders(queue, pairs)
    progress(0.5, f"Storing {counted(len(pairs), 'item')}.")
    try:
        with disk_errors_named(), transaction.atomic():
            queue_up_to_add_items()
            queue.save()
            insert_frame(Item, _items(queue, pairs, orders))
            lock(pool.collection)
            follow_gold_in(queue)
            if adaptive:
                reordering.start(queue, adaptive, progress)
            be_alone_with_items()
            count_newcomers(queue, started)
            facts = {"pool": pool.name, "pairs": len(pairs), **redundancy_of(queue)}
            record_action(pool.collection, user, "queue opened", queue.name, **facts)
    except IntegrityError as error:
        if not Queue.objects.filter(collection=pool.collection, name=queue.name).exists():
            raise
        raise _name_exists(queue.name) from error
    tell_the_planner(Item, len(pairs))
    return queue


def nothing_left(pool: Pool) -> str:
    elsewhere = (
        ", or waits in another queue: judge it there, or close that queue first"
        if pool.extends_id is not None or pool.is_picked
        else ""
    )
    return f"Every pair to judge in pool “{pool.name}” already has a label{elsewhere}."


def nothing_open(pool: Pool, pairs: int) -> str:
    """Of pairs without an imported label, that none of them needs a judgment."""
    return (
        f"Nothing would be left to judge: of pool “{pool.name}”, {counted(pairs, 'pair')} "
        f"{plural(pairs, 'has its judgments or is', 'have their judgments or are')} gold already. Ask for "
        "more judgments per pair to have second opinions."
    )


def refuse_nothing_open(pool: Pool, options: QueueOptions) -> None:
    """`InputError` where earlier judgments and gold questions settle every pair of a queue over `pool`; a
    sample may be settled so, which is then its result."""
    entries = entries_to_judge(pool, whole=options.adaptive is not None)
    ungraded = entries.filter(~Exists(GoldQuestion.objects.filter(active=True, **SAME_PAIR)))
    judged = Judgment.objects.filter(**SAME_PAIR)
    if pool.strategy in Pool.SAMPLES or ungraded.filter(~Exists(judged)).exists():
        return
    bounds = options.judgments_per_item, options.most_judgments_per_item or options.judgments_per_item
    verdicts = earlier_verdicts(pool)
    states = (settle(bounds, verdicts[pair], ()).state for pair in ungraded.values_list("query", "document"))
    if Item.State.OPEN not in states and (pairs := entries.count()):
        raise InputError(nothing_open(pool, pairs), field="pool")


def redundancy_of(queue: Queue) -> dict[str, int]:
    facts = {"judgments_per_item": queue.judgments_per_item}
    if queue.most_judgments_per_item:
        facts["most_judgments_per_item"] = queue.most_judgments_per_item
    return facts


def free_name(pool: Pool, name: str | None) -> str:
    """The name of a queue over `pool`, or the pool's; `InputError` if there is such a queue."""
    name = checked_name(name or pool.name, "queue")
    if Queue.objects.filter(collection=pool.collection_id, name=name).exists():
        raise _name_exists(name)
    return name


def _name_exists(name: str) -> InputError:
    return InputError(f"Queue “{name}” already exists. Choose another name.", field="name", conflict=True)


def change_state(queue: Queue, state: str, *, by: User | None = None) -> None:
    """Open, pause or close a queue; what people still hold may come in and is stored."""
    if state not in Queue.State.values:
        raise InputError(f"A queue is {', '.join(Queue.State.values)}; there is no state “{state}”.")
    before, queue.state = queue.state, state
    with transaction.atomic():
        queue.save(update_fields=["state"])
        if state != before:
            record_action(queue.collection, by, STATE_CHANGES[state], queue.name, before=before)


def entries_to_judge(pool: Pool, *, whole: bool = False) -> QuerySet[PoolEntry]:
    """The pairs of a pool without an imported label: those chosen for judging, or the whole pool.

    Of a later version of a pool, or of pairs that were picked, only what is new or was left lying: what
    another queue has settled, or has not closed over, is judged there. Only a sample has all its pairs: what
    was judged counts at once, and what waits elsewhere is settled by one verdict for both.
    """
    chosen = _chosen(pool, whole=whole)
    if whole or not _leaves_to_others(pool):
        return chosen
    settled = Q(state__in=(Item.State.DONE, Item.State.ADJUDICATION))
    return chosen.filter(~Exists(_items_elsewhere(pool).filter(WAITING | settled)))


def waiting_elsewhere(pool: Pool) -> int:
    """How many chosen pairs are left out because another queue still has them to be judged."""
    if not _leaves_to_others(pool):
        return 0
    return _chosen(pool, whole=False).filter(Exists(_items_elsewhere(pool).filter(WAITING))).count()


def _chosen(pool: Pool, *, whole: bool) -> QuerySet[PoolEntry]:
    labels = ImportedLabel.objects.filter(relevance__gte=0, **SAME_PAIR)
    # An order that learns may come to draw from the reserve, so that has items as well.
    entries = PoolEntry.everything.filter(pool=pool) if whole else pool.entries
    chosen = entries.exclude(LEFT_OUT_PAIRS).filter(~Exists(labels))
    return chosen if whole else chosen.filter(inclusion_probability__isnull=False)


def _leaves_to_others(pool: Pool) -> bool:
    return pool.strategy not in Pool.SAMPLES and (pool.extends_id is not None or pool.is_picked)


def _items_elsewhere(pool: Pool) -> QuerySet[Item]:
    rows = Item.objects.filter(queue__collection=pool.collection_id, repeats=None, order_key__gt=0)
    return rows.filter(**SAME_PAIR)


def _pairs_to_judge(pool: Pool, *, whole: bool) -> list[PoolPair]:
    fields = ("query_id", "document_id", "query__external_id", "document__external_id", "position")
    rows = entries_to_judge(pool, whole=whole).values_list(*fields).iterator(chunk_size=ROWS_AT_ONCE)
    return [PoolPair._make(row) for row in rows]


def _orders(queue: Queue, pairs: list[PoolPair]) -> tuple[list[int], Sequence[int | None]]:
    """The order key of each pair, and its key for second opinions; an adaptive queue gives them later."""
    if queue.is_adaptive:
        return [UNPLACED] * len(pairs), [UNPLACED if queue.bounds[1] > 1 else None] * len(pairs)
    first = presentation_keys(queue, pairs)
    if queue.judgments_per_item == 1:
        return first, [None] * len(pairs)
    return first, presentation_keys(queue, pairs, opinion=2)


def presentation_keys(queue: Queue, pairs: list[PoolPair], *, opinion: int = 1) -> list[int]:
    """Order keys in a fixed order; an audit by scores goes by parts, each random within every stratum."""
    part_of = parts_of_draw(queue.pool.provenance)
    parts = [part_of.get((pair.query_id, pair.document_id), 0) for pair in pairs]
    return order_keys_in_parts(candidates_of(queue.pool, pairs), parts, queue.seed, opinion=opinion)


def _items(
    queue: Queue, pairs: list[PoolPair], orders: tuple[list[int], Sequence[int | None]]
) -> pl.DataFrame:
    at_least, at_most = queue.bounds
    untouched = settle(queue.bounds, (), ())
    counted = {}
    if verdicts := earlier_verdicts(queue.pool):
        for place, pair in enumerate(pairs):
            if earlier := verdicts.get((pair.query, pair.document)):
                counted[place] = settle(queue.bounds, earlier, ())
    slots = [counted.get(place, untouched) for place in range(len(pairs))]
    columns = {
        "query_id": [pair.query for pair in pairs],
        "document_id": [pair.document for pair in pairs],
        "order_key": orders[0],
        "second_key": pl.Series(orders[1], dtype=pl.Int64),
        "needed": [one.needed for one in slots],
        "done": [one.done for one in slots],
        "state": [str(one.state) for one in slots],
    }
    return (
        pl.DataFrame(columns)
        .sort("order_key", maintain_order=True)
        .with_columns(
            queue_id=queue.pk, needed_at_least=at_least, needed_at_most=at_most, expected=pl.lit(""), leased=0
        )
    )


def count_newcomers(queue: Queue, started: datetime, *, brought_by: JudgmentImport | None = None) -> None:
    """Count again what was judged, taken back, set aside or restored while the items were being stored.

    Anyone who did it could not see these items yet. Nobody does anything now: the items are ours alone.
    What the import brought that made the queue is counted already.
    """
    since = started - LONGEST_REQUEST
    events = JudgmentEvent.objects.filter(collection=queue.collection_id, created_at__gte=since)
    if brought_by is not None:
        events = events.exclude(brought_by=brought_by)
    pairs = set(events.values_list("query_id", "document_id"))
    changed = Q(imposed_at__gte=since) | Q(lifted_at__gte=since)
    people = Quarantine.objects.filter(changed, queue__collection=queue.collection_id).values("annotator")
    theirs = Judgment.objects.filter(collection=queue.collection_id, annotator__in=people)
    pairs.update(theirs.values_list("query_id", "document_id"))
    if pairs:
        items = queue.items.filter(query__in={query for query, _ in pairs})
        recount([item for item in items if (item.query_id, item.document_id) in pairs], timezone.now())


def candidates_of(pool: Pool, pairs: list[PoolPair]) -> list[Candidate]:
    """Pairs of a pool as `labeling/items/ordering.py` takes them."""
    texts = Document.objects.filter(pk__in=PoolEntry.everything.filter(pool=pool).values("document"))
    rows = texts.values_list("pk", "title", "text").iterator(chunk_size=2000)
    marks = {pk: fingerprint(title, text or "") for pk, title, text in rows}
    return [
        Candidate(query_id, document_id, position, marks.get(document, b""))
        for _, document, query_id, document_id, position in pairs
    ]


def earlier_verdicts(pool: Pool) -> dict[tuple[int, int], list[str]]:
    """The verdicts that earlier queues of the collection brought on pairs of a pool, by pair."""
    pooled = PoolEntry.everything.filter(pool=pool, **SAME_PAIR)
    return verdicts_by_pair(Judgment.objects.filter(Exists(pooled), collection=pool.collection_id))


def open_or_start(
    pool: Pool, options: QueueOptions, *, name: str | None = None, user: User | None = None
) -> Queue | Job:
    """Open a small pool's queue now and a large one's by a job, refusing now what needs no pairs."""
    if (pool.pair_count if options.adaptive else pool.chosen_count) <= settings.BACKGROUND_QUEUE_PAIRS:
        return open_queue(pool, name=name, user=user, **vars(options))
    chosen = asdict(options.checked(pool))
    arguments = {"pool": pool.pk, "name": free_name(pool, name), **chosen}
    return start_job(pool.collection, "queue", arguments, user)


class QueueOpened(QueueResult):
    """The queue that was opened."""

    pairs: int


# Of a queue without pairs, which a script may open in passing; the page refuses it.
SETTLED = " Earlier judgments or gold questions settle them all; for second opinions, ask for more per pair."


def opening_result(queue: Queue) -> QueueOpened:
    pairs = pairs_left(queue)
    return {
        "id": queue.pk,
        "name": queue.name,
        "pairs": pairs,
        "detail": f"Queue “{queue.name}”: {counted(pairs, 'pair')} to judge.{'' if pairs else SETTLED}",
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


# A name that tells annotators nothing; what was found by search has the same.
NAME = "Sample"
LARGEST_SAMPLE = 5_000
# Larger whole numbers lose digits in a browser.
LARGEST_SEED = 2**53


def seed_or_random(seed: int | None) -> int:
    return secrets.randbelow(2**31) if seed is None else seed


def open_pairs(
    collection: Collection,
    pairs: pl.DataFrame,
    *,
    strategy: str,
    provenance: Mapping[str, Any],
    judgments_per_item: int = 1,
    by: User | None = None,
) -> Queue:
    """Open pairs as a pool (`pick_pool`) and a shuffled, blind queue of one name; all or nothing."""
    name = numbered_name(collection, NAME)
    pool = pick_pool(collection, pairs, strategy=strategy, provenance=provenance, name=name, user=by)
    try:
        return open_queue(pool, name=name, judgments_per_item=judgments_per_item, user=by)
    except InputError:
        pool.delete()
        raise
