"""The forms around adjudication: a verdict, which pairs are shown, and a rule for many of them."""

from __future__ import annotations

from typing import Any

from django import forms

from labeling.adjudication.waiting import WHY
from labeling.models import Reason, Verdict


class AdjudicationForm(forms.Form):
    """A verdict that settles a pair; a reason alone means that it cannot be judged."""

    item = forms.IntegerField(min_value=1)
    verdict = forms.ChoiceField(choices=Verdict.choices, required=False)
    reason = forms.ChoiceField(choices=[("", ""), *Reason.choices], required=False)
    note = forms.CharField(max_length=2000, required=False)
    key = forms.CharField(max_length=64)

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("reason") and not values.get("verdict"):
            values["verdict"] = Verdict.CANNOT_JUDGE.value
        if not values.get("verdict"):
            self.add_error("verdict", "Choose a verdict.")
        return values


class ChoiceForm(forms.Form):
    why = forms.ChoiceField(choices=[("", "All pairs"), *WHY.items()], required=False, label="Why they wait")
    annotator = forms.ChoiceField(required=False)
    names = forms.BooleanField(required=False, label="Show names")

    def __init__(self, data: Any, *, annotators: list[str]) -> None:
        """`annotators`: whose pairs can be asked for; without any, neither they nor names are offered."""
        super().__init__(data, label_suffix="")
        if annotators:
            choices = [("", "Everybody"), *((name, name) for name in annotators)]
            self.fields["annotator"] = forms.ChoiceField(choices=choices, required=False, label="Judged by")
        else:
            del self.fields["annotator"], self.fields["names"]
