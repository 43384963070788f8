"""Hidden repeats: pairs that somebody has judged, shown to them again later to see if they say the same.

Each is a separate item, for one person and without slots, that points at the verdict it repeats. What is
said the second time is a separate kind of event: it is no judgment, and nothing but this file reads it. A
repeat comes like a gold question, after the first 25 items, and only while the person is at its query;
`hidden.py` tells how.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection as SomeOf
from collections.abc import Sequence

from django.db.models import Exists, OuterRef, QuerySet

from labeling.gold.places import Shares, gold_places, lot
from labeling.items.slots import NO_ITEM, Slots
from labeling.items.statements import store_slots
from labeling.models import Bookmark, Item, Judgment, JudgmentEvent, Queue, Verdict
from labeling.models.words import SAME_PAIR

# At least this many verdicts lie between, so that nobody remembers the pair; and from how many it is drawn.
GAP = 25
WINDOW = 500
# Repeats and gold questions of a person come at places that have nothing to do with each other.
OTHER_PLACES = 0x5DEECE66D


def repeats_due(bookmark: Bookmark, size: int) -> int:
    """Number of pairs to be shown again in the next `size` places of the bookmark's owner."""
    if not bookmark.queue.repeat_share:
        return 0
    shares = Shares(0, bookmark.queue.repeat_share)
    return len(gold_places(_seed(bookmark), bookmark.handed_out, size, shares))


def repeatable(bookmark: Bookmark, queries: SomeOf[int]) -> dict[int, list[Judgment]]:
    """The person's verdicts on pairs of each of `queries` that may be asked again, in drawn order.

    Given at least `GAP` verdicts ago, and never asked again before.
    """
    by_query: dict[int, list[Judgment]] = defaultdict(list)
    if not bookmark.queue.repeat_share:
        return by_query
    queue, annotator = bookmark.queue, bookmark.annotator
    again = Item.objects.filter(
        queue=queue, state=Item.State.REPEAT, repeats__annotator=annotator, **SAME_PAIR
    )
    own = Judgment.objects.counted().filter(annotator=annotator, event__queue=queue, is_adjudication=False)
    earlier = own.order_by("-event").annotate(is_repeated=Exists(again))
    earlier = earlier.only("event", "query", "document", "verdict")
    for judgment in earlier[GAP : GAP + WINDOW]:
        is_repeated = judgment.is_repeated  # type: ignore[attr-defined]
        if judgment.query_id in queries and not is_repeated and judgment.verdict != Verdict.CANNOT_JUDGE:
            by_query[judgment.query_id].append(judgment)
    for judgments in by_query.values():
        judgments.sort(key=lambda judgment: lot(_seed(bookmark), -1 - judgment.event_id))
    return by_query


def make_repeats(queue: Queue, judgments: Sequence[Judgment]) -> list[Item]:
    """An item for each verdict that is asked again; where there is none, a statement all the same."""
    if not judgments and queue.repeat_share:
        store_slots([NO_ITEM], Slots(0, 0, 0, None, Item.State.OPEN))
    at_least, at_most = queue.bounds
    return Item.objects.bulk_create(
        Item(
            queue=queue,
            query_id=judgment.query_id,
            document_id=judgment.document_id,
            order_key=0,
            needed=at_least,
            needed_at_least=at_least,
            needed_at_most=at_most,
            state=Item.State.REPEAT,
            repeats_id=judgment.event_id,
        )
        for judgment in judgments
    )


def answers_to_repeats(queue: Queue) -> QuerySet[JudgmentEvent]:
    """The verdicts on pairs shown again in the queue that are not undone, in no order."""
    undone = JudgmentEvent.objects.filter(undoes=OuterRef("pk"))
    answers = queue.events.filter(repeats__isnull=False, kind=JudgmentEvent.Kind.VERDICT)
    return answers.exclude(Exists(undone)).order_by()


def same_again(queue: Queue) -> dict[int, tuple[int, int]]:
    """By annotator, repeats answered as at first, and all; without those that were "can't judge"."""
    rows = answers_to_repeats(queue).order_by("pk")
    last: dict[int | None, tuple[int, str, str]] = {}
    for item, annotator, verdict, before in rows.values_list(
        "item", "annotator", "verdict", "repeats__verdict"
    ):
        last[item] = annotator, verdict, str(before)
    agreements: defaultdict[int, list[bool]] = defaultdict(list)
    for annotator, verdict, before in last.values():
        if Verdict.CANNOT_JUDGE not in (verdict, before):
            agreements[annotator].append(verdict == before)
    return {annotator: (sum(same), len(same)) for annotator, same in agreements.items()}


def _seed(bookmark: Bookmark) -> int:
    return bookmark.gold_seed ^ bookmark.pk ^ OTHER_PLACES
