from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.conf import settings as site
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from evaluation.plans.launch import begin
from evaluation.plans.planning import plan
from evaluation.plans.results import Pilot, PlanResult
from evaluation.plans.settings import OF_ADAPTIVE, PlanSettings, settings_offered
from evaluation.plans.words import width_words
from labeling.adaptive.options import AdaptiveOptions
from pooling.interface.forms import show_problem
from pooling.interface.option_fields import form_fields
from pooling.interface.pages import go_on, person
from pooling.interface.problems import InputError, refusals
from pooling.merging.choice import usual_reach
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for
from pooling.pools import diagnosis_rows as pictures
from pooling.runs.depths import HELP, PREFIX, RunChoices, RunDepthsForm, given_depths

# Nobody judges in no time.
SOME_TIME = {"min_value": 0.1}


@form_fields(
    PlanSettings,
    depth={"required": True},
    strategy={"required": True},
    seconds_per_judgment=SOME_TIME,
    hours_per_week=SOME_TIME,
)
class PlanForm(RunDepthsForm):
    GROUPS = {
        "Pool": ("runs", "depth", "strategy", "budget", "audit_share", "reach"),
        "Queue": (
            *("judgments_per_item", "most_judgments_per_item"),
            *("gold_share", "gold_first_share", "practice_questions", "repeat_share"),
        ),
        "Adaptive order": ("adaptive", *OF_ADAPTIVE),
        "People": ("annotators", "hours_per_week", "seconds_per_judgment", "price_per_judgment", "overhead"),
        "Suppositions": ("tie_share", "relevant_share", "k"),
    }
    TICKS = {"Adaptive order": "adaptive"}
    OPEN = ("Pool",)

    runs = forms.MultipleChoiceField(required=False, widget=RunChoices, help_text=HELP)

    def __init__(self, collection: Collection, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        names = collection.runs.listed().values_list("name", flat=True)
        self.fields["runs"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
        price = self.fields["price_per_judgment"]
        price.label = f"Price per judgment ({site.CURRENCY})"
        self.show_depths()

    def plan_settings(self) -> PlanSettings:
        """Call it after `is_valid`. `InputError` for what does not go together."""
        return settings_offered(self.cleaned_data)


SUPPOSED = PlanSettings()
DEFAULTS = {"depth": f"{SUPPOSED.depth}", "strategy": SUPPOSED.strategy}
# Filled in even if the address has them empty.
FILLED = {
    name: f"{getattr(SUPPOSED, name):g}" for name in ("annotators", "hours_per_week", "judgments_per_item")
}


def filled_form(collection: Collection, given: Any) -> PlanForm:
    """The form filled with the address's parameters; what is not there has its default, and no run is all."""
    data = given.copy()
    for name, value in DEFAULTS.items():
        data.setdefault(name, value)
    for name, value in FILLED.items():
        if not data.get(name):
            data[name] = value
    if not data.getlist("runs"):
        data.setlist("runs", collection.runs.listed().values_list("name", flat=True))
    # An audit that is asked for without a reach draws from the pool.
    if not data.get("audit_share"):
        data.setdefault("audit_share", f"{SUPPOSED.audit_share:g}")
        data.setdefault("reach", f"{usual_reach(_deepest(PlanForm(collection, data)))}")
    return PlanForm(collection, data)


def _deepest(form: PlanForm) -> int:
    """No rank of the pool is below this one, as far as the depths asked for are numbers."""
    form.full_clean()
    given = form.cleaned_data
    depths: list[int] = [given.get("depth") or 1, *(given.get("depths") or {}).values()]
    return max(depths)


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
    rows = planned["work"]["by_annotators"]
    for row in rows:
        row["day"] = date.fromisoformat(row["end_date"]) if row["end_date"] else None
    headline = planned["headline"]
    for width in (headline, *(one for row in headline["budgets"] for one in row["widths"])):
        width["words"] = width_words(width)
    sizes, runs = planned["pool"]["size_by_depth"], planned["settings"]["runs"]
    alone = {row["run"]: row["alone"] for row in planned["runs"]}
    return {
        "plan": planned,
        "team": next(row for row in rows if row["annotators"] == settings.annotators),
        "growth": pictures.growth(sizes),
        "curve": pictures.curve(sizes, settings.depth),
        "heat_map": pictures.heat_map(runs, planned["overlap"], alone),
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
    return f"{path}?{urlencode(chosen)}"


def pilot_address(path: str, chosen: list[tuple[str, str]], pilot: Pilot) -> str:
    """The plan of the pilot that a plan offers: over the same pool, by the same people."""
    kept = [(name, value) for name, value in chosen if name in KEPT or name.startswith(PREFIX)]
    of_pilot = [(name, str(value)) for name, value in pilot["settings"].items()]
    return address(path, [*kept, *of_pilot, ("name", "Pilot")])


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
    call = reverse("api_plan", args=[collection.slug])
    context: dict[str, Any] = {
        "collection": collection,
        "section": "pools",
        "form": form,
        "has_runs": has_runs,
        "hidden": chosen,
        "address": address(request.path, chosen),
        "call": call,
        "call_address": address(call, chosen),
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
    context["problems"] = problems or [
        f"{form.fields[name].label or name}: {problem}" if name in form.fields else str(problem)
        for name, problems in form.errors.items()
        for problem in problems
    ]
    if not request.headers.get("HX-Request"):
        return render(request, "evaluation/plan.html", context)
    response = render(request, "evaluation/_plan.html", context)
    response["HX-Push-Url"] = context["address"]
    return response
