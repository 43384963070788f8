"""Pages of queries and documents, each a list with the form that imports more."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods

from pooling.models import Query
from pooling.people.access import ADMIN, READERS, collection_for
from pooling.storage.pages import upload
from pooling.tables.answers import answer
from pooling.texts.draws import draws_in_words
from pooling.texts.forms import DocumentsForm, QueriesForm
from pooling.texts.lists import DOCUMENTS, QUERIES, chosen_pool, documents_of


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
    context["draws"] = draws_in_words(collection)
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
    pool = chosen_pool(request.GET, collection)
    table = DOCUMENTS.shown(request, documents_of(collection, pool), collection)
    context = {"table": table, "form": form, "pool": pool, "collection": collection}
    return answer(request, "pooling/documents.html", {**context, "section": "documents"})
