"""Imports of judgments, over HTTP."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.judgment_imports import serializers
from pooling.interface.api import making
from pooling.people.access import ADMIN, collection_for
from pooling.storage.api import PREVIEW, _import
from pooling.tables.calls import listed, lists


class JudgmentImports(APIView):
    """The imports of judgments of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @lists(serializers.JudgmentImportSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """List the imports that were not taken back, newest first."""
        collection = collection_for(request.user, slug, ADMIN)
        rows = collection.judgment_imports.select_related("imported_by")
        return listed(request, rows, serializers.JudgmentImportSerializer)

    @extend_schema(
        request=serializers.JudgmentsUploadSerializer,
        responses={
            **making(serializers.JudgmentsImportedSerializer),
            200: serializers.JudgmentsImportedSerializer,
        },
        parameters=[PREVIEW],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import single judgments: of another installation, Quepid, Label Studio or Argilla."""
        return _import(request, slug, "judgments", serializers.JudgmentsUploadSerializer)
