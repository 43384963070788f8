"""The form for a new report, and the choices that a report's page takes from its query string."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms

from evaluation.models import Report
from evaluation.report_choices import MEASURES, default_cutoffs
from evaluation.report_files import run_names
from evaluation.reports import ReportRequest
from labeling.models import QrelsRelease
from pooling.models import Collection, Run

if TYPE_CHECKING:
    from pooling.problems import InputError

AS_PRESET = ("", "as the preset says")


class ReportForm(forms.Form):
    """Runs × a release, at which K, by which conventions; preset so that sending it as it is makes sense."""

    name = forms.CharField(
        max_length=200, required=False, help_text="Left empty, it is called after its release."
    )
    release = forms.ModelChoiceField(
        QrelsRelease.objects.none(),
        empty_label=None,
        label="Qrels release",
        help_text="The labels to measure on; the newest is chosen.",
    )
    runs = forms.ModelMultipleChoiceField(Run.objects.none(), widget=forms.CheckboxSelectMultiple)
    k = forms.CharField(
        max_length=400, label="K", help_text="One or more ranks to cut at, for instance 1 5 10 100."
    )
    measures = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        help_text="Recall and Judged are always part of a report: a recall is read with its coverage.",
    )
    preset = forms.ChoiceField(
        required=False,
        choices=[
            ("", "Soundings"),
            ("trec_eval", "trec_eval 10"),
            ("trec_eval-c", "trec_eval 10 with -c"),
            ("trec_eval-9", "trec_eval 9 and its Python wrappers"),
        ],
        label="Preset",
        help_text="Whose numbers to print; what is chosen below wins over the preset.",
    )
    min_relevance = forms.IntegerField(
        min_value=1,
        initial=1,
        label="Relevant from label",
        help_text="The least label that counts as relevant.",
    )
    zero_relevant = forms.ChoiceField(
        required=False,
        label="Queries without a relevant label",
        choices=[AS_PRESET, ("exclude", "leave out of the mean, and list them"), ("zero", "count 0")],
        help_text="Recall is undefined for them. Soundings leaves them out.",
    )
    missing = forms.ChoiceField(
        required=False,
        label="Queries missing from a run",
        choices=[AS_PRESET, ("zero", "count 0"), ("skip", "leave out of that run's mean")],
        help_text="Soundings counts 0, so that silence cannot win.",
    )
    ties = forms.ChoiceField(
        required=False,
        label="Order of equal scores",
        choices=[
            AS_PRESET,
            ("docid", "document id, falling (trec_eval)"),
            ("docid-asc", "document id, rising"),
            ("file", "as in the file"),
            ("rank", "by the rank written in the file"),
        ],
    )
    scores = forms.ChoiceField(
        required=False,
        label="Precision of scores",
        choices=[AS_PRESET, ("float64", "float64"), ("float32", "float32 (trec_eval 9)")],
    )

    def __init__(self, data: Any = None, *, collection: Collection) -> None:
        from evaluation.measures import MEASURES as KNOWN

        super().__init__(data, label_suffix="")
        releases, runs = collection.releases.all(), collection.runs.all()
        self._choose("release", releases, releases.first())
        self._choose("runs", runs, [run.pk for run in runs])
        self.fields["k"].initial = " ".join(str(k) for k in default_cutoffs(list(runs)))
        self.fields["measures"].choices = [  # type: ignore[attr-defined]
            (name, measure.title) for name, measure in KNOWN.items()
        ]
        self.fields["measures"].initial = list(MEASURES)

    def _choose(self, name: str, queryset: Any, initial: Any) -> None:
        field = self.fields[name]
        field.queryset = queryset  # type: ignore[attr-defined]
        field.initial = initial

    def clean_k(self) -> list[int]:
        """The cutoffs as whole numbers; commas and spaces part them."""
        words = [word for word in re.split(r"[\s,;]+", self.cleaned_data["k"]) if word]
        try:
            return [int(word) for word in words]
        except ValueError:
            raise forms.ValidationError(
                "Write K as whole numbers parted by spaces, such as 1 5 10."
            ) from None

    def request(self) -> ReportRequest:
        """What the form asks for; call it after `is_valid`."""
        values = self.cleaned_data
        names = ("preset", "min_relevance", "zero_relevant", "missing", "ties", "scores")
        return ReportRequest(
            name=values["name"] or None,
            release=values["release"].name,
            runs=[run.name for run in values["runs"]],
            k=values["k"],
            measures=values["measures"],
            conventions={name: values[name] for name in names},
        )

    def refuse(self, error: InputError) -> None:
        """Show the sentence of a refusal beside the field it is about."""
        for field, sentence in (error.fields or {"": str(error)}).items():
            self.add_error(field if field in self.fields else None, sentence)


@dataclass(frozen=True)
class Choice:
    """What of a report its page shows: the measure of curve and table, and run and K of the worst queries."""

    measure: str
    run: str
    k: int
    count: int


class ReportView(forms.Form):
    """The query string of a report's page; what makes no sense falls back to the default."""

    measure = forms.ChoiceField(required=False)
    run = forms.ChoiceField(required=False)
    k = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    count = forms.IntegerField(required=False, min_value=1, max_value=50)

    def __init__(self, data: Any = None, *, report: Report) -> None:
        super().__init__(data)
        self._report = report
        options = {"measure": report.options["measures"], "run": run_names(report), "k": report.options["k"]}
        for name, values in options.items():
            self.fields[name].choices = [(value, value) for value in values]  # type: ignore[attr-defined]

    def choice(self) -> Choice:
        """The valid part of the query string, filled up: recall, the first run, K near 10, ten queries."""
        self.is_valid()
        values = self.cleaned_data
        cutoffs = self._report.options["k"]
        return Choice(
            measure=values.get("measure") or "recall",
            run=values.get("run") or run_names(self._report)[0],
            k=values.get("k") or min(cutoffs, key=lambda k: abs(k - 10)),
            count=values.get("count") or 10,
        )
