"""Experience of a collection's queues with the people who judge in it: pace, ties, gold questions."""

from __future__ import annotations

from django.db.models import F

from labeling.models import GoldQuestion, Item, JudgmentEvent
from labeling.progress.counts import TIES_BEFORE
from pooling.models import Collection

# Verdicts whose times the mean is taken of.
TIMED = 5_000


def seconds_taken(collection: Collection) -> float | None:
    """Mean active time of the newest 5,000 timed verdicts, in seconds; None without any."""
    timed = collection.judgment_events.filter(
        kind=JudgmentEvent.Kind.VERDICT, active_ms__isnull=False, is_adjudication=False, brought_by=None
    )
    newest = timed.order_by("-pk").values_list("active_ms", flat=True)[:TIMED]
    spent = [time for time in newest if time is not None]
    return sum(spent) / len(spent) / 1000 if spent else None


def share_of_ties(collection: Collection) -> tuple[float, int]:
    """(share, pairs): how many settled pairs of queues that ask for one more on a tie were tied.

    As if one of ten had tied before any did, as everywhere; `pairs` is what there was beyond these.
    """
    items = Item.objects.filter(
        queue__collection=collection,
        order_key__gt=0,
        needed_at_most__gt=F("needed_at_least"),
        # A pre-label that is contradicted asks for one more too.
        expected="",
    )
    tied = items.filter(needed__gt=F("needed_at_least")).count()
    agreed = items.filter(needed=F("needed_at_least"), state=Item.State.DONE).count()
    tied_before, all_before = TIES_BEFORE
    return (tied + tied_before) / (tied + agreed + all_before), tied + agreed


def gold_questions(collection: Collection) -> int:
    return GoldQuestion.objects.filter(collection=collection, active=True, practice=False).count()
