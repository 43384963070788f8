"""The page of a plan, and its figures over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from evaluation.plans.forms import PlanForm, filled_form
from evaluation.plans.launch import begin
from evaluation.plans.page import address, parameters, pilot_address, plan_context, problems_in_words
from evaluation.plans.planning import plan
from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on, person
from pooling.interface.problems import InputError, refusals
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for


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
