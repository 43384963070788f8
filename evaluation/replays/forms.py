"""The form for a new replay; as it stands, it compares all strategies on the labels there are."""

from __future__ import annotations

import re
from typing import Any

from django import forms

from evaluation.replays.stored import BUDGETS, DEPTH, MOST_SEEDS, ReplayRequest
from labeling.models import QrelsRelease
from pooling.interface.forms import FIRST, GroupedForm
from pooling.merging.choice import strategies_offered
from pooling.models import Collection, Run
from pooling.strategies import STRATEGIES


class ReplayForm(GroupedForm, forms.Form):
    """Runs, labels, strategies, and how labels come in."""

    GROUPS = {
        FIRST: ("release", "runs", "depth"),
        "What to compare": ("strategies",),
        "Budgets, and how labels come in": ("budgets", "seeds", "noise", "batch"),
        "Name and K": ("name", "k"),
    }

    name = forms.CharField(max_length=200, required=False, help_text="Empty: named after labels and depth.")
    release = forms.ModelChoiceField(
        QrelsRelease.objects.none(),
        required=False,
        empty_label="The labels as they stand now",
        label="Labels",
        help_text="Those of a release can be replayed again later, with the same result.",
    )
    runs = forms.ModelMultipleChoiceField(Run.objects.none(), widget=forms.CheckboxSelectMultiple)
    depth = forms.IntegerField(min_value=1, help_text="How far down each run's list the pool goes.")
    strategies = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)
    budgets = forms.CharField(
        max_length=200,
        help_text="Shares of each query's pool at which to look; 0.25 is a quarter.",
    )
    seeds = forms.IntegerField(
        min_value=1,
        max_value=MOST_SEEDS,
        initial=1,
        help_text="How often to repeat what depends on chance; the mean is shown, with its spread.",
    )
    noise = forms.FloatField(
        initial=0,
        help_text="Share of wrong labels, since people make mistakes; 0.1 is one in ten. Below 0.5.",
    )
    batch = forms.IntegerField(
        min_value=1,
        initial=1,
        help_text="Labels revealed to a strategy at a time. With several annotators, about ten.",
    )
    k = forms.IntegerField(
        min_value=1, required=False, label="K", help_text="Cutoff of the recalls. Empty: the depth."
    )

    def __init__(self, data: Any = None, *, collection: Collection) -> None:
        super().__init__(data, label_suffix="")
        runs = collection.runs.listed().defer("preflight")
        self.fields["release"].queryset = collection.releases.listed().defer("sidecar")  # type: ignore[attr-defined]
        self.fields["runs"].queryset = runs  # type: ignore[attr-defined]
        self.fields["runs"].initial = [run.pk for run in runs]
        self.fields["depth"].initial = min(DEPTH, max((run.depth for run in runs), default=DEPTH))
        self.fields["strategies"].choices = strategies_offered()  # type: ignore[attr-defined]
        self.fields["strategies"].initial = list(STRATEGIES)
        self.fields["budgets"].initial = " ".join(map(str, BUDGETS))

    def clean_budgets(self) -> list[float]:
        """The shares as numbers; spaces, semicolons and commas after a space part them."""
        words = [word for word in re.split(r"[\s;]+|,\s", self.cleaned_data["budgets"]) if word]
        try:
            return [float(word) for word in words]
        except ValueError:
            raise forms.ValidationError(
                "Write shares as numbers separated by spaces, such as 0.1 0.25 0.5."
            ) from None

    def request(self) -> ReplayRequest:
        """Call it after `is_valid`."""
        values = self.cleaned_data
        return ReplayRequest(
            name=values["name"] or None,
            release=values["release"].name if values["release"] else None,
            runs=[run.name for run in values["runs"]],
            **{
                name: values[name]
                for name in ("depth", "strategies", "budgets", "seeds", "noise", "batch", "k")
            },
        )
