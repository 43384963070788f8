from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from evaluation.comparisons.answer import best_first
from evaluation.estimates.pool_choice import pools_to_rest_on
from evaluation.measures import MEASURES as ALL_MEASURES
from evaluation.models import Report
from evaluation.report_store.choices import MEASURES, default_cutoffs, tagged_queries
from evaluation.report_store.files import run_names
from evaluation.report_store.options import headline_k
from evaluation.reports.making import ReportRequest
from evaluation.reports.weighing import WEIGHTS, has_draw
from evaluation.scoring.config import LARGEST_FILE, SETTINGS, Settings, parse_settings
from evaluation.scoring.conventions import CHOICES, CONVENTIONS, PRESET, PRESET_TITLES, Conventions
from labeling.models import QrelsRelease
from pooling.interface.forms import FIRST, AddressForm, GroupedForm
from pooling.interface.option_fields import form_field, form_fields
from pooling.models import Collection, Pool, Run
from pooling.options import Option

AS_PRESET = ("", "as the preset says")


def _or_as_preset(one: Option) -> dict[str, Any]:
    """A convention that a preset may settle; a form with nothing chosen leaves it to the preset."""
    assert isinstance(one.choices, Mapping)
    return {"choices": [AS_PRESET, *one.choices.items()], "initial": ""}


OF_PRESET: Any = {name: _or_as_preset(CONVENTIONS[name]) for name in CHOICES}


@form_fields(Settings)
@form_fields(Conventions, min_relevance={"required": True}, **OF_PRESET)
class ReportForm(GroupedForm, forms.Form):
    GROUPS = {
        FIRST: ("release", "runs", "k"),
        "Name and measures": ("name", "measures", "at_own_k"),
        "Conventions": ("preset", *CONVENTIONS),
        "Intervals and estimates": ("weights", "confidence", "samples", "seed", "margin", "pool"),
        "Queries and checks": ("tags", "minimum_queries", "thresholds"),
    }

    name = forms.CharField(max_length=200, required=False, help_text="Empty: named after its release.")
    release = forms.ModelChoiceField(
        QrelsRelease.objects.none(),
        empty_label=None,
        label="Qrels release",
        help_text="The labels to measure on; the newest is chosen.",
    )
    runs = forms.ModelMultipleChoiceField(Run.objects.none(), widget=forms.CheckboxSelectMultiple)
    pool = forms.ChoiceField(
        required=False,
        label="Estimates rest on",
        help_text="The pool whose audit the estimates use; without an audit there are no estimates.",
    )
    weights = forms.ChoiceField(
        required=False,
        choices=[("", "to the traffic, where every scored query was drawn"), *WEIGHTS.items()],
        label="A drawn query counts",
        help_text="Queries that were drawn from a log stand for others.",
    )
    k = forms.CharField(max_length=400, label=SETTINGS["k"].title, help_text=SETTINGS["k"].help)
    measures = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, help_text=SETTINGS["measures"].help
    )
    at_own_k = forms.CharField(
        required=False,
        max_length=400,
        label="Measures at their own K",
        help_text="For instance ndcg@10 map@10; the report has that K for all.",
    )
    preset = form_field(PRESET, choices=[("", "Soundings"), *PRESET_TITLES.items()], help_text=PRESET.help)
    tags = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=SETTINGS["tags"].title,
        help_text=SETTINGS["tags"].help,
    )
    thresholds = forms.CharField(
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=SETTINGS["thresholds"].help,
    )

    def __init__(self, data: Any = None, *, collection: Collection, settings: Settings | None = None) -> None:
        """`settings` fill the form in where they say something."""
        super().__init__(data, label_suffix="")
        self.collection = collection
        releases, runs = collection.releases.listed(), collection.runs.listed()
        pools = pools_to_rest_on(collection)
        self._offer_pools(pools)
        if not has_draw(collection):
            del self.fields["weights"]
        self._choose("release", releases, releases.first())
        self._choose("runs", runs, [run.pk for run in runs])
        self.fields["k"].initial = " ".join(str(k) for k in default_cutoffs(list(runs), pools))
        self.fields["measures"].choices = [  # type: ignore[attr-defined]
            (name, measure.title) for name, measure in ALL_MEASURES.items()
        ]
        self.fields["measures"].initial = list(MEASURES)
        self._offer_tags(tagged_queries(collection), settings)
        if settings:
            self._fill(settings)

    def _offer_pools(self, pools: Sequence[Pool]) -> None:
        if not pools:
            del self.fields["pool"]
            return
        self.fields["pool"].choices = [  # type: ignore[attr-defined]
            ("", "the one whose audit is furthest answered"),
            *((pool.name, pool.name) for pool in pools),
        ]

    def _offer_tags(self, by_tag: Mapping[str, list[str]], settings: Settings | None) -> None:
        tags = dict.fromkeys([*by_tag, *((settings and settings.tags) or ())])
        if not tags:
            del self.fields["tags"]
            return
        self.fields["tags"].choices = [  # type: ignore[attr-defined]
            (tag, f"{tag} ({len(by_tag.get(tag, ()))})") for tag in tags
        ]

    def _fill(self, settings: Settings) -> None:
        values: dict[str, Any] = {**settings.conventions}
        if settings.k:
            values["k"] = " ".join(map(str, settings.k))
        if settings.measures:
            values["measures"] = [name for name in settings.measures if "@" not in name]
            values["at_own_k"] = " ".join(name for name in settings.measures if "@" in name)
        for name in ("confidence", "samples", "seed", "margin", "tags", "minimum_queries"):
            if getattr(settings, name) is not None:
                values[name] = getattr(settings, name)
        if settings.thresholds:
            values["thresholds"] = "\n".join(f"{key} = {least}" for key, least in settings.thresholds.items())
        self.initial = values

    def _choose(self, name: str, queryset: Any, initial: Any) -> None:
        field = self.fields[name]
        field.queryset = queryset  # type: ignore[attr-defined]
        field.initial = initial

    def clean_k(self) -> list[int]:
        words = [word for word in re.split(r"[\s,;]+", self.cleaned_data["k"]) if word]
        try:
            return [int(word) for word in words]
        except ValueError:
            raise forms.ValidationError(
                "Write K as whole numbers separated by spaces, such as 1 5 10."
            ) from None

    def clean_thresholds(self) -> dict[str, float]:
        """Key -> least mean, from lines such as `recall@10 = 0.4`."""
        least_of = {}
        for line in self.cleaned_data["thresholds"].splitlines():
            key, _, least = line.partition("=")
            try:
                if line.strip():
                    least_of[key.strip().strip("\"'")] = float(least)
            except ValueError:
                raise forms.ValidationError(
                    "Write one threshold to a line, such as recall@10 = 0.4."
                ) from None
        return least_of

    def request(self) -> ReportRequest:
        """Call it after `is_valid`."""
        values = self.cleaned_data
        names = SETTINGS.keys() - {"k", "measures"}
        return ReportRequest(
            name=values["name"] or None,
            release=values["release"].name,
            runs=[run.name for run in values["runs"]],
            k=values["k"],
            measures=[*values["measures"], *re.findall(r"[^\s,;]+", values["at_own_k"])],
            conventions={name: values[name] for name in ("preset", *CONVENTIONS)},
            pool=values.get("pool") or None,
            weights=values.get("weights") or None,
            settings={name: values[name] for name in names if values.get(name) not in (None, [], {})},
        )


