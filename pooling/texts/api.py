"""Queries and documents, over HTTP."""

from __future__ import annotations

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import PROBLEM, making, versioned
from pooling.interface.shapes import shape
from pooling.people.access import collection_for, fetch
from pooling.storage import serializers as storage_serializers
from pooling.storage.api import PREVIEW, _import
from pooling.tables.calls import listed, lists
from pooling.texts import serializers
from pooling.texts.importing import TextsImported
from pooling.texts.lists import DOCUMENTS, QUERIES, documents_of, pool_asked_for
from pooling.tidying.api import Tidied

SUMMARY = shape(TextsImported, "ImportSummary")
DONE_OR_PREVIEWED = {**making(SUMMARY), 200: SUMMARY}


class Queries(APIView):
    """The queries of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @lists(serializers.QueryTextSerializer, QUERIES, operation_id="collections_queries_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the queries."""
        rows = collection_for(request.user, slug).queries.listed().order_by("pk")
        return listed(request, rows, serializers.QueryTextSerializer, QUERIES)

    @extend_schema(
        request=storage_serializers.UploadSerializer,
        responses=DONE_OR_PREVIEWED,
        parameters=[PREVIEW],
    )
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
    def get(self, request: Request, slug: str) -> Response:
        """List the documents with the start of each text."""
        collection = collection_for(request.user, slug)
        rows = documents_of(collection, pool_asked_for(request.query_params, collection))
        return listed(request, rows, serializers.ListedDocumentSerializer, DOCUMENTS)

    @extend_schema(
        request=serializers.DocumentsUploadSerializer,
        responses=DONE_OR_PREVIEWED,
        parameters=[PREVIEW],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a corpus file, whole or only what some pool contains."""
        return _import(request, slug, "documents", serializers.DocumentsUploadSerializer)


class OneQuery(Tidied):
    """One query."""

    kind = "query"

    @extend_schema(responses={200: serializers.QueryTextSerializer, 404: PROBLEM})
    def get(self, request: Request, slug: str, external_id: str) -> Response:
        """Read a query."""
        query = fetch(collection_for(request.user, slug).queries.all(), external_id=external_id)
        return Response(serializers.QueryTextSerializer(query).data)


class OneDocument(Tidied):
    """One document."""

    kind = "document"

    @extend_schema(responses={200: serializers.DocumentTextSerializer, 304: None, 404: PROBLEM})
    def get(self, request: Request, slug: str, external_id: str) -> HttpResponseBase:
        """Read a document with its whole text."""
        document = fetch(collection_for(request.user, slug).documents.all(), external_id=external_id)
        version = ("document", document.pk, document.version, document.metadata)
        return versioned(
            request, version, lambda: Response(serializers.DocumentTextSerializer(document).data)
        )
