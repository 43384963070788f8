"""What is left of a queue in the order of a model's scores: likely relevant pairs of every query first.

Only the selection follows the scores. Within a stretch pairs are shuffled by the queue's seed, so nobody who
judges can read the model's order there; and what was drawn for the audit is spread evenly over a query's
stretches, so that the part of it that is judged by any time does not depend on scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max

from labeling.models import Item, Prelabeler, Queue, latest_scores
from labeling.ordering import Candidate, ranked_order_keys, stretch_of
from labeling.placing import store_keys
from labeling.queues import Pair, candidates_of
from pooling.problems import InputError
from pooling.trail import record_action

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def order_by_scores(queue: Queue, prelabeler: Prelabeler, *, by: User | None = None) -> int:
    """Put what nobody has judged or holds in the order of the model's scores; returns how many pairs moved.

    Everything else keeps its place, and people go on where they are: the new stretches come behind all
    others. A pair without a score counts as the mean. `InputError` for an adaptive queue, for a model without
    scores here, and for a local model beside an audit, since it has learned from the audit's labels.
    """
    _check(queue, prelabeler)
    scores = latest_scores(queue, prelabeler)
    if not scores:
        raise InputError(f"There are no pre-labels by {prelabeler} in “{queue.name}”.", conflict=True)
    mean = sum(scores.values()) / len(scores)
    with transaction.atomic():
        free = queue.items.filter(state=Item.State.OPEN, done=0, leased=0, order_key__gt=0, repeats=None)
        rows = free.order_by("pk").select_for_update(skip_locked=True, no_key=True, of=("self",))
        fields = ("pk", "query_id", "document_id", "query__external_id", "document__external_id")
        items = list(rows.values_list(*fields))
        if not items:
            raise InputError(f"Nothing of “{queue.name}” is left that could be moved.", conflict=True)
        ranked = sorted(items, key=lambda row: -scores.get(row[1:3], mean))
        pairs = [Pair(row[1], row[2], row[3], row[4], place) for place, row in enumerate(ranked)]
        audit = set(queue.pool.entries.filter(in_audit=True).values_list("query", "document"))
        drawn = [(pair.query, pair.document) in audit for pair in pairs]
        candidates = candidates_of(queue.pool, pairs)
        first = _keys(queue, candidates, drawn, "order_key", opinion=1)
        second: list[int] | list[None] = [None] * len(pairs)
        if queue.bounds[1] > 1:
            second = _keys(queue, candidates, drawn, "second_key", opinion=2)
        store_keys([(row[0], *keys) for row, *keys in zip(ranked, first, second, strict=True)])
        facts = {"model": str(prelabeler), "pairs": len(pairs)}
        record_action(queue.collection, by, "queue ordered by pre-labels", queue.name, **facts)
    return len(pairs)


def _keys(
    queue: Queue, candidates: list[Candidate], drawn: list[bool], field: str, *, opinion: int
) -> list[int]:
    last = queue.items.aggregate(last=Max(field))["last"] or 0
    return ranked_order_keys(candidates, drawn, queue.seed, opinion=opinion, after=stretch_of(last))


def _check(queue: Queue, prelabeler: Prelabeler) -> None:
    problem = ""
    if prelabeler.collection_id != queue.collection_id:
        problem = "These pre-labels belong to another collection."
    elif queue.is_adaptive:
        problem = (
            "An adaptive queue orders what is left by labels; only a queue with a fixed order can be moved."
        )
    elif prelabeler.source == Prelabeler.Source.LOCAL_MODEL and queue.pool.audit_share:
        problem = (
            "A local model has learned from the labels of the audit, so an order by its scores would make "
            "estimates wrong. Take a model that has not seen them."
        )
    if problem:
        raise InputError(problem, fields={"prelabeler": problem})
