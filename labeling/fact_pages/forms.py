from __future__ import annotations

from typing import Any

from django import forms

from labeling.facts.editing import LONGEST_GROUP
from labeling.models import Fact
from pooling.formats.facts.records import LONGEST_FACT
from pooling.interface.forms import EditForm


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


class FactChangeForm(EditForm, FactForm):
    same_meaning = forms.BooleanField(
        required=False, label="It means the same", help_text="Its supports go on counting."
    )

    def __init__(self, data: Any = None, *, fact: Fact) -> None:
        names = ("text", "importance", "group")
        initial = {name: getattr(fact, name) for name in names}
        super().__init__(data, initial=initial, auto_id=f"fact-{fact.pk}-%s")
        self.carry()
        self.fact = fact
        called = (
            f"Fact {fact.external_id}",
            f"Importance of {fact.external_id}",
            f"Group of {fact.external_id}",
        )
        for name, label in zip(names, called, strict=True):
            self.fields[name].widget.attrs |= {"aria-label": label}
            self.fields[name].help_text = ""
        self.fields["text"].widget.attrs |= {"dir": "auto"}
        self.fields["group"].widget.attrs |= {"dir": "auto", "list": "fact-groups", "placeholder": "Group"}

    @property
    def changes(self) -> dict[str, str]:
        """The fields that its person changed, the only ones written: somebody may be writing the others."""
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if name in self.initial and value != self.initial[name]
        }


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
