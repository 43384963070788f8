from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import answers, parsed, versioned
from pooling.interface.shapes import shape
from pooling.models import Document, Query
from pooling.people.access import collection_for, fetch
from pooling.storage import api as storage_serializers
from pooling.storage.api import UploadSerializer, _import, imports
from pooling.tables.calls import lists
from pooling.tables.rows import Rows
from pooling.texts.importing import ImportSummary
from pooling.texts.lists import DOCUMENTS, QUERIES, chosen_pool, documents_of
from pooling.tidying.api import Tidied


class DocumentsUploadSerializer(UploadSerializer):
    """A corpus file; `only_pooled` leaves out what no pool contains."""

    only_pooled = serializers.BooleanField(default=False)


class DocumentsQuerySerializer(serializers.Serializer[Any]):
    pool = serializers.IntegerField(required=False, min_value=1, help_text="Only documents of this pool.")


class QueryTextSerializer(serializers.ModelSerializer[Query]):
    """A query; `metadata` is what its file said of it besides."""

    id = serializers.CharField(source="external_id")
    narrative = serializers.CharField(help_text="What counts as relevant.")
    tags = serializers.ListField(child=serializers.CharField())
    metadata: Any = serializers.DictField()

    class Meta:
        model = Query
        fields = ["id", "text", "narrative", "tags", "metadata"]


class ListedDocumentSerializer(serializers.Serializer[Document]):
    """A document in a list."""

    id = serializers.CharField(source="external_id")
    title = serializers.CharField()
    start = serializers.CharField(allow_null=True, help_text="Of the text, 300 characters; null: not known.")
    version = serializers.IntegerField(help_text="Counts up when title or text change.")


class DocumentTextSerializer(serializers.ModelSerializer[Document]):
    """A document with its text, which is null while it is not known."""

    id = serializers.CharField(source="external_id")
    text = serializers.CharField(allow_null=True)
    metadata: Any = serializers.DictField()

    class Meta:
        model = Document
        fields = ["id", "title", "text", "metadata", "version"]


SUMMARY = shape(ImportSummary, more=("detail", "url"))


class Queries(APIView):
    parser_classes = [MultiPartParser, FormParser]

    @lists(QueryTextSerializer, QUERIES, operation_id="collections_queries_list")
    def get(self, request: Request, slug: str) -> Rows:
        """List the queries."""
        return collection_for(request.user, slug).queries.listed().order_by("pk")

    @imports(storage_serializers.UploadSerializer, SUMMARY)
    def post(self, request: Request, slug: str) -> Response:
        """Import a file of queries."""
        return _import(request, slug, "queries", storage_serializers.UploadSerializer)


class Documents(APIView):
    parser_classes = [MultiPartParser, FormParser]

    @lists(
        ListedDocumentSerializer,
        DOCUMENTS,
        operation_id="collections_documents_list",
        parameters=[DocumentsQuerySerializer],
    )
    def get(self, request: Request, slug: str) -> Rows:
        """List the documents with the start of each text."""
        collection = collection_for(request.user, slug)
        parsed(DocumentsQuerySerializer, request)
        return documents_of(collection, chosen_pool(request.query_params, collection))

    @imports(DocumentsUploadSerializer, SUMMARY)
    def post(self, request: Request, slug: str) -> Response:
        """Import a corpus file, whole or only what some pool contains."""
        return _import(request, slug, "documents", DocumentsUploadSerializer)


class OneQuery(Tidied):
    kind = "query"

    @answers(QueryTextSerializer)
    def get(self, request: Request, slug: str, external_id: str) -> object:
        """Read a query."""
        return fetch(collection_for(request.user, slug).queries.all(), external_id=external_id)


class OneDocument(Tidied):
    kind = "document"

    @answers(DocumentTextSerializer, also={304: None})
    def get(self, request: Request, slug: str, external_id: str) -> HttpResponseBase:
        """Read a document with its whole text."""
        document = fetch(collection_for(request.user, slug).documents.all(), external_id=external_id)
        version = ("document", document.pk, document.version, document.metadata)
        return versioned(request, version, lambda: Response(DocumentTextSerializer(document).data))
