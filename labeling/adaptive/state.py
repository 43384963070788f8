"""What an adaptive queue says of itself: its order, how far each query is, what finished it, at which risk.

For the page, the HTTP interface and the release. What the audit showed is told only where a look was made.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, OuterRef, Q

from labeling.adaptive.reordering import to_be_stopped
from labeling.adaptive.stopping import LEVEL, look_points
from labeling.items.slots import SLOTLESS
from labeling.models import Item, JudgmentEvent, QueryPlan, Queue, Selection
from pooling.models import Collection, Pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.db.models import QuerySet

FINISHED_BY = {
    QueryPlan.Finish.BUDGET: "by its budget",
    QueryPlan.Finish.POOL: "at the end of its pool",
    QueryPlan.Finish.BOUND: "by a bound on what is missing",
    QueryPlan.Finish.HAND: "by hand",
}


def selection_of(queue: Queue) -> dict[str, Any] | None:
    """The order of an adaptive queue with a row for each query; None for a queue with a fixed order."""
    told = selection_head(queue)
    return told and {**told, "queries": query_rows(queue, plans_of(queue))}


def selection_head(queue: Queue) -> dict[str, Any] | None:
    """`selection_of` without the rows of its queries.

    `finishing` counts the queries that a bound over all of them has stopped and that are being finished.
    """
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
    """How far each query of an adaptive queue is, by the collection's own ids, without what plans rest on."""
    plans = QueryPlan.objects.filter(selection=queue.pk).select_related("query", "selection")
    return plans.defer("reached", "drawn", "ahead", "alike", "lesson", "selection__lessons").order_by(
        "query__external_id"
    )


def query_rows(queue: Queue, plans: Iterable[QueryPlan]) -> list[dict[str, Any]]:
    """A row for each of some plans; `judged` counts pairs that are settled now, `left` those that are to be
    handed out or are held."""
    shown = list(plans)
    counted = _spent(queue, [plan.query_id for plan in shown])
    return [
        {
            **_row(plan.selection, plan),
            "text": plan.query.text,
            "judged": counted[plan.query_id].settled,
            "left": counted[plan.query_id].left,
        }
        for plan in shown
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
    found: defaultdict[int, Spent] = defaultdict(Spent)
    for row in rows:
        found[row["query"]] = Spent(row["used"], row["settled"], row["left"])
    return found


def order_of(queue: Queue) -> dict[str, Any] | None:
    """What moves the order of an adaptive queue, how much of the budget is used, and what finished how many
    queries; None for a queue with a fixed order."""
    selection = _selection_in(queue)
    if selection is None:
        return None
    plans = list(selection.plans.only("selection", "size", "finished_by"))
    spent = _spent(queue).values()
    told = {
        **_rule(selection),
        "pool": sum(plan.size for plan in plans),
        "used": sum(one.used for one in spent),
        "settled": sum(one.settled for one in spent),
        "finished": _counts(plans),
    }
    said = [_rule_sentence(told), prior_sentence(told), _stop_sentence(told), sentence(told)]
    return {**told, "sentences": [one for one in said if one]}


RULES = {
    Selection.Rule.EQUAL: "as many for each query",
    Selection.Rule.SHARE: "the same share of each query's pool",
    Selection.Rule.GREEDY: "spent where relevant documents turn up",
}


def _rule_sentence(told: Mapping[str, Any]) -> str:
    used = f"{told['used']:,} used, {told['settled']:,} of them settled"
    begin = f"Labels move the order of what is left, by the strategy {told['strategy']}"
    if told["budget"] is None:
        return f"{begin}; no budget, so all {told['pool']:,} pairs come: {used}."
    floor = f", at least {told['budget_floor']:,} each" if told["budget_floor"] else ""
    rule = RULES[told["budget_rule"]]
    return f"{begin}; a budget of {told['budget']:,} pairs, {rule}{floor}: {used}."


def prior_sentence(told: Mapping[str, Any]) -> str:
    """Whose scores an order starts from; nothing where it has none."""
    if told["prior"] is None:
        return ""
    runs = "1 more run" if told["prior_votes"] == 1 else f"{told['prior_votes']:,} more runs"
    return f"The order starts from the scores of {told['prior']}, as from {runs}; labels tell their worth."


def _stop_sentence(told: Mapping[str, Any]) -> str:
    if told["stop_missing"] is None:
        return "No look at the audit stops anything."
    what = "The queue" if told["stop_over"] == Selection.Over.QUEUE else "A query"
    times = "once" if told["stop_looks"] == 1 else f"{told['stop_looks']} times"
    return (
        f"{what} stops when its audit, looked at {times}, says that at most {told['stop_missing']:.0%} of "
        "what is relevant is missing."
    )


def frozen_selections(collection: Collection) -> list[dict[str, Any]]:
    """What a release keeps of the adaptive queues of a collection: the rule, and each query's end.

    `begun` and `draw` say up to which batch documents are certain, and which draw of the audit estimates
    rest on; with the queue they name every document's part.
    """
    selections = Selection.objects.filter(queue__collection=collection).select_related("queue__pool", "prior")
    frozen = []
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
class Part:
    """What an adaptive queue had made of a pair: its order had come to it, or it was drawn at a place of the
    draw that estimates rest on, or neither."""

    is_certain: bool = False
    place: int | None = None


def parts_of(pool: Pool, frozen: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Part] | None:
    """The pairs of an adaptive queue over the pool, by the collection's own ids, as a release froze them.

    None where no adaptive queue over the pool is among `frozen`, or it is gone: then the pool's own choice
    holds, as it does for pairs that joined the pool later. Of several queues, the newest counts.
    """
    of_pool = [one for one in frozen if one["pool"] == pool.name]
    if not of_pool:
        return None
    last = of_pool[-1]
    plans = QueryPlan.objects.filter(selection=last["queue_id"], selection__queue__pool=pool)
    by_query = {plan.query.external_id: plan for plan in plans.select_related("query")}
    if not by_query:
        return None
    ids = ("query__external_id", "document", "document__external_id")
    pairs = Item.objects.filter(queue=last["queue_id"]).exclude(order_key=0).values_list(*ids)
    parts: dict[tuple[str, str], Part] = {}
    names: dict[int, str] = {}
    for query, document, name in pairs.iterator():
        parts[query, name] = Part()
        names[document] = name
    for row in last["queries"]:
        query, plan = row["query_id"], by_query.get(row["query_id"])
        if plan is None:
            continue
        known = [entry for entry in plan.drawn if entry[1] <= row["begun"]]
        drawn = [document for document, _, draw in known if draw == row["draw"]]
        used_up = [document for document, _, draw in known if draw < row["draw"]]
        reached = [document for document, batch in plan.reached if batch <= row["begun"]]
        parts |= {(query, names[document]): Part(place=place) for place, document in enumerate(drawn)}
        certain = [document for document in [*used_up, *reached] if document in names]
        parts |= {(query, names[document]): Part(is_certain=True) for document in certain}
    return parts


def sentence(selection: Mapping[str, Any]) -> str:
    """How the queries of a selection ended, in one line."""
    counts = selection["finished"]
    ended = [f"{counts[by]:,} {words}" for by, words in FINISHED_BY.items() if counts.get(by)]
    if counts[""]:
        ended.append(f"{counts['']:,} not finished")
    return f"{sum(counts.values()):,} queries: {', '.join(ended) or 'none'}."


def _rule(selection: Selection) -> dict[str, Any]:
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


def _row(selection: Selection, plan: QueryPlan) -> dict[str, Any]:
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
