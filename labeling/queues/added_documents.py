"""Documents beyond the pool: searched for a query, and added to what is judged.

What is added is a separate stratum: a pool with the strategy `search`, with a queue whose name tells
nothing, so that anyone who judges a pair does not know that somebody thought it relevant. No audit speaks
for it and no estimate uses it. Who searches sees their own verdicts and whether a pool holds a document,
never what others said nor which run had it at which rank. What a pool holds cannot be added: it has its turn
there, or the pool's audit speaks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.gold.questions import follow_gold_in
from labeling.items.answers import own_answers
from labeling.items.ordering import STRETCH_KEYS, stretch_of
from labeling.items.passages import Part, best_passage, marked_parts, term_marks
from labeling.items.statements import queue_up_to_add_items
from labeling.models import GoldQuestion, ImportedLabel, Item, Judgment, Lease, Queue, Verdict
from labeling.queues.opening import NAME, open_queue
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Collection, Document, Job, Pool, PoolEntry, Query
from pooling.pools.picking import numbered_name, pick_pool
from pooling.search_models import DocumentSearch, SearchFind
from pooling.tables.natural import natural_key
from pooling.texts.importing import lock
from pooling.texts.search import job_that_indexes, search_documents

EXCERPT = 400
OFFERED = 1_000


class HitFacts(TypedDict):
    """A document that was found; nothing here says what others think of it."""

    id: str
    title: str
    excerpt: str
    in_pool: Annotated[bool, "The document will be judged for this query."]
    added: Annotated[bool, "You added it by search."]
    own_verdict: str | None


@dataclass(frozen=True)
class Hit:
    """A document that was found: whether a pool or the person holds it already, and their own verdict."""

    document: Document
    excerpt: list[Part]
    in_pool: bool
    added: bool
    own_verdict: str

    def to_dict(self) -> HitFacts:
        return {
            "id": self.document.external_id,
            "title": self.document.title,
            "excerpt": "".join(part.text for part in self.excerpt),
            "in_pool": self.in_pool,
            "added": self.added,
            "own_verdict": self.own_verdict or None,
        }


@dataclass(frozen=True)
class SearchResult:
    """Finds of a search; `job` has to be waited for where the texts are being indexed."""

    hits: list[Hit]
    any_word: bool = False
    search: DocumentSearch | None = None
    job: Job | None = None


def search_for(query: Query, words: str, user: User, *, again: int | None = None) -> SearchResult:
    """Search the query's collection, and keep that it was done; again: key of the same search to repeat."""
    collection = query.collection
    job = job_that_indexes(collection, user)
    if job is not None:
        return SearchResult([], job=job)
    matches = search_documents(collection, words)
    words = words.strip()
    before = search_of(user, again)
    if before and (before.query_id, before.words) == (query.pk, words):
        return SearchResult(_hits(query, matches.documents, words, user), matches.any_word, before)
    search = DocumentSearch.objects.create(
        collection=collection, query=query, words=words, shown=len(matches.documents), searched_by=user
    )
    return SearchResult(_hits(query, matches.documents, words, user), matches.any_word, search)


def _hits(query: Query, keys: Sequence[int], words: str, user: User) -> list[Hit]:
    documents = Document.objects.in_bulk(keys)
    entries = PoolEntry.objects.filter(query=query, document__in=keys)
    added = set(entries.filter(search_find__added_by=user).values_list("document", flat=True))
    # A gold question has its turn as well; and what others have added is judged like the rest.
    questions = GoldQuestion.objects.filter(query=query, document__in=keys)
    pooled = {
        *entries.values_list("document", flat=True),
        *questions.values_list("document", flat=True),
    } - added
    own = _own_verdicts(query, keys, user)
    return [
        Hit(documents[key], _excerpt(documents[key], words), key in pooled, key in added, own.get(key, ""))
        for key in keys
        if key in documents
    ]


def _own_verdicts(query: Query, keys: Sequence[int], user: User) -> dict[int, str]:
    """Somebody's last verdicts on documents of the query that they did not take back, by the documents' keys.

    Of their answers and not of the judgments that count: of a gold question the first answer counts, whatever
    is taken back. What they settled, or was imported under their name, stands where they answered nothing.
    """
    pairs = {"query": query, "document__in": keys}
    others = Q(event__brought_by__isnull=False) | Q(is_adjudication=True)
    brought = Judgment.objects.filter(others, annotator=user, **pairs)
    answers = own_answers(user).filter(**pairs).order_by("pk")
    verdicts = [*brought.values_list("document", "verdict"), *answers.values_list("document", "verdict")]
    # What is on screen was not judged yet, as far as anyone who judges it is to know.
    leases = Lease.objects.filter(annotator=user, expires_at__gt=timezone.now(), item__query=query)
    on_screen = {*leases.values_list("item__document", flat=True)}
    return {document: Verdict(verdict).label for document, verdict in verdicts if document not in on_screen}


