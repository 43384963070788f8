"""The forms around gold questions: one more, a file of them, and changes to one or to many."""

from __future__ import annotations

from django import forms

from labeling.gold.questions import LONGEST_REASON
from labeling.gold.serializers import ANSWERS


class GoldForm(forms.Form):
    """A pair by its ids, and its answer."""

    query = forms.CharField(max_length=500, strip=False, label="Query id")
    document = forms.CharField(max_length=500, strip=False, label="Document id")
    answer = forms.ChoiceField(choices=ANSWERS, widget=forms.RadioSelect)
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Shown in the practice round, and to admins.",
    )
    practice = forms.BooleanField(
        required=False,
        label="For the practice round",
        help_text="Explained after the answer; never mixed into the items.",
    )


class GoldFileForm(forms.Form):
    """A file of gold questions."""

    file = forms.FileField(
        label="File of gold questions",
        help_text="CSV, TSV or JSON lines: query_id, document_id, answer; optionally reason, practice.",
    )


class GoldChangeForm(forms.Form):
    """Use, or no use, of a gold question."""

    change = forms.ChoiceField(
        choices=[(name, name) for name in ("active", "inactive", "practice", "hidden")]
    )


class BulkForm(forms.Form):
    """Changes of the chosen questions; a field left as it is changes nothing."""

    use = forms.ChoiceField(
        choices=[
            ("", "Leave as it is"),
            ("hidden", "Hidden in judging"),
            ("practice", "For practice"),
            ("out", "Out of use"),
        ],
        required=False,
        widget=forms.RadioSelect,
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        required=False,
        label="Reason, for all of them",
        help_text="Empty leaves each its own.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class DecideForm(forms.Form):
    """A reason for all proposals that are accepted, and whether they are for practice."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        required=False,
        help_text="For all of them; empty keeps those below. The practice round shows it to annotators.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    practice = forms.BooleanField(required=False, label="For the practice round")


class MadeForm(forms.Form):
    """A pair made a gold question where it is shown; `next` is the page to go back to."""

    query = forms.CharField(max_length=500, strip=False)
    document = forms.CharField(max_length=500, strip=False)
    answer = forms.ChoiceField(choices=ANSWERS)
    reason = forms.CharField(max_length=LONGEST_REASON, required=False)
    next = forms.CharField(max_length=2000, required=False)
