"""Forms for releases and for files of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from django import forms

from labeling.consensus.rule_names import RULES_IN_WORDS
from labeling.qrels.options import OPTIONS
from labeling.qrels.registry import Export
from pooling.interface.option_fields import form_field
from pooling.models import Collection


class ReleaseForm(forms.Form):
    """A name and a rule for a qrels release."""

    name = forms.CharField(
        max_length=200, help_text="For instance “2026-03” or “after the pilot”. You cannot change it later."
    )
    rule = forms.ChoiceField(
        choices=[(name, f"{name}: {line}") for name, line in RULES_IN_WORDS.items()],
        initial="majority",
        help_text="How verdicts on a pair become one label.",
    )


class QrelsForm(forms.Form):
    """A file of labels."""

    file = forms.FileField(
        label="Qrels file",
        help_text="TREC qrels, BEIR TSV, CSV, TSV, JSON lines, ranx JSON or Parquet; also gzipped.",
    )
    complete = forms.BooleanField(
        required=False,
        label="Complete: unlisted documents are not relevant",
        help_text="Tick this only if the file names everything that is relevant to its queries. Reports then "
        "count every other document of these queries as not relevant, and say so.",
    )


def export_form(export: Export, collection: Collection, data: Mapping[str, str] | None = None) -> forms.Form:
    """The options of a format of another tool; `data`: the parameters of an address."""
    form = forms.Form(data, auto_id=f"{export.name}-%s")
    for name in export.options:
        option = OPTIONS[name]
        if name == "run":
            names = collection.runs.listed().values_list("name", flat=True)
            option = replace(option, choices={one: one for one in names})
        form.fields[name] = form_field(option, required=name in export.required)
    return form
