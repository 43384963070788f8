"""An adaptive queue's state: its order, each query's progress and end, and the risk.

For the page, the HTTP interface and the release. What the audit showed is included only after a look.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection as Several
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

from labeling.adaptive.facts import (
    FrozenOrder,
    OrderByQuery,
    OrderProgress,
    OrderRule,
    OrderSummary,
    QueryEnd,
    QueryProgress,
)
from labeling.adaptive.query_state import UNPLACED
from labeling.adaptive.reordering import DECIDED, to_be_stopped
from labeling.adaptive.stopping import LEVEL, is_stopped, look_points
from labeling.items.slots import SLOTLESS
from labeling.models import Item, JudgmentEvent, QueryPlan, Queue, Selection
from pooling.formats.wording import counted
from pooling.models import Collection, Pool

FINISHED_BY = {
    QueryPlan.Finish.BUDGET: "by its budget",
    QueryPlan.Finish.POOL: "at the end of its pool",
    QueryPlan.Finish.BOUND: "by a bound on what is missing",
    QueryPlan.Finish.HAND: "by hand",
}


def order_by_query(queue: Queue) -> OrderByQuery | None:
    """The order of an adaptive queue with a row for each query; None for a queue with a fixed order."""
    progress = order_progress(queue)
    return None if progress is None else {**progress, "queries": query_rows(queue, plans_of(queue))}


def order_progress(queue: Queue) -> OrderProgress | None:
    """Without the rows of its queries."""
    selection = _selection_in(queue)
    if selection is None:
        return None
    counts = _counts(selection.plans.only("selection", "finished_by"))
    return {**_rule(selection), "finished": counts, "finishing": to_be_stopped(selection).count()}


def _selection_in(queue: Queue) -> Selection | None:
    if not queue.is_adaptive:
        return None
    return Selection.objects.select_related("prior").filter(queue=queue.pk).first()


def plans_of(queue: Queue) -> QuerySet[QueryPlan]:
    """Plans of all queries by the collection's own ids, without what plans rest on."""
    plans = QueryPlan.objects.filter(selection=queue.pk).select_related("query", "selection")
    return plans.defer("reached", "drawn", "ahead", "alike", "lesson", "selection__lessons").order_by(
        "query__external_id"
    )


def query_rows(queue: Queue, plans: Iterable[QueryPlan]) -> list[QueryProgress]:
    listed = list(plans)
    counted = _spent(queue, [plan.query_id for plan in listed])
    return [
        {
            **_row(plan.selection, plan),
            "text": plan.query.text,
            "judged": counted[plan.query_id].settled,
            "left": counted[plan.query_id].left,
        }
        for plan in listed
    ]


@dataclass(frozen=True)
class Spent:
    """Pairs of a query in an adaptive queue: what its budget went to (`used`), how many of them are settled,
    and how many wait for somebody. What was known without this queue costs nothing and is no part of it."""

    used: int = 0
    settled: int = 0
    left: int = 0


def _spent(queue: Queue, queries: Iterable[int] | None = None) -> defaultdict[int, Spent]:
    """By query: of the given ones, or of all."""
    touched = Exists(JudgmentEvent.objects.filter(item=OuterRef("pk"), queue=queue))
    items = queue.items.filter(order_key__gt=0).exclude(state__in=SLOTLESS)
    if queries is not None:
        items = items.filter(query__in=queries)
    is_open, is_used = Q(state=Item.State.OPEN), Q(touched=True) | Q(leased__gt=0)
    rows = (
        items.order_by()
        .annotate(touched=touched)
        .values("query")
        .annotate(
            used=Count("pk", filter=is_used),
            settled=Count("pk", filter=is_used & Q(state=Item.State.DONE)),
            left=Count("pk", filter=is_open),
        )
    )
    spent_by_query: defaultdict[int, Spent] = defaultdict(Spent)
    for row in rows:
        spent_by_query[row["query"]] = Spent(row["used"], row["settled"], row["left"])
    return spent_by_query


