from __future__ import annotations

from typing import Any

from django import forms

from labeling.gold.options import GoldOptions
from labeling.models import Queue
from pooling.interface.forms import EditForm
from pooling.interface.option_fields import form_fields


@form_fields(GoldOptions, gold_pause={"required": True})
class GoldOptionsForm(forms.Form):
    def clean_repeat_share(self) -> float:
        """None is no share."""
        return self.cleaned_data["repeat_share"] or 0.0


class GoldSettingsForm(EditForm, GoldOptionsForm):
    """The same of a queue that is open."""

    def __init__(self, data: Any = None, *, queue: Queue) -> None:
        super().__init__(data, initial={name: getattr(queue, name) for name in self.base_fields})
        self.carry()
