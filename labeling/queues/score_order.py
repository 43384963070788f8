"""Order of a queue's rest by a model's scores: likely relevant pairs of every query first.

An adaptive queue starts its order from the scores, and labels go on moving it (`labeling/adaptive/prior.py`).
A fixed order is made here, once. Only the selection follows the scores. Within a stretch pairs are shuffled
by the queue's seed, so nobody who judges can read the model's order there; and what was drawn for the audit
is spread evenly over a query's stretches, so that the part of it that is judged by any time does not depend
on scores.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, QuerySet

from labeling.adaptive import prior as adaptive_prior
from labeling.adaptive.placing import store_keys
from labeling.adaptive.prior_scores import checked_model
from labeling.items.ordering import Candidate, ranked_order_keys, stretch_of
from labeling.models import Item, Prelabeler, Queue, latest_scores
from labeling.queues.opening import PoolPair, candidates_of
from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.models import Job
from pooling.people.activity_log import record_action


def order_or_start(queue: Queue, prelabeler: Prelabeler | None, *, by: User | None = None) -> int | Job:
    """`order_by_scores`, or for None `order_without_scores`; a job where there are many queries."""
    if queue.is_adaptive and adaptive_prior.is_large(queue):
        with transaction.atomic():
            adaptive_prior.set_prior(queue, prelabeler, by=by)
            return adaptive_prior.start_following(queue, by=by)
    return order_by_scores(queue, prelabeler, by=by) if prelabeler else order_without_scores(queue, by=by)


def order_by_scores(
    queue: Queue, prelabeler: Prelabeler, *, by: User | None = None, progress: Progress | None = None
) -> int:
    """Put what was not handed out in an order by the model's scores; returns how many pairs that is.

    In a fixed order nobody has judged or holds these pairs; everything else keeps its place, and people go on
    where they are: the new stretches come behind all others. A pair without a score counts as the mean. In an
    adaptive one the strategy starts from the scores, and batches that were begun keep their place.
    `InputError` for a model without scores here.
    """
    if queue.is_adaptive:
        adaptive_prior.set_prior(queue, prelabeler, by=by)
        return adaptive_prior.follow_prior(queue, progress)
    return _order_fixed(queue, checked_model(queue.pool, prelabeler), by)


def order_without_scores(queue: Queue, *, by: User | None = None, progress: Progress | None = None) -> int:
    """Order what was not handed out as without scores; how many pairs. `InputError` if there are none."""
    if not queue.is_adaptive:
        problem = (
            f"“{queue.name}” has a fixed order that cannot be computed again. Order what is left by "
            "another model's scores, or leave it."
        )
        raise InputError(problem, conflict=True)
    adaptive_prior.set_prior(queue, None, by=by)
    return adaptive_prior.follow_prior(queue, progress)


def order_in_words(queue: Queue, prelabeler: Prelabeler | None, moved: int) -> str:
    pairs = f"{counted(moved, 'pair')} that nobody had judged"
    if prelabeler is None:
        return f"{pairs}, in order without scores again"
    scores = latest_scores(queue, prelabeler)
    pending = _pending(queue).values_list("query_id", "document_id")
    without = sum(pair not in scores for pair in pending)
    rest = f"; {without:,} of them without a score" if without else ""
    return f"{pairs}, in the order of {prelabeler}{rest}"


def _pending(queue: Queue) -> QuerySet[Item]:
    """Placed items that nobody has judged or holds."""
    return queue.items.filter(state=Item.State.OPEN, done=0, leased=0, order_key__gt=0, repeats=None)


def _order_fixed(queue: Queue, prelabeler: Prelabeler, by: User | None) -> int:
    scores = latest_scores(queue, prelabeler)
    if not scores:
        raise InputError(f"There are no pre-labels by {prelabeler} in “{queue.name}”.", conflict=True)
    mean = sum(scores.values()) / len(scores)
    with transaction.atomic():
        rows = _pending(queue).order_by("pk").select_for_update(skip_locked=True, no_key=True, of=("self",))
        fields = ("pk", "query_id", "document_id", "query__external_id", "document__external_id")
        items = list(rows.values_list(*fields))
        if not items:
            raise InputError(f"“{queue.name}” has no pairs left that could be moved.", conflict=True)
        ranked = sorted(items, key=lambda row: -scores.get(row[1:3], mean))
        pairs = [PoolPair(row[1], row[2], row[3], row[4], place) for place, row in enumerate(ranked)]
        audit = set(queue.pool.entries.filter(in_audit=True).values_list("query", "document"))
        in_audit = [(pair.query, pair.document) in audit for pair in pairs]
        candidates = candidates_of(queue.pool, pairs)
        first = _keys(queue, candidates, in_audit, "order_key", opinion=1)
        second: list[int] | list[None] = [None] * len(pairs)
        if queue.bounds[1] > 1:
            second = _keys(queue, candidates, in_audit, "second_key", opinion=2)
        store_keys([(row[0], *keys) for row, *keys in zip(ranked, first, second, strict=True)])
        facts = {"model": str(prelabeler), "pairs": len(pairs)}
        record_action(queue.collection, by, "queue ordered by pre-labels", queue.name, **facts)
    return len(pairs)


def _keys(
    queue: Queue, candidates: list[Candidate], in_audit: list[bool], field: str, *, opinion: int
) -> list[int]:
    last = queue.items.aggregate(last=Max(field))["last"] or 0
    return ranked_order_keys(candidates, in_audit, queue.seed, opinion=opinion, after=stretch_of(last))