def order_summary(queue: Queue) -> OrderSummary | None:
    """An adaptive order's settings, budget used, and queries by what finished them; None if fixed."""
    selection = _selection_in(queue)
    if selection is None:
        return None
    plans = list(selection.plans.only("selection", "size", "finished_by"))
    spent = _spent(queue).values()
    summary: OrderSummary = {
        **_rule(selection),
        "pool": sum(plan.size for plan in plans),
        "used": sum(query.used for query in spent),
        "settled": sum(query.settled for query in spent),
        "finished": _counts(plans),
        "sentences": [],
    }
    sentences = [
        _rule_sentence(summary),
        prior_sentence(summary),
        _stop_sentence(summary),
        endings_sentence(summary["finished"]),
    ]
    summary["sentences"] = [sentence for sentence in sentences if sentence]
    return summary


RULES: dict[str, str] = {
    Selection.Rule.EQUAL: "as many for each query",
    Selection.Rule.SHARE: "the same share of each query's pool",
    Selection.Rule.GREEDY: "spent where relevant documents turn up",
}


def _rule_sentence(order: OrderSummary) -> str:
    used = f"{order['used']:,} used, {order['settled']:,} of them settled"
    begin = f"Labels move the order of what is left, by the strategy {order['strategy']}"
    if order["budget"] is None:
        return f"{begin}; no budget, so all pairs of the pool come: {used}."
    floor = f", at least {order['budget_floor']:,} each" if order["budget_floor"] else ""
    rule = RULES[order["budget_rule"]]
    return f"{begin}; a budget of {counted(order['budget'], 'pair')}, {rule}{floor}: {used}."


def prior_sentence(order: OrderRule) -> str:
    """Whose scores an order starts from; nothing where it has none."""
    if order["prior"] is None:
        return ""
    runs = counted(order["prior_votes"], "more run")
    return (
        f"The order starts from the scores of {order['prior']}, as from {runs}; labels then set their weight."
    )


def _stop_sentence(order: OrderRule) -> str:
    if order["stop_missing"] is None:
        return "The audit does not stop any query."
    what = "The queue" if order["stop_over"] == Selection.Over.QUEUE else "A query"
    times = "once" if order["stop_looks"] == 1 else f"{order['stop_looks']} times"
    return (
        f"{what} stops when its audit, looked at {times}, says that at most "
        f"{100 * order['stop_missing']:.0f} % of what is relevant is missing."
    )


def to_give(queues: Several[int]) -> dict[int, int]:
    """By queue, the pairs that its budget has yet to give to some query; 0 is left out. Three database
    queries at most, however many queues.

    Only a budget that goes where relevant documents turn up is given little by little: as long as some query
    may get more of it, and has pairs that were not handed out.
    """
    greedy = Selection.objects.filter(queue__in=queues, budget_rule=Selection.Rule.GREEDY)
    greedy = greedy.filter(budget__isnull=False).defer("lessons").annotate(given=Sum("plans__budget"))
    left = {one.pk: (one.budget or 0) - (one.given or 0) for one in greedy if not is_stopped(one)}
    if not any(count > 0 for count in left.values()):
        return {}
    plans = QueryPlan.objects.filter(selection__in=left, budget__lt=F("size")).exclude(
        finished_by__in=DECIDED
    )
    waiting = Item.objects.filter(queue__in=left, state=Item.State.OPEN, order_key=UNPLACED).order_by()
    unplaced = {
        (queue, query): count
        for queue, query, count in waiting.values_list("queue", "query").annotate(Count("pk"))
    }
    room = Counter[int]()
    for queue, query, budget, size in plans.values_list("selection", "query", "budget", "size"):
        room[queue] += min(size - budget, unplaced.get((queue, query), 0))
    return {queue: count for queue in left if (count := max(0, min(left[queue], room[queue])))}


def pairs_left(queue: Queue) -> int:
    """The pairs of a queue that are to be judged yet, with those that its budget has yet to give."""
    waiting = queue.items.filter(state=Item.State.OPEN, order_key__gt=0, repeats=None)
    return waiting.count() + to_give([queue.pk]).get(queue.pk, 0)


def frozen_orders(collection: Collection) -> list[FrozenOrder]:
    """The adaptive queues of a collection for a release."""
    selections = Selection.objects.filter(queue__collection=collection).select_related("queue__pool", "prior")
    frozen: list[FrozenOrder] = []
    for selection in selections.order_by("queue"):
        plans = list(selection.plans.select_related("query").order_by("query__external_id"))
        frozen.append(
            {
                "queue": selection.queue.name,
                "queue_id": selection.queue_id,
                "pool": selection.queue.pool.name,
                "pool_version": selection.queue.pool.version,
                **_rule(selection),
                "finished": _counts(plans),
                "queries": [
                    {**_row(selection, plan), "begun": plan.begun, "draw": plan.draw} for plan in plans
                ],
            }
        )
    return frozen


