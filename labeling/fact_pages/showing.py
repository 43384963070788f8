"""What annotators see of a document and its facts; nothing of runs, labels or other people's answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypedDict
from uuid import uuid4

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef

from labeling.facts.items import OF_THIS_MEANING, facts_of_item, own_supports
from labeling.items.numbers import number_of
from labeling.items.passages import strongest_sentence, term_marks
from labeling.judging.flow import reflowed
from labeling.judging.offers import OfferedDocument, OfferedQuery, offered_document, offered_query
from labeling.models import Fact, FactItem, Highlight, Queue, SupportEvent, SupportVerdict
from pooling.interface.results import PAGE_ONLY
from pooling.texts.word_forms import forms_of

#: One for each digit.
FACTS_ON_A_PAGE = 9


class ShownFact(TypedDict):
    """A fact, with what you said of it in this document."""

    # `marks` are the spans of its words in the text, `sentence` the one that has most of them, as far as the
    # queue highlights these. `heading`: whether its group begins with it.

    id: str
    text: str
    group: str
    heading: Annotated[bool, PAGE_ONLY]
    version: int
    verdict: Annotated[str, {"choices": [("", "nothing yet"), *SupportVerdict.choices]}]
    evidence: tuple[int, int] | None
    marks: Annotated[list[tuple[int, int]], PAGE_ONLY]
    sentence: Annotated[tuple[int, int] | None, PAGE_ONLY]


class ShownQuery(TypedDict):
    """The query."""

    id: str
    text: str
    narrative: str


class ShownDocument(TypedDict):
    """The document to judge in; offsets of evidence are characters of `text`."""

    id: str
    title: str
    text: str | None


class ShownPage(TypedDict):
    """A page of facts; `stored` says of each page whether you have judged all of it."""

    item: int
    # Names what is sent, once.
    key: Annotated[str, PAGE_ONLY]
    number: int
    pages: int
    stored: list[bool]
    document_version: int
    query: Annotated[OfferedQuery, ShownQuery]
    document: Annotated[OfferedDocument, ShownDocument]
    facts: list[ShownFact]


def page_for(
    queue: Queue, annotator: User, item: FactItem, number: int | None = None, *, fills_in: bool = False
) -> ShownPage:
    """A page of facts: the first not judged, unless one is asked for. fills_in: with what was taken back."""
    facts = facts_of_item(item, annotator)
    mine = own_supports(item, annotator)
    pages = [facts[start : start + FACTS_ON_A_PAGE] for start in range(0, len(facts), FACTS_ON_A_PAGE)]
    stored = [all(fact.pk in mine for fact in page) for page in pages]
    first = stored.index(False) + 1 if False in stored else 1
    number = min(max(number or first, 1), max(len(pages), 1))
    before = pages[number - 2][-1].group if number > 1 else None
    choices = _taken_back(item, annotator) if fills_in else {}
    choices |= {fact: support.event for fact, support in mine.items()}
    return {
        "item": number_of(item.pk),
        "key": str(uuid4()),
        "number": number,
        "pages": len(pages),
        "stored": stored,
        "document_version": item.document.version,
        "query": offered_query(item),
        "document": offered_document(item, queue),
        "facts": _fact_rows(item, pages[number - 1] if pages else [], choices, before),
    }


def _taken_back(item: FactItem, annotator: User) -> dict[int, SupportEvent]:
    own = {"queue": item.queue_id, "document": item.document_id, "fact__query": item.query_id}
    events = SupportEvent.objects.filter(
        OF_THIS_MEANING,
        Exists(SupportEvent.objects.filter(undoes=OuterRef("pk"))),
        annotator=annotator,
        document_version=item.document.version,
        is_adjudication=False,
        **own,
    )
    return {event.fact_id: event for event in events.order_by("pk")}


def _fact_rows(
    item: FactItem, facts: Sequence[Fact], choices: dict[int, SupportEvent], before: str | None
) -> list[ShownFact]:
    collection = item.queue.collection
    text = reflowed(item.document.text or "")
    forms = forms_of(collection.language, collection.synonyms)
    highlight = item.queue.highlight
    rows: list[ShownFact] = []
    for fact in facts:
        event = choices.get(fact.pk)
        marks = term_marks(fact.text, text, forms)
        span = (event.span_start, event.span_end) if event else (None, None)
        rows.append(
            {
                "id": fact.external_id,
                "text": fact.text,
                "group": fact.group,
                "heading": bool(fact.group) and fact.group != before,
                "version": fact.version,
                "verdict": event.verdict if event else "",
                "evidence": None if span[0] is None or span[1] is None else (span[0], span[1]),
                "marks": marks if highlight != Highlight.NONE else [],
                "sentence": (
                    strongest_sentence(fact.text, text, marks, forms)
                    if highlight == Highlight.SENTENCE
                    else None
                ),
            }
        )
        before = fact.group
    return rows
