"""Forms for queues."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms

from labeling.adaptive.forms import LiveOptionsForm
from labeling.gold.forms import GoldOptionsForm
from labeling.gold.options import site_options
from labeling.models import Queue
from labeling.queues.costs import HIGHEST_OVERHEAD, HIGHEST_PRICE
from labeling.queues.opening import MOST_JUDGMENTS_PER_ITEM
from pooling.models import Collection, Pool


def _most_judgments() -> forms.IntegerField:
    return forms.IntegerField(
        required=False,
        min_value=2,
        max_value=MOST_JUDGMENTS_PER_ITEM,
        label="At most, where judgments tie",
        help_text="One more person is asked while as many say relevant as not: 2 and at most 3 is a third "
        "opinion where two differ. Empty: a tie goes to adjudication at once.",
    )


class QueueForm(LiveOptionsForm, GoldOptionsForm):
    """What to judge, how often each pair, and how gold questions come."""

    field_order = [
        *("pool", "name", "judgments_per_item", "most_judgments_per_item", "seed", "adaptive"),
        *("prior", "budget", "budget_rule", "budget_floor", "stop_missing", "stop_looks", "stop_over"),
    ]

    pool = forms.ModelChoiceField(Pool.objects.none(), empty_label=None)
    name = forms.CharField(
        max_length=200, required=False, help_text="Left empty, the queue is called as its pool."
    )
    judgments_per_item = forms.IntegerField(
        min_value=1,
        max_value=MOST_JUDGMENTS_PER_ITEM,
        initial=1,
        label="Judgments per pair",
        help_text="How many people judge each pair. An odd number leaves no ties.",
    )
    most_judgments_per_item = _most_judgments()
    seed = forms.IntegerField(
        required=False,
        min_value=-(2**63),
        max_value=2**63 - 1,
        help_text="Shuffles the order; the same seed, the same order. Empty: drawn and stored.",
    )
    prior = forms.TypedChoiceField(
        required=False,
        coerce=int,
        empty_value=None,
        label="Adaptive: the order starts from the scores of",
        help_text="They count as half as many runs again, until labels tell what they are worth.",
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        models = [(one.pk, str(one)) for one in collection.prelabelers.asked()]
        if models:
            self.fields["prior"].choices = [("", "no model"), *models]  # type: ignore[attr-defined]
        else:
            del self.fields["prior"]
        pools = collection.pools.select_related("collection").defer("diagnostics")
        self.fields["pool"].queryset = pools  # type: ignore[attr-defined]
        for name, value in asdict(site_options()).items():
            self.fields[name].required = False
            self.fields[name].initial = value


class QueueStateForm(forms.Form):
    """Open, paused or closed."""

    state = forms.ChoiceField(choices=Queue.State.choices)


class QueueSettingsForm(forms.Form):
    """How many judgments a pair needs, and what one costs."""

    judgments_per_item = forms.IntegerField(
        min_value=1,
        max_value=MOST_JUDGMENTS_PER_ITEM,
        label="Judgments per pair",
        help_text="Raised, settled pairs open again for others; lowered, those that have enough are settled.",
    )
    most_judgments_per_item = _most_judgments()
    price_per_judgment = forms.FloatField(
        min_value=0,
        max_value=HIGHEST_PRICE,
        required=False,
        label="Price per judgment",
        help_text="Empty: as the site's settings say.",
    )
    currency = forms.CharField(max_length=12, required=False, help_text="Empty: the site's.")
    overhead = forms.FloatField(
        min_value=0,
        max_value=HIGHEST_OVERHEAD,
        required=False,
        help_text="A share that is added, such as fees: 0.2 adds a fifth. Empty: the site's.",
    )
