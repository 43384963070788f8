"""The form for how gold questions come in a queue."""

from __future__ import annotations

from django import forms

from labeling.gold.options import LARGEST_REPEAT_SHARE, LARGEST_SHARE, MOST_PRACTICE
from labeling.models import Queue


class GoldOptionsForm(forms.Form):
    """How gold questions come among the items of a queue."""

    gold_first_share = forms.FloatField(
        min_value=0, max_value=LARGEST_SHARE, label="Gold questions among a person's first 25 items (share)"
    )
    gold_share = forms.FloatField(
        min_value=0, max_value=LARGEST_SHARE, label="Gold questions among later items (share)"
    )
    practice_questions = forms.IntegerField(
        min_value=0, max_value=MOST_PRACTICE, label="Practice questions before the first item"
    )
    gold_pause = forms.ChoiceField(
        choices=Queue.GoldPause.choices, label="Who pauses somebody whose answers are too often wrong"
    )
    repeat_share = forms.FloatField(
        required=False,
        min_value=0,
        max_value=LARGEST_REPEAT_SHARE,
        label="A person's own earlier pairs shown again among later items (share)",
        help_text="Tells whether they say the same twice; the second verdict never counts, but costs one.",
    )

    def clean_repeat_share(self) -> float:
        """None is no share."""
        return self.cleaned_data["repeat_share"] or 0.0
