from __future__ import annotations

from django import forms

from labeling.gold.options import GoldOptions
from pooling.interface.option_fields import form_fields


@form_fields(GoldOptions, gold_pause={"required": True})
class GoldOptionsForm(forms.Form):
    def clean_repeat_share(self) -> float:
        """None is no share."""
        return self.cleaned_data["repeat_share"] or 0.0
