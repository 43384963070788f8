"""The page of a plan, and its figures over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from evaluation.plans.forms import PlanForm, filled_form
from evaluation.plans.launch import begin
from evaluation.plans.planning import plan
from evaluation.plans.results import Pilot, PlanResult
from evaluation.plans.settings import PlanSettings
from evaluation.plans.words import width_words
from labeling.adaptive.options import AdaptiveOptions
from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on, person
from pooling.interface.problems import InputError, refusals
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for
from pooling.pools import diagnosis_rows as pictures
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


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def plan_page(request: HttpRequest, slug: str) -> HttpResponse:
    """The plan of a campaign; htmx gets the figures alone. A POST builds its pool and opens its queue."""
    collection = collection_for(request.user, slug, ADMIN)
    given = request.POST if request.method == "POST" else request.GET
    form = filled_form(collection, given)
    name = given.get("name", "")
    if request.method == "POST" and form.is_valid():
        try:
            return go_on(request, begin(collection, form.plan_settings(), name, person(request)))
        except refusals() as error:
            problem = [str(error)]
            return _page(request, collection, form, name, problems=problem)
    return _page(request, collection, form, name)


def _page(
    request: HttpRequest, collection: Collection, form: PlanForm, name: str, *, problems: Sequence[str] = ()
) -> HttpResponse:
    has_runs = collection.runs.exists()
    chosen = parameters(form, cast("QueryDict", form.data), collection)
    context: dict[str, Any] = {
        "collection": collection,
        "section": "pools",
        "form": form,
        "has_runs": has_runs,
        "hidden": chosen,
        "address": address(request.path, chosen),
        "name": name or f"Campaign {collection.queues.count() + 1}",
    }
    if has_runs and form.is_valid():
        try:
            settings = form.plan_settings()
            context |= plan_context(plan(collection, settings), settings)
            if pilot := context["plan"]["pilot"]:
                context["pilot_address"] = pilot_address(request.path, chosen, pilot)
        except InputError as error:
            show_problem(form, error)
    context["problems"] = problems or problems_in_words(form)
    if not request.headers.get("HX-Request"):
        return render(request, "evaluation/plan.html", context)
    response = render(request, "evaluation/_plan.html", context)
    response["HX-Push-Url"] = context["address"]
    return response
