"""Storing a page of facts, and taking the last one back.

Every verdict has a key of its page and fact, so that a page that is sent twice is stored once. A fact that is
not on a stored page is unjudged: nothing untouched is ever taken for *no*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypedDict
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.fact_pages.claims import hold_item, left_for
from labeling.facts.items import OF_THIS_MEANING, follow_facts, recount
from labeling.items.evidence import facts_of_evidence, problem_with_span, problem_with_version
from labeling.judging.leases import state_of
from labeling.judging.sentences import not_open_sentence
from labeling.models import Fact, FactItem, FactLease, Queue, Support, SupportEvent, SupportVerdict
from pooling.interface.problems import InputError

#: A page sent to the interface may have more facts than the nine of a screen.
MOST_FACTS = 100
LONGEST_TIME_MS = 4 * 3600 * 1000


@dataclass(frozen=True)
class FactVerdict:
    """What a person says of a fact: id, version on screen, and perhaps a span of the text as evidence."""

    fact: str
    version: int
    verdict: str
    evidence: tuple[int, int] | None = None


@dataclass(frozen=True)
class FactPage:
    """A page of facts judged at once. page: the client's key; document_version: what was on screen."""

    page: UUID
    document_version: int
    verdicts: Sequence[FactVerdict]
    active_ms: int | None = None
    adjudicates: bool = False


@dataclass(frozen=True)
class PageOutcome:
    """Verdicts stored by a page, and facts left to this person; duplicate: it had been stored before."""

    status: Literal["stored", "duplicate"]
    stored: int
    left: int


def store_page(queue: Queue, annotator: User, item: FactItem, page: FactPage) -> PageOutcome:
    """Store the verdicts of a page, all or none.

    `InputError` for a document that the person was not given, for a fact that is no confirmed fact of the
    query, for one whose meaning has changed since it was shown, and for evidence that is not in the text. A
    page that settles pairs is an admin's, who needs no document in hand; who may send one is asked before.
    """
    now = timezone.now()
    _check(page)
    with transaction.atomic():
        item = _locked(queue, item)
        if SupportEvent.objects.filter(annotator=annotator, page=page.page).exists():
            return PageOutcome("duplicate", 0, left_for(item, annotator))
        if not (page.adjudicates or was_handed_out(item, annotator)):
            raise InputError(_("This pair is not in this queue."), field="item")
        if problem := problem_with_version(page.document_version, item.document.version):
            raise InputError(problem, field="document_version")
        facts = _facts(item, page)
        share = None if page.active_ms is None else page.active_ms // max(len(page.verdicts), 1)
        about: _About = {
            "collection_id": queue.collection_id,
            "queue": queue,
            "document_id": item.document_id,
            "annotator": annotator,
            "active_ms": share,
            "created_at": now,
        }
        events = SupportEvent.objects.bulk_create(
            _event(page, one, facts[one.fact], about) for one in page.verdicts
        )
        decided = _decided(events)
        _project([one for one in events if one.fact_id not in decided])
        _follow(queue, item)
        if not (left := left_for(item, annotator)):
            FactLease.objects.filter(item=item, annotator=annotator).delete()
    return PageOutcome("stored", len(events), left)


def undo_page(queue: Queue, annotator: User) -> FactItem | None:
    """Take the person's last page in the queue back, and hold its document again; None where there is none.

    What they had said of these facts before counts again. `InputError` where the queue is not open: after a
    reload the document would not come back.
    """
    now = timezone.now()
    last = pages_given(queue, annotator).order_by("-pk").first()
    if last is None:
        return None
    with transaction.atomic():
        its_item = FactItem.objects.get(queue=queue, query=last.fact.query_id, document=last.document_id)
        item = _locked(queue, its_item)
        events = list(pages_given(queue, annotator).filter(page=last.page).select_related("fact"))
        if not events:  # another tab was first
            return item
        if (state := state_of(queue)) != Queue.State.OPEN and not last.is_adjudication:
            raise InputError(not_open_sentence(state), conflict=True)
        SupportEvent.objects.bulk_create(_undoing(event, now) for event in events)
        for event in events:
            _stand_before(event)
        _follow(queue, item)
        hold_item(item, annotator, now=now)
    return item


def was_handed_out(item: FactItem, annotator: User) -> bool:
    """The person holds the document, held it too long, or judged in it: no page is refused for being late."""
    if FactLease.objects.filter(item=item, annotator=annotator).exists():
        return True
    events = SupportEvent.objects.filter(queue=item.queue_id, annotator=annotator, document=item.document_id)
    return events.filter(fact__query=item.query_id).exists()


def pages_given(queue: Queue, annotator: User) -> QuerySet[SupportEvent]:
    """The verdicts that the person gave in the queue and did not take back."""
    undone = Exists(SupportEvent.objects.filter(undoes=OuterRef("pk")))
    given = SupportEvent.objects.filter(queue=queue, annotator=annotator, kind=SupportEvent.Kind.VERDICT)
    return given.exclude(undone)


def _locked(queue: Queue, item: FactItem) -> FactItem:
    """The item, its row locked with all others that a verdict on it may change: those of its document in
    other queues, and those of its query where supports cover facts. In the order of their keys, so that
    nobody waits in a circle."""
    rows = FactItem.objects.filter(query=item.query_id)
    if not rows.filter(queue__covered_by__isnull=False).exists():
        rows = rows.filter(document=item.document_id)
    locked = {row.pk: row for row in rows.order_by("pk").select_for_update(no_key=True)}
    own = locked[item.pk]
    own.queue = queue
    return own


