"""Pages of runs: the list, one run with its preflight, and the form that imports some."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_http_methods

from pooling.engine_models import Engine
from pooling.models import Run
from pooling.people.access import ADMIN, collection_for, run_for
from pooling.runs.forms import RunsForm
from pooling.runs.ir_metadata import facts_of
from pooling.runs.lists import RUNS
from pooling.storage.pages import upload
from pooling.tables.answers import answer


@login_required
@require_GET
def runs(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The runs of a collection."""
    collection = collection_for(request.user, slug)
    rows = Run.objects.listed().filter(collection=collection).defer("preflight")
    table = RUNS.shown(request, rows.select_related("collection", "imported_by"), collection)
    context = {"table": table, "collection": collection, "section": "runs"}
    return answer(request, "pooling/runs.html", context)


@login_required
@require_GET
def run(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """What a run brought, and what its preflight found."""
    run = run_for(request.user, run_id)
    if run.collection.slug != slug:
        raise Http404
    pools = run.pools.defer("diagnostics")
    engine_id = run.preflight.get("engine", {}).get("id")
    engine = Engine.objects.filter(collection=run.collection, pk=engine_id).first() if engine_id else None
    metadata = facts_of(run.preflight.get("ir_metadata", {}))
    context = {"run": run, "pools": pools, "metadata": metadata, "engine": engine}
    context |= {"collection": run.collection, "section": "runs"}
    return render(request, "pooling/run.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def import_(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for one or several run files; each is imported by itself, and the first refused one stops."""
    collection = collection_for(request.user, slug, ADMIN)
    form = RunsForm(request.POST, request.FILES) if request.method == "POST" else RunsForm()
    if request.method == "POST" and (response := upload(request, collection, "run", form, section="runs")):
        return response
    return render(
        request, "pooling/run_import.html", {"form": form, "collection": collection, "section": "runs"}
    )
