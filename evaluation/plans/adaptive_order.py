"""An adaptive order before there are labels: what queries get, and whether a bound could stop one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evaluation.plans.basis import Planned
from evaluation.plans.expected_width import RelevanceCurve, design_of, effective_reach
from evaluation.plans.results import PlannedLook, PlannedOrder
from evaluation.plans.words import WITHOUT_SCORES, order_sentences
from labeling.adaptive.stopping import LEVEL, look_points
from labeling.models import Selection
from pooling.audit.bounds import Remainder, most_missing, most_missing_in_all
from pooling.audit.sample import audit_size
from pooling.audit.selection import spread
from pooling.heavy import np


def planned_order(planned: Planned) -> PlannedOrder | None:
    """What can be told of a plan's adaptive order; None for a fixed one. See `PlannedOrderSerializer`."""
    adaptive = planned.settings.queue.adaptive
    if adaptive is None:
        return None
    some = planned.chosen[planned.sizes > 0]
    order: PlannedOrder = {
        "least": int(some.min()),
        "most": int(some.max()),
        "open": _open(planned),
        "best_look": None if adaptive.stop_missing is None else _best_look(planned),
        "sentences": [],
    }
    sentences = order_sentences(order, asdict(planned.settings))
    return {**order, "sentences": [*sentences, WITHOUT_SCORES]}


def _open(planned: Planned) -> int:
    """Pairs of the budget that no query has before labels come."""
    adaptive, budget = planned.settings.queue.adaptive, planned.settings.budget
    if adaptive is None or budget is None or adaptive.budget_rule != Selection.Rule.GREEDY:
        return 0
    sizes = {str(query): int(size) for query, size in enumerate(planned.limits) if size}
    floors = spread(sizes, budget, rule=adaptive.budget_rule, floor=adaptive.budget_floor)
    return min(budget, sum(sizes.values())) - sum(floors.values())


def _best_look(planned: Planned) -> PlannedLook:
    """The last look where nothing that was drawn is relevant: what it leaves open, and whether that stops."""
    adaptive = planned.settings.queue.adaptive
    assert adaptive is not None
    some = np.flatnonzero(planned.sizes)
    level = LEVEL / adaptive.stop_looks
    if adaptive.stop_over == Selection.Over.QUERY:
        middle = some[np.argsort(planned.sizes[some], kind="stable")[len(some) // 2]]
        remainders, found = _at_last_look(planned, np.array([middle]))
        bound = most_missing(remainders[0], 1 - level)
    else:
        remainders, found = _at_last_look(planned, some)
        bound = most_missing_in_all(remainders, 1 - level)
    share = None if bound is None else bound / max(found + bound, 1e-9)
    return {
        "remainder": sum(one.size for one in remainders),
        "sampled": sum(one.sampled for one in remainders),
        "at_most_missing": bound,
        "found": found,
        "missing_share": share,
        "relevant_share": _best_curve(planned).share,
        "may_stop": share is not None
        and adaptive.stop_missing is not None
        and share <= adaptive.stop_missing,
    }


def _best_curve(planned: Planned) -> RelevanceCurve:
    """Where nobody knows how much is relevant, a look is best where most is."""
    return planned.curve or max(planned.curves, key=lambda one: one.share)


def _at_last_look(planned: Planned, queries: Any) -> tuple[list[Remainder], float]:
    """What the order has left of some queries when the last look comes, and the relevant ones found then."""
    settings = planned.settings
    adaptive = settings.queue.adaptive
    assert adaptive is not None
    sizes = planned.sizes[queries]
    settled = np.array([look_points(int(one), adaptive.stop_looks)[-1] for one in planned.chosen[queries]])
    audits = np.array([audit_size(settings.choice.audit_share, int(one)) for one in settled])
    design = design_of(sizes, settled, audits, planned.frames[queries])
    left = design.left
    drawn = np.rint(np.nan_to_num(design.probability) * left).astype(np.int64)
    curve = _best_curve(planned)
    reach = effective_reach(curve, design.reached, planned.pace)
    grid = np.linspace(0.0, 1.0, len(curve.found()))
    found = np.interp(reach, grid, curve.found()) * sizes * curve.share
    remainders = [Remainder(int(one), int(sampled), 0) for one, sampled in zip(left, drawn, strict=True)]
    return remainders, float(found.sum())
