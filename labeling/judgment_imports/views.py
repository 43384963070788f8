"""The page that imports judgments and lists what was imported."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from labeling.judgment_imports.forms import JudgmentsForm
from pooling.people.access import ADMIN, collection_for
from pooling.storage.pages import upload


@login_required
@require_http_methods(["GET", "POST"])
def judgments_import(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for a file of judgments, and the imports so far."""
    collection = collection_for(request.user, slug, ADMIN)
    form = JudgmentsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and (
        response := upload(request, collection, "judgments", form, section="queues")
    ):
        return response
    imports = collection.judgment_imports.select_related("imported_by")
    context = {"form": form, "imports": imports, "collection": collection, "section": "queues"}
    return render(request, "labeling/judgments_import.html", context)
