"""Everything that somebody answered, whatever the items really were."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet

from labeling.models import JudgmentEvent, Queue


def own_answers(user: User) -> QuerySet[JudgmentEvent]:
    """The verdicts of `user` that stand, one for each item they answered, whatever it is; neither practice
    nor what was imported.
    """
    undone = Exists(JudgmentEvent.objects.filter(undoes=OuterRef("pk")))
    verdicts = JudgmentEvent.objects.filter(
        annotator=user.pk, kind=JudgmentEvent.Kind.VERDICT, is_practice=False, brought_by=None
    )
    later = verdicts.filter(item=OuterRef("item"), pk__gt=OuterRef("pk")).exclude(undone)
    return verdicts.exclude(undone).exclude(Exists(later)).order_by()


def given_in(queue: Queue, user: User) -> QuerySet[JudgmentEvent]:
    """All verdicts that `user` gave in a queue, undone ones too; those of practice count nowhere."""
    return queue.events.filter(
        annotator=user, kind=JudgmentEvent.Kind.VERDICT, is_practice=False, brought_by=None
    )
