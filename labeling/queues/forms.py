from __future__ import annotations

from typing import Any

from django import forms

from labeling.adaptive.options import AdaptiveOptions
from labeling.gold.options import GoldOptions, GoldOptionsForm, site_options
from labeling.models import Queue
from labeling.queues.costs import OwnPrices
from labeling.queues.options import LATER, LaterOptions, QueueOptions
from pooling.interface.forms import FIRST, EditForm, GroupedForm
from pooling.interface.option_fields import form_fields
from pooling.models import Collection, Pool
from pooling.options import options_of


@form_fields(AdaptiveOptions, but=["prior"])
class AdaptiveOptionsForm(forms.Form):
    """Whether labels move the order of what is left, and what ends it."""

    adaptive = forms.BooleanField(
        required=False,
        label="Adaptive: labels move the order of what is left",
        help_text="The pool's strategy decides how, so it must be one that learns. Otherwise the order is "
        "fixed and the pool's own choice is judged; do not change budget and stopping then.",
    )


PRIOR = options_of(AdaptiveOptions)["prior"]


@form_fields(QueueOptions, judgments_per_item={"required": True})
class QueueForm(GroupedForm, AdaptiveOptionsForm, GoldOptionsForm):
    GROUPS = {
        FIRST: ("pool", "name", "public_name", "judgments_per_item"),
        "Adaptive order": ("adaptive", *options_of(AdaptiveOptions)),
        "Ties, shuffling and highlighting": ("most_judgments_per_item", "seed", "highlight"),
        "Gold questions, practice and repeats": tuple(options_of(GoldOptions)),
    }
    TICKS = {"Adaptive order": "adaptive"}

    pool = forms.ModelChoiceField(Pool.objects.none(), empty_label=None)
    name = forms.CharField(max_length=200, required=False, help_text="Empty: the name of the pool.")
    prior = forms.TypedChoiceField(
        required=False, coerce=int, empty_value=None, label=PRIOR.title, help_text=PRIOR.help
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        models = [(one.pk, str(one)) for one in collection.prelabelers.listed()]
        if models:
            self.fields["prior"].choices = [("", "no model"), *models]  # type: ignore[attr-defined]
        else:
            del self.fields["prior"]
        pools = collection.pools.listed().select_related("collection").defer("diagnostics")
        self.fields["pool"].queryset = pools  # type: ignore[attr-defined]
        for name, value in vars(site_options()).items():
            self.fields[name].required = False
            self.fields[name].initial = value


class QueueStateForm(forms.Form):
    state = forms.ChoiceField(choices=Queue.State.choices)


RAISED = (
    "If you raise it, settled pairs open again for other people. If you lower it, pairs with enough "
    "judgments are settled."
)


@form_fields(
    QueueOptions,
    but=["seed"],
    judgments_per_item={"required": True, "help_text": RAISED},
    highlight={"required": False},
)
@form_fields(LaterOptions)
@form_fields(OwnPrices)
class QueueSettingsForm(EditForm, forms.Form):
    field_order = [
        "public_name",
        "judgments_per_item",
        "most_judgments_per_item",
        "highlight",
        *LATER,
        "price_per_judgment",
        "currency",
        "overhead",
    ]

    currency = forms.CharField(max_length=12, required=False, help_text="Empty: the site's.")

    def __init__(self, data: Any = None, *, queue: Queue) -> None:
        super().__init__(data, initial={name: getattr(queue, name) for name in self.base_fields})
        self.carry()
