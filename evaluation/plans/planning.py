"""A campaign planned before it begins, counted from numbered tops and labels; nothing is stored."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, cast

from django.conf import settings as site
from django.utils import timezone

from evaluation.measures.significance import queries_needed
from evaluation.plans.basis import UNKNOWN, Planned
from evaluation.plans.expected_width import RelevanceCurve, design_of, effective_reach
from evaluation.plans.headline_width import GROWTHS, SHAPE, UNEVEN, ExpectedQueries, beyond_pool
from evaluation.plans.results import (
    BudgetRow,
    ExpectedHeadline,
    HeadlineWidth,
    PlannedLook,
    PlannedOrder,
    PlannedQueries,
    PlannedRun,
    PlannedRuns,
    PlannedWork,
    PlanResult,
    Power,
    ReachCost,
    SettingsInUse,
    TeamRow,
)
from evaluation.plans.settings import PlanSettings
from evaluation.plans.width import expected_width, is_undrawn, left_without, offered_pilot, scenarios
from evaluation.plans.words import (
    WITHOUT_SCORES,
    headline_sentences,
    order_sentences,
    power_sentence,
    supposed,
)
from labeling.adaptive.stopping import LEVEL, look_points
from labeling.models import Selection
from labeling.queues.workload import judgments_needed, team_work, whole_days
from pooling.heavy import NDArray, np, pl
from pooling.merging.choice import usual_reach
from pooling.merging.summary import binned, thin_among
from pooling.models import Collection
from pooling.ranking.bounds import FEWEST_FOR_INTERVAL, Remainder, most_missing, most_missing_in_all
from pooling.ranking.sample import audit_size
from pooling.ranking.selection import spread

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
    gap = left_without(planned)
    return {
        **result,
        "sentences": [gap] if gap else headline_sentences(result, planned.settings.reach),
    }


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
    """The pairs of the queries looked at: places, labels, share of runs with each in their first K."""

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
        cases = [] if is_undrawn(planned) else scenarios(planned)
        expected = [self._expected(planned, *one) for one in cases]
        shapes = [UNEVEN if growth in GROWTHS else SHAPE for _, growth in cases]
        times = int((planned.sizes > 0).sum()) / len(self.queries)
        widths = [one.width(times=times, shape=shape) for one, shape in zip(expected, shapes, strict=True)]
        defined = [one for one in widths if one is not None]
        return {
            "width": widths[0] if widths and planned.curve is not None else None,
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


# An adaptive order before there are labels: what queries get, and whether a bound could stop one.


def planned_order(planned: Planned) -> PlannedOrder | None:
    """None for a fixed order. See `PlannedOrderSerializer`."""
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
        remainders, relevant = _at_last_look(planned, np.array([middle]))
        bound = most_missing(remainders[0], 1 - level)
    else:
        remainders, relevant = _at_last_look(planned, some)
        bound = most_missing_in_all(remainders, 1 - level)
    share = None if bound is None else bound / max(relevant + bound, 1e-9)
    return {
        "remainder": sum(one.size for one in remainders),
        "sampled": sum(one.sampled for one in remainders),
        "at_most_missing": bound,
        "found": relevant,
        "missing_share": share,
        "relevant_share": _best_curve(planned).share,
        "may_stop": share is not None
        and adaptive.stop_missing is not None
        and share <= adaptive.stop_missing,
    }


def _best_curve(planned: Planned) -> RelevanceCurve:
    """The curve with most relevant pairs, where a look is best, if nobody knows how much is relevant."""
    return planned.curve or max(planned.curves, key=lambda one: one.share)


def _at_last_look(planned: Planned, queries: Any) -> tuple[list[Remainder], float]:
    """Remainders of some queries at the last look, and the relevant ones found by then."""
    settings = planned.settings
    adaptive = settings.queue.adaptive
    assert adaptive is not None
    sizes = planned.sizes[queries]
    settled = np.array([look_points(int(one), adaptive.stop_looks)[-1] for one in planned.chosen[queries]])
    audits = np.array([audit_size(settings.choice.share, int(one)) for one in settled])
    design = design_of(sizes, settled, audits, planned.frames[queries])
    left = design.left
    sample_sizes = np.rint(np.nan_to_num(design.probability) * left).astype(np.int64)
    curve = _best_curve(planned)
    reach = effective_reach(curve, design.reached, planned.pace)
    grid = np.linspace(0.0, 1.0, len(curve.cumulative()))
    relevant = np.interp(reach, grid, curve.cumulative()) * sizes * curve.share
    remainders = [
        Remainder(int(one), int(sampled), 0) for one, sampled in zip(left, sample_sizes, strict=True)
    ]
    return remainders, float(relevant.sum())


TEAMS = (1, 2, 5, 10, 20)
DIFFERENCE = 0.05
#: Deviations of differences of recall by query, as measured on DL 2021 (at 10) and Robust 2003 (at 100).
DEVIATIONS = (0.11, 0.19)
FEWEST_QUERIES = 5


def plan(collection: Collection, settings: PlanSettings, *, now: datetime | None = None) -> PlanResult:
    """All that the page shows, see `PlanSerializer`; `InputError` for an unknown run, and without a query."""
    now = now or timezone.now()
    planned = Planned.of(collection, settings)
    spent = planned.design
    work, width = _work(planned, now), expected_width(planned)
    return {
        "settings": _settings_in_use(planned),
        "supposed": supposed(planned.terms, planned.bases),
        "pool": {
            "pairs": int(planned.sizes.sum()),
            "chosen": int(spent.chosen.sum()),
            "audit": planned.drawn,
            "labelled": planned.labelled,
            "to_judge": planned.to_judge,
            "queries": int((planned.sizes > 0).sum()),
            "size_by_depth": planned.growth,
        },
        **_by_run(planned),
        **_by_query(planned),
        "order": planned_order(planned),
        "work": work,
        "headline": expected_headline(planned),
        "recall_interval": width,
        "pilot": offered_pilot(planned, width),
        "power": _power(planned),
    }


def _settings_in_use(planned: Planned) -> SettingsInUse:
    terms = planned.terms
    return {
        **asdict(planned.settings),
        "depths": dict(planned.settings.choice.depths),
        "runs": [run.name for run in planned.runs],
        "audit_share": planned.settings.choice.share,
        "gold_first_share": terms.gold_first_share,
        "gold_share": terms.gold_share,
        "practice_questions": terms.practice_questions,
        "price_per_judgment": terms.price,
        "overhead": terms.overhead,
        "currency": site.CURRENCY,
        "seconds_per_judgment": terms.seconds,
        "tie_share": terms.tie_share,
        "relevant_share": planned.curve and planned.curve.share,
        "k": planned.settings.cutoff,
    }


def _by_run(planned: Planned) -> PlannedRuns:
    tops, indexes = planned.tops, planned.indexes
    pairs, alone = tops.by_run(indexes), tops.alone(indexes)
    relevant = tops.alone(indexes, planned.labels.label == 1) if planned.labelled else None
    rows: list[PlannedRun] = [
        {
            "run": run.name,
            "pairs": int(pairs[place]),
            "alone": int(alone[place]),
            "relevant_alone": None if relevant is None else int(relevant[place]),
        }
        for place, run in enumerate(planned.runs)
    ]
    return {"runs": rows, "overlap": tops.overlap(indexes).tolist()}


def _by_query(planned: Planned) -> PlannedQueries:
    ids = pl.Series("query_id", planned.numbered.query_ids, dtype=pl.String)
    sizes = pl.DataFrame({"query_id": ids, "len": planned.sizes})
    some = sizes.filter(pl.col("len") > 0)
    nothing = planned.collection.queries.count() - some.height
    return {"sizes": binned(some["len"]), "thin": {**thin_among(some), "without": nothing}}


def _work(planned: Planned, now: datetime) -> PlannedWork:
    terms = planned.terms
    needed = judgments_needed(planned.to_judge, terms)
    people = sorted({*TEAMS, planned.settings.annotators})
    rows: list[TeamRow] = []
    for team in (team_work(needed, terms, annotators) for annotators in people):
        days = None if team.days is None else whole_days(team.days)
        end = None if days is None or days > 36_500 else (now + timedelta(days=days)).date().isoformat()
        rows.append(cast("TeamRow", {**asdict(team), "end_date": end}))
    return {
        "judgments_needed": needed,
        "for_ties": needed - planned.to_judge * terms.judgments_per_item,
        "gold_there": planned.gold_there,
        "currency": site.CURRENCY,
        "by_annotators": rows,
    }


def _power(planned: Planned) -> Power:
    """Number of queries to tell two systems apart by 0.05: by the spread of the labels, else a range."""
    deviation, queries = _deviation(planned)
    there = int((planned.sizes > 0).sum())
    spread, measured = DEVIATIONS, None
    if deviation is not None:
        spread, measured = (deviation, deviation), queries
    result: Power = {
        "difference": DIFFERENCE,
        "power": 0.8,
        "k": planned.settings.cutoff,
        "deviation": deviation,
        "labelled_queries": queries,
        "queries_needed": [
            max(queries_needed(one, DIFFERENCE, measured=measured), FEWEST_FOR_INTERVAL) for one in spread
        ],
        "queries": there,
        "sentence": "",
    }
    return {**result, "sentence": power_sentence(result)}


def _deviation(planned: Planned) -> tuple[float | None, int]:
    """(the deviation of differences of recall@k by query, the queries it is from).

    The root of the mean variance over all pairs of runs; None with fewer than five queries that have a
    relevant label, or a single run.
    """
    relevant = planned.labels.relevant
    some = relevant > 0
    if some.sum() < FEWEST_QUERIES or len(planned.runs) < 2:
        return None, int(some.sum())
    top = planned.tops.to_depth(planned.settings.cutoff)
    hits = planned.labels.label[top.pair] == 1
    place, query = top.place_of(planned.indexes)[hits], top.query[top.pair[hits]]
    shape = (len(planned.runs), len(relevant))
    counts = np.bincount(place * shape[1] + query, minlength=shape[0] * shape[1]).reshape(shape)
    recall = counts[:, some] / relevant[some]
    covariance = np.cov(recall)
    variances = [
        covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
        for one, other in combinations(range(shape[0]), 2)
    ]
    return float(np.sqrt(np.mean(variances))), int(some.sum())
