from __future__ import annotations

from django import forms

from labeling.facts.editing import LONGEST_GROUP
from labeling.models import Fact
from pooling.formats.facts.records import LONGEST_FACT


class FactForm(forms.Form):
    text = forms.CharField(
        max_length=LONGEST_FACT,
        label="Fact",
        help_text="One claim, checkable from one passage, in up to 15 words, without pronouns.",
    )
    importance = forms.ChoiceField(choices=Fact.Importance.choices)
    group = forms.CharField(
        max_length=LONGEST_GROUP, required=False, help_text="The part of the question that it answers."
    )


class FactChangeForm(FactForm):
    same_meaning = forms.BooleanField(
        required=False, label="It means the same", help_text="Its supports go on counting."
    )


FILES = {
    "facts": "facts, perhaps with supports",
    "supports": "supports of facts that are here",
    "gold": "supports whose answers are known (gold)",
}


class FactsFileForm(forms.Form):
    """A file of facts or supports."""

    file = forms.FileField(label="File")
    of = forms.ChoiceField(choices=list(FILES.items()), initial="facts", label="It holds")
    proposed = forms.BooleanField(
        required=False, label="As proposals", help_text="They count once somebody confirms them."
    )
