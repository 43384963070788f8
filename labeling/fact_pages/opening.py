"""Opening a queue of facts over a pool.

Documents that are known to be relevant come first, since one that is not supports nothing; a share of those
that are not is asked all the same, and shows whether that holds.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from labeling.facts.items import follow_facts
from labeling.models import Fact, FactItem, Queue, draw_seed
from labeling.qrels.labels import judged_labels
from labeling.queues.options import public_name
from pooling.formats.wording import counted
from pooling.interface.problems import InputError, refuse_all
from pooling.models import Pool, PoolEntry
from pooling.options import LARGEST_SEED, chosen, problems_of, setting
from pooling.people.activity_log import record_action
from pooling.storage.storing import checked_name, tell_the_planner
from pooling.texts.importing import lock

MOST_JUDGMENTS = 20
DOCUMENTS = {
    "relevant": "those that are labelled relevant, and a share of those that are not",
    "all": "all that the pool holds",
}


@dataclass(frozen=True)
class FactQueueOptions:
    judgments_per_item: int = setting(
        1,
        "Judgments per document",
        "How many people judge the facts in each document.",
        int,
        minimum=1,
        maximum=MOST_JUDGMENTS,
    )
    documents: str = setting(
        "relevant", "Documents", "Which documents of the pool are judged.", choices=DOCUMENTS
    )
    audit_share: float = setting(
        0.1,
        "Share of not relevant documents",
        "They are looked at all the same, to see whether they support anything.",
        float,
        minimum=0,
        maximum=1,
    )
    covered_by: int | None = setting(
        None,
        "Enough supports",
        "A fact with this many supporting documents is no longer asked. The pairs left stay unjudged, so "
        "α-nDCG cannot be computed.",
        int,
        empty="every pair is asked",
        minimum=1,
        maximum=1000,
    )
    seed: int | None = setting(
        None,
        "Seed",
        "Draws the share of not relevant documents.",
        int,
        empty="drawn and stored",
        minimum=-LARGEST_SEED,
        maximum=LARGEST_SEED,
    )

    def checked(self) -> FactQueueOptions:
        """Itself; `InputError` for what no queue can have."""
        refuse_all(problems_of(self))
        return self


def options_from(values: Mapping[str, Any]) -> FactQueueOptions:
    """From what a form, a call or a command brought; empty values take their defaults."""
    return FactQueueOptions(**chosen(FactQueueOptions, values))


def open_fact_queue(
    pool: Pool, options: FactQueueOptions | None = None, *, name: str | None = None, user: User | None = None
) -> Queue:
    """Put documents of the pool's queries that have confirmed facts into a queue.

    Documents that another queue of facts over the collection holds are left out. Raises `InputError` when the
    name is taken, no query of the pool has a confirmed fact, or no document is left.
    """
    wanted = (options or FactQueueOptions()).checked()
    collection = pool.collection
    queue = Queue(
        collection=collection,
        pool=pool,
        name=checked_name(name or f"Facts of {pool.name}", "queue"),
        public_name=public_name(pool, name),
        kind=Queue.Kind.FACTS,
        judgments_per_item=wanted.judgments_per_item,
        covered_by=wanted.covered_by,
        seed=draw_seed() if wanted.seed is None else wanted.seed,
        opened_by=user,
    )
    try:
        with transaction.atomic():
            lock(collection)
            rows = _items(queue, wanted)
            queue.save()
            items = [
                FactItem(
                    queue=queue, query_id=query, document_id=document, order_key=place, is_audit=is_audit
                )
                for place, (query, document, is_audit) in enumerate(rows, 1)
            ]
            FactItem.objects.bulk_create(items, batch_size=1000)
            tell_the_planner(FactItem, len(items))
            follow_facts({query for query, _, _ in rows})
            facts = {"pool": pool.name, "documents": len(items), "seed": queue.seed}
            record_action(collection, user, "queue of facts opened", queue.name, **facts)
    except IntegrityError:
        if collection.queues.filter(name=queue.name).exists():
            problem = f"A queue “{queue.name}” already exists. Choose another name."
            raise InputError(problem, field="name", conflict=True) from None
        raise
    return queue


def _items(queue: Queue, options: FactQueueOptions) -> list[tuple[int, int, bool]]:
    """Query, document and whether it is of the audit's share, in the order of presentation."""
    collection = queue.collection
    confirmed = Fact.objects.filter(collection=collection, state=Fact.State.CONFIRMED)
    queries = set(confirmed.order_by().values_list("query", flat=True).distinct())
    entries = PoolEntry.objects.filter(
        pool=queue.pool, query__in=queries, query__deleted_at=None, document__deleted_at=None
    )
    fields = ("query_id", "document_id", "query__external_id", "document__external_id")
    pairs = list(entries.order_by("query__external_id", "position", "pk").values_list(*fields))
    if not pairs:
        problem = f"No query of “{queue.pool.name}” has a confirmed fact. Write or import facts first."
        raise InputError(problem, field="pool")
    other_pairs = set(
        FactItem.objects.filter(queue__collection=collection, queue__deleted_at=None).values_list(
            "query_id", "document_id"
        )
    )
    left = [pair for pair in pairs if pair[:2] not in other_pairs]
    rows = _chosen(queue, left, options)
    if not rows:
        raise InputError(_nothing_left(queue, len(pairs) - len(left), options), field="pool")
    return rows


def _chosen(
    queue: Queue, pairs: list[tuple[int, int, str, str]], options: FactQueueOptions
) -> list[tuple[int, int, bool]]:
    if options.documents == "all":
        return [(query, document, False) for query, document, _, _ in pairs]
    labels = {
        (query, document): relevance > 0
        for query, document, relevance in judged_labels(queue.collection).iter_rows()
    }
    chance = random.Random(queue.seed)  # noqa: S311  a sample, not a secret
    by_query: dict[int, tuple[list[int], list[int]]] = {}
    for query, document, query_id, document_id in pairs:
        relevant, audit = by_query.setdefault(query, ([], []))
        label = labels.get((query_id, document_id))
        if label:
            relevant.append(document)
        elif label is False and chance.random() < options.audit_share:
            audit.append(document)
    return [
        (query, document, is_audit)
        for query, (relevant, audit) in by_query.items()
        for documents, is_audit in ((relevant, False), (audit, True))
        for document in documents
    ]


def _nothing_left(queue: Queue, other_count: int, options: FactQueueOptions) -> str:
    if other_count:
        pairs = counted(other_count, "pair")
        return f"Every document that could be asked is in another queue of facts ({pairs})."
    if options.documents == "relevant":
        return (
            f"No document of “{queue.pool.name}” is labelled relevant to a query with facts. Judge documents "
            "first, or choose all documents."
        )
    return f"“{queue.pool.name}” has no document left to ask."
