"""Forms for a new pool and for its next version."""

from __future__ import annotations

from typing import Any

from django import forms
from django.template.loader import render_to_string

from pooling.interface.forms import FIRST, numbered_name
from pooling.interface.option_fields import form_fields
from pooling.merging.choice import USUAL_AUDIT_SHARE, USUAL_STRATEGY, Choice, offered_choice
from pooling.models import Collection, Pool, Run
from pooling.options.option import chosen, options_of
from pooling.pools.versions import Extension, next_name, other_runs
from pooling.runs.depths import HELP, RunChoices, RunDepthsForm
from pooling.strategies import RECOMMENDED

# Strategies to choose from in a form: those we recommend as cards, the others below.


class StrategyChoices(forms.RadioSelect):
    """Radio buttons of strategies; the recommended ones come first and say when to choose them."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        context = self.get_context(name, value, attrs)["widget"]
        options = {option["value"]: option for _, group, _ in context["optgroups"] for option in group}
        cards = [
            {"option": options[strategy], "why": why}
            for strategy, why in RECOMMENDED.items()
            if strategy in options
        ]
        others = [
            (heading, [option for option in group if option["value"] not in RECOMMENDED])
            for heading, group, _ in context["optgroups"]
        ]
        is_other = any(option["selected"] for _, group in others for option in group)
        rows = {"widget": context, "cards": cards, "others": others, "is_other": is_other}
        return render_to_string("pooling/_strategy_choices.html", rows)


BUDGET = ("budget", "audit_share", "reach", "seed")


@form_fields(
    Choice,
    strategy={"required": True, "widget": StrategyChoices, "initial": USUAL_STRATEGY},
    audit_share={"initial": f"{USUAL_AUDIT_SHARE:g}"},
)
class PoolForm(RunDepthsForm):
    GROUPS = {
        FIRST: ("runs", "depth", "strategy", "name"),
        "Budget and audit": BUDGET,
        "Order of each run": ("ties", "scores"),
    }

    name = forms.CharField(max_length=200)
    runs = forms.ModelMultipleChoiceField(Run.objects.none(), widget=RunChoices, help_text=HELP)

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.collection = collection
        self.fields["runs"].initial = list(collection.runs.listed().values_list("pk", flat=True))
        self.fields["runs"].queryset = collection.runs.listed().defer("preflight")  # type: ignore[attr-defined]
        self.fields["name"].initial = numbered_name(
            "Pool", set(collection.pools.values_list("name", flat=True))
        )
        self.show_depths()

    def choice(self) -> Choice:
        """An empty field takes its default."""
        return offered_choice(chosen(Choice, self.cleaned_data))


@form_fields(Extension, depth={"required": True}, strategy={"required": True, "widget": StrategyChoices})
class ExtensionForm(RunDepthsForm):
    """Additions of the next version of a pool."""

    GROUPS = {
        FIRST: ("runs", "depth", "name"),
        "Strategy": ("strategy",),
        "Budget and audit": BUDGET,
    }

    name = forms.CharField(max_length=200)
    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(), required=False, widget=RunChoices, label="New runs", help_text=HELP
    )

    def __init__(self, pool: Pool, data: Any = None) -> None:
        kept = {
            name: getattr(pool, name) for name in options_of(Extension) if name not in ("budget", "depths")
        }
        super().__init__(data, initial={**kept, "name": next_name(pool)})
        others = other_runs(pool)
        self.fields["runs"].queryset = others  # type: ignore[attr-defined]
        self.fields["runs"].initial = list(others.values_list("pk", flat=True))
        if not self.fields["runs"].initial:
            self.fields["runs"].widget = forms.MultipleHiddenInput()
        self.show_depths()

    def extension(self) -> Extension:
        """An empty field is as in the pool."""
        return Extension(**chosen(Extension, self.cleaned_data))
