"""Obstacles to gold questions: queries without any, and people who skip much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from django.db.models import Count, Exists, OuterRef, Q

from labeling.items.withdrawn import THERE
from labeling.models import GoldQuestion, Item, JudgmentEvent, Queue
from pooling.models import Collection

#: Fewer skips are nothing to look at.
FEW_SKIPS = 20


@dataclass(frozen=True)
class AnnotatorSkips:
    """Items that somebody skipped."""

    username: str
    skipped: int
    checks: Annotated[int, "Of the skipped: gold questions and pairs shown again."]
    answered: Annotated[int, "Pairs that this person answered."]

    @property
    def is_much(self) -> Annotated[bool, "Whether it is a reason to look."]:
        return self.skipped >= FEW_SKIPS and self.skipped > self.answered


def skips_in(queue: Queue) -> list[AnnotatorSkips]:
    """Everybody who skipped items of the queue, most skips first."""
    verdict, skip = Q(kind=JudgmentEvent.Kind.VERDICT), Q(kind=JudgmentEvent.Kind.SKIP)
    hidden = Q(item__state__in=(Item.State.GOLD, Item.State.REPEAT))
    own = queue.events.filter(is_practice=False, brought_by=None).order_by()
    rows = own.values_list("annotator__username").annotate(
        skipped=Count("item", filter=skip, distinct=True),
        checks=Count("item", filter=skip & hidden, distinct=True),
        answered=Count("item", filter=verdict, distinct=True),
    )
    skips = [AnnotatorSkips(*row) for row in rows.filter(skipped__gt=0)]
    return sorted(skips, key=lambda row: (-row.skipped, row.username))


def queries_without_gold(collection: Collection, **of: Any) -> list[str]:
    """The ids of the queries of which pairs are left in open queues that hide gold questions, and that have
    no such question, so that none is asked there. `of` chooses among the queues.
    """
    hides = Q(gold_first_share__gt=0) | Q(gold_share__gt=0)
    queues = collection.queues.filter(hides, state=Queue.State.OPEN, kind=Queue.Kind.PAIRS, **of)
    gold = GoldQuestion.objects.filter(query=OuterRef("query"), active=True, practice=False, **THERE)
    left = Item.objects.filter(queue__in=queues, state=Item.State.OPEN, order_key__gt=0, **THERE)
    without = left.exclude(Exists(gold)).order_by()
    return sorted(without.values_list("query__external_id", flat=True).distinct())
