"""The pairs of a queue that wait to be settled: which, why, and what was said of them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from labeling.models import Item, Judgment, Queue
from labeling.models.judgments import JudgmentQuerySet
from labeling.models.words import SAME_PAIR
from labeling.qrels.explanation import Opinion, opinions_on
from pooling.interface.problems import InputError

#: Why a pair waits, in words.
WHY = {"tie": "Ties", "cannot_judge": "Can't judge", "doubted": "Doubted by a model"}
_TIE = Q(done__gte=F("needed"))


@dataclass(frozen=True)
class Wanted:
    why: str = ""
    annotator: str = ""


EVERYTHING = Wanted()


def unsettled_items(queue: Queue, wanted: Wanted = EVERYTHING) -> QuerySet[Item]:
    """Items in adjudication, with query and document, in the queue's order.

    A tie has as many judgments as are needed; the others wait because two people could not judge. A model
    doubts a pair whose confident pre-label somebody contradicts. `InputError` for another reason.
    """
    rows = queue.items.filter(state=Item.State.ADJUDICATION)
    if wanted.why and wanted.why not in WHY:
        raise InputError(f"“why” is {', '.join(WHY)}, or nothing for all, not “{wanted.why}”.", field="why")
    if wanted.why == "tie":
        rows = rows.filter(_TIE)
    elif wanted.why == "cannot_judge":
        rows = rows.exclude(_TIE)
    elif wanted.why == "doubted":
        against = _opinions().opinions().exclude(verdict=OuterRef("expected"))
        rows = rows.exclude(expected="").filter(Exists(against))
    if wanted.annotator:
        rows = rows.filter(Exists(_opinions().filter(annotator__username=wanted.annotator)))
    return rows.select_related("query", "document").order_by("order_key", "pk")


def after(rows: QuerySet[Item], last: Item) -> QuerySet[Item]:
    """Those of the waiting items that come after one of the queue, whether that still waits or not."""
    return rows.filter(Q(order_key__gt=last.order_key) | Q(order_key=last.order_key, pk__gt=last.pk))


def annotators_of(queue: Queue) -> list[str]:
    waiting = queue.items.filter(state=Item.State.ADJUDICATION, **SAME_PAIR)
    rows = Judgment.objects.counted().filter(Exists(waiting), is_adjudication=False)
    names = rows.filter(collection=queue.collection_id).values_list("annotator__username", flat=True)
    return sorted(set(names.order_by()))


@dataclass(frozen=True)
class UnsettledPair:
    """An item that waits for adjudication, with the judgments on its pair; no tie: it could not be judged."""

    item: Item
    judgments: list[Judgment]

    @property
    def is_tie(self) -> bool:
        """As many people judged it as were needed, without a majority."""
        return self.item.done >= self.item.needed

    @property
    def opinions(self) -> list[Opinion]:
        return opinions_on(self.item.document, self.judgments)


def unsettled_pairs(items: list[Item]) -> list[UnsettledPair]:
    rows = Judgment.objects.select_related("event").order_by("pk")
    judgments = rows.on_pairs((item.query_id, item.document_id) for item in items)
    return [UnsettledPair(item, judgments[item.query_id, item.document_id]) for item in items]


def _opinions() -> JudgmentQuerySet:
    return Judgment.objects.counted().filter(is_adjudication=False, **SAME_PAIR)
