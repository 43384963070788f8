"""The last answers of people in a queue, as `labeling.gold.signs` wants them: a few statements,
however many people there are.

Answers to gold questions, repeats, adjudications, "can't judge" and what was set aside are left out: the
signs rest on ordinary work alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet, Window
from django.db.models.functions import Coalesce, Length, RowNumber, Substr

from labeling.gold.record import PAUSE, decisions_on
from labeling.gold.signs import WINDOW, Answer, Finding, examined, others_of
from labeling.items.passages import WHOLE_TEXT
from labeling.items.reading import MOST_CHARACTERS, least_ms
from labeling.models import Judgment, Prelabel, PrelabelSeen, Queue, Verdict
from pooling.heavy import pl
from pooling.models import Collection
from pooling.storage.frames import rows_frame

# Of a queue, how many of the newest answers are looked at for its page.
NEWEST = 2_000


@dataclass(frozen=True)
class Proposal:
    """Somebody whose last answers in a queue an admin should look at; `last_event` is the newest of them."""

    queue: Queue
    username: str
    annotator_id: int
    last_event: int
    finding: Finding


def proposals(queue: Queue) -> list[Proposal]:
    """Whose last answers an admin should look at, by name; from the newest answers of the queue."""
    return _proposals(queue, _answers(_judgments([queue])[:NEWEST]))


def proposals_in(collection: Collection) -> list[Proposal]:
    """Proposals in all queues of a collection before a release: on everybody's last answers, however old."""
    queues = collection.queues.listed()
    place = Window(RowNumber(), partition_by=["event__queue", "annotator"], order_by=F("event").desc())
    answers = _answers(_judgments(queues).annotate(place=place).filter(place__lte=WINDOW))
    each = ((queue, answers.filter(queue=queue.pk)) for queue in queues)
    return [one for queue, own in each if own.height for one in _proposals(queue, own)]


def _judgments(queues: Iterable[Queue]) -> QuerySet[Judgment]:
    """The newest first."""
    rows = Judgment.objects.opinions().filter(event__queue__in=list(queues)).order_by("-event")
    return rows.annotate(
        title_length=Coalesce(Length(Substr("document__title", 1, MOST_CHARACTERS)), 0),
        text_length=Coalesce(Length(Substr("document__text", 1, WHOLE_TEXT + 1)), 0),
    )


def _answers(judgments: QuerySet[Judgment]) -> pl.DataFrame:
    """The judgments, oldest first: queue, annotator and name, pair, and what an `Answer` is made of."""
    columns = {"name": "annotator__username", "spent": "event__active_ms", "seen": "event__prelabel_seen"}
    keys = ("annotator", "query", "document", "event", "verdict", "title_length", "text_length")
    return rows_frame(judgments, *keys, queue="event__queue", shown="event__shown", **columns).reverse()


def _answer(row: dict[str, Any], model: bool | None) -> Answer:
    least, spent = least_ms(row["title_length"] + row["text_length"]), row["spent"]
    return Answer(
        query=row["query"],
        relevant=row["verdict"] == Verdict.RELEVANT,
        is_fast=None if spent is None else spent < least,
        model=model if row["seen"] == PrelabelSeen.NEVER else None,
        opened=row["shown"] == "document" if row["shown"] and row["text_length"] > WHOLE_TEXT else None,
    )


def _model_labels(queue: Queue, queries: set[int]) -> dict[tuple[int, int], bool]:
    """True for pairs relevant to the model that the queue uses, or else to that of its newest pass."""
    prelabeler = queue.prelabeler_id
    if prelabeler is None:
        passes = queue.prelabel_jobs.order_by("-pk")
        prelabeler = passes.values_list("prelabeler", flat=True).first()
    if prelabeler is None:
        return {}
    labels = Prelabel.objects.filter(prelabeler=prelabeler, query__in=queries).current()
    return {
        (query, document): verdict == Verdict.RELEVANT
        for query, document, verdict in labels.values_list("query_id", "document_id", "verdict")
    }


def _proposals(queue: Queue, answers: pl.DataFrame) -> list[Proposal]:
    model = _model_labels(queue, set(answers["query"])) if answers.height else {}
    since = _decided_until(queue)
    given = [(row, _answer(row, model.get((row["query"], row["document"])))) for row in answers.to_dicts()]
    suggestions = []
    for name, annotator in sorted({(row["name"], row["annotator"]) for row, _ in given}):
        newer = [
            one
            for one in given
            if one[0]["annotator"] == annotator and one[0]["event"] > since.get(annotator, 0)
        ]
        others = others_of(answer for row, answer in given if row["annotator"] != annotator)
        finding = examined([answer for _, answer in newer], others)
        if finding and finding.is_implausible:
            suggestions.append(Proposal(queue, name, annotator, newer[-1][0]["event"], finding))
    return suggestions


def _decided_until(queue: Queue) -> dict[int, int]:
    """The newest answer of each annotator on which an admin has decided.

    A pause that was taken back says that the work is sound, so it stays decided.
    """
    standing = (one for one in reversed(decisions_on(queue)) if one.decision == PAUSE or not one.undone_at)
    return {one.annotator_id: one.last_event for one in standing}
