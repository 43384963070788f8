"""The page that opens a queue."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from labeling.queues.figures import queue_figures
from labeling.queues.forms import QueueForm
from labeling.queues.opening_jobs import open_or_start
from labeling.queues.options import options_from
from pooling.interface.forms import Figure, show_problem
from pooling.interface.pages import answered, person
from pooling.interface.problems import refusals
from pooling.people.access import ADMIN, collection_for


@login_required
@require_http_methods(["GET", "POST"])
def queue_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    if request.headers.get("HX-Request"):
        return answered(request, QueueForm(collection, request.GET), _figures)
    initial = {"pool": request.GET.get("pool")}
    form = QueueForm(collection, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            options, name = options_from(values), values["name"]
            opened = open_or_start(values["pool"], options, name=name, user=person(request))
            return redirect(opened)
        except refusals() as error:
            show_problem(form, error)
    has_pools = form.fields["pool"].queryset.exists()  # type: ignore[attr-defined]
    context = {"form": form, "has_pools": has_pools, "collection": collection, "section": "queues"}
    return render(request, "labeling/queue_new.html", context)


def _figures(form: QueueForm) -> list[Figure]:
    return queue_figures(form.cleaned_data["pool"], options_from(form.cleaned_data))
