"""What an annotator gets to see of an item, as plain data: the same for the claim call and for the page.

Nothing about runs, ranks, scores or other people's answers belongs in here, and what a model says only where
the queue assists (see `labeling/exposure/showing.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from labeling.exposure.showing import Proposal, proposals_for
from labeling.items.numbers import number_of
from labeling.items.passages import best_passage, strongest_sentence, term_marks
from labeling.items.statements import left_of_queries
from labeling.models import FactItem, Highlight, Item, Lease, Queue
from labeling.reading.facts import facts_of
from labeling.reading.flow import reflowed
from labeling.reading.images import image_of
from labeling.reading.rich import rich_html
from pooling.texts.word_forms import forms_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class OfferedQuery(TypedDict):
    """A query as it was asked; `left` counts what the annotator may judge of it, outside practice."""

    id: str
    text: str
    narrative: str
    left: NotRequired[int]


class OfferedDocument(TypedDict):
    """A document to judge.

    `marks` and `title_marks` are the spans of query terms, `[start, end]` in Unicode characters. A text that
    is not known is null, one that is empty "". `passage` is the span to show first, null for a text to be
    shown whole; `sentence` the strongest one of a plain text. A queue may highlight neither words nor
    sentence: the passage is the same then. `text` is without the breaks of a hard wrap, at the same offsets.
    `html` is a text whose source is Markdown or HTML, sanitised and marked, null for any other; it is shown
    whole. `image` is the address of its image, where the collection allows the host. `facts` are date,
    source, author and URL, as far as they are known.
    """

    id: str
    title: str
    text: str | None
    html: str | None
    image: str | None
    facts: list[str]
    title_marks: list[tuple[int, int]]
    marks: list[tuple[int, int]]
    passage: tuple[int, int] | None
    sentence: tuple[int, int] | None


class PracticeOffer(TypedDict):
    """A practice question: what an offer says of query and document, without a lease."""

    item: int
    version: int
    query: OfferedQuery
    document: OfferedDocument


class Offer(PracticeOffer):
    """An item with its query and document, held by the annotator until `expires_at` (ISO)."""

    lease: str
    expires_at: str
    prelabel: NotRequired[Proposal]


def offers_of(queue: Queue, annotator: User, leases: Sequence[Lease]) -> list[Offer]:
    """The items of `leases` as the claim call hands them out, in their order."""
    left = left_of_queries(queue, annotator, {lease.item.query_id for lease in leases})
    offers = [_offer(lease, queue, left[lease.item.query_id]) for lease in leases]
    proposals = proposals_for(queue, annotator, [lease.item for lease in leases])
    for lease, offer in zip(leases, offers, strict=True):
        if proposal := proposals.get(lease.item_id):
            offer["prelabel"] = proposal
    return offers


def question_offer(item: Item) -> PracticeOffer:
    """The item of a practice question as it is shown."""
    return {
        "item": number_of(item.pk),
        "version": item.document.version,
        "query": offered_query(item),
        "document": offered_document(item, item.queue),
    }


def _offer(lease: Lease, queue: Queue, left: int) -> Offer:
    query = offered_query(lease.item)
    query["left"] = left
    return {
        "item": number_of(lease.item_id),
        "version": lease.item.document.version,
        "lease": str(lease.token),
        "expires_at": lease.expires_at.isoformat(),
        "query": query,
        "document": offered_document(lease.item, queue),
    }


def offered_query(item: Item | FactItem) -> OfferedQuery:
    """The query of an item as it is shown."""
    query = item.query
    return {"id": query.external_id, "text": query.text, "narrative": query.narrative}


def offered_document(item: Item | FactItem, queue: Queue) -> OfferedDocument:
    """The document of an item as it is shown in the queue."""
    query, document = item.query, item.document
    # The words of a long text are looked for once: its offsets are those of the text as it is stored.
    text = reflowed(document.text or "")
    forms = forms_of(queue.collection.language, queue.collection.synonyms)
    marks = term_marks(query.text, text, forms)
    has_marks, has_sentence = queue.highlight != Highlight.NONE, queue.highlight == Highlight.SENTENCE
    image_hosts = queue.collection.image_hosts.split()
    html = rich_html(
        document.text or "",
        document.metadata,
        lambda part: term_marks(query.text, part, forms) if has_marks else [],
        strongest=lambda read, found: (
            strongest_sentence(query.text, read, found, forms) if has_sentence else None
        ),
        image_hosts=image_hosts,
    )
    return {
        "id": document.external_id,
        "title": document.title,
        "text": None if document.text is None else text,
        "html": html,
        "image": image_of(document.metadata, image_hosts),
        "facts": facts_of(document.metadata),
        "title_marks": term_marks(query.text, document.title, forms) if has_marks else [],
        "marks": marks if has_marks else [],
        "passage": None if html else best_passage(text, marks, forms),
        "sentence": strongest_sentence(query.text, text, marks, forms) if has_sentence and not html else None,
    }
