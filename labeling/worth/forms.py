"""The form for a verification sample."""

from __future__ import annotations

from typing import Any

from django import forms

from labeling.prelabels.forms import SIZES
from labeling.worth.samples import METHODS, USUAL, Wanted


class SampleForm(forms.Form):
    """Sizes of a verification sample; shares are given in percent."""

    negatives_method = forms.ChoiceField(required=False, label="Sample of what it calls not relevant")
    negatives_bound = forms.FloatField(
        min_value=0.1, max_value=50, label="Percent", help_text="Shows that at most this share is relevant."
    )
    positives_method = forms.ChoiceField(required=False, label="Sample of what it calls relevant")
    positives_bound = forms.FloatField(
        min_value=0.1, max_value=50, label="Percent", help_text="Margin of error in points (±)."
    )
    judgments_per_item = forms.IntegerField(initial=1, min_value=1, max_value=20, label="Judgments per pair")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, usual in USUAL.items():
            method, bound = self.fields[f"{name}_method"], self.fields[f"{name}_bound"]
            method.choices = [(value, SIZES[value]) for value in (*METHODS, "")]  # type: ignore[attr-defined]
            method.initial, bound.initial = usual.method, usual.bound * 100

    def wanted(self) -> list[Wanted]:
        """Sizes of the samples of negatives and positives."""
        data = self.cleaned_data
        return [Wanted(data[f"{name}_method"] or None, data[f"{name}_bound"] / 100) for name in USUAL]
