"""When a query of an adaptive queue stops, and what may be missing then.

A query ends by its budget, at the end of its pool, by hand, or by a *bound*: the audit says, at one of m
looks fixed beforehand, that with 95 % confidence at most a stated share of the relevant documents is missing.
Each look spends 0.05/m of the error, so that all of them together err in at most 5 of 100 campaigns
(Bonferroni).
For one query the bound is exact (hypergeometric); over all queries it is the binomial one with the smallest
sampling fraction; both are in `pooling/ranking/bounds.py`. A run of documents that are not relevant stops
nothing.

Whatever stops after a look has used the audit up: it was seen and acted on. So as many documents as it had
left are drawn again outside the greedy part, and what is estimated later rests on these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from labeling.adaptive.facts import Look
from labeling.models import QueryPlan, Selection
from pooling.ranking.bounds import Remainder, most_missing, most_missing_in_all

LEVEL = 0.05


def look_points(size: int, looks: int) -> list[int]:
    """After how many settled documents of `size` the audit is looked at: `looks` times at equal distances,
    never at the end, where nothing could be saved.

    >>> look_points(100, 4)
    [20, 40, 60, 80]
    """
    return [math.ceil(round(size * look / (looks + 1), 9)) for look in range(1, looks + 1)]


def look_at_query(selection: Selection, plan: QueryPlan, remainder: Remainder) -> bool:
    """Whether a query stops, after a look at its audit if due; over the queue, only keep what it says."""
    plan.audit = [remainder.size, remainder.sampled, remainder.relevant]
    if not selection.stop_looks or selection.stop_over != Selection.Over.QUERY:
        return False
    points = look_points(plan.budget, selection.stop_looks)
    made = len(plan.looks)
    if made >= len(points) or plan.settled < points[made]:
        return False
    # Points that were passed at once are one look: the others are given up, never made up for.
    passed = sum(point <= plan.settled for point in points)
    look = _look(selection, plan.found, [remainder], passed)
    plan.looks = [*plan.looks, *[None] * (passed - made - 1), look]
    return bool(look["stops"])


def look_at_all(selection: Selection) -> bool:
    """A look over all queries together, from what each was when it was last ordered; True where all stop."""
    if not selection.stop_looks or selection.stop_over != Selection.Over.QUEUE or is_stopped(selection):
        return False
    made = len(selection.looks)
    stops = look_at_plans(selection, list(selection.plans.values_list("settled", "found", "audit", "size")))
    if len(selection.looks) > made:
        selection.save(update_fields=["looks"])
    return stops


def look_at_plans(selection: Selection, plans: Sequence[tuple[int, int, Sequence[int], int]]) -> bool:
    """A look from (settled, found, audit, size) of each query's plan; nothing is stored."""
    settled = sum(row[0] for row in plans)
    points = look_points(selection.budget or sum(row[3] for row in plans), selection.stop_looks)
    made = len(selection.looks)
    if made >= len(points) or settled < points[made]:
        return False
    passed = sum(point <= settled for point in points)
    remainders = [Remainder(*(audit or (size, 0, 0))) for _, _, audit, size in plans]
    look = _look(selection, sum(row[1] for row in plans), remainders, passed)
    selection.looks = [*selection.looks, *[None] * (passed - made - 1), look]
    return bool(look["stops"])


def is_stopped(selection: Selection) -> bool:
    """A bound over all queries has stopped the queue."""
    return any(look and look["stops"] for look in selection.looks)


def _look(selection: Selection, finds: int, remainders: list[Remainder], number: int) -> Look:
    level = LEVEL / selection.stop_looks
    if selection.stop_over == Selection.Over.QUERY:
        bound = most_missing(remainders[0], 1 - level)
    else:
        bound = most_missing_in_all(remainders, 1 - level)
    audit_relevant = sum(one.relevant for one in remainders)
    missing = None if bound is None else bound - audit_relevant
    share = None if missing is None or finds + missing == 0 else missing / (finds + missing)
    return {
        "look": number,
        "level": level,
        "found": finds,
        "remainder": sum(one.size for one in remainders),
        "sampled": sum(one.sampled for one in remainders),
        "relevant": audit_relevant,
        "at_most_missing": missing,
        "missing_share": share,
        "stops": share is not None and selection.stop_missing is not None and share <= selection.stop_missing,
    }
