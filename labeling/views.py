"""Lists of queues, opening one, own work, and labels in and out."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from labeling.access import queue_for, release_for
from labeling.adaptive import options as live_options
from labeling.adaptive.state import sentence
from labeling.forms import QrelsForm, QueueForm, ReleaseForm
from labeling.gold.options import taken_from
from labeling.judging.blind_counts import own_figures, own_queues
from labeling.judging.own_work import own_verdicts, own_work
from labeling.models import ImportedLabel
from labeling.progress.counts import listed_queues
from labeling.qrels.releases import FORMATS, current_labels, export_name, export_release, release_qrels
from labeling.queues.opening_jobs import open_or_start
from pooling.forms import show_problem
from pooling.interface.pages import page_of, person, upload
from pooling.interface.problems import refusals
from pooling.models import Job, Role
from pooling.people.access import ADMIN, MEMBERS, READERS, collection_for

DOWNLOADS = [
    ("trec", "TREC qrels"),
    ("beir", "BEIR TSV"),
    ("csv", "CSV"),
    ("tsv", "TSV"),
    ("jsonl", "JSON lines"),
    ("json", "ranx JSON"),
    ("parquet", "Parquet"),
    ("sidecar", "Sidecar (JSON)"),
]
# What a download is to the browser; text is shown as text whatever an id holds.
CONTENT_TYPES = {
    "json": "application/json",
    "sidecar": "application/json",
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


@login_required
@require_GET
def queues(request: HttpRequest, slug: str) -> HttpResponse:
    """The queues of a collection with how far they are; annotators see them with their own numbers."""
    collection = collection_for(request.user, slug, MEMBERS)
    is_annotator = collection.role == Role.ANNOTATOR  # type: ignore[attr-defined]
    listed = own_queues if is_annotator else listed_queues
    page = page_of(request, listed(collection, person(request)))
    context = {"page": page, "collection": collection, "section": "queues"}
    return render(request, "labeling/queues.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def queue_new(request: HttpRequest, slug: str) -> HttpResponse:
    """A form that opens a queue over a pool."""
    collection = collection_for(request.user, slug, ADMIN)
    initial = {"pool": request.GET.get("pool")}
    form = QueueForm(collection, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = dict(form.cleaned_data)
        try:
            gold, live = taken_from(values), live_options.taken_from(values)
            opened = open_or_start(values.pop("pool"), user=person(request), gold=gold, live=live, **values)
            return redirect("job", opened.pk) if isinstance(opened, Job) else redirect(opened)
        except refusals() as error:
            show_problem(form, error)
    has_pools = form.fields["pool"].queryset.exists()  # type: ignore[attr-defined]
    context = {"form": form, "has_pools": has_pools, "collection": collection, "section": "queues"}
    return render(request, "labeling/queue_new.html", context)


@login_required
@require_GET
def own_work_page(request: HttpRequest, queue_id: int) -> HttpResponse:
    """What whoever asks has judged in a queue, and how fast."""
    queue = queue_for(request.user, queue_id)
    user = person(request)
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "own": own_figures(queue, user),
        "work": own_work(queue, user),
        "page": page_of(request, own_verdicts(queue, user)),
    }
    return render(request, "labeling/own_work.html", context)


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
        "selections": [(one, sentence(one)) for one in release.sidecar.get("selections", ())],
        "downloads": DOWNLOADS,
        "collection": release.collection,
        "section": "releases",
    }
    return render(request, "labeling/release.html", context)


@login_required
@require_GET
def release_download(request: HttpRequest, slug: str, release_id: int, format: str) -> HttpResponse:
    """The release as a file of `format`, or its sidecar."""
    release = release_for(request.user, release_id)
    if release.collection.slug != slug or format not in FORMATS:
        raise Http404
    try:
        content = export_release(release, format)
    except refusals() as error:
        messages.error(request, str(error))
        return redirect(release)
    return attachment(content, export_name(release, format), format)


def attachment(content: bytes, name: str, format: str) -> HttpResponse:
    """A file to save; `name` holds nothing that would have to be quoted."""
    response = HttpResponse(content, content_type=content_type_of(format))
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def content_type_of(format: str) -> str:
    """What a file of a format is to the browser."""
    return CONTENT_TYPES.get(format, "text/plain; charset=utf-8")


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
