from __future__ import annotations

from django import forms

from labeling.judgment_imports.choices import USUAL_WORDS
from pooling.formats.judgments.registry import JUDGMENT_FORMATS
from pooling.interface.forms import FIRST, GroupedForm
from pooling.storage.pages import import_page

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
