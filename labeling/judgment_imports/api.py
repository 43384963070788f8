from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.judgment_imports.choices import USUAL_WORDS
from labeling.judgment_imports.importing import JudgmentsImported
from labeling.models import JudgmentImport
from pooling.formats.judgments.registry import JUDGMENT_FORMATS
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN, collection_for
from pooling.storage.api import _import, imports
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class JudgmentsUploadSerializer(serializers.Serializer[Any]):
    """A file of judgments, and how it is read."""

    file = serializers.FileField()
    format = serializers.ChoiceField(choices=list(JUDGMENT_FORMATS), default="soundings")
    map = serializers.CharField(
        default="",
        allow_blank=True,
        help_text=f"`VALUE=VERDICT`, separated by commas or line ends; a verdict is relevant, not_relevant, "
        f"cannot_judge or leave_out. Without it: {USUAL_WORDS}",
    )
    accounts = serializers.BooleanField(
        default=False, help_text="Match people to annotators and admins by user name or email."
    )
    query_field = serializers.CharField(default="", allow_blank=True, max_length=200)
    document_field = serializers.CharField(default="", allow_blank=True, max_length=200)
    question = serializers.CharField(default="", allow_blank=True, max_length=200)


JudgmentsImportedSerializer = shape(JudgmentsImported, more=("detail", "url"))


class JudgmentImportSerializer(serializers.ModelSerializer[JudgmentImport]):
    """An import of judgments."""

    imported_by = serializers.CharField(source="imported_by.username", default=None)

    class Meta:
        model = JudgmentImport
        fields = [
            *("id", "name", "format", "sha256", "event_count", "judgment_count", "pair_count"),
            *("imported_by", "imported_at"),
        ]


class JudgmentImports(APIView):
    parser_classes = [MultiPartParser, FormParser]

    @lists(JudgmentImportSerializer)
    def get(self, request: Request, slug: str) -> Rows:
        """List the imports that were not taken back, newest first."""
        collection = collection_for(request.user, slug, ADMIN)
        return collection.judgment_imports.select_related("imported_by")

    @imports(JudgmentsUploadSerializer, JudgmentsImportedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Import single judgments: of another installation, Quepid, Label Studio or Argilla."""
        return _import(request, slug, "judgments", JudgmentsUploadSerializer)
