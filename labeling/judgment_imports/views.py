from __future__ import annotations

from typing import Any

from django import forms
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.judgment_imports.importing import JudgmentsImported
from labeling.judgment_imports.staging import USUAL_WORDS
from labeling.models import JudgmentImport
from pooling.formats.judgments.registry import JUDGMENT_FORMATS
from pooling.interface.forms import FIRST, GroupedForm
from pooling.interface.serializers import optional_text
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN, collection_for
from pooling.storage.api import _import, imports
from pooling.storage.pages import import_page
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class JudgmentsUploadSerializer(serializers.Serializer[Any]):
    """A file of judgments, and how it is read."""

    file = serializers.FileField()
    format = serializers.ChoiceField(choices=list(JUDGMENT_FORMATS), default="soundings")
    map = optional_text(
        f"`VALUE=VERDICT`, separated by commas or line ends; a verdict is relevant, not_relevant, "
        f"cannot_judge or leave_out. Without it: {USUAL_WORDS}"
    )
    accounts = serializers.BooleanField(
        default=False, help_text="Match people to annotators and admins by user name or email."
    )
    query_field = optional_text(max_length=200)
    document_field = optional_text(max_length=200)
    question = optional_text(max_length=200)


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

    @imports(JudgmentsUploadSerializer, shape(JudgmentsImported, more=("detail", "url")))
    def post(self, request: Request, slug: str) -> Response:
        """Import single judgments: of another installation, Quepid, Label Studio or Argilla."""
        return _import(request, slug, "judgments", JudgmentsUploadSerializer)


HEADING = "Where the file has what"


class JudgmentsForm(GroupedForm, forms.Form):
    """A file of judgments, and how it is read."""

    GROUPS = {
        FIRST: ("file", "format", "map", "accounts"),
        HEADING: ("query_field", "document_field", "question"),
    }

    file = forms.FileField(label="File of judgments", help_text="Also gzipped.")
    format = forms.ChoiceField(
        choices=[(one.name, one.title) for one in JUDGMENT_FORMATS.values()], initial="soundings"
    )
    map = forms.CharField(
        required=False,
        label="What values mean",
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "2=relevant\n1=not_relevant\n0=not_relevant"}),
        help_text="VALUE=VERDICT, one on each line. A verdict is relevant, not_relevant, cannot_judge or "
        f"leave_out. Empty: {USUAL_WORDS}",
    )
    accounts = forms.BooleanField(
        required=False,
        label="Match people to accounts",
        help_text="Annotators and admins of this collection whose user name or email the file has. Everyone "
        "else becomes an imported annotator, who cannot sign in.",
    )
    query_field = forms.CharField(
        required=False, max_length=200, label="Query", help_text="Field with the query's id or text."
    )
    document_field = forms.CharField(
        required=False, max_length=200, label="Document", help_text="Field with the document's id."
    )
    question = forms.CharField(
        required=False, max_length=200, help_text="Needed where people answered several questions."
    )


judgments_import = import_page(
    "judgments",
    JudgmentsForm,
    "labeling/judgments_import.html",
    section="queues",
    more=lambda collection: {"imports": collection.judgment_imports.select_related("imported_by")},
)