def _excerpt(document: Document, words: str) -> list[Part]:
    text = document.text or ""
    start, end = best_passage(text, term_marks(words, text)) or (0, EXCERPT)
    excerpt = text[start : min(end, start + EXCERPT)]
    return marked_parts(excerpt, term_marks(words, excerpt))


def add_document(
    query: Query, document_id: str, *, user: User, like: Queue, search: DocumentSearch | None = None
) -> Item:
    """Put a found document into search's queue, as `like`; `InputError` for none, pooled or labelled."""
    collection = query.collection
    document = _document_named(collection, document_id)
    with transaction.atomic():
        queue_up_to_add_items()
        lock(collection)
        _refuse_repeated(query, document, user)
        running = Queue.objects.filter(collection=collection, pool__strategy=Pool.SEARCH)
        queue = running.exclude(state=Queue.State.CLOSED).first()
        if queue is None:
            queue = _opened(query, document, like, user)
        else:
            _append(queue, query, document)
        entry = PoolEntry.objects.get(pool=queue.pool_id, query=query, document=document)
        SearchFind.objects.create(entry=entry, search=search, added_by=user)
        return Item.objects.get(queue=queue, query=query, document=document, repeats=None)


def query_named(collection: Collection, query_id: str) -> Query:
    """The query with this id; `InputError` when the collection has none."""
    rows = Query.objects.select_related("collection").filter(collection=collection, external_id=query_id)
    query = rows.first() if "\0" not in query_id else None
    if query is None:
        raise InputError(_("There is no query “{id}” in the collection.").format(id=query_id), field="query")
    return query


def queries_of(queue: Queue) -> list[Query]:
    """The first queries of a queue, to choose from; others are found by their id."""
    items = Item.objects.filter(queue=queue, query=OuterRef("pk")).exclude(order_key=0)
    queries = Query.objects.filter(Exists(items), collection=queue.collection_id).only("external_id", "text")
    return sorted(queries.order_by("external_id")[:OFFERED], key=lambda query: natural_key(query.external_id))


def search_of(user: User, key: int | None) -> DocumentSearch | None:
    """A search that this person made, or None."""
    return DocumentSearch.objects.filter(pk=key or 0, searched_by=user).first()


def _document_named(collection: Collection, document_id: str) -> Document:
    documents = Document.objects.filter(collection=collection, external_id=document_id)
    document = documents.first() if "\0" not in document_id else None
    if document is None:
        problem = _("There is no document “{id}” in the collection.").format(id=document_id)
        raise InputError(problem, field="document")
    return document


def _refuse_repeated(query: Query, document: Document, user: User) -> None:
    entries = PoolEntry.objects.filter(query=query, document=document)
    problem = ""
    if entries.filter(search_find__added_by=user).exists():
        problem = _("This document was already added for this query.")
    elif entries.exists() or GoldQuestion.objects.filter(query=query, document=document).exists():
        problem = _("This document is already in a pool for this query and will be judged there.")
    elif ImportedLabel.objects.filter(query=query, document=document, relevance__gte=0).exists():
        problem = _("This document already has a label for this query.")
    if problem:
        raise InputError(problem, field="document", conflict=True)


def _opened(query: Query, document: Document, like: Queue, user: User) -> Queue:
    collection = query.collection
    pairs = pl.DataFrame(
        {"query_id": [query.external_id], "document_id": [document.external_id], "rank": [1]}
    )
    name = numbered_name(collection, NAME)
    pool = pick_pool(collection, pairs, strategy=Pool.SEARCH, provenance={}, name=name, user=user)
    return open_queue(
        pool,
        name=name,
        judgments_per_item=like.judgments_per_item,
        most_judgments_per_item=like.most_judgments_per_item,
        user=user,
    )


def _append(queue: Queue, query: Query, document: Document) -> None:
    """One entry and one item more, in a separate stretch behind all others."""
    pool = Pool.objects.select_for_update().get(pk=queue.pool_id)
    place = pool.entries.filter(query=query).count()
    PoolEntry.objects.create(
        pool=pool,
        query=query,
        document=document,
        position=place + 1,
        run_count=0,
        best_rank=1,
        rrf=0.0,
        inclusion_probability=1.0,
    )
    pool.pair_count += 1
    pool.chosen_count += 1
    pool.query_count += not place
    pool.save(update_fields=["pair_count", "chosen_count", "query_count"])
    last = queue.items.filter(repeats=None).aggregate(first=Max("order_key"), second=Max("second_key"))
    at_least, at_most = queue.bounds
    Item.objects.create(
        queue=queue,
        query=query,
        document=document,
        order_key=_key_behind(last["first"]),
        second_key=None if last["second"] is None else _key_behind(last["second"]),
        needed=at_least,
        needed_at_least=at_least,
        needed_at_most=at_most,
    )
    follow_gold_in(queue)


def _key_behind(key: int) -> int:
    return (stretch_of(key) + 1) * STRETCH_KEYS
