"""Imports of judgments, over HTTP."""

from __future__ import annotations

from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.judgment_imports import serializers
from pooling.people.access import ADMIN, collection_for
from pooling.storage.api import _import, imports
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class JudgmentImports(APIView):
    """The imports of judgments of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @lists(serializers.JudgmentImportSerializer)
    def get(self, request: Request, slug: str) -> Rows:
        """List the imports that were not taken back, newest first."""
        collection = collection_for(request.user, slug, ADMIN)
        return collection.judgment_imports.select_related("imported_by")

    @imports(serializers.JudgmentsUploadSerializer, serializers.JudgmentsImportedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Import single judgments: of another installation, Quepid, Label Studio or Argilla."""
        return _import(request, slug, "judgments", serializers.JudgmentsUploadSerializer)
