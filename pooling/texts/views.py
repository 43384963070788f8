"""Pages of queries and documents, each a list with the form that imports more."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods

from pooling.interface.pages import asked, page_of
from pooling.models import Collection, Document, Pool, PoolEntry, Query
from pooling.people.access import ADMIN, READERS, collection_for
from pooling.storage.pages import upload
from pooling.texts.forms import DocumentsForm, QueriesForm


@login_required
@require_http_methods(["GET", "POST"])
def queries(request: HttpRequest, slug: str) -> HttpResponse:
    """The queries of a collection, found by id or words; posting a file imports it."""
    collection = collection_for(request.user, slug, ADMIN if request.method == "POST" else READERS)
    form = QueriesForm(request.POST, request.FILES) if request.method == "POST" else QueriesForm()
    if request.method == "POST" and (response := upload(request, collection, "queries", form)):
        return response
    rows = Query.objects.filter(collection=collection).order_by("pk")
    if search := asked(request, "q").strip():
        rows = rows.filter(Q(external_id=search) | Q(text__icontains=search))
    context = {"page": page_of(request, rows), "form": form, "search": search}
    return render(
        request, "pooling/queries.html", {**context, "collection": collection, "section": "queries"}
    )


@login_required
@require_http_methods(["GET", "POST"])
def documents(request: HttpRequest, slug: str) -> HttpResponse:
    """The documents of a collection; posting a corpus file imports it."""
    collection = collection_for(request.user, slug, ADMIN if request.method == "POST" else READERS)
    form = DocumentsForm(request.POST, request.FILES) if request.method == "POST" else DocumentsForm()
    if request.method == "POST" and (response := upload(request, collection, "documents", form)):
        return response
    pool = _pool_asked_for(request, collection)
    page = page_of(request, _documents_asked_for(request, collection, pool))
    context = {"page": page, "form": form, "pool": pool, "search": asked(request, "q").strip()}
    context["missing"] = request.GET.get("text") == "missing"
    return render(
        request, "pooling/documents.html", {**context, "collection": collection, "section": "documents"}
    )


def _pool_asked_for(request: HttpRequest, collection: Collection) -> Pool | None:
    pool_id = request.GET.get("pool", "")
    if not pool_id.isdecimal():
        return None
    return get_object_or_404(Pool.objects.defer("diagnostics"), collection=collection, pk=int(pool_id))


def _documents_asked_for(
    request: HttpRequest, collection: Collection, pool: Pool | None
) -> QuerySet[Document]:
    """Those whose id begins with `q`, `text=missing` and `pool`; fetches the start of each text."""
    rows = Document.objects.filter(collection=collection).order_by("pk").defer("text", "metadata")
    rows = rows.annotate(start=Left("text", 300))
    if search := asked(request, "q").strip():
        rows = rows.filter(external_id__startswith=search)
    if request.GET.get("text") == "missing":
        rows = rows.filter(text__isnull=True)
    if pool:
        rows = rows.filter(Exists(PoolEntry.objects.filter(pool=pool, document=OuterRef("pk"))))
    return rows