class SettingsForm(forms.Form):
    settings = forms.FileField(
        label="Evaluation file",
        max_length=200,
        help_text="TOML, as for evaluate --config or taken from a report. Nothing is measured yet.",
    )

    def clean_settings(self) -> Settings:
        """An error names line, key and remedy."""
        file = self.cleaned_data["settings"]
        try:
            return parse_settings(file.read(LARGEST_FILE + 1), file.name)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None


@dataclass(frozen=True)
class Choice:
    """A page's view of a report: measure and K of what it shows, and the run of the worst queries."""

    measure: str
    run: str
    k: int
    count: int
    shows_worst: bool = False


class ReportView(AddressForm):
    measure = forms.ChoiceField(required=False)
    run = forms.ChoiceField(required=False)
    k = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    count = forms.IntegerField(required=False, min_value=1, max_value=50)
    part = forms.ChoiceField(required=False, choices=[("worst", "worst")])

    def __init__(self, data: Any = None, *, report: Report) -> None:
        super().__init__(data)
        self._report = report
        self.offer(measure=report.options["measures"], run=run_names(report), k=report.options["k"])

    def choice(self) -> Choice:
        """The valid part of the query string, filled up: recall, the best run, K near 10, ten queries."""
        self.is_valid()
        values = self.cleaned_data
        k = values.get("k") or headline_k(self._report.options)
        best = [*best_first(self._report.result["runs"], k), *run_names(self._report)][0]
        return Choice(
            measure=values.get("measure") or "recall",
            run=values.get("run") or best,
            k=k,
            count=values.get("count") or 10,
            shows_worst=bool(values.get("part") or values.get("run")),
        )
