"""Pages of qrels releases and imported labels."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from labeling.access import release_for
from labeling.adaptive.state import endings_sentence
from labeling.models import ImportedLabel
from labeling.qrels.forms import QrelsForm, ReleaseForm
from labeling.qrels.releases import FORMATS, current_labels, export_release, release_file_name, release_qrels
from pooling.interface.downloads import attachment
from pooling.interface.forms import show_problem
from pooling.interface.pages import page_of, person
from pooling.interface.problems import refusals
from pooling.people.access import ADMIN, READERS, collection_for
from pooling.storage.pages import upload


@login_required
@require_GET
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    """The qrels releases of a collection, and the files of labels that were imported."""
    collection = collection_for(request.user, slug, READERS)
    page = page_of(request, collection.releases.defer("sidecar"))
    has_imports = ImportedLabel.objects.filter(collection=collection).exists()
    context = {"page": page, "has_imports": has_imports, "collection": collection, "section": "releases"}
    return render(request, "labeling/releases.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def release_new(request: HttpRequest, slug: str) -> HttpResponse:
    """What the labels are now, and a form that freezes them."""
    collection = collection_for(request.user, slug, ADMIN)
    form = ReleaseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(release_qrels(collection, user=person(request), **form.cleaned_data))
        except refusals() as error:
            show_problem(form, error)
    counts = current_labels(collection).counts
    context = {"form": form, "counts": counts, "collection": collection, "section": "releases"}
    return render(request, "labeling/release_new.html", context)


@login_required
@require_GET
def release(request: HttpRequest, slug: str, release_id: int) -> HttpResponse:
    """A release with its rule, counts, provenance and downloads."""
    release = release_for(request.user, release_id)
    if release.collection.slug != slug:
        raise Http404
    context = {
        "release": release,
        "sidecar": release.sidecar,
        "selections": [
            (order, endings_sentence(order["finished"])) for order in release.sidecar.get("selections", ())
        ],
        "downloads": [(format.name, format.title) for format in FORMATS.values()],
        "collection": release.collection,
        "section": "releases",
    }
    return render(request, "labeling/release.html", context)


@login_required
@require_GET
def release_download(request: HttpRequest, slug: str, release_id: int, format: str) -> HttpResponseBase:
    """The release as a file of `format`, or its sidecar."""
    release = release_for(request.user, release_id)
    if release.collection.slug != slug or format not in FORMATS:
        raise Http404
    try:
        content = export_release(release, format)
    except refusals() as error:
        messages.error(request, str(error))
        return redirect(release)
    return attachment(content, release_file_name(release, format), FORMATS[format].media_type)


@login_required
@require_http_methods(["GET", "POST"])
def qrels_import(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for a file of labels; a large one goes to the background worker."""
    collection = collection_for(request.user, slug, ADMIN)
    form = QrelsForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and (response := upload(request, collection, "qrels", form)):
        return response
    context = {"form": form, "collection": collection, "section": "releases"}
    return render(request, "labeling/qrels_import.html", context)
