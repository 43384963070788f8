"""Contents of a plan's page in addition to the plan itself."""

from __future__ import annotations

from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from evaluation.plans.forms import PlanForm
from evaluation.plans.results import Pilot, PlanResult
from evaluation.plans.settings import PlanSettings
from evaluation.plans.words import width_words
from labeling.adaptive.options import AdaptiveOptions
from pooling.diagnosis import rows as pictures
from pooling.models import Collection
from pooling.runs.depths import PREFIX, given_depths

# What a plan and its pilot have in common.
KEPT = (
    "runs",
    "depth",
    "annotators",
    "hours_per_week",
    "seconds_per_judgment",
    "price_per_judgment",
    "overhead",
    "k",
)
# What a choice says when nobody chose.
USUAL = {"budget_rule": str(AdaptiveOptions.budget_rule), "stop_over": str(AdaptiveOptions.stop_over)}


def plan_context(planned: PlanResult, settings: PlanSettings) -> dict[str, Any]:
    """Pictures, days, and the row of as many annotators as are asked about."""
    rows = planned["work"]["by_annotators"]
    for row in rows:
        row["day"] = date.fromisoformat(row["end_date"]) if row["end_date"] else None
    headline = planned["headline"]
    for width in (headline, *(one for row in headline["budgets"] for one in row["widths"])):
        width["words"] = width_words(width)
    sizes = planned["pool"]["size_by_depth"]
    return {
        "plan": planned,
        "team": next(row for row in rows if row["annotators"] == settings.annotators),
        "growth": pictures.growth(sizes),
        "curve": pictures.curve(sizes, settings.depth),
        "heat_map": pictures.heat_map(planned["settings"]["runs"], planned["overlap"]),
    }


def parameters(form: PlanForm, given: QueryDict, collection: Collection) -> list[tuple[str, str]]:
    """Values worth a place in the address: nothing empty, and no list of all runs."""
    runs = given.getlist("runs")
    kept = [(name, str(given[name])) for name in form.fields if name != "runs" and given.get(name)]
    kept = [(name, value) for name, value in kept if USUAL.get(name) != value]
    chosen = {run: depth for run, depth in given_depths(given).items() if run in runs}
    kept += [(f"{PREFIX}{run}", str(depth)) for run, depth in chosen.items()]
    named = [] if len(set(runs)) == collection.runs.listed().count() else [("runs", run) for run in runs]
    return [*named, *kept]


def address(path: str, chosen: list[tuple[str, str]]) -> str:
    """The plan's own address."""
    return f"{path}?{urlencode(chosen)}"


def pilot_address(path: str, chosen: list[tuple[str, str]], pilot: Pilot) -> str:
    """The plan of the pilot that a plan offers: over the same pool, by the same people."""
    kept = [(name, value) for name, value in chosen if name in KEPT or name.startswith(PREFIX)]
    of_pilot = [(name, str(value)) for name, value in pilot["settings"].items()]
    return address(path, [*kept, *of_pilot, ("name", "Pilot")])


def problems_in_words(form: PlanForm) -> list[str]:
    """Errors with their fields' labels, for when the form itself is not drawn again."""
    return [
        f"{form.fields[name].label or name}: {problem}" if name in form.fields else str(problem)
        for name, problems in form.errors.items()
        for problem in problems
    ]
