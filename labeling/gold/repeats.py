"""Hidden repeats: pairs that somebody has judged, shown to them again later to see if they say the same.

Each is a separate item, for one person and without slots, that points at the verdict it repeats. What is
said the second time is a separate kind of event: it is no judgment, and nothing but this file reads it. A
repeat comes like a gold question, at an irregular place after the first 25 items, and only while the person
is at its query; `hidden.py` tells how. One is made at every block of places, before anybody knows where in it
a repeat is due.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection as SomeOf
from collections.abc import Sequence

from django.db.models import Exists, OuterRef, QuerySet

from labeling.gold.places import FIRST_ITEMS, Shares, drawn, gold_places
from labeling.gold.stream import Due
from labeling.models import Bookmark, Item, Judgment, JudgmentEvent, Queue, Verdict

# At least this many verdicts lie between, so that nobody remembers the pair; and from how many it is drawn.
GAP = 25
WINDOW = 500
# Repeats and gold questions of a person come at places that have nothing to do with each other.
OTHER_PLACES = 0x5DEECE66D


def repeats_due(bookmark: Bookmark, count: int, gold: Sequence[Due]) -> list[Due]:
    """Which of the next `count` items of the bookmark's owner are to be repeats, if they are not `gold`."""
    if not bookmark.queue.repeat_share:
        return []
    shares = Shares(0, bookmark.queue.repeat_share)
    places = gold_places(_seed(bookmark), bookmark.handed_out, count, shares)
    taken = {due.place for due in gold}
    due = [Due(place - bookmark.handed_out, number) for place, number in places.items()]
    return [one for one in due if one.place not in taken]


def make_ready(bookmark: Bookmark, queries: SomeOf[int], count: int) -> None:
    """Make a repeat for each block of the person's places that begins among the next `count`.

    Long before it is due, so that the claim that hands it out has nothing to write that others have not. It
    repeats a verdict drawn from those given at least `GAP` verdicts ago, never the same twice, one on
    `queries` where there is any: it comes when the person is at its query.
    """
    length = 1 / bookmark.queue.repeat_share
    first = max(0, bookmark.handed_out - FIRST_ITEMS)
    last = bookmark.handed_out + count - FIRST_ITEMS
    for block in range(math.ceil(first / length), math.ceil(last / length)):
        _make(bookmark, queries, drawn(_seed(bookmark), -1 - block))


def answers_to_repeats(queue: Queue) -> QuerySet[JudgmentEvent]:
    """The verdicts on pairs shown again in the queue that are not undone, in no order."""
    undone = JudgmentEvent.objects.filter(undoes=OuterRef("pk"))
    answers = queue.events.filter(repeats__isnull=False, kind=JudgmentEvent.Kind.VERDICT)
    return answers.exclude(Exists(undone)).order_by()


def same_again(queue: Queue) -> dict[int, tuple[int, int]]:
    """How many repeats each annotator answered as the first time, and how many they answered, by their key.

    The last answer to a repeat is checked against the verdict that stood when it was shown; where either is
    "can't judge", it is left out.
    """
    rows = answers_to_repeats(queue).order_by("pk")
    last: dict[int | None, tuple[int, str, str]] = {}
    for item, annotator, verdict, before in rows.values_list(
        "item", "annotator", "verdict", "repeats__verdict"
    ):
        last[item] = annotator, verdict, str(before)
    found: defaultdict[int, list[bool]] = defaultdict(list)
    for annotator, verdict, before in last.values():
        if Verdict.CANNOT_JUDGE not in (verdict, before):
            found[annotator].append(verdict == before)
    return {annotator: (sum(same), len(same)) for annotator, same in found.items()}


def _make(bookmark: Bookmark, queries: SomeOf[int], draw: int) -> None:
    """Make a repeat of a verdict that is drawn from the person's earlier ones, where there is one."""
    queue, annotator = bookmark.queue, bookmark.annotator
    again = Item.objects.filter(
        queue=queue,
        state=Item.State.REPEAT,
        repeats__annotator=annotator,
        query=OuterRef("query"),
        document=OuterRef("document"),
    )
    own = Judgment.objects.counted().filter(annotator=annotator, event__queue=queue, is_adjudication=False)
    earlier = own.order_by("-event").values_list("event", "query", Exists(again), "verdict")
    chosen = [
        (event, query)
        for event, query, is_asked, verdict in earlier[GAP : GAP + WINDOW]
        if not is_asked and verdict != Verdict.CANNOT_JUDGE
    ]
    chosen = [row for row in chosen if row[1] in queries] or chosen
    if not chosen:
        return
    event = JudgmentEvent.objects.only("query", "document").get(pk=chosen[draw % len(chosen)][0])
    at_least, at_most = queue.bounds
    Item.objects.create(
        queue=queue,
        query_id=event.query_id,
        document_id=event.document_id,
        order_key=0,
        needed=at_least,
        needed_at_least=at_least,
        needed_at_most=at_most,
        state=Item.State.REPEAT,
        repeats=event,
    )


def _seed(bookmark: Bookmark) -> int:
    return bookmark.gold_seed ^ bookmark.pk ^ OTHER_PLACES
