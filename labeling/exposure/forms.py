from __future__ import annotations

from typing import Any

from django import forms

from labeling.exposure.use import USUAL_BLIND, PrelabelUse, use_of
from labeling.models import Prelabeler, PrelabelMode, Queue
from pooling.interface.forms import EditForm

MODES = (
    (PrelabelMode.BLIND, "never (blind)"),
    (PrelabelMode.REVEAL, "after a verdict that they contradict (reveal)"),
    (PrelabelMode.ASSIST, "before the verdict (assist)"),
)


class UseForm(EditForm, forms.Form):
    mode = forms.ChoiceField(choices=MODES, label="Pre-labels are shown", widget=forms.RadioSelect)
    prelabeler = forms.ModelChoiceField(
        Prelabeler.objects.none(), required=False, label="Pre-labels of", empty_label="no model"
    )
    blind_share = forms.FloatField(
        label="Share that stays blind",
        initial=USUAL_BLIND,
        help_text="The control arm: pairs drawn at random, in every mode. Annotators cannot tell which.",
    )
    second_opinion_from = forms.FloatField(
        required=False,
        label="Second opinion from this confidence",
        help_text="Such as 0.9: a verdict that contradicts a score of 0.9 or more, or 0.1 or less, "
        "asks for one more judgment by another person. Empty: no second opinions.",
    )
    understood = forms.BooleanField(
        required=False,
        label="I have read how assistance affects people",
        help_text="Required to show pre-labels before the verdict.",
    )

    def __init__(self, queue: Queue, data: Any = None) -> None:
        use = use_of(queue)
        names = ("mode", "prelabeler", "blind_share", "second_opinion_from")
        super().__init__(data, initial={name: getattr(use, name) for name in names})
        prelabelers = Prelabeler.objects.filter(collection=queue.collection_id).listed()
        self.fields["prelabeler"].queryset = prelabelers  # type: ignore[attr-defined]
        self.carry()

    def use(self) -> PrelabelUse:
        names = ("mode", "prelabeler", "blind_share", "second_opinion_from")
        return PrelabelUse(**{name: self.cleaned_data[name] for name in names})
