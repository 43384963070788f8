"""Adaptive queues: labels flowing in move the order of what is left, and everything ends by a stated rule.

Who decides what. The *selection* (which documents come next) goes batch by batch: ten documents of a query
that a strategy and the audit choose together, as `ranking/selection.py` says. The *presentation* is the
stored order key of each item, the only thing a claim reads: batches go in rounds over the queries, and
within one the documents are shuffled by the queue's seed. What is beyond the budget has a key that no claim
looks at.

When. A verdict's own transaction does nothing of this. Right after it, in the same request but in a
separate transaction, the query is ordered again if that is due: ten judgments after the last time, or when
nothing of it is left to hand out. So it needs no worker and nothing waits for a timer; a claim is not
slowed, since it neither looks nor waits; one submit in ten takes some milliseconds more; and where ordering
fails, the verdict is stored all the same and the order stays as it was, with every item still in it.

What moves. A batch of which anything was handed out is fixed, with all that its choice has used; those
behind it are chosen again from the labels of what is fixed. One row, the queue's `Selection`, is the lock of
anyone who does so. Items are locked only where they are free and nobody else holds them, so nobody waits for
anybody in a circle, and a claim passes over the rows in question as it does over any that others hold.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.utils import timezone

from labeling.adaptive.budgets import budgets_of, sizes_of
from labeling.adaptive.next_documents import History, Planner
from labeling.adaptive.options import AdaptiveOptions
from labeling.adaptive.placing import fixed_batches, place_items
from labeling.adaptive.planners import history_of, planner_of, teach
from labeling.adaptive.prior_scores import record_prior
from labeling.adaptive.query_state import UNPLACED, QueryState, labelled_before, read_state
from labeling.adaptive.stopping import is_stopped, look_at_all, look_at_query
from labeling.items.ordering import fingerprint, query_order
from labeling.models import Item, QueryPlan, Queue, Selection
from pooling.formats.wording import counted
from pooling.interface.results import Progress
from pooling.jobs.running import start_job
from pooling.models import Document, Query
from pooling.ranking.selection import BATCH
from pooling.strategies.prior import usual_votes

logger = logging.getLogger(__name__)

#: This many queries are finished within one request when all of them stop at once; a job does the others, and
#: where no worker takes it, as many more with each time that a query is ordered again.
AT_ONCE = 25
SETTLED = (Item.State.DONE, Item.State.ADJUDICATION)
DECIDED = (QueryPlan.Finish.BOUND, QueryPlan.Finish.HAND)


def start(queue: Queue, options: AdaptiveOptions, progress: Progress) -> Selection:
    """Give an adaptive queue, whose items are stored and held back, its first order."""
    pool = queue.pool
    sizes = sizes_of(pool)
    budget = pool.budget if options.budget is None else options.budget
    places = _places(queue, sizes)
    selection = Selection.objects.create(
        queue=queue,
        strategy=pool.strategy,
        budget=budget,
        budget_rule=options.budget_rule,
        budget_floor=options.budget_floor,
        stop_missing=options.stop_missing,
        stop_looks=options.stop_looks if options.stop_missing is not None else 0,
        stop_over=options.stop_over,
        query_count=len(sizes),
        prior_id=options.prior,
        prior_votes=usual_votes(pool.pool_runs.count()) if options.prior is not None else 0,
    )
    if selection.prior:
        record_prior(selection, queue.opened_by)
    labelled = labelled_before(pool, queue.judgments_per_item)
    given = budgets_of(queue, options, sizes, labelled)
    QueryPlan.objects.bulk_create(
        (
            QueryPlan(
                selection=selection,
                query_id=key,
                place=places[key],
                size=size,
                budget=given[key],
                reached=[[document, 0] for document in labelled[key]],
                alike=_alike(pool.pk, key),
            )
            for key, size in sizes.items()
        ),
        batch_size=500,
    )
    plans = list(selection.plans.select_related("query").order_by("place"))
    for place, plan in enumerate(plans):
        _order(selection, plan)
        progress(0.5 + 0.5 * place / len(plans), f"{place:,} of {counted(len(plans), 'query')} in order.")
    return selection


def follow(queue: Queue, queries: Iterable[int], *, now: datetime | None = None) -> None:
    """Order again what is left of those of `queries` where that is due; never raises, but logs."""
    if not queue.is_adaptive:
        return
    for query in queries:
        try:
            if _is_due(queue, query):
                with transaction.atomic():
                    _follow(queue, query, now or timezone.now())
        except Exception:
            # The verdict that led here is stored, and the order as it was hands everything out.
            logger.exception("query %s of queue %s could not be ordered again", query, queue.pk)


def order_anew(
    queue: Queue,
    queries: Iterable[int] | None = None,
    *,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> int:
    """Order some or all queries again, for other reasons than labels; how many pairs now lie ahead."""
    if not queue.is_adaptive:
        return 0
    plans = QueryPlan.objects.filter(selection=queue.pk)
    if queries is not None:
        plans = plans.filter(query__in=set(queries))
    chosen = list(plans.order_by("place").values_list("query", flat=True))
    ahead = 0
    for place, query in enumerate(chosen):
        with transaction.atomic():
            plan = _follow(queue, query, now or timezone.now())
        ahead += sum(len(handed) for handed, _, _ in plan.ahead)
        if progress:
            progress(place / len(chosen), f"{place:,} of {counted(len(chosen), 'query')} in order.")
    return ahead


def find_more(queue: Queue, *, now: datetime | None = None) -> bool:
    """After a claim found nothing: whether some of the budget was left, and is given out now."""
    if not queue.is_adaptive:
        return False
    waiting = Item.objects.filter(queue=queue, state=Item.State.OPEN, order_key__gt=0)
    stuck = QueryPlan.objects.filter(selection=queue.pk, finished_by="").exclude(
        query__in=waiting.values("query")
    )
    if not stuck.exists():
        return False
    order_anew(queue, stuck.values_list("query", flat=True), now=now)
    with transaction.atomic():
        _grant(queue, locked_selection(queue), 1, now or timezone.now())
    return bool(_free_by_query(queue))


def _follow(queue: Queue, query: int, now: datetime) -> QueryPlan:
    selection = locked_selection(queue)
    plan = selection.plans.select_related("query").get(query=query)
    _order(selection, plan, now=now)
    if selection.budget_rule == Selection.Rule.GREEDY:
        people = queue.bookmarks.count()
        _grant(queue, selection, (people + 1) * BATCH, now)
    stops_now = look_at_all(selection)
    if is_stopped(selection):
        _stop_next(selection, now)
    if stops_now:
        logger.info("queue %s stops by what its audit shows", queue.pk)
        if to_be_stopped(selection).exists():
            start_job(queue.collection, "finish", {"queue": queue.pk}, None)
    return plan


def finish_stopped(queue: Queue, progress: Progress) -> int:
    """Finish queries that a common bound has stopped, by short transactions; how many."""
    now = timezone.now()
    total, finished = to_be_stopped(queue.selection).count(), 0
    while True:
        with transaction.atomic():
            count = _stop_next(locked_selection(queue), now)
        if not count:
            return finished
        finished += count
        progress(min(1.0, finished / max(total, 1)), f"{finished:,} of {counted(total, 'query')} finished.")


def to_be_stopped(selection: Selection) -> QuerySet[QueryPlan]:
    """The queries that a bound over all of them has stopped and that still have something to hand out."""
    if not is_stopped(selection):
        return selection.plans.none()
    return selection.plans.filter(finished_by="", spent__lt=F("budget"))


def _stop_next(selection: Selection, now: datetime) -> int:
    plans = list(to_be_stopped(selection).select_related("query").order_by("place")[:AT_ONCE])
    for plan in plans:
        _order(selection, plan, now=now)
    return len(plans)


def locked_selection(queue: Queue) -> Selection:
    """The selection of an adaptive queue, its row locked, as for ordering anything again."""
    selection = Selection.objects.select_for_update(no_key=True).get(queue=queue)
    selection.queue = queue
    return selection


def _is_due(queue: Queue, query: int) -> bool:
    counts = (
        Item.objects.filter(queue=queue, query=query)
        .exclude(order_key=0)
        .aggregate(judged=Sum("done"), waiting=Count("pk", filter=Q(state=Item.State.OPEN, order_key__gt=0)))
    )
    plan = QueryPlan.objects.filter(selection=queue.pk, query=query).values("judged", "finished_by").first()
    if plan is None:
        return False
    if abs((counts["judged"] or 0) - plan["judged"]) >= BATCH:
        return True
    is_finished = bool(plan["finished_by"])
    return bool(counts["waiting"]) == is_finished and plan["finished_by"] not in DECIDED


def _order(selection: Selection, plan: QueryPlan, *, now: datetime | None = None) -> None:
    """Fix what was handed out, look at the audit where a look is due, and plan and store what follows."""
    queue = selection.queue
    state = read_state(queue, plan.query_id)
    _fix(plan, state.last_batch(selection.query_count))
    planner = planner_of(selection, plan, state)
    history = history_of(plan, state)
    planner.tell(history)
    _count(plan, state)
    if plan.finished_by not in DECIDED:
        stopped = look_at_query(selection, plan, planner.remainder(history, state.unanswered))
        # Where everything is handed out already, nothing is left to be stopped.
        if (stopped or is_stopped(selection)) and plan.spent < plan.budget:
            _stop(selection, plan, planner, history, by=QueryPlan.Finish.BOUND, now=now)
    if plan.finished_by not in DECIDED:
        batches = planner.batches(history_of(plan, state), plan.budget, BATCH)
        plan.ahead = [[one.handed, one.reached, one.joined] for one in batches]
    place_items(selection, plan, state)
    teach(selection, plan, planner.lesson())
    _settle_finish(selection, plan, state, now)
    plan.save()


def stop_by_hand(queue: Queue, plans: Collection[int], now: datetime) -> int:
    """Finish the queries of some plans; what is handed out of them may still come in. Returns how many."""
    with transaction.atomic():
        selection = locked_selection(queue)
        rows = selection.plans.filter(pk__in=plans, finished_by="").select_related("query")
        running = list(rows.order_by("place"))
        for plan in running:
            state = read_state(queue, plan.query_id)
            _fix(plan, state.last_batch(selection.query_count))
            planner = planner_of(selection, plan, state)
            _stop(selection, plan, planner, history_of(plan, state), by=QueryPlan.Finish.HAND, now=now)
            _count(plan, state)
            place_items(selection, plan, state)
            plan.save()
        return len(running)


def _fix(plan: QueryPlan, last: int) -> None:
    """Take over the batches ahead up to `last`: something of them was handed out."""
    count = max(0, last - plan.begun)
    for handed, reached, joined in plan.ahead[:count]:
        plan.begun += 1
        plan.spent += len(handed)
        plan.reached += [[document, plan.begun] for document in reached]
        plan.drawn += [[document, plan.begun, plan.draw] for document in joined]
    plan.ahead = plan.ahead[count:]


def _count(plan: QueryPlan, state: QueryState) -> None:
    plan.judged = state.judged
    ours = [row for row in state.items.values() if row.pk in state.touched and row.state in SETTLED]
    plan.settled = len(ours)
    plan.found = sum(state.labels.get(document, False) for document in fixed_batches(plan))
    last = [state.labels[document] for document, batch in plan.reached if batch and document in state.labels]
    plan.recent = (sum(last[-BATCH:]) + 1) / (len(last[-BATCH:]) + 2)


def _stop(
    selection: Selection,
    plan: QueryPlan,
    planner: Planner,
    history: History,
    *,
    by: str,
    now: datetime | None,
) -> None:
    """Finish a query by decision; where its audit has been looked at, documents are drawn again beyond it."""
    plan.finished_by, plan.finished_at, plan.ahead = by, now or timezone.now(), []
    if not (plan.looks or selection.looks):
        return
    left = sum(document not in set(history.reached) for document in history.audit)
    fresh = planner.next_audit(history, max(1, left))
    plan.draw += 1
    plan.fresh = len(fresh)
    plan.ahead = [
        [fresh[place : place + BATCH], [], fresh[place : place + BATCH]]
        for place in range(0, len(fresh), BATCH)
    ]


def _settle_finish(selection: Selection, plan: QueryPlan, state: QueryState, now: datetime | None) -> None:
    """Store the end of a query that nobody stopped, and its reason; undone when items open again."""
    if plan.finished_by in DECIDED:
        return
    fixed = fixed_batches(plan)
    ahead = {document for handed, _, _ in plan.ahead for document in handed}
    waiting = {document for document, row in state.items.items() if row.state == Item.State.OPEN}
    waits = bool(ahead or waiting & fixed.keys())
    has_more = plan.budget < plan.size and bool(waiting - fixed.keys() - ahead)
    may_get_more = has_more and unspent(selection) > 0
    if waits or may_get_more:
        plan.finished_by, plan.finished_at = "", None
    elif not plan.finished_by:
        pooled = {entry.document for entry in state.entries if not entry.is_beyond}
        rest = len(pooled - {*fixed, *state.free})
        plan.finished_by = QueryPlan.Finish.BUDGET if rest > 0 else QueryPlan.Finish.POOL
        plan.finished_at = now or timezone.now()


def _grant(queue: Queue, selection: Selection, reserve: int, now: datetime) -> int:
    """Give batches where relevant documents turn up (of the last ten) until `reserve` items are free."""
    if selection.budget_rule != Selection.Rule.GREEDY or is_stopped(selection):
        return 0
    granted, left = 0, unspent(selection)
    waiting = _free_by_query(queue)
    while left > 0 and sum(waiting.values()) < reserve:
        items = Item.objects.filter(queue=queue, state=Item.State.OPEN, order_key=UNPLACED)
        room = dict(items.order_by().values_list("query").annotate(Count("pk")))
        plans = [
            plan
            for plan in selection.plans.exclude(finished_by__in=DECIDED).select_related("query")
            if plan.budget < plan.size and room.get(plan.query_id)
        ]
        if not plans:
            break
        idle = [plan for plan in plans if not waiting.get(plan.query_id)] or plans
        best = min(idle, key=lambda plan: (-plan.recent, plan.settled, plan.place))
        more = min(BATCH, left, best.size - best.budget, room[best.query_id])
        best.budget += more
        best.save(update_fields=["budget"])
        _order(selection, best, now=now)
        left, granted = left - more, granted + more
        waiting = _free_by_query(queue)
    if granted and not left:
        for plan in selection.plans.filter(finished_by="").select_related("query"):
            if not waiting.get(plan.query_id):
                _order(selection, plan, now=now)
    return granted


def unspent(selection: Selection) -> int:
    """The part of the budget that no query has got."""
    if selection.budget is None or selection.budget_rule != Selection.Rule.GREEDY:
        return 0
    given = selection.plans.aggregate(given=Sum("budget"))["given"] or 0
    return max(0, selection.budget - given)


def _free_by_query(queue: Queue) -> dict[int, int]:
    free = Item.objects.filter(queue=queue, state=Item.State.OPEN, order_key__gt=0, done=0, leased=0)
    return dict(free.order_by().values_list("query").annotate(Count("pk")))


def _places(queue: Queue, sizes: dict[int, int]) -> dict[int, int]:
    """The place of each query, drawn by the queue's seed, as `labeling/items/ordering.py` does."""
    names = dict(Query.objects.filter(pk__in=sizes).values_list("external_id", "pk"))
    return {names[name]: place for place, name in enumerate(query_order(names, queue.seed))}


def _alike(pool: int, query: int) -> dict[str, int]:
    """Documents of a query whose texts are alike, with a number for each group."""
    texts = Document.objects.filter(pool_entries__pool=pool, pool_entries__query=query)
    groups: dict[bytes, list[int]] = {}
    for key, title, text in texts.values_list("pk", "title", "text").order_by("pk"):
        if mark := fingerprint(title, text or ""):
            groups.setdefault(mark, []).append(key)
    shared = [group for group in groups.values() if len(group) > 1]
    return {str(key): number for number, group in enumerate(shared, start=1) for key in group}
