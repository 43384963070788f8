"""The form for run files."""

from __future__ import annotations

from typing import Any

from django import forms

from pooling.interface.forms import FIRST, GroupedForm


class ManyFiles(forms.ClearableFileInput):
    """A file input for several files."""

    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """One or several files, as a list."""

    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        single = super().clean
        return [
            single(file, initial) for file in (data if isinstance(data, list | tuple) and data else [data])
        ]


class RunsForm(GroupedForm, forms.Form):
    """One or several run files, with a name where there is one file."""

    GROUPS = {FIRST: ("file",), "Name and chunks": ("name", "collapse_chunks")}

    file = ManyFilesField(
        label="Run files",
        help_text="TREC, CSV, TSV, JSON lines, ranx JSON or Parquet; also gzipped. Several at once are fine.",
    )
    name = forms.CharField(required=False, max_length=200, help_text="Empty: the file's name.")
    collapse_chunks = forms.CharField(
        required=False,
        max_length=20,
        label="Separator of chunk ids",
        help_text="If the runs contain chunks such as page-7#3, write what precedes the chunk number, "
        "here #. Each document then gets the rank of its best chunk.",
    )

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if self.cleaned_data.get("name") and len(self.cleaned_data.get("file", [])) > 1:
            self.add_error("name", "A name works for one file only. Leave it empty to import several.")
        return cleaned
