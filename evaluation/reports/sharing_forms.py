"""The form for a link: until when, for whom, and whether a comparison is shared."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.comparisons.page import PairView
from evaluation.comparisons.stored import compared
from evaluation.models import Report
from evaluation.report_store.shared_links import LONGEST_NOTE, USUAL_DAYS, Sharing
from pooling.interface.problems import InputError

DAYS = (7, 30, 90)


class ShareForm(forms.Form):
    """A link to make; a day, where one is given, counts and not the days."""

    days = forms.TypedChoiceField(
        choices=[(days, f"{days} days") for days in DAYS], coerce=int, empty_value=None, required=False
    )
    until = forms.DateField(required=False)
    note = forms.CharField(required=False, max_length=LONGEST_NOTE)

    def __init__(self, data: Any = None, *, report: Report) -> None:
        super().__init__(data)
        self._report = report

    def sharing(self) -> Sharing:
        """The valid form with the two runs and the K of a comparison, where it names some; `InputError`
        says what is wrong."""
        if not self.is_valid():
            field, errors = next(iter(self.errors.items()))
            raise InputError(" ".join(str(error) for error in errors), field=field)
        given = self.cleaned_data
        first, second, k = "", "", None
        if self.data.get("a"):
            first, second, k = chosen_pair(self._report, self.data)
        days = given["days"] or USUAL_DAYS
        return Sharing(days, given["until"], given["note"], first=first, second=second, k=k)


def chosen_pair(report: Report, data: Any) -> tuple[str, str, int]:
    """The runs `a` and `b` and the K that `data` names; `InputError` where they are not compared."""
    comparisons = compared(report)
    if comparisons is None:
        raise InputError("This report has no comparisons.", field="a")
    view = PairView(data, comparisons=comparisons)
    chosen = view.choice()
    if view.errors:
        raise InputError("Name two runs of this report as a and b, and a K that it has.", field="a")
    return chosen.a, chosen.b, chosen.k
