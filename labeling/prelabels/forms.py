from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.auth.models import User

from labeling.models import Prelabeler
from labeling.prelabels.costs import Prices
from labeling.prelabels.options import PROMPTS, allowed_servers, allowed_url, prelabeler_for
from labeling.prelabels.passes import MOST_CONCURRENCY, PassOptions
from labeling.prelabels.prompting import HIGHEST_GRADE
from pooling.interface.forms import FIRST, GroupedForm
from pooling.models import Collection

PROMPT_HELP = {
    "binary": "binary: relevant or not, with a short reason",
    "graded": "graded: 0 to 3, turned into a verdict by the threshold",
}


def _price(label: str) -> forms.DecimalField:
    return forms.DecimalField(
        required=False, min_value=0, max_value=10**6, max_digits=12, decimal_places=4, label=label
    )


class ModelForm(GroupedForm, forms.Form):
    GROUPS = {FIRST: ("model", "base_url"), "Cost": ("budget", "input_price", "output_price")}

    model = forms.CharField(max_length=200, help_text="As the server calls it.")
    base_url = forms.ChoiceField(label="Server")
    budget = forms.DecimalField(
        required=False,
        min_value=Decimal("0.0001"),
        max_digits=12,
        decimal_places=4,
        help_text="Asking stops before it can cost more. Empty: no limit.",
    )
    input_price = _price("Price per million tokens read")
    output_price = _price("Price per million tokens written")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["base_url"].choices = [(url, url) for url in allowed_servers()]  # type: ignore[attr-defined]
        price = "Both empty: the site's prices for the model."
        self.fields["output_price"].help_text = price

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        prices = [self.cleaned_data.get(name) for name in ("input_price", "output_price")]
        if (prices[0] is None) != (prices[1] is None):
            self.add_error("output_price", "Give both prices or neither.")
        return cleaned


class PassForm(ModelForm):
    GROUPS = {
        FIRST: ("model", "base_url", "prompt", "limit"),
        "Cost": ModelForm.GROUPS["Cost"],
        "Threshold, pace and retries": ("threshold", "concurrency", "retries_failed"),
    }

    prompt = forms.ChoiceField(choices=[(name, PROMPT_HELP[name]) for name in PROMPTS], initial=PROMPTS[0])
    threshold = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=HIGHEST_GRADE,
        label="Lowest grade that counts as relevant",
        help_text="For the graded prompt only. Empty: 2.",
    )
    limit = forms.IntegerField(
        required=False,
        min_value=1,
        label="Pairs at most",
        help_text="Drawn at random; 20 make a good sample for the estimate. Empty: all.",
    )
    concurrency = forms.IntegerField(
        initial=8, min_value=1, max_value=MOST_CONCURRENCY, label="Requests at a time"
    )
    retries_failed = forms.BooleanField(required=False, label="Retry pairs for which an earlier pass failed")

    def prelabeler(self, collection: Collection, by: User) -> Prelabeler:
        """The model and prompt that are asked for; `InputError` for what will not do."""
        data = self.cleaned_data
        return prelabeler_for(
            collection,
            data["model"],
            prompt=data["prompt"],
            base_url=allowed_url(data["base_url"]),
            threshold=data["threshold"],
            by=by,
        )

    def options(self) -> PassOptions:
        data = self.cleaned_data
        prices = None if data["input_price"] is None else Prices(data["input_price"], data["output_price"])
        names = ("concurrency", "limit", "budget", "retries_failed")
        return PassOptions(prices=prices, **{name: data[name] for name in names})


class ResumeForm(forms.Form):
    budget = forms.DecimalField(required=False, min_value=Decimal("0.0001"), max_digits=12, decimal_places=4)


class KeyForm(forms.Form):
    """A key for a server, which is never shown again."""

    key_server = forms.ChoiceField(label="Server")
    key = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Saved encrypted and never shown. Empty: removes the saved key.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["key_server"].choices = [(url, url) for url in allowed_servers()]  # type: ignore[attr-defined]


SIZES = {
    "zero_failures": "large enough to show that at most this share fails, if none in the sample does",
    "half_width": "large enough to know the rate to within this margin",
    "": "none",
}
