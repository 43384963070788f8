"""The form of a plan: read from the address, so that every plan has one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings as site

from evaluation.plans.settings import (
    ANNOTATORS,
    DEPTH,
    HOURS_IN_A_WEEK,
    HOURS_PER_WEEK,
    LONGEST_JUDGMENT,
    MOST_ANNOTATORS,
    PlanSettings,
    settings_from,
)
from labeling.adaptive.forms import LiveOptionsForm
from labeling.gold.options import LARGEST_REPEAT_SHARE, LARGEST_SHARE, MOST_PRACTICE
from labeling.queues.costs import HIGHEST_OVERHEAD, HIGHEST_PRICE
from labeling.queues.options import MOST_JUDGMENTS_PER_ITEM
from pooling.interface.problems import InputError
from pooling.merging.choice import Choice, strategies_offered
from pooling.models import Collection
from pooling.options.option import options_of
from pooling.runs.depths import HELP, RunChoices, RunDepthsForm

FROM_COLLECTION = "Empty: as this collection shows, else as the page says."


class PlanForm(RunDepthsForm, LiveOptionsForm):
    """What a pool and its queue would be, and what is supposed of the people who judge."""

    runs = forms.MultipleChoiceField(required=False, widget=RunChoices, help_text=HELP)
    depth = forms.IntegerField(min_value=1, initial=DEPTH, help_text="How far down each run's list to go.")
    strategy = forms.ChoiceField(initial="rrf", help_text=options_of(Choice)["strategy"].help)
    adaptive = forms.BooleanField(
        required=False,
        label="Adaptive: labels move the order of what is left",
        help_text="For a strategy that learns. What stands below is for such a queue alone.",
    )
    budget = forms.IntegerField(
        min_value=1, required=False, help_text="Pairs to judge in all, audit included. Empty: all of them."
    )
    audit_share = forms.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        label="Audit share",
        help_text="Share of the budget drawn at random, so that estimates stay honest; 0.1 is a tenth.",
    )
    judgments_per_item = forms.IntegerField(
        min_value=1, max_value=MOST_JUDGMENTS_PER_ITEM, required=False, label="Judgments per pair"
    )
    most_judgments_per_item = forms.IntegerField(
        min_value=2,
        max_value=MOST_JUDGMENTS_PER_ITEM,
        required=False,
        label="At most, where judgments tie",
        help_text="2 and at most 3 is a third opinion where two differ. Empty: no more on a tie.",
    )
    gold_share = forms.FloatField(
        min_value=0,
        max_value=LARGEST_SHARE,
        required=False,
        label="Gold questions among later items (share)",
        help_text="Empty: the site's share, or none while the collection has no gold questions.",
    )
    gold_first_share = forms.FloatField(
        min_value=0,
        max_value=LARGEST_SHARE,
        required=False,
        label="Gold questions among a person's first 25 items (share)",
        help_text="Empty: likewise.",
    )
    practice_questions = forms.IntegerField(
        min_value=0,
        max_value=MOST_PRACTICE,
        required=False,
        help_text="Before the first item. Empty: likewise.",
    )
    repeat_share = forms.FloatField(
        min_value=0, max_value=LARGEST_REPEAT_SHARE, required=False, label="Own earlier pairs again (share)"
    )
    price_per_judgment = forms.FloatField(
        min_value=0, max_value=HIGHEST_PRICE, required=False, help_text="Empty: as the site's settings say."
    )
    overhead = forms.FloatField(
        min_value=0,
        max_value=HIGHEST_OVERHEAD,
        required=False,
        help_text="A share that is added, such as fees: 0.2 adds a fifth. Empty: the site's.",
    )
    annotators = forms.IntegerField(
        min_value=1, max_value=MOST_ANNOTATORS, required=False, initial=ANNOTATORS
    )
    seconds_per_judgment = forms.FloatField(
        min_value=0.1, max_value=LONGEST_JUDGMENT, required=False, help_text=FROM_COLLECTION
    )
    hours_per_week = forms.FloatField(
        min_value=0.1,
        max_value=HOURS_IN_A_WEEK,
        required=False,
        initial=HOURS_PER_WEEK,
        help_text="What one annotator judges, without breaks.",
    )
    tie_share = forms.FloatField(
        min_value=0, max_value=1, required=False, label="Pairs that tie (share)", help_text=FROM_COLLECTION
    )
    relevant_share = forms.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        label="Relevant pairs of the pool (share)",
        help_text="For the interval's width. Empty: by the labels there are, else a range.",
    )
    k = forms.IntegerField(
        min_value=1, required=False, label="K", help_text="Cutoff of the recalls. Empty: 10, or the depth."
    )

    def __init__(self, collection: Collection, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        names = collection.runs.values_list("name", flat=True)
        self.fields["runs"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
        self.fields["strategy"].choices = strategies_offered()  # type: ignore[attr-defined]
        price = self.fields["price_per_judgment"]
        price.label = f"Price per judgment ({site.CURRENCY})"
        self.show_depths()

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField], bool]]:
        """The fields under their headings, and whether they are shown at once."""
        opened = {"Pool", "Queue", *([ORDER] if self.data.get("adaptive") else [])}
        return [
            (
                heading,
                fields := [self[name] for name in names],
                heading in opened or any(f.errors for f in fields),
            )
            for heading, names in GROUPS.items()
        ]

    def plan_settings(self) -> PlanSettings:
        """What is asked for; call it after `is_valid`. `InputError` for what does not go together."""
        return settings_from(self.cleaned_data)

    def refuse(self, error: InputError) -> None:
        """Show a refusal beside the fields it is about."""
        for field, sentence in (error.fields or {"": str(error)}).items():
            self.add_error(field if field in self.fields else None, sentence)


ORDER = "Adaptive order"
GROUPS = {
    "Pool": ["runs", "depth", "strategy", "budget", "audit_share"],
    "Queue": [
        *("judgments_per_item", "most_judgments_per_item"),
        *("gold_share", "gold_first_share", "practice_questions", "repeat_share"),
    ],
    ORDER: [
        *("adaptive", "budget_rule", "budget_floor", "stop_missing", "stop_looks", "stop_over"),
    ],
    "People": ["annotators", "hours_per_week", "seconds_per_judgment", "price_per_judgment", "overhead"],
    "Suppositions": ["tie_share", "relevant_share", "k"],
}
DEFAULTS = {"depth": str(DEPTH), "strategy": "rrf"}
# These stand in their fields even where the address has them empty.
FILLED = {"annotators": f"{ANNOTATORS}", "hours_per_week": f"{HOURS_PER_WEEK:g}", "judgments_per_item": "1"}


def asked_for(collection: Collection, given: Any) -> PlanForm:
    """The form filled with the address's parameters; what is not there has its default, and no run is all."""
    data = given.copy()
    for name, value in DEFAULTS.items():
        data.setdefault(name, value)
    for name, value in FILLED.items():
        if not data.get(name):
            data[name] = value
    if not data.getlist("runs"):
        data.setlist("runs", collection.runs.values_list("name", flat=True))
    return PlanForm(collection, data)
