"""Widths of a plan's intervals of micro recall, and the pilot that would tell where nobody knows."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings as site

from evaluation.estimates.intervals import COMPLETE
from evaluation.plans.basis import Planned
from evaluation.plans.expected_width import (
    Expectation,
    RelevanceCurve,
    audit_probabilities,
    effective_reach,
    expected_intervals,
)
from evaluation.plans.headline_width import GROWTH, GROWTHS, beyond_pool
from evaluation.plans.results import ExpectedInterval, Pilot, RunInterval
from evaluation.plans.words import interval_sentence, pilot_sentence
from labeling.queues.workload import team_work
from pooling.formats.wording import counted
from pooling.heavy import NDArray, np
from pooling.merging.summary import without_pair

#: Pairs of a pilot, drawn at random.
PILOT = 100


def expected_width(planned: Planned) -> ExpectedInterval:
    """The interval of micro recall that is expected for each run; see `evaluation/plans/expected_width.py`.

    Where nobody knows how much is relevant, widths are ranges alone, and what hangs on the share is None.
    """
    whole, undrawn = is_whole(planned), is_undrawn(planned)
    scenario_intervals = (
        [] if undrawn else [_intervals(planned, curve, growth) for curve, growth in scenarios(planned)]
    )
    likeliest = scenario_intervals[0] if scenario_intervals and planned.curve is not None else None
    widths = [_mean_width(intervals) for intervals in scenario_intervals]
    defined = [width for width in widths if width is not None]
    chance = left = query = None
    if planned.curve is not None:
        chance, left, query = _chances(planned, *scenarios(planned)[0])
    least, most = (min(defined), max(defined)) if defined else (None, None)
    result: ExpectedInterval = {
        "k": planned.settings.cutoff,
        "confidence": 0.95,
        "mean_width": widths[0] if widths and (likeliest or least == most) else None,
        "width_low": least,
        "width_high": most,
        "by_run": [
            _run(run.name, place, scenario_intervals, likeliest)
            for place, run in enumerate(planned.runs)
            if scenario_intervals
        ],
        "method": COMPLETE if whole else likeliest[0].method if likeliest else None,
        "relevant": None if chance is None else float(chance[: int(planned.pooled.sum())].sum()),
        "relevant_drawn": None
        if chance is None or left is None
        else float(np.nan_to_num(chance * planned.design.probability[query])[left].sum()),
        "sentence": "",
    }
    if left_without(planned):
        one_each = counted(int((planned.sizes > 0).sum()), "pair")
        sentence = f"With fewer than {one_each} recall over all queries cannot be estimated."
    else:
        sentence = interval_sentence(result, undrawn, planned.bases)
    return {**result, "sentence": sentence}


def is_whole(planned: Planned) -> bool:
    """Everything that an audit could draw from will be judged."""
    return bool((planned.chosen >= planned.frames).all())


def is_undrawn(planned: Planned) -> bool:
    """No estimate covers all queries: nothing is drawn, or some get no pair."""
    return not is_whole(planned) and (not planned.audits.any() or bool(left_without(planned)))


def left_without(planned: Planned) -> str:
    """A sentence on queries that the budget has no pair for, or ""."""
    some = planned.sizes > 0
    return without_pair(int((planned.chosen[some] > 0).sum()), int(some.sum()))


def scenarios(planned: Planned) -> list[tuple[RelevanceCurve, float]]:
    """Cases with the likeliest first if it is known: the curve of relevant pairs in the pool, and the factor
    of a deeper frame (see `evaluation/plans/headline_width.py`)."""
    if planned.settings.reach is None:
        return [(curve, 0.0) for curve in planned.curves]
    curves = planned.curves if planned.curve is None else planned.curves[1:] or planned.curves
    ends = [(curve, growth) for curve in curves for growth in GROWTHS]
    return ends if planned.curve is None else [(planned.curve, GROWTH), *ends]


def offered_pilot(planned: Planned, width: ExpectedInterval) -> Pilot | None:
    """A few drawn pairs that tell how much is relevant; None where that is known, or saves little."""
    is_certain = width["width_low"] is None or width["width_low"] == width["width_high"]
    if is_certain or planned.curve is not None or planned.to_judge <= PILOT:
        return None
    plain = replace(
        planned.terms,
        judgments_per_item=1,
        most_judgments_per_item=None,
        gold_first_share=0.0,
        gold_share=0.0,
        practice_questions=0,
        repeat_share=0.0,
    )
    work = team_work(PILOT, plain, 1)
    pilot: Pilot = {
        "pairs": PILOT,
        "minutes": 60 * (work.hours_each or 0.0),
        "cost": work.cost,
        "currency": site.CURRENCY,
        "settings": {"strategy": "rrf", "budget": PILOT, "audit_share": 1.0, "judgments_per_item": 1},
        "sentence": "",
    }
    return {**pilot, "sentence": pilot_sentence(pilot)}


def _run(
    name: str, place: int, scenario_intervals: list[list[Expectation]], likeliest: list[Expectation] | None
) -> RunInterval:
    widths = [one[place].width for one in scenario_intervals]
    defined = [width for width in widths if width is not None]
    one = likeliest[place] if likeliest else None
    return {
        "run": name,
        "value": one.value if one else None,
        "low": one.low if one else None,
        "high": one.high if one else None,
        "width": one.width if one else None,
        "width_low": min(defined) if defined else None,
        "width_high": max(defined) if defined else None,
    }


def _mean_width(intervals: list[Expectation]) -> float | None:
    widths = [one.width for one in intervals if one.width is not None]
    return float(np.mean(widths)) if widths else None


def _chances(
    planned: Planned, curve: RelevanceCurve, growth: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
    """(P,) the chance of each pair of the pool to be relevant, whether its label is left to the audit, and
    its query; where the frame is deeper, one row more of each query stands for all that is beyond its pool.
    """
    pooled = np.flatnonzero(planned.pooled)
    query, places = planned.tops.query[pooled], planned.places[pooled]
    chance = curve.at(places)
    has_label = planned.has_label[pooled]
    chance[has_label] = planned.labels.label[pooled][has_label] == 1
    reach = effective_reach(curve, planned.design.reached, planned.pace)
    undrawn = np.isnan(planned.design.probability)
    certain = has_label | (places <= reach[query]) | undrawn[query]
    if planned.settings.reach is None:
        return chance, ~certain, query
    relevant = np.bincount(query, chance, len(planned.sizes)).astype(np.float64)
    beyond = beyond_pool(relevant, planned.sizes, planned.frames, growth)
    queries = np.arange(len(beyond))
    return np.append(chance, beyond), np.append(~certain, ~undrawn), np.append(query, queries)


def _intervals(planned: Planned, curve: RelevanceCurve, growth: float) -> list[Expectation]:
    pooled = np.flatnonzero(planned.pooled)
    chance, left, query = _chances(planned, curve, growth)
    number = np.full(len(planned.tops.query), -1)
    number[pooled] = np.arange(len(pooled))
    top = planned.tops.to_depth(planned.settings.cutoff)
    place = top.place_of(planned.indexes)
    tops = [number[top.pair[place == at]] for at in range(len(planned.runs))]
    draws = audit_probabilities(planned.design, planned.frames, planned.audits)
    return expected_intervals(chance, ~left, query, draws if left.any() else draws[:1], tops=tops)
