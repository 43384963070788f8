"""What an annotator gets to see of an item, as plain data: the same for the claim call and for the page.

Nothing about runs, ranks, scores or other people's answers belongs in here, and what a model says only where
the queue assists (see `labeling/exposure/showing.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from labeling.exposure.showing import proposals_for
from labeling.items.numbers import number_of
from labeling.items.passages import best_passage, term_marks
from labeling.items.statements import left_of_queries
from labeling.models import Item, Lease, Queue

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def offers_of(queue: Queue, annotator: User, leases: Sequence[Lease]) -> list[dict[str, Any]]:
    """The items of `leases` as the claim call hands them out, in their order."""
    left = left_of_queries(queue, annotator, {lease.item.query_id for lease in leases})
    offers = [_offer(lease, left[lease.item.query_id]) for lease in leases]
    proposals = proposals_for(queue, annotator, [lease.item for lease in leases])
    for lease, offer in zip(leases, offers, strict=True):
        if proposal := proposals.get(lease.item_id):
            offer["prelabel"] = proposal
    return offers


def question_offer(item: Item) -> dict[str, Any]:
    """A practice question: what an offer says of query and document, without a lease."""
    return {"item": number_of(item.pk), "version": item.document.version, **_pair(item)}


def _offer(lease: Lease, left: int) -> dict[str, Any]:
    """One item with its query and document.

    `marks` and `title_marks` are the spans of query terms, `[start, end]` in Unicode characters. A text that
    is not known is null, one that is empty "". `passage` is the span to show first, null for a text to be
    shown whole. `left` counts what the annotator may judge of the query.
    """
    pair = _pair(lease.item)
    pair["query"]["left"] = left
    return {
        "item": number_of(lease.item_id),
        "version": lease.item.document.version,
        "lease": str(lease.token),
        "expires_at": lease.expires_at.isoformat(),
        **pair,
    }


def _pair(item: Item) -> dict[str, Any]:
    query, document = item.query, item.document
    marks = term_marks(query.text, document.text or "")
    return {
        "query": {"id": query.external_id, "text": query.text, "narrative": query.narrative},
        "document": {
            "id": document.external_id,
            "title": document.title,
            "text": document.text,
            "title_marks": term_marks(query.text, document.title),
            "marks": marks,
            "passage": best_passage(document.text or "", marks),
        },
    }
