"""How many pairs each query of an adaptive queue may have judged at first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache

from django.db.models import Count, Exists

from labeling.adaptive.next_documents import Entry, History, handed_in_all
from labeling.adaptive.options import AdaptiveOptions
from labeling.adaptive.planners import course_of
from labeling.adaptive.query_state import read_state
from labeling.models import Item, Queue
from labeling.models.words import SAME_PAIR
from pooling.models import Pool, PoolEntry, Query
from pooling.ranking.selection import spread_handed


def sizes_of(pool: Pool) -> dict[int, int]:
    """By query, the documents that an order which learns may come to."""
    counted = PoolEntry.everything.filter(pool=pool).order_by().values_list("query").annotate(Count("pk"))
    return dict(counted)


def budgets_of(
    queue: Queue, options: AdaptiveOptions, sizes: Mapping[int, int], labelled: Mapping[int, list[int]]
) -> dict[int, int]:
    """By query, of the queue's items as they were stored. labelled: documents known before the draw."""
    pool = queue.pool
    budget = pool.budget if options.budget is None else options.budget
    if budget is None:
        return dict(sizes)
    items = Item.objects.filter(queue=queue, state=Item.State.OPEN).order_by()
    if pool.reach is not None:
        items = items.filter(Exists(PoolEntry.everything.filter(pool=pool, is_beyond=False, **SAME_PAIR)))
    left = Counter(dict(items.values_list("query").annotate(Count("pk"))))
    names = dict(Query.objects.filter(pk__in=sizes).values_list("pk", "external_id"))

    def handed(given: Mapping[str, int]) -> dict[str, int]:
        return {key: min(many, _handed(int(key), many)) for key, many in given.items()}

    @cache
    def listed(query: int) -> tuple[list[Entry], History]:
        state = read_state(queue, query)
        entries = sorted(state.entries, key=lambda entry: entry.is_beyond)
        return entries, History(labelled[query], (), 0, state.free, {})

    def _handed(query: int, many: int) -> int:
        if many <= left[query]:
            return many
        return handed_in_all(course_of(pool, names[query]), *listed(query), many)

    named = {f"{key}": size for key, size in sizes.items()}
    rule, floor = options.budget_rule, options.budget_floor
    given = spread_handed(named, budget, handed, rule=rule, floor=floor)
    return {int(key): many for key, many in given.items()}
