"""Runs to choose from in a form, each with a number next to it: its own depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.template.loader import render_to_string

from pooling.interface.forms import GroupedForm

# The number next to the run NAME is the input `depths.NAME`; the HTTP interface reads addresses alike.
PREFIX = "depths."
HELP = "A number next to a run sets its own depth; empty: the depth of all."


class RunChoices(forms.CheckboxSelectMultiple):
    """Checkboxes of runs; `depths` says what stands in the number next to each, by the run's name."""

    depths: Mapping[str, Any] = {}

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        context = self.get_context(name, value, attrs)["widget"]
        rows = [
            {
                "option": option,
                "name": f"{PREFIX}{option['label']}",
                "depth": self.depths.get(f"{option['label']}"),
            }
            for _, options, _ in context["optgroups"]
            for option in options
        ]
        return render_to_string("pooling/_run_choices.html", {"widget": context, "rows": rows})


class _Numbers(forms.Widget):
    """Reads the numbers next to the runs, which `RunChoices` draws."""

    is_hidden = True

    def value_from_datadict(self, data: Any, files: Any, name: str) -> dict[str, str]:
        return given_depths(data)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        return ""


class _DepthsField(forms.Field):
    widget = _Numbers

    def clean(self, value: Any) -> dict[str, int]:
        number = forms.IntegerField(min_value=1)
        depths = {}
        for run, text in value.items():
            try:
                depths[run] = number.clean(text)
            except forms.ValidationError as error:
                raise forms.ValidationError(f"Depth of {run}: {' '.join(error.messages)}") from error
        return depths


class RunDepthsForm(GroupedForm, forms.Form):
    """A form with the field `runs`, drawn by `RunChoices`, and `depths`: those next to the chosen ones."""

    depths = _DepthsField(required=False)

    def show_depths(self, initial: Mapping[str, int] | None = None) -> None:
        """Fill the numbers with what was sent, else with `initial`; call it at the end of `__init__`."""
        widget: Any = self.fields["runs"].widget
        widget.depths = given_depths(self.data) if self.is_bound else dict(initial or {})

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if "depths" in cleaned:
            chosen = {getattr(run, "name", run) for run in cleaned.get("runs") or []}
            cleaned["depths"] = {run: depth for run, depth in cleaned["depths"].items() if run in chosen}
        return cleaned

    def add_error(self, field: str | None, error: Any) -> None:
        """A depth is shown next to its run, and so does what is wrong with it."""
        super().add_error("runs" if field == "depths" else field, error)


def given_depths(data: Mapping[str, Any]) -> dict[str, str]:
    """Run -> what an address or a form has for its depth, empty ones left out."""
    sent = {name.removeprefix(PREFIX): data[name] for name in data if name.startswith(PREFIX)}
    return {run: text for run, text in sent.items() if str(text).strip() and "\0" not in run}
