"""The pages of replays: the list, the form, one replay with its picture and its files."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.access import replay_for
from evaluation.replays import files as replay_files
from evaluation.replays.forms import ReplayForm
from evaluation.replays.lists import REPLAYS
from evaluation.replays.page import replay_context
from evaluation.replays.stored import request_replay
from labeling.qrels.labels import has_labels
from pooling.interface.charting import VARIANTS
from pooling.interface.downloads import offered
from pooling.interface.forms import show_problem
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, collection_for
from pooling.tables.answers import answer


@login_required
@require_safe
def replays(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The replays of a collection, newest first."""
    collection = collection_for(request.user, slug)
    rows = collection.replays.listed().select_related("created_by").defer("result")
    context = {
        "collection": collection,
        "section": "replays",
        "table": REPLAYS.shown(request, list(rows), collection),
        "has_runs": collection.runs.exists(),
        "has_labels": has_labels(collection),
    }
    return answer(request, "evaluation/replays.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def replay_new(request: HttpRequest, slug: str) -> HttpResponse:
    """The form for a new replay."""
    collection = collection_for(request.user, slug, ADMIN)
    form = ReplayForm(request.POST or None, collection=collection)
    if request.method == "POST" and form.is_valid():
        try:
            made = request_replay(collection, form.request(), request.user)  # type: ignore[arg-type]
            return redirect(made)
        except InputError as error:
            show_problem(form, error)
    context = {
        "collection": collection,
        "section": "replays",
        "form": form,
        "has_runs": collection.runs.exists(),
        "has_labels": has_labels(collection),
    }
    return render(request, "evaluation/replay_new.html", context)


@login_required
@require_safe
def one_replay(request: HttpRequest, replay_id: int) -> HttpResponse:
    """One replay."""
    replay = replay_for(request.user, replay_id)
    context = {"collection": replay.collection, "section": "replays", "replay": replay}
    return render(request, "evaluation/replay.html", {**context, **replay_context(replay)})


@login_required
@require_safe
def replay_download(request: HttpRequest, replay_id: int, format: str) -> HttpResponseBase:
    """The replay as a file."""
    replay = replay_for(request.user, replay_id)
    stem = slugify(replay.name) or f"replay-{replay.pk}"
    return offered(replay_files.FILES, format, stem, replay)


@login_required
@require_safe
def replay_chart(request: HttpRequest, replay_id: int, variant: str) -> HttpResponse:
    """The curves as SVG; a replay does not change, so neither does its picture."""
    replay = replay_for(request.user, replay_id)
    if variant not in VARIANTS:
        raise Http404("This replay has no such chart.")
    return HttpResponse(replay_files.replay_svg(replay, variant), content_type="image/svg+xml")
