"""The form for a new latency report."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from evaluation.indexes.latency import LARGEST_FILE, LATENCY, RUN
from evaluation.indexes.stored import MOST_K, LatencyRequest
from pooling.formats.cells import table_text
from pooling.interface.forms import FIRST, GroupedForm
from pooling.models import Collection, Run

MOST_OFFERED = 20
EXAMPLE = "run,latency_ms,ef\nhnsw-16,0.21,16\nhnsw-64,0.34,64"


def measured_settings(runs: QuerySet[Run]) -> str:
    """The newest runs of engines with their median latency, as settings are written; "" without one."""
    engine_runs = runs.filter(preflight__engine__isnull=False).order_by("-pk")
    rows = list(engine_runs.values_list("name", "preflight__engine__latency_ms__p50")[:MOST_OFFERED])
    return table_text((RUN, LATENCY), rows) if rows else ""


class LatencyForm(GroupedForm, forms.Form):
    """The exact run, the approximate ones, K, the latencies, and a target."""

    GROUPS = {
        FIRST: ("exact", "settings_file", "settings"),
        "Approximate runs": ("runs",),
        "Name, K and target": ("name", "k", "target"),
    }

    name = forms.CharField(max_length=200, required=False, help_text="Empty: named after the exact run.")
    exact = forms.ModelChoiceField(
        Run.objects.none(),
        label="Exact run",
        help_text="What the index should return: an exhaustive search over the same vectors.",
    )
    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Approximate runs",
        help_text="None chosen: every run that the settings name.",
    )
    k = forms.IntegerField(min_value=1, max_value=MOST_K, initial=10, label="K")
    target = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        initial=0.95,
        label="Target",
        help_text=(
            "The recall at K that a setting should reach. The report names the cheapest setting that does."
        ),
    )
    settings_file = forms.FileField(
        required=False,
        label="Settings, as a file",
        max_length=200,
        help_text="CSV with a header: run, latency_ms, and a column for each parameter you want to see.",
    )
    settings = forms.CharField(
        required=False,
        max_length=LARGEST_FILE,
        label="Or pasted",
        widget=forms.Textarea(attrs={"rows": 6, "placeholder": EXAMPLE, "class": "mono"}),
    )

    def __init__(self, data: Any = None, files: Any = None, *, collection: Collection) -> None:
        super().__init__(data, files, label_suffix="")
        runs = collection.runs.listed().defer("preflight")
        self.fields["exact"].queryset = runs  # type: ignore[attr-defined]
        self.fields["runs"].queryset = runs  # type: ignore[attr-defined]
        if measured := measured_settings(runs):
            self.fields["settings"].initial = measured
            self.fields[
                "settings"
            ].help_text = (
                "Filled in: the median latency of runs that an engine answered. A file takes its place."
            )

    def clean(self) -> dict[str, Any]:
        """The text of the settings, from wherever it came, under `settings`."""
        values = super().clean() or self.cleaned_data
        file = values.get("settings_file")
        if file:
            try:
                values["settings"] = file.read(LARGEST_FILE + 1).decode("utf-8-sig")
            except UnicodeDecodeError:
                self.add_error("settings_file", "This file is not UTF-8. Save it as UTF-8.")
        elif not values.get("settings") and "settings" not in self.errors:
            self.add_error("settings", "Name each run with its latency, as a file or here.")
        return values

    def request(self) -> LatencyRequest:
        """Call it after `is_valid`."""
        values = self.cleaned_data
        return LatencyRequest(
            name=values["name"] or None,
            exact=values["exact"].name,
            runs=[run.name for run in values["runs"]] or None,
            k=values["k"],
            target=values["target"],
            settings=values["settings"],
        )
