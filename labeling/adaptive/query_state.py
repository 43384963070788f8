"""One query of an adaptive queue in the database: its pool, its items, its labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q

from labeling.adaptive.next_documents import Entry
from labeling.items.ordering import STRETCH_KEYS, stretch_of
from labeling.items.slots import GOLD_STATES
from labeling.models import (
    GoldQuestion,
    ImportedLabel,
    Item,
    Judgment,
    JudgmentEvent,
    QueryPlan,
    Queue,
    Verdict,
)
from labeling.models.words import SAME_PAIR
from pooling.models import Pool, PoolEntry

#: A pair that one person has judged, shown to them again: no item of the order.
REPEAT = "repeat"
#: The key of an item that is not handed out: beyond the budget, or not chosen yet.
UNPLACED = -1


class Row(NamedTuple):
    """An item, as far as planning needs it."""

    pk: int
    document: int
    order_key: int
    second_key: int | None
    state: str
    done: int
    leased: int


@dataclass
class QueryState:
    """One query of an adaptive queue, read at once; `items` and `labels` go by document."""

    items: dict[int, Row]
    labels: dict[int, bool]
    unanswered: set[int]
    #: Items that somebody has held, judged or passed over in this queue.
    touched: set[int]
    #: Items that may be moved: free, and locked by us.
    movable: set[int]
    entries: list[Entry] = field(default_factory=list)
    positions: dict[int, int] = field(default_factory=dict)

    @cached_property
    def judged(self) -> int:
        """Judgments that fill slots."""
        return sum(row.done for row in self.items.values())

    @property
    def free(self) -> set[int]:
        """Documents whose judging costs the queue nothing: settled elsewhere, gold, or imported."""
        settled = {
            row.document
            for row in self.items.values()
            if row.state in GOLD_STATES or (row.pk not in self.touched and row.state != Item.State.OPEN)
        }
        return settled | {entry.document for entry in self.entries if entry.document not in self.items}

    def last_batch(self, query_count: int) -> int:
        """The last batch of which something was handed out; 0 where nothing was."""
        keys = [
            row.order_key
            for row in self.items.values()
            if row.order_key > 0
            and row.state not in GOLD_STATES
            and (row.pk in self.touched or row.leased or self._is_being_taken(row))
        ]
        return max((batch_of(key, query_count) for key in keys), default=0)

    def _is_being_taken(self, row: Row) -> bool:
        """Free when it was read, but somebody else holds the row's lock: it is just being handed out."""
        return row.state == Item.State.OPEN and row.pk not in self.movable


def batch_of(key: int, query_count: int) -> int:
    """The batch of its query, from 1, that an order key belongs to."""
    return (stretch_of(key) - 1) // query_count + 1


def key_of(batch: int, query_place: int, query_count: int, place: int) -> int:
    """The order key of a place in a batch: batches go in rounds over the queries."""
    return ((batch - 1) * query_count + query_place + 1) * STRETCH_KEYS + place


def read_state(queue: Queue, query: int) -> QueryState:
    """Read a query, and lock those of its items that are free and that nobody else has locked."""
    # A pair that has an opinion from elsewhere is free as well: here it is handed out for the others.
    begun = JudgmentEvent.objects.filter(queue=queue, item=OuterRef("pk"))
    free = Item.objects.filter(Q(done=0) | ~Exists(begun), queue=queue, query=query, leased=0)
    free = free.filter(state=Item.State.OPEN).order_by("pk")
    movable = set(free.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True))
    of_item = ("pk", "document", "order_key", "second_key", "state", "done", "leased")
    own = Item.objects.filter(queue=queue, query=query).exclude(order_key=0).order_by("pk")
    own = own.exclude(state=REPEAT)
    items = {row.document: row for row in map(Row._make, own.values_list(*of_item))}
    events = JudgmentEvent.objects.filter(queue=queue, query=query).order_by()
    leased = {row.pk for row in items.values() if row.leased}
    touched = leased | {item for item in events.values_list("item_id", flat=True).distinct() if item}
    labels, unanswered = _labels(queue, query, items)
    state = QueryState(items, labels, unanswered, touched, movable)
    entries = PoolEntry.everything.filter(pool=queue.pool_id, query=query)
    fields = ("document", "document__external_id", "rrf", "found_by", "is_beyond", "position")
    for *entry, position in entries.values_list(*fields):
        # What joined the pool after the queue was opened is no business of this queue.
        if entry[0] in items or entry[0] in labels:
            state.entries.append(Entry(*entry))
            state.positions[entry[0]] = position
    return state


