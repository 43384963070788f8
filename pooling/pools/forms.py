"""Forms for a new pool and for its next version."""

from __future__ import annotations

from typing import Any

from django import forms

from pooling.models import Collection, Pool, Run
from pooling.pools.versions import next_name, runs_beside
from pooling.runs.depths import HELP, RunChoices, RunDepthsForm

STRATEGY_HELP = (
    "The order in which pairs are worth judging. "
    "One that learns takes the order it would have with no label yet."
)


def strategy_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """The strategies under their headings, each with what it does."""
    from pooling.strategies import grouped

    return [
        (heading, [(kind.name, f"{kind.name}: {kind.summary}") for kind in kinds])
        for heading, kinds in grouped().items()
    ]


class PoolForm(RunDepthsForm):
    """How to choose the pairs of a pool."""

    name = forms.CharField(max_length=200)
    runs = forms.ModelMultipleChoiceField(Run.objects.none(), widget=RunChoices, help_text=HELP)
    depth = forms.IntegerField(min_value=1, initial=10, help_text="How far down each run's list to go.")
    strategy = forms.ChoiceField(initial="rrf", help_text=STRATEGY_HELP)
    budget = forms.IntegerField(
        min_value=1,
        required=False,
        help_text="Pairs to judge in all, audit included. Empty: all of them.",
    )
    audit_share = forms.FloatField(
        min_value=0,
        max_value=1,
        initial=0,
        required=False,
        label="Audit share",
        help_text="Share of the budget drawn at random, so that estimates stay honest; 0.1 is a tenth.",
    )
    seed = forms.IntegerField(
        initial=0, required=False, help_text="Draws the audit; the same seed, the same pool."
    )
    ties = forms.ChoiceField(
        initial="docid",
        required=False,
        choices=[
            ("docid", "document id, falling (as trec_eval)"),
            ("docid-asc", "document id, rising"),
            ("file", "order of the file"),
            ("rank", "the file's rank"),
        ],
        help_text="What decides between equal scores.",
    )
    scores = forms.ChoiceField(
        initial="float64",
        required=False,
        choices=[("float64", "double"), ("float32", "single (as trec_eval 9)")],
        label="Precision of scores",
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["runs"].initial = [run.pk for run in collection.runs.only("pk")]
        self.fields["runs"].queryset = collection.runs.defer("preflight")  # type: ignore[attr-defined]
        self.fields["strategy"].choices = strategy_choices()  # type: ignore[attr-defined]
        self.show_depths()

    def choice(self) -> dict[str, Any]:
        """The arguments of `build_pool` besides the runs; an empty field takes its default."""
        defaults = {"audit_share": 0.0, "seed": 0, "ties": "docid", "scores": "float64"}
        given = {name: value for name, value in self.cleaned_data.items() if name != "runs"}
        return {name: defaults.get(name) if value in (None, "") else value for name, value in given.items()}


class ExtensionForm(RunDepthsForm):
    """What the next version of a pool has more."""

    name = forms.CharField(max_length=200)
    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(), required=False, widget=RunChoices, label="New runs", help_text=HELP
    )
    depth = forms.IntegerField(min_value=1, help_text="At least as deep as now.")
    strategy = forms.ChoiceField(help_text="The order in which the new pairs are judged.")
    budget = forms.IntegerField(
        min_value=1, required=False, help_text="New pairs to judge, audit included. Empty: all of them."
    )
    audit_share = forms.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        label="Audit share",
        help_text="Of that budget. The new pairs have an audit of their own; the earlier one stays as it is.",
    )
    seed = forms.IntegerField(required=False, help_text="Draws the audit of the new pairs.")

    def __init__(self, pool: Pool, data: Any = None) -> None:
        initial = {name: getattr(pool, name) for name in ("depth", "strategy", "audit_share", "seed")}
        super().__init__(data, initial={**initial, "name": next_name(pool)})
        others = runs_beside(pool)
        self.fields["runs"].queryset = others  # type: ignore[attr-defined]
        self.fields["runs"].initial = [run.pk for run in others.only("pk")]
        if not self.fields["runs"].initial:
            self.fields["runs"].widget = forms.MultipleHiddenInput()
        self.fields["strategy"].choices = strategy_choices()  # type: ignore[attr-defined]
        self.show_depths()

    def asked(self) -> dict[str, Any]:
        """The arguments of `extend_pool` besides the runs; an empty field is as in the pool."""
        given = {name: value for name, value in self.cleaned_data.items() if name != "runs"}
        return {name: None if value == "" else value for name, value in given.items()}
