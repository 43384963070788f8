"""Pages of queries and documents, each a list with the form that imports more."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods

from pooling.models import Collection, Document, Pool, PoolEntry, Query
from pooling.people.access import ADMIN, READERS, collection_for
from pooling.storage.pages import upload
from pooling.tables.answers import answer
from pooling.texts.forms import DocumentsForm, QueriesForm
from pooling.texts.lists import DOCUMENTS, QUERIES


@login_required
@require_http_methods(["GET", "POST"])
def queries(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The queries of a collection, found by id or words; posting a file imports it."""
    collection = collection_for(request.user, slug, ADMIN if request.method == "POST" else READERS)
    form = QueriesForm(request.POST, request.FILES) if request.method == "POST" else QueriesForm()
    if request.method == "POST" and (
        response := upload(request, collection, "queries", form, section="queries")
    ):
        return response
    table = QUERIES.shown(request, Query.objects.listed().filter(collection=collection), collection)
    context = {"table": table, "form": form, "collection": collection, "section": "queries"}
    return answer(request, "pooling/queries.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def documents(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The documents of a collection; posting a corpus file imports it."""
    collection = collection_for(request.user, slug, ADMIN if request.method == "POST" else READERS)
    form = DocumentsForm(request.POST, request.FILES) if request.method == "POST" else DocumentsForm()
    if request.method == "POST" and (
        response := upload(request, collection, "documents", form, section="documents")
    ):
        return response
    pool = _pool_asked_for(request, collection)
    table = DOCUMENTS.shown(request, _documents(collection, pool), collection)
    context = {"table": table, "form": form, "pool": pool, "collection": collection}
    return answer(request, "pooling/documents.html", {**context, "section": "documents"})


def _pool_asked_for(request: HttpRequest, collection: Collection) -> Pool | None:
    pool_id = request.GET.get("pool", "")
    if not pool_id.isdecimal():
        return None
    return get_object_or_404(Pool.objects.defer("diagnostics"), collection=collection, pk=int(pool_id))


def _documents(collection: Collection, pool: Pool | None) -> QuerySet[Document]:
    """All of them, or those of a pool; fetches the start of each text."""
    rows = Document.objects.listed().filter(collection=collection).order_by("pk").defer("text", "metadata")
    rows = rows.annotate(start=Left("text", 300))
    if pool:
        rows = rows.filter(Exists(PoolEntry.objects.filter(pool=pool, document=OuterRef("pk"))))
    return rows
