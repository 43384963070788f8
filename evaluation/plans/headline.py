"""A plan's headline: the width of its interval by budget, and the cost of a reach."""

from __future__ import annotations

from evaluation.plans.basis import UNKNOWN, Planned
from evaluation.plans.expected_width import RelevanceCurve, effective_reach
from evaluation.plans.headline_width import ExpectedQueries, beyond_pool
from evaluation.plans.results import BudgetRow, ExpectedHeadline, HeadlineWidth, ReachCost
from evaluation.plans.width import is_undrawn, scenarios
from evaluation.plans.words import headline_sentences
from pooling.heavy import NDArray, np
from pooling.merging.choice import usual_reach

#: Budgets of the table, as times that of the plan.
TIMES = (0.5, 1, 2, 4)
#: Of more queries, so many are looked at: widths fall with the root of their number.
MOST_QUERIES = 200


def expected_headline(planned: Planned) -> ExpectedHeadline:
    """See `ExpectedHeadlineSerializer`."""
    looked = _Looked.of(planned)
    reaches = _reaches(planned)
    result: ExpectedHeadline = {
        "k": planned.settings.cutoff,
        "confidence": 0.95,
        **looked.width(planned),
        "has_audit": not is_undrawn(planned),
        "reaches": [_cost(planned.instead(reach=reach)) for reach in reaches],
        "budgets": [_row(looked, planned, budget, reaches) for budget in _budgets(planned)],
        "sentences": [],
    }
    return {**result, "sentences": headline_sentences(result, planned.settings.reach)}


def _reaches(planned: Planned) -> list[int | None]:
    """The pool alone, and the reach that is asked for or usual."""
    choice = planned.settings.choice
    if not choice.has_audit:
        return [None]
    return [None, choice.reach or usual_reach(choice.deepest)]


def _cost(planned: Planned) -> ReachCost:
    some = planned.frames[planned.sizes > 0]
    return {
        "reach": planned.settings.reach,
        "documents": float(np.median(some)),
        "pairs": int(some.sum()),
        "is_whole": planned.frame.is_whole,
    }


def _budgets(planned: Planned) -> list[int]:
    """Around that of the plan; each has a pair for every query, or the floor that is asked for."""
    spent, most = int(planned.chosen.sum()), int(planned.limits.sum())
    least = int((planned.sizes > 0).sum()) * (planned.settings.budget_floor or 1)
    return sorted({int(spent * times) for times in TIMES if least <= spent * times <= most} | {spent})


def _row(looked: _Looked, planned: Planned, budget: int, reaches: list[int | None]) -> BudgetRow:
    is_planned = budget == int(planned.chosen.sum())

    def spending(reach: int | None) -> Planned:
        # A plan without a budget judges its pools whole, and not an equal share of each.
        if is_planned and reach == planned.settings.reach:
            return planned
        return planned.instead(budget=budget, reach=reach)

    queries = int((planned.sizes > 0).sum())
    return {
        "budget": budget,
        "per_query": budget / queries,
        "is_planned": is_planned,
        "widths": [looked.width(spending(reach)) for reach in reaches],
    }


class _Looked:
    """The pairs of the queries that are looked at: places, labels, and the share of runs that have each in
    their first K."""

    def __init__(self, planned: Planned, queries: NDArray[np.int64], pairs: NDArray[np.int64]) -> None:
        self.queries = queries
        number = np.zeros(len(planned.sizes), dtype=np.int64)
        number[queries] = np.arange(len(queries))
        self.query = number[planned.tops.query[pairs]]
        self.place, self.has_label = planned.places[pairs], planned.has_label[pairs]
        self.label = planned.labels.label[pairs]
        top = planned.tops.to_depth(planned.settings.cutoff)
        self.hit = np.bincount(top.pair, minlength=len(planned.pooled))[pairs] / len(planned.runs)

    @classmethod
    def of(cls, planned: Planned) -> _Looked:
        some = np.flatnonzero(planned.sizes)
        if len(some) > MOST_QUERIES:
            some = some[np.linspace(0, len(some) - 1, MOST_QUERIES).round().astype(np.int64)]
        inside = np.zeros(len(planned.sizes), dtype=bool)
        inside[some] = True
        return cls(planned, some, np.flatnonzero(planned.pooled & inside[planned.tops.query]))

    def width(self, planned: Planned) -> HeadlineWidth:
        """Of a mean run; low and high over what is not known."""
        expected: list[ExpectedQueries] = []
        if not is_undrawn(planned):
            expected = [self._expected(planned, *one) for one in scenarios(planned)]
        times = int((planned.sizes > 0).sum()) / len(self.queries)
        widths = [one.width(times=times) for one in expected]
        defined = [one for one in widths if one is not None]
        return {
            "width": widths[0] if expected and (planned.curve is not None or len(expected) == 1) else None,
            "width_low": min(defined, default=None),
            "width_high": max(defined, default=None),
            "is_macro": bool(expected) and all(one.is_macro(times) for one in expected),
        }

    def _expected(self, planned: Planned, curve: RelevanceCurve, growth: float) -> ExpectedQueries:
        count, of = len(self.queries), self.query
        probability = planned.design.probability[self.queries]
        undrawn = np.isnan(probability)
        reach = effective_reach(curve, planned.design.reached[self.queries], planned.pace)
        chance = np.where(self.label == UNKNOWN, curve.at(self.place), self.label == 1)
        certain = self.has_label | (self.place <= reach[of]) | undrawn[of]

        def sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.bincount(of, values, count).astype(np.float64)

        sizes, frames = planned.sizes[self.queries], planned.frames[self.queries]
        beyond = beyond_pool(sums(chance), sizes, frames, growth)
        hits, missed = self.hit * chance, (1 - self.hit) * chance
        return ExpectedQueries(
            sums(hits * certain),
            sums(missed * certain) + np.where(undrawn, beyond, 0.0),
            sums(hits * ~certain),
            sums(missed * ~certain) + np.where(undrawn, 0.0, beyond),
            probability,
        )