@dataclass(frozen=True)
class PairPart:
    """A pair's part in an adaptive queue: reached by its order, or drawn for what estimates rest on.

    is_given: its label was there before the order began.
    """

    is_certain: bool = False
    place: int | None = None
    is_given: bool = False


def parts_of_pairs(pool: Pool, frozen: Iterable[FrozenOrder]) -> dict[tuple[str, str], PairPart] | None:
    """The pairs of an adaptive queue over the pool, by the collection's own ids, as a release froze them.

    None where no adaptive queue over the pool is among `frozen`, or it is gone: then the pool's own choice
    holds, as it does for pairs that joined the pool later. Of several queues, the newest counts.
    """
    of_pool = [order for order in frozen if order["pool"] == pool.name]
    if not of_pool:
        return None
    last = of_pool[-1]
    plans = QueryPlan.objects.filter(selection=last["queue_id"], selection__queue__pool=pool)
    by_query = {plan.query.external_id: plan for plan in plans.select_related("query")}
    if not by_query:
        return None
    ids = ("query__external_id", "document", "document__external_id")
    pairs = Item.objects.filter(queue=last["queue_id"]).exclude(order_key=0).values_list(*ids)
    parts: dict[tuple[str, str], PairPart] = {}
    names: dict[int, str] = {}
    for query, document, name in pairs.iterator():
        parts[query, name] = PairPart()
        names[document] = name
    for row in last["queries"]:
        query, plan = row["query_id"], by_query.get(row["query_id"])
        if plan is None:
            continue
        begun = [entry for entry in plan.drawn if entry[1] <= row["begun"]]
        audit = [document for document, _, draw in begun if draw == row["draw"]]
        used_up = [document for document, _, draw in begun if draw < row["draw"]]
        reached = [document for document, batch in plan.reached if batch <= row["begun"]]
        parts |= {(query, names[document]): PairPart(place=place) for place, document in enumerate(audit)}
        given = {document for document, batch in plan.reached if not batch}
        certain = [document for document in [*used_up, *reached] if document in names]
        parts |= {
            (query, names[document]): PairPart(is_certain=True, is_given=document in given)
            for document in certain
        }
    return parts


def endings_sentence(counts: Mapping[str, int]) -> str:
    """Numbers of queries by what ended them, in one line."""
    ended = [f"{counts[by]:,} {words}" for by, words in FINISHED_BY.items() if counts.get(by)]
    if counts[""]:
        ended.append(f"{counts['']:,} not finished")
    return f"{counted(sum(counts.values()), 'query')}: {', '.join(ended) or 'none'}."


def _rule(selection: Selection) -> OrderRule:
    is_looked_at = selection.stop_missing is not None
    return {
        "strategy": selection.strategy,
        "prior": str(selection.prior) if selection.prior else None,
        "prior_votes": selection.prior_votes,
        "budget": selection.budget,
        "budget_rule": selection.budget_rule,
        "budget_floor": selection.budget_floor,
        "stop_missing": selection.stop_missing,
        "stop_looks": selection.stop_looks,
        "stop_over": selection.stop_over if is_looked_at else "",
        "level": LEVEL / selection.stop_looks if is_looked_at else None,
        "looks": [look for look in selection.looks if look],
    }


def _row(selection: Selection, plan: QueryPlan) -> QueryEnd:
    looks = [look for look in plan.looks if look]
    points = look_points(plan.budget, selection.stop_looks)
    return {
        "query_id": plan.query.external_id,
        "pool": plan.size,
        "budget": plan.budget,
        "judged": plan.settled,
        "relevant": plan.found,
        "finished_by": plan.finished_by,
        "finished_at": plan.finished_at.isoformat() if plan.finished_at else None,
        "drawn_anew": plan.fresh,
        "looks": looks,
        "next_look": next(iter(points[len(plan.looks) :]), None)
        if selection.stop_over == Selection.Over.QUERY and not plan.finished_by
        else None,
    }


def _counts(plans: Iterable[QueryPlan]) -> dict[str, int]:
    counts = dict.fromkeys(["", *QueryPlan.Finish.values], 0)
    for plan in plans:
        counts[plan.finished_by] += 1
    return counts
