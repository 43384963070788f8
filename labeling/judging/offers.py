"""An item for an annotator, as plain data: the same for the claim call and for the page.

Nothing about runs, ranks, scores or other people's answers belongs in here, and what a model says only where
the queue assists (see `labeling/exposure/showing.py`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from html import escape, unescape
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict
from uuid import UUID

from django.contrib.auth.models import User

from labeling.exposure.showing import Proposal, proposals_for
from labeling.items.numbers import number_of
from labeling.items.passages import best_passage, strongest_sentence, term_marks
from labeling.items.statements import left_of_queries
from labeling.judging.flow import reflowed
from labeling.judging.images import image_of, with_images
from labeling.models import FactItem, Highlight, Item, Lease, Queue
from pooling.interface.markdown import plain_html, safe_structure
from pooling.texts.word_forms import forms_of

# Documents whose source is Markdown or HTML, as sanitised HTML with the words of the query marked.
#
# Nothing of it runs or leads anywhere: no scripts, styles, handlers or links. It loads the images that the
# collection allows, and nothing else.

#: Characters of the longest source that is shown as more than text: a batch of them is made for each claim.
LONGEST_SOURCE = 20_000
KINDS = {
    "markdown": "markdown",
    "md": "markdown",
    "text/markdown": "markdown",
    "html": "html",
    "text/html": "html",
}
#: Names in a document's metadata that say what its text is written in.
NAMES = ("format", "content_type", "mime_type")
# Sanitised HTML has tags without attributes, images with escaped ones, and "<" and ">" nowhere else.
_TAG = re.compile(r'(</?[a-z0-9]+>|<img(?: [a-z]+="[^"]*")*>)')
_HEADING = re.compile(r"<(/?)h([1-5])>")

# Tags that end no line, and so no sentence.
_INSIDE_LINES = re.compile(r"</?(?:b|code|del|em|i|kbd|s|strong)>")

Span = tuple[int, int]
Marks = Callable[[str], Sequence[Span]]
#: The span of a text that stands out as a whole, by its marks; None for none.
Strongest = Callable[[str, Sequence[Span]], Span | None]


def rich_html(
    text: str,
    metadata: Mapping[str, Any],
    marks: Marks,
    *,
    strongest: Strongest = lambda text, marks: None,
    image_hosts: Sequence[str] = (),
) -> str | None:
    """HTML of a text whose metadata name its format, with the images of `image_hosts`. What `marks` finds in
    what is read is in `<mark>`, the sentence that `strongest` finds there in a span of another class. None
    for a text that is plain or too long, or that has nothing to show.

    >>> rich_html("A *bus*.", {"format": "markdown"}, lambda text: [])
    '<p>A <em>bus</em>.</p>\\n'
    """
    kind = next((KINDS[name] for name in map(_named, map(metadata.get, NAMES)) if name in KINDS), None)
    if kind is None or len(text) > LONGEST_SOURCE:
        return None
    parts = _TAG.split(_structure(text, kind, tuple(image_hosts)))
    # Texts and the tags after them, in turn.
    pieces = list(zip(map(unescape, parts[::2]), [*parts[1::2], ""], strict=True))
    # A line ends with its element, not where the source breaks it.
    read = "".join(text.replace("\n", " ") + _end(tag) for text, tag in pieces)
    spans = list(marks(read))
    whole = "".join(text + _end(tag) for text, tag in pieces)
    painted = _Painted(whole, spans, strongest(read, spans))
    html, place = "", 0
    for text, tag in pieces:
        html += painted.html(place, place + len(text)) + tag
        place += len(text + _end(tag))
    return html if "<img" in html or _TAG.sub("", html).strip() else None


@lru_cache(maxsize=256)
def _structure(text: str, kind: str, image_hosts: tuple[str, ...]) -> str:
    """Sanitised HTML, each heading one level lower, for the title of the document is the first."""
    html = plain_html(text) if kind == "markdown" else text
    structure = with_images(safe_structure(html), image_hosts)
    return _HEADING.sub(lambda heading: f"<{heading[1]}h{int(heading[2]) + 1}>", structure)


def _named(value: object) -> str:
    return value.split(";")[0].strip().lower() if isinstance(value, str) else ""


def _end(tag: str) -> str:
    return "" if not tag or _INSIDE_LINES.fullmatch(tag) else "\n"


class _Painted(NamedTuple):
    """One text as it is shown, with ascending marks and the sentence that stands out."""

    text: str
    marks: list[Span]
    sentence: Span | None

    def html(self, start: int, end: int) -> str:
        first, last = self.sentence or (end, end)
        first, last = min(max(first, start), end), max(min(last, end), start)
        inside = self._marked(first, last)
        if not self.text[first:last].strip():
            return self._marked(start, end)
        tinted = f'<span class="judging-sentence">{inside}</span>'
        return self._marked(start, first) + tinted + self._marked(last, end)

    def _marked(self, start: int, end: int) -> str:
        pieces, position = [], start
        for place in range(bisect_right(self.marks, start, key=lambda mark: mark[1]), len(self.marks)):
            first, last = max(self.marks[place][0], start), min(self.marks[place][1], end)
            if first >= end:
                break
            pieces += [escape(self.text[position:first]), f"<mark>{escape(self.text[first:last])}</mark>"]
            position = last
        return "".join([*pieces, escape(self.text[position:end])])


# What the metadata of a document say about it that helps to judge it: when, from whom, from where.


#: Under which names metadata have it, in the order in which it is shown. Nothing else is: metadata may hold
#: ranks, scores or answers.
FACTS: dict[str, tuple[str, ...]] = {
    "Date": ("date", "published", "published_at"),
    "Source": ("source", "site", "publisher"),
    "Author": ("author", "authors"),
    "URL": ("url",),
}
LONGEST_FACT = 300


def facts_of(metadata: Mapping[str, Any]) -> list[str]:
    """Date, source, author and URL, as far as they are known, as plain text.

    >>> facts_of({"url": "https://example.org", "date": "2026-03-04", "score": 3})
    ['2026-03-04', 'https://example.org']
    """
    texts = (
        next((text for name in names if (text := _text(metadata.get(name)))), "") for names in FACTS.values()
    )
    return [text for text in texts if text]


def _text(value: object) -> str:
    if isinstance(value, list):
        value = ", ".join(one for one in value if isinstance(one, str))
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_FACT else f"{text[:LONGEST_FACT]} …"


class OfferedQuery(TypedDict):
    """The query of an item."""

    id: str
    text: str
    narrative: str
    left: NotRequired[
        Annotated[
            int,
            {"required": True},
            "Approximate number of pairs left for you in this query, including this one.",
        ]
    ]


class OfferedDocument(TypedDict):
    """The document of an item; `marks` are the spans of query terms, counted in Unicode characters."""

    id: str
    title: str
    text: Annotated[str | None, "Null if the text was not imported."]
    html: Annotated[str | None, "Sanitised, of a text in Markdown or HTML; null for any other."]
    image: Annotated[str | None, "Address of its image, where the collection allows its host."]
    facts: Annotated[list[str], "Date, source, author and URL, as far as they are known."]
    title_marks: list[tuple[int, int]]
    marks: list[tuple[int, int]]
    passage: Annotated[tuple[int, int] | None, "The span to show first; null to show the whole text."]
    sentence: Annotated[
        tuple[int, int] | None,
        "The strongest sentence of a plain text by the query's words, where the queue highlights one; in "
        "`html` it is a span of the class judging-sentence.",
    ]


class PracticeOffer(TypedDict):
    """A practice question: what an offer says of query and document, without a lease."""

    item: int
    version: Annotated[int, "Of the document's text."]
    query: OfferedQuery
    document: OfferedDocument


class Offer(PracticeOffer):
    """An item that is leased to you."""

    lease: Annotated[str, UUID]
    expires_at: Annotated[str, datetime]
    prelabel: NotRequired[Annotated[Proposal, "Only if the queue shows pre-labels before the verdict."]]


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
    query = item.query
    return {"id": query.external_id, "text": query.text, "narrative": query.narrative}


def offered_document(item: Item | FactItem, queue: Queue) -> OfferedDocument:
    """An item's document as shown: unwrapped at the same offsets, the passage whatever is highlighted."""
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
        strongest=lambda read, spans: (
            strongest_sentence(query.text, read, spans, forms) if has_sentence else None
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
