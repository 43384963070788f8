"""The form for how an adaptive queue spends and stops."""

from __future__ import annotations

from django import forms

from labeling.adaptive.options import AdaptiveOptions
from pooling.interface.option_fields import form_fields


@form_fields(AdaptiveOptions, but=["prior"])
class AdaptiveOptionsForm(forms.Form):
    """Whether labels move the order of what is left, and what ends it."""

    adaptive = forms.BooleanField(
        required=False,
        label="Adaptive: labels move the order of what is left",
        help_text="The pool's strategy decides how, so it must be one that learns. Otherwise the order is "
        "fixed and the pool's own choice is judged; do not change budget and stopping then.",
    )
