"""Gold questions that can still be asked, queries without any, and people who skip much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from django.db.models import Count, Exists, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from labeling.items.withdrawn import THERE
from labeling.models import GoldQuestion, Item, Judgment, JudgmentEvent, Queue
from labeling.models.words import SAME_PAIR
from pooling.models import Collection, Role

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
    """Ids of queries in open queues with hidden gold that have none of their own; `of` chooses queues."""
    hides = Q(gold_first_share__gt=0) | Q(gold_share__gt=0)
    queues = collection.queues.filter(hides, state=Queue.State.OPEN, kind=Queue.Kind.PAIRS, **of)
    gold = GoldQuestion.objects.filter(query=OuterRef("query"), active=True, practice=False, **THERE)
    left = Item.objects.filter(queue__in=queues, state=Item.State.OPEN, order_key__gt=0, **THERE)
    without = left.exclude(Exists(gold)).order_by()
    return sorted(without.values_list("query__external_id", flat=True).distinct())


def gold_to_come(queue: Queue) -> int:
    """How often a gold question can still be asked, at most: each once, at a query with open items, of
    everybody who began and may go on; where nobody did, of the collection's annotators."""
    if not queue.gold_count:
        return 0
    paused = queue.quarantines.filter(lifted_at=None).values("annotator")
    members = queue.collection.memberships.exclude(user__in=paused)
    has_begun = Exists(queue.bookmarks.filter(annotator=OuterRef("user")))
    rows = list(members.values_list("user", "role", has_begun))
    people = [user for user, _, begun in rows if begun]
    people = people or [user for user, role, _ in rows if role == Role.ANNOTATOR]
    left = Item.objects.filter(queue=queue, query=OuterRef("query"), state=Item.State.OPEN)
    questions = Item.objects.filter(Exists(left), queue=queue, state=Item.State.GOLD)
    answers = Judgment.objects.filter(annotator__in=people, **SAME_PAIR).order_by().values("query")
    answered = Coalesce(Subquery(answers.annotate(many=Count("pk")).values("many")), 0)
    counts = questions.aggregate(all=Count("pk"), answered=Sum(answered, default=0))
    return int(counts["all"] * len(people) - counts["answered"])
