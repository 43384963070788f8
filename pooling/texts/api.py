"""Queries and documents, over HTTP."""

from __future__ import annotations

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import answers, versioned
from pooling.interface.shapes import shape
from pooling.people.access import collection_for, fetch
from pooling.storage import serializers as storage_serializers
from pooling.storage.api import _import, imports
from pooling.tables.calls import lists
from pooling.tables.rows import Rows
from pooling.texts import serializers
from pooling.texts.importing import ImportSummary
from pooling.texts.lists import DOCUMENTS, QUERIES, chosen_pool, documents_of
from pooling.tidying.api import Tidied

SUMMARY = shape(ImportSummary, more=("detail", "url"))


class Queries(APIView):
    """The queries of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @lists(serializers.QueryTextSerializer, QUERIES, operation_id="collections_queries_list")
    def get(self, request: Request, slug: str) -> Rows:
        """List the queries."""
        return collection_for(request.user, slug).queries.listed().order_by("pk")

    @imports(storage_serializers.UploadSerializer, SUMMARY)
    def post(self, request: Request, slug: str) -> Response:
        """Import a file of queries."""
        return _import(request, slug, "queries", storage_serializers.UploadSerializer)


class Documents(APIView):
    """The documents of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @lists(
        serializers.ListedDocumentSerializer,
        DOCUMENTS,
        operation_id="collections_documents_list",
        parameters=[OpenApiParameter("pool", int, description="Only documents of this pool.")],
    )
    def get(self, request: Request, slug: str) -> Rows:
        """List the documents with the start of each text."""
        collection = collection_for(request.user, slug)
        return documents_of(collection, chosen_pool(request.query_params, collection))

    @imports(serializers.DocumentsUploadSerializer, SUMMARY)
    def post(self, request: Request, slug: str) -> Response:
        """Import a corpus file, whole or only what some pool contains."""
        return _import(request, slug, "documents", serializers.DocumentsUploadSerializer)


class OneQuery(Tidied):
    """One query."""

    kind = "query"

    @answers(serializers.QueryTextSerializer)
    def get(self, request: Request, slug: str, external_id: str) -> object:
        """Read a query."""
        return fetch(collection_for(request.user, slug).queries.all(), external_id=external_id)


class OneDocument(Tidied):
    """One document."""

    kind = "document"

    @answers(serializers.DocumentTextSerializer, also={304: None})
    def get(self, request: Request, slug: str, external_id: str) -> HttpResponseBase:
        """Read a document with its whole text."""
        document = fetch(collection_for(request.user, slug).documents.all(), external_id=external_id)
        version = ("document", document.pk, document.version, document.metadata)
        return versioned(
            request, version, lambda: Response(serializers.DocumentTextSerializer(document).data)
        )
