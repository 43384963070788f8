"""Pages of runs: the list, one run with its preflight, and the form that imports some."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on, page_of, person
from pooling.interface.problems import refusals
from pooling.interface.results import Result
from pooling.interface.uploads import refuse_oversized
from pooling.models import Collection, Job, Run
from pooling.people.access import ADMIN, collection_for, run_for
from pooling.runs.forms import RunsForm
from pooling.storage.imports import take_in


@login_required
@require_GET
def runs(request: HttpRequest, slug: str) -> HttpResponse:
    """The runs of a collection."""
    collection = collection_for(request.user, slug)
    rows = Run.objects.filter(collection=collection).defer("preflight")
    context = {"page": page_of(request, rows), "collection": collection, "section": "runs"}
    return render(request, "pooling/runs.html", context)


@login_required
@require_GET
def run(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """What a run brought, and what its preflight found."""
    run = run_for(request.user, run_id)
    if run.collection.slug != slug:
        raise Http404
    pools = run.pools.defer("diagnostics")
    context = {"run": run, "pools": pools, "collection": run.collection, "section": "runs"}
    return render(request, "pooling/run.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def import_(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for one or several run files; each is imported by itself, and the first refused one stops."""
    collection = collection_for(request.user, slug, ADMIN)
    form = RunsForm(request.POST, request.FILES) if request.method == "POST" else RunsForm()
    if request.method == "POST" and (response := _import_all(request, collection, form)):
        return response
    return render(
        request, "pooling/run_import.html", {"form": form, "collection": collection, "section": "runs"}
    )


def _import_all(request: HttpRequest, collection: Collection, form: RunsForm) -> HttpResponse | None:
    outcomes: list[Result | Job] = []
    try:
        refuse_oversized(request)
        if not form.is_valid():
            return None
        options = {key: form.cleaned_data[key] for key in ("name", "collapse_chunks")}
        for file in form.cleaned_data["file"]:
            outcomes.append(take_in(collection, "run", file, user=person(request), **options))
    except refusals() as error:
        show_problem(form, error)
        for outcome in outcomes:
            messages.success(request, _sentence(outcome))
        return None
    if len(outcomes) == 1:
        return go_on(request, outcomes[0])
    for outcome in outcomes:
        messages.success(request, _sentence(outcome))
    return redirect("runs", collection.slug)


def _sentence(outcome: Result | Job) -> str:
    if isinstance(outcome, Job):
        return f"{outcome.arguments['file_name']} is imported in the background as job {outcome.pk}."
    return outcome["detail"]
