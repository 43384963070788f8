"""The form of an audit by scores; the rules are the domain functions' own."""

from __future__ import annotations

from typing import Any

from django import forms

from labeling.models import Prelabeler
from labeling.queues.sampling import LARGEST_SAMPLE, LARGEST_SEED
from labeling.worth.audits import USUAL_PAIRS, USUAL_STRATA, AuditDraw
from labeling.worth.strata import MOST_STRATA
from pooling.models import Collection, Pool


class AuditForm(forms.Form):
    """From which pool, by whose scores, and how many pairs."""

    pool = forms.ModelChoiceField(Pool.objects.none(), empty_label=None)
    prelabeler = forms.ModelChoiceField(
        Prelabeler.objects.none(), empty_label=None, label="Model whose scores form the strata"
    )
    pairs = forms.IntegerField(
        initial=USUAL_PAIRS,
        min_value=1,
        max_value=LARGEST_SAMPLE,
        label="Pairs to judge",
        help_text="At least 30 for each stratum, or all of its pairs.",
    )
    strata = forms.IntegerField(
        initial=USUAL_STRATA,
        min_value=1,
        max_value=MOST_STRATA,
        label="Maximum number of score bands",
        help_text="Pairs without a score form an additional stratum.",
    )
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=LARGEST_SEED, help_text="Empty: drawn at random."
    )
    judgments_per_item = forms.IntegerField(
        required=False, min_value=1, max_value=20, label="Judgments per pair", help_text="Empty: 1."
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        pools = collection.pools.listed().exclude(strategy__in=Pool.PICKED).defer("diagnostics")
        self.fields["pool"].queryset = pools  # type: ignore[attr-defined]
        self.fields["prelabeler"].queryset = collection.prelabelers.listed()  # type: ignore[attr-defined]

    def draw(self) -> AuditDraw:
        """The draw that was asked for."""
        data = self.cleaned_data
        return AuditDraw(data["pairs"], data["strata"], data["seed"], data["judgments_per_item"] or 1)
