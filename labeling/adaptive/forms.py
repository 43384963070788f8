"""The form for how an adaptive queue spends and stops."""

from __future__ import annotations

from django import forms

from labeling.adaptive.options import MOST_LOOKS
from labeling.models import Selection


class LiveOptionsForm(forms.Form):
    """Whether labels move the order of what is left, and what ends it."""

    adaptive = forms.BooleanField(
        required=False,
        label="Adaptive: labels move the order of what is left",
        help_text="By the strategy of the pool, which must be one that learns. Unticked, the order is fixed "
        "and the pool's own choice is judged; leave budget and stopping as they are then.",
    )
    budget = forms.IntegerField(
        required=False,
        min_value=1,
        label="Budget: pairs in all",
        help_text="Empty: the pool's budget, or every pair.",
    )
    budget_rule = forms.ChoiceField(
        required=False,
        choices=Selection.Rule.choices,
        initial=Selection.Rule.EQUAL,
        label="The budget is spent on",
    )
    budget_floor = forms.IntegerField(
        required=False,
        min_value=0,
        label="Pairs that each query gets at least",
        help_text="Empty: none, or ten where the budget goes to what turns up.",
    )
    stop_missing = forms.FloatField(
        required=False,
        label="Stop when at most this share of what is relevant is missing",
        help_text="0.1 is a tenth, at 95 % confidence, by the audit of the pool. Empty: only budget and "
        "admins end a query.",
    )
    stop_looks = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_LOOKS,
        label="How often the audit is looked at",
        help_text="Fixed beforehand, because each look may err. Empty: 4 times.",
    )
    stop_over = forms.ChoiceField(
        required=False,
        choices=Selection.Over.choices,
        initial=Selection.Over.QUERY,
        label="What is missing is counted for",
    )