def _check(page: FactPage) -> None:
    if not 1 <= len(page.verdicts) <= MOST_FACTS:
        raise InputError(f"Send 1 to {MOST_FACTS} facts at a time.", field="verdicts")
    if len({one.fact for one in page.verdicts}) < len(page.verdicts):
        raise InputError("A fact comes twice on this page.", field="verdicts")
    for one in page.verdicts:
        if one.verdict not in SupportVerdict.values:
            problem = f"Unknown verdict “{one.verdict}”. Use {', '.join(SupportVerdict.values)}."
            raise InputError(problem, field="verdict")
        supports = one.verdict in (SupportVerdict.SUPPORTS, SupportVerdict.PARTLY)
        if one.evidence is not None and not supports:
            raise InputError("Evidence goes with “supports” and “partly” alone.", field="evidence")
        if problem := problem_with_span(one.evidence):
            raise InputError(problem, field="evidence")
    if page.active_ms is not None and not 0 <= page.active_ms <= LONGEST_TIME_MS:
        raise InputError(f"active_ms is 0 to {LONGEST_TIME_MS:,}.", field="active_ms")


def _facts(item: FactItem, page: FactPage) -> dict[str, Fact]:
    """The facts of the page by id, each a confirmed one that still means what was on screen."""
    confirmed = Fact.objects.filter(query=item.query_id, state=Fact.State.CONFIRMED)
    facts = {fact.external_id: fact for fact in confirmed}
    for one in page.verdicts:
        fact = facts.get(one.fact)
        if fact is None or not fact.meaning <= one.version <= fact.version:
            raise InputError(
                _("An admin changed these facts while you were reading. Look at the page again."),
                field="fact",
                conflict=True,
            )
    return facts


class _About(TypedDict):
    collection_id: int
    queue: Queue
    document_id: int
    annotator: User
    active_ms: int | None
    created_at: datetime


def _event(page: FactPage, one: FactVerdict, fact: Fact, about: _About) -> SupportEvent:
    return SupportEvent(
        **about,
        fact=fact,
        fact_version=one.version,
        document_version=page.document_version,
        key=f"{page.page}:{fact.pk}",
        page=page.page,
        verdict=one.verdict,
        is_adjudication=page.adjudicates,
        **facts_of_evidence(about["document_id"], page.document_version, one.evidence),
    )


def _decided(events: Sequence[SupportEvent]) -> set[int]:
    """Facts of these verdicts of one person on one document that the same person has settled, and which no
    verdict given in a queue decides again."""
    given = [one for one in events if not one.is_adjudication]
    if not given:
        return set()
    own = Support.objects.filter(annotator=given[0].annotator_id, document=given[0].document_id)
    decisions = own.filter(is_adjudication=True, fact_version__gte=F("fact__meaning"))
    return set(decisions.filter(fact__in=[one.fact_id for one in given]).values_list("fact", flat=True))


def _project(events: Sequence[SupportEvent]) -> None:
    Support.objects.bulk_create(
        [
            Support(
                collection_id=event.collection_id,
                fact=event.fact,
                fact_version=event.fact_version,
                document_id=event.document_id,
                annotator_id=event.annotator_id,
                verdict=event.verdict,
                event=event,
                judged_at=event.created_at,
                is_adjudication=event.is_adjudication,
            )
            for event in events
        ],
        update_conflicts=True,
        unique_fields=["fact", "document", "annotator"],
        update_fields=["fact_version", "verdict", "event", "judged_at", "is_adjudication"],
    )


def _undoing(event: SupportEvent, now: datetime) -> SupportEvent:
    return SupportEvent(
        collection_id=event.collection_id,
        queue_id=event.queue_id,
        fact=event.fact,
        fact_version=event.fact_version,
        document_id=event.document_id,
        document_version=event.document_version,
        annotator_id=event.annotator_id,
        kind=SupportEvent.Kind.UNDO,
        key=f"undo:{event.key}",
        page=uuid4(),
        undoes=event,
        created_at=now,
    )


def _stand_before(event: SupportEvent) -> None:
    own = {"fact": event.fact_id, "document": event.document_id, "annotator": event.annotator_id}
    undone = Exists(SupportEvent.objects.filter(undoes=OuterRef("pk")))
    given = SupportEvent.objects.filter(**own, kind=SupportEvent.Kind.VERDICT).exclude(undone)
    latest = given.select_related("fact").order_by("pk")
    # What they settled stands before what they said in a queue.
    standing = max(
        latest,
        key=lambda one: (one.is_adjudication and one.fact_version >= one.fact.meaning, one.pk),
        default=None,
    )
    if standing is None:
        Support.objects.filter(**own).delete()
    else:
        _project([standing])


def _follow(queue: Queue, item: FactItem) -> None:
    """Count the document again in every queue, and all of its query where supports may cover a fact."""
    recount(FactItem.objects.filter(query=item.query_id, document=item.document_id))
    covering = FactItem.objects.filter(query=item.query_id, queue__covered_by__isnull=False)
    if covering.exists():
        follow_facts([item.query_id])


def judged_by(annotator: User, queue: Queue) -> int:
    mine = Support.objects.filter(OF_THIS_MEANING, annotator=annotator, event__queue=queue)
    return mine.filter(is_adjudication=False).count()
