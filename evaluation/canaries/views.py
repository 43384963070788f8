from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.access import canary_for
from evaluation.canaries import page as canary_page
from evaluation.canaries.deliveries import send_again, send_test
from evaluation.canaries.forms import AlertsForm, CanaryForm
from evaluation.canaries.lists import CANARIES
from evaluation.canaries.queries import state_of
from evaluation.canaries.watching import change_alerts, create_canary, take_over_tag
from evaluation.models import Canary, CanaryDelivery
from pooling.interface.charting import VARIANTS
from pooling.interface.downloads import offered
from pooling.interface.forms import show_problem
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.models import Role
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.tables.answers import answer

MOST_MESSAGES = 50


@login_required
@require_safe
def canaries(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug)
    rows = canary_page.list_rows(canary_page.with_newest(collection))
    context = {
        "collection": collection,
        "section": "canaries",
        "table": CANARIES.shown(request, rows, collection),
        "has_release": collection.releases.exists(),
    }
    return answer(request, "evaluation/canaries.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def canary_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    form = CanaryForm(request.POST or None, collection=collection)
    if request.method == "POST" and form.is_valid():
        try:
            made = create_canary(
                collection,
                form.definition(),
                form.alerts(),
                user=person(request),
                site=request.build_absolute_uri("/"),
            )
            sentence = f"Created “{made.name}”. Existing runs are being measured."
            messages.success(request, f"{sentence} {state_of(made).least_fall.sentence()}")
            return redirect(made)
        except InputError as error:
            show_problem(form, error)
    context = {
        "collection": collection,
        "section": "canaries",
        "form": form,
        "has_release": collection.releases.exists(),
    }
    return render(request, "evaluation/canary_new.html", context)


@login_required
@require_safe
def one_canary(request: HttpRequest, canary_id: int) -> HttpResponse:
    """A canary and its messages; htmx gets the messages alone, and nothing else is computed."""
    canary = canary_for(request.user, canary_id)
    is_admin = canary.collection.role == Role.ADMIN  # type: ignore[attr-defined]
    deliveries = _messages(canary) if is_admin else None
    context = {
        "collection": canary.collection,
        "section": "canaries",
        "canary": canary,
        "deliveries": deliveries,
        "is_sending": any(one.is_under_way for one in deliveries or ()),
    }
    if is_admin and request.headers.get("HX-Request"):
        return render(request, "evaluation/_canary_messages.html", context)
    return render(request, "evaluation/canary.html", {**context, **canary_page.canary_context(canary)})


def _messages(canary: Canary) -> list[CanaryDelivery]:
    rows = canary.deliveries.distinct().prefetch_related("news__canary", "news__value__run")
    return list(rows[:MOST_MESSAGES])


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def canary_edit(request: HttpRequest, canary_id: int) -> HttpResponse:
    canary = canary_for(request.user, canary_id, ADMIN)
    form = AlertsForm(request.POST or None, collection=canary.collection, canary=canary)
    if request.method == "POST" and form.is_valid():
        try:
            site = request.build_absolute_uri("/")
            change_alerts(canary, form.alerts(), person(request), site=site)
            messages.success(request, "Changed.")
            return redirect(canary)
        except InputError as error:
            show_problem(form, error)
    context = {"collection": canary.collection, "section": "canaries", "canary": canary, "form": form}
    return render(request, "evaluation/canary_edit.html", context)


@login_required
@require_POST
def canary_queries(request: HttpRequest, canary_id: int) -> HttpResponse:
    canary = canary_for(request.user, canary_id, ADMIN)
    try:
        take_over_tag(canary, person(request))
        sentence = "From now on, the queries that currently have the tag are measured."
        messages.success(request, f"{sentence} {state_of(canary).least_fall.sentence()}")
    except InputError as error:
        messages.error(request, str(error))
    return redirect(canary)


@login_required
@require_POST
def canary_test(request: HttpRequest, canary_id: int) -> HttpResponse:
    canary = canary_for(request.user, canary_id, ADMIN)
    try:
        send_test(canary)
        messages.success(request, "A test message is being sent; see the list below.")
    except InputError as error:
        messages.error(request, str(error))
    return redirect(canary)


@login_required
@require_POST
def delivery_again(request: HttpRequest, canary_id: int, delivery_id: int) -> HttpResponse:
    canary = canary_for(request.user, canary_id, ADMIN)
    delivery = fetch(canary.deliveries.distinct(), pk=delivery_id)
    try:
        send_again(delivery)
        messages.success(request, "Sending it again.")
    except InputError as error:
        messages.error(request, str(error))
    return redirect(canary)


@login_required
@require_safe
def canary_chart(request: HttpRequest, canary_id: int, variant: str) -> HttpResponse:
    canary = canary_for(request.user, canary_id)
    if variant not in VARIANTS:
        raise Http404("This canary has no such chart.")
    return HttpResponse(canary_page.canary_svg(canary, variant), content_type="image/svg+xml")


@login_required
@require_safe
def canary_download(request: HttpRequest, canary_id: int, format: str) -> HttpResponseBase:
    canary = canary_for(request.user, canary_id)
    stem = slugify(canary.name) or f"canary-{canary.pk}"
    return offered(canary_page.FILES, format, stem, canary)
