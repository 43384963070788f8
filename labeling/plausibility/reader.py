"""The last answers of people in a queue, as `labeling.plausibility.signs` wants them: a few statements,
however many people there are.

Answers to gold questions, repeats, adjudications, "can't judge" and what was set aside are left out: the
signs rest on ordinary work alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import F, QuerySet, Window
from django.db.models.functions import Coalesce, Length, RowNumber, Substr

from labeling.items.passages import WHOLE_TEXT
from labeling.items.reading import MOST_CHARACTERS, least_ms
from labeling.models import Judgment, Prelabel, PrelabelSeen, Queue, Verdict
from labeling.plausibility.record import PAUSE, decisions_on
from labeling.plausibility.signs import WINDOW, Answer, Finding, examined, others_of
from pooling.models import Collection

# Of a queue, how many of the newest answers are looked at for its page.
NEWEST = 2_000


@dataclass(frozen=True)
class Proposal:
    """Somebody whose last answers in a queue an admin should look at; `last_event` is the newest of them."""

    queue: Queue
    username: str
    annotator_id: int
    last_event: int
    found: Finding


class _Row(NamedTuple):
    """A verdict as the database has it."""

    queue: int
    annotator: int
    name: str
    event: int
    query: int
    document: int
    verdict: str
    spent: int | None
    shown: str
    seen: str
    title_length: int
    text_length: int


class _Given(NamedTuple):
    """A verdict with its author and event."""

    annotator: int
    name: str
    event: int
    answer: Answer


def proposals(queue: Queue) -> list[Proposal]:
    """Whose last answers an admin should look at, by name; from the newest answers of the queue."""
    rows = _judgments([queue]).order_by("-event")[:NEWEST]
    return _proposals(queue, [_Row(*row) for row in _columns(rows)])


def proposals_in(collection: Collection) -> list[Proposal]:
    """The same for all queues of a collection before a release: everybody's last answers, however old."""
    queues = {queue.pk: queue for queue in collection.queues.listed()}
    place = Window(RowNumber(), partition_by=["event__queue", "annotator"], order_by=F("event").desc())
    rows = _judgments(queues.values()).annotate(place=place).filter(place__lte=WINDOW).order_by("-event")
    of_queues: dict[int, list[_Row]] = defaultdict(list)
    for row in _columns(rows):
        of_queues[row[0]].append(_Row(*row))
    return [
        proposal
        for number, queue in queues.items()
        for proposal in (_proposals(queue, of_queues[number]) if of_queues[number] else [])
    ]


def _judgments(queues: Iterable[Queue]) -> QuerySet[Judgment]:
    counted = Judgment.objects.counted().filter(is_adjudication=False, event__queue__in=list(queues))
    return counted.exclude(verdict=Verdict.CANNOT_JUDGE).annotate(
        title_length=Coalesce(Length(Substr("document__title", 1, MOST_CHARACTERS)), 0),
        text_length=Coalesce(Length(Substr("document__text", 1, WHOLE_TEXT + 1)), 0),
    )


def _columns(judgments: QuerySet[Any]) -> Iterable[tuple[Any, ...]]:
    """What `_Row` takes, in its order."""
    return judgments.values_list(
        "event__queue",
        "annotator",
        "annotator__username",
        "event",
        "query",
        "document",
        "verdict",
        "event__active_ms",
        "event__shown",
        "event__prelabel_seen",
        "title_length",
        "text_length",
    )


def _given(queue: Queue, rows: Sequence[_Row]) -> list[_Given]:
    """The verdicts, oldest first."""
    model = _model_labels(queue, {row.query for row in rows}) if rows else {}
    given = []
    for row in reversed(rows):
        least = least_ms(row.title_length + row.text_length)
        answer = Answer(
            query=row.query,
            relevant=row.verdict == Verdict.RELEVANT,
            is_fast=None if row.spent is None else row.spent < least,
            model=model.get((row.query, row.document)) if row.seen == PrelabelSeen.NEVER else None,
            opened=row.shown == "document" if row.shown and row.text_length > WHOLE_TEXT else None,
        )
        given.append(_Given(row.annotator, row.name, row.event, answer))
    return given


def _model_labels(queue: Queue, queries: set[int]) -> dict[tuple[int, int], bool]:
    """What the model of the queue's newest pass, or the one it uses, said of pairs of these queries."""
    prelabeler = queue.prelabeler_id
    if prelabeler is None:
        passes = queue.prelabel_jobs.order_by("-pk")
        prelabeler = passes.values_list("prelabeler", flat=True).first()
    if prelabeler is None:
        return {}
    labels = Prelabel.objects.filter(prelabeler=prelabeler, query__in=queries).current()
    return {
        (query, document): said == Verdict.RELEVANT
        for query, document, said in labels.values_list("query_id", "document_id", "verdict")
    }


def _proposals(queue: Queue, rows: Sequence[_Row]) -> list[Proposal]:
    given = _given(queue, rows)
    since = _decided_until(queue)
    names = {one.annotator: one.name for one in given}
    found = []
    for annotator, name in sorted(names.items(), key=lambda row: row[1]):
        own = [one for one in given if one.annotator == annotator and one.event > since.get(annotator, 0)]
        others = others_of(one.answer for one in given if one.annotator != annotator)
        finding = examined([one.answer for one in own], others)
        if finding and finding.is_implausible:
            found.append(Proposal(queue, name, annotator, own[-1].event, finding))
    return found


def _decided_until(queue: Queue) -> dict[int, int]:
    """The newest answer of each annotator on which an admin has decided.

    A pause that was taken back says that the work is sound, so it stays decided.
    """
    standing = (one for one in reversed(decisions_on(queue)) if one.decision == PAUSE or not one.undone_at)
    return {one.annotator_id: one.last_event for one in standing}
