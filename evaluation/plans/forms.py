"""The form of a plan: read from the address, so that every plan has one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings as site

from evaluation.plans.settings import OF_ADAPTIVE, PlanSettings, settings_offered
from pooling.interface.option_fields import form_fields
from pooling.merging.choice import usual_reach
from pooling.models import Collection
from pooling.runs.depths import HELP, RunChoices, RunDepthsForm

# Nobody judges in no time.
SOME_TIME = {"min_value": 0.1}


@form_fields(
    PlanSettings,
    depth={"required": True},
    strategy={"required": True},
    seconds_per_judgment=SOME_TIME,
    hours_per_week=SOME_TIME,
)
class PlanForm(RunDepthsForm):
    """The settings of a pool and its queue, and assumptions about the people who judge."""

    GROUPS = {
        "Pool": ("runs", "depth", "strategy", "budget", "audit_share", "reach"),
        "Queue": (
            *("judgments_per_item", "most_judgments_per_item"),
            *("gold_share", "gold_first_share", "practice_questions", "repeat_share"),
        ),
        "Adaptive order": ("adaptive", *OF_ADAPTIVE),
        "People": ("annotators", "hours_per_week", "seconds_per_judgment", "price_per_judgment", "overhead"),
        "Suppositions": ("tie_share", "relevant_share", "k"),
    }
    TICKS = {"Adaptive order": "adaptive"}
    OPEN = ("Pool",)

    runs = forms.MultipleChoiceField(required=False, widget=RunChoices, help_text=HELP)

    def __init__(self, collection: Collection, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        names = collection.runs.listed().values_list("name", flat=True)
        self.fields["runs"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
        price = self.fields["price_per_judgment"]
        price.label = f"Price per judgment ({site.CURRENCY})"
        self.show_depths()

    def plan_settings(self) -> PlanSettings:
        """Call it after `is_valid`. `InputError` for what does not go together."""
        return settings_offered(self.cleaned_data)


USUAL = PlanSettings()
DEFAULTS = {"depth": f"{USUAL.depth}", "strategy": USUAL.strategy}
# Filled in even if the address has them empty.
FILLED = {
    name: f"{getattr(USUAL, name):g}" for name in ("annotators", "hours_per_week", "judgments_per_item")
}


def filled_form(collection: Collection, given: Any) -> PlanForm:
    """The form filled with the address's parameters; what is not there has its default, and no run is all."""
    data = given.copy()
    for name, value in DEFAULTS.items():
        data.setdefault(name, value)
    for name, value in FILLED.items():
        if not data.get(name):
            data[name] = value
    if not data.getlist("runs"):
        data.setlist("runs", collection.runs.listed().values_list("name", flat=True))
    # An audit that is asked for without a reach draws from the pool.
    if not data.get("audit_share"):
        data.setdefault("audit_share", f"{USUAL.audit_share:g}")
        data.setdefault("reach", f"{usual_reach(_deepest(PlanForm(collection, data)))}")
    return PlanForm(collection, data)


def _deepest(form: PlanForm) -> int:
    """No rank of the pool is below this one, as far as the depths asked for are numbers."""
    form.full_clean()
    given = form.cleaned_data
    depths: list[int] = [given.get("depth") or 1, *(given.get("depths") or {}).values()]
    return max(depths)
