"""An annotator's own work over all queues of the collections they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from labeling.judging.own_work import OwnWork, own_work
from labeling.models import JudgmentEvent, PairMessage, Quarantine, Queue
from labeling.own_pages.agreement import agreement_with_labels
from labeling.plausibility.decisions import questions_for
from pooling.people.access import collections_of

MOST_QUEUES, MOST_MESSAGES = 20, 50


@dataclass(frozen=True)
class QueueOfWork:
    """A queue with one person's pace there; `agreement` in per cent, or None where it is not told."""

    queue: Queue
    work: OwnWork
    agreement: int | None
    questions: int


@dataclass(frozen=True)
class SetAside:
    """Judgments of yours that were set aside."""

    # The same for the rule and for an admin: nothing here tells of gold questions.

    queue: Annotated[Queue, int, {"source": "queue.pk"}]
    at: datetime
    until: Annotated[datetime | None, "Since when they count again."]

    @property
    def sentence(self) -> str:
        """The same for the person."""
        day, queue = date_format(self.at, _("j F Y")), self.queue.public_name
        if self.until:
            since = date_format(self.until, _("j F Y"))
            sentence = _(
                "On {day}, your judgments in {queue} were set aside. Since {since} they count again."
            )
            return sentence.format(day=day, queue=queue, since=since)
        sentence = _(
            "On {day}, your judgments in {queue} were set aside because the admins doubt that pairs were "
            "read with care. They can restore them: ask."
        )
        return sentence.format(day=day, queue=queue)


def queues_worked_in(user: User) -> QuerySet[Queue]:
    """The queues in which somebody gave verdicts, of collections they still belong to, newest first."""
    given = JudgmentEvent.objects.filter(
        queue=OuterRef("pk"),
        annotator=user,
        kind=JudgmentEvent.Kind.VERDICT,
        is_practice=False,
        brought_by=None,
    )
    there = Queue.objects.filter(deleted_at=None, collection__in=collections_of(user))
    return there.filter(Exists(given)).select_related("collection")


def queues_of_work(user: User) -> list[QueueOfWork]:
    """The newest of these with pace, agreement and open questions; a few statements for each."""
    return [
        QueueOfWork(
            queue,
            own_work(queue, user),
            agreement_with_labels(queue, user),
            sum(not one.reply for one in questions_for(queue, user)),
        )
        for queue in queues_worked_in(user)[:MOST_QUEUES]
    ]


def set_aside_of(user: User) -> list[SetAside]:
    """What was set aside of somebody's work, newest first."""
    rows = Quarantine.objects.filter(annotator=user, queue__in=queues_worked_in(user))
    return [SetAside(row.queue, row.imposed_at, row.lifted_at) for row in rows.select_related("queue")]


def messages_of(user: User) -> QuerySet[PairMessage]:
    """What somebody wrote to the admins, with the answers, newest first."""
    sent = PairMessage.objects.filter(author=user, queue__in=queues_worked_in(user))
    return sent.select_related("query", "document", "queue").defer("document__text")[:MOST_MESSAGES]
