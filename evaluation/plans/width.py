"""How wide a plan's intervals of micro recall will be, and the pilot that would tell where nobody knows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.conf import settings as site

from evaluation.plans.basis import Planned
from evaluation.plans.words import interval_sentence, pilot_sentence
from labeling.queues.workload import team_work

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evaluation.plans.expected_width import Expectation, RelevanceCurve
    from evaluation.plans.results import ExpectedInterval, Pilot, RunInterval

#: Pairs of a pilot, drawn at random.
PILOT = 100


def expected_width(planned: Planned) -> ExpectedInterval:
    """The interval of micro recall that is expected for each run; see `evaluation/plans/expected_width.py`.

    Where nobody knows how much is relevant, widths are ranges alone, and what hangs on the share is None.
    """
    import numpy as np

    from evaluation.estimates.intervals import COMPLETE

    whole = bool((planned.chosen == planned.sizes).all())
    undrawn = not whole and not planned.audits.any()
    told = [] if undrawn else [_intervals(planned, curve) for curve in planned.curves]
    known = told[0] if told and planned.curve is not None else None
    widths = [_mean_width(intervals) for intervals in told]
    defined = [width for width in widths if width is not None]
    chance, left = _chances(planned, planned.curve) if planned.curve is not None else (None, None)
    probability = planned.design.probability[planned.tops.query[np.flatnonzero(planned.pooled)]]
    least, most = (min(defined), max(defined)) if defined else (None, None)
    result: ExpectedInterval = {
        "k": planned.settings.cutoff,
        "confidence": 0.95,
        "mean_width": widths[0] if widths and (known or least == most) else None,
        "width_low": least,
        "width_high": most,
        "by_run": [_run(run.name, place, told, known) for place, run in enumerate(planned.runs) if told],
        "method": COMPLETE if whole else known[0].method if known else None,
        "relevant": None if chance is None else float(chance.sum()),
        "relevant_drawn": None
        if chance is None or left is None
        else float(np.nan_to_num(chance * probability)[left].sum()),
        "sentence": "",
    }
    return {**result, "sentence": interval_sentence(result, undrawn, planned.bases)}


def offered_pilot(planned: Planned, width: ExpectedInterval) -> Pilot | None:
    """What a few drawn pairs would take that tell how much is relevant; None where the width is known, or the
    plan is hardly larger.
    """
    known = width["width_low"] is None or width["width_low"] == width["width_high"]
    if known or planned.curve is not None or planned.to_judge <= PILOT:
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
    name: str, place: int, told: list[list[Expectation]], known: list[Expectation] | None
) -> RunInterval:
    widths = [one[place].width for one in told]
    defined = [width for width in widths if width is not None]
    one = known[place] if known else None
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
    import numpy as np

    widths = [one.width for one in intervals if one.width is not None]
    return float(np.mean(widths)) if widths else None


def _chances(planned: Planned, curve: RelevanceCurve) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(P,) the chance of each pair of the pool to be relevant, and whether its label is left to the audit."""
    import numpy as np

    from evaluation.plans.expected_width import effective_reach

    pooled = np.flatnonzero(planned.pooled)
    query, places = planned.tops.query[pooled], planned.places[pooled]
    chance = curve.at(places)
    known = planned.known[pooled]
    chance[known] = planned.labels.label[pooled][known] == 1
    reach = effective_reach(curve, planned.design.reached, planned.pace)
    certain = known | (places <= reach[query]) | np.isnan(planned.design.probability)[query]
    return chance, ~certain


def _intervals(planned: Planned, curve: RelevanceCurve) -> list[Expectation]:
    """One for each run, by a curve."""
    import numpy as np

    from evaluation.plans.expected_width import drawn_probabilities, expected_intervals

    pooled = np.flatnonzero(planned.pooled)
    query = planned.tops.query[pooled]
    chance, left = _chances(planned, curve)
    number = np.full(len(planned.tops.query), -1)
    number[pooled] = np.arange(len(pooled))
    top = planned.tops.to_depth(planned.settings.cutoff)
    place = top.place_of(planned.indexes)
    found = [number[top.pair[place == at]] for at in range(len(planned.runs))]
    draws = drawn_probabilities(planned.design, planned.sizes, planned.audits)
    return expected_intervals(chance, ~left, query, draws if left.any() else draws[:1], tops=found)
