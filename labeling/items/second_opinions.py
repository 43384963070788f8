"""Hiding of a model's doubt of one's own verdict: the state of the pair must not show it.

A verdict against a confident pre-label has its pair judged once more. Anyone who gave it would read the
model's answer from a pair that does not close, or from a need that rises. So to them it counts as any other
pair with as many judgments; to everybody else it is open, and is handed out.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Exists, F, Q

from labeling.models import Judgment
from labeling.models.words import SAME_PAIR


def may_be_doubted(user: User) -> Q:
    """Items of pairs that `user` has judged and of which a confident pre-label lets expect a verdict."""
    own = Judgment.objects.filter(**SAME_PAIR, annotator=user.pk)
    return ~Q(expected="") & Q(Exists(own))


def closed_to(user: User) -> Q:
    """Items that are closed to `user`, whatever their state: a model's doubt may be all that moves it."""
    return Q(done__gte=F("needed_at_least")) & may_be_doubted(user)