def _labels(queue: Queue, query: int, items: dict[int, Row]) -> tuple[dict[int, bool], set[int]]:
    """The labels of a query's documents by the consensus of the queue, and what nobody could judge.

    An item counts when it is done; gold questions and adjudications count as in `labeling/qrels/labels.py`.
    """
    imported = ImportedLabel.objects.filter(query=query, relevance__gte=0)
    labels = {
        document: relevance >= 1 for document, relevance in imported.values_list("document", "relevance")
    }
    votes: dict[int, list[Judgment]] = defaultdict(list)
    for judgment in Judgment.objects.counted().filter(query=query).order_by("event"):
        votes[judgment.document_id].append(judgment)
    unanswered = set()
    for document, judgments in votes.items():
        row = items.get(document)
        labels.pop(document, None)
        if row is None or row.state == Item.State.OPEN or row.state in GOLD_STATES:
            continue
        label = _consensus(judgments) if row.state == Item.State.DONE else None
        if label is None:
            unanswered.add(document)
        else:
            labels[document] = label
    questions = GoldQuestion.objects.filter(query=query, active=True).values_list("document", "answer")
    labels |= {document: answer == Verdict.RELEVANT for document, answer in questions}
    return labels, unanswered


def _consensus(judgments: Iterable[Judgment]) -> bool | None:
    """The adjudicator's last verdict, or the majority; None for neither."""
    opinions = list(judgments)
    settled = [judgment for judgment in opinions if judgment.is_adjudication]
    relevant = sum(judgment.verdict == Verdict.RELEVANT for judgment in settled[-1:] or opinions)
    not_relevant = sum(judgment.verdict == Verdict.NOT_RELEVANT for judgment in settled[-1:] or opinions)
    return None if relevant == not_relevant else relevant > not_relevant


def audit_pairs_elsewhere(pool: Pool) -> set[tuple[int, int]]:
    """The pairs (keys of query and document) that other pools drew in the order of this pool's frame: all
    frames of a seed have one (`pooling.ranking.frame`).

    Such a pair was judged because it comes early there, so it is no label known before the draw. Were it
    taken out of the population, what the frames share would be left with those that come late, and the draw
    with what is new.
    """
    if pool.reach is None:
        return set()
    alike = Pool.objects.filter(collection=pool.collection_id, reach__isnull=False, seed=pool.seed)
    alike = alike.exclude(pk=pool.pk)
    entries = PoolEntry.objects.filter(pool__in=alike, in_audit=True).exclude(inclusion_probability=1)
    pairs = set(entries.order_by().values_list("query_id", "document_id").iterator())
    plans = QueryPlan.objects.filter(selection__queue__pool__in=alike).values_list("query_id", "drawn")
    return pairs | {(query, document) for query, draws in plans.iterator() for document, *_ in draws}


def labelled_before(pool: Pool, judgments_per_item: int) -> defaultdict[int, list[int]]:
    """By query, the documents that had a label when the pool drew its audit: imported, or judged enough and
    not of `audit_pairs_elsewhere`."""
    is_pooled, fields = Exists(pool.entries.filter(**SAME_PAIR)), ("query_id", "document_id")
    imported = ImportedLabel.objects.filter(is_pooled, relevance__gte=0, imported_at__lt=pool.built_at)
    judged = Judgment.objects.counted().filter(is_pooled, judged_at__lt=pool.built_at)
    judged = judged.exclude(verdict=Verdict.CANNOT_JUDGE)
    votes = Counter(judged.filter(collection=pool.collection_id).values_list(*fields).iterator())
    pairs = {pair for pair, count in votes.items() if count >= judgments_per_item}
    pairs -= audit_pairs_elsewhere(pool) if pairs else set()
    pairs |= set(imported.filter(collection=pool.collection_id).values_list(*fields).iterator())
    by_query: defaultdict[int, list[int]] = defaultdict(list)
    for query, document in sorted(pairs):
        by_query[query].append(document)
    return by_query
