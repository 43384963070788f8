"""With which probability the random draw of an audit asked for a pair that people judged."""

from __future__ import annotations

from django.db.models import Exists, Max, OuterRef

from labeling.models import QueryPlan, Queue
from pooling.models import Collection, Pool, PoolEntry

Pair = tuple[int, int]


def inclusion_probabilities(collection: Collection, judged: Exists) -> dict[Pair, float]:
    """π of each pair, by the keys of query and document, that only an audit's draw had judged; all others are
    certain. judged: of an entry of a pool, whether people judged its pair.

    A pair that several queues asked for has the greatest probability. What an adaptive queue's order reached
    is certain whatever the pool's own choice was; what it drew has the audit's share of what was not reached.
    """
    shares = _of_fixed_orders(collection, judged)
    certain: set[Pair] = set()
    for plan in QueryPlan.objects.filter(selection__queue__collection=collection).iterator():
        begun = [entry for entry in plan.drawn if entry[1] <= plan.begun]
        reached = {document for document, batch in plan.reached if batch <= plan.begun}
        reached |= {document for document, _, draw in begun if draw < plan.draw}
        audit = {document for document, _, draw in begun if draw == plan.draw} - reached
        certain |= {(plan.query_id, document) for document in reached}
        share = len(audit) / max(plan.size - len(reached), 1)
        for document in audit:
            pair = plan.query_id, document
            shares[pair] = max(shares.get(pair, 0.0), share)
    return {pair: share for pair, share in shares.items() if share < 1 and pair not in certain}


def _of_fixed_orders(collection: Collection, judged: Exists) -> dict[Pair, float]:
    """By the choice of the pools over which a queue with a fixed order was opened."""
    opened = Queue.objects.filter(pool=OuterRef("pool"), selection=None)
    entries = (
        PoolEntry.objects.filter(
            Exists(opened), judged, pool__collection=collection, inclusion_probability__isnull=False
        )
        .exclude(pool__strategy=Pool.VERIFICATION)
        .order_by()
        .values("query", "document")
        .annotate(most=Max("inclusion_probability"))
    )
    return {
        (query, document): most for query, document, most in entries.values_list("query", "document", "most")
    }
