"""Everything that somebody answered, whatever the items really were."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet

from labeling.models import JudgmentEvent, Queue


def own_answers(user: User) -> QuerySet[JudgmentEvent]:
    """Standing verdicts of `user`, one per item they answered; no practice, imports or settled pairs."""
    undone = Exists(JudgmentEvent.objects.filter(undoes=OuterRef("pk")))
    later = _given_or_settled(user).filter(item=OuterRef("item"), pk__gt=OuterRef("pk")).exclude(undone)
    return given_by(user).exclude(undone).exclude(Exists(later)).order_by()


def given_by(user: User) -> QuerySet[JudgmentEvent]:
    """All verdicts that `user` gave as an annotator, undone ones too; neither settled pairs nor practice."""
    return _given_or_settled(user).filter(is_adjudication=False)


def given_in(queue: Queue, user: User) -> QuerySet[JudgmentEvent]:
    """Those of them in a queue."""
    return given_by(user).filter(queue=queue)


def _given_or_settled(user: User) -> QuerySet[JudgmentEvent]:
    return JudgmentEvent.objects.filter(
        annotator=user.pk, kind=JudgmentEvent.Kind.VERDICT, is_practice=False, brought_by=None
    )
