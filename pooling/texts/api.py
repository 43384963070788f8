"""Queries and documents, over HTTP."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import making
from pooling.storage import serializers as storage_serializers
from pooling.storage.api import PREVIEW, _import
from pooling.texts import serializers

SUMMARY = storage_serializers.ImportSummarySerializer
DONE_OR_PREVIEWED = {**making(SUMMARY), 200: SUMMARY}


class Queries(APIView):
    """The queries of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @extend_schema(
        request=storage_serializers.UploadSerializer,
        responses={
            **making(storage_serializers.ImportSummarySerializer),
            200: storage_serializers.ImportSummarySerializer,
        },
        parameters=[PREVIEW],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a file of queries."""
        return _import(request, slug, "queries", storage_serializers.UploadSerializer)


class Documents(APIView):
    """The documents of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @extend_schema(
        request=serializers.DocumentsUploadSerializer,
        responses={
            **making(storage_serializers.ImportSummarySerializer),
            200: storage_serializers.ImportSummarySerializer,
        },
        parameters=[PREVIEW],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a corpus file, whole or only what some pool contains."""
        return _import(request, slug, "documents", serializers.DocumentsUploadSerializer)
