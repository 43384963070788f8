"""Forms for files of queries and documents."""

from __future__ import annotations

from django import forms


class QueriesForm(forms.Form):
    """A file of queries."""

    file = forms.FileField(
        label="File of queries", help_text="BEIR queries.jsonl, JSON, CSV, TSV or Parquet; also gzipped."
    )


class DocumentsForm(forms.Form):
    """A corpus file."""

    file = forms.FileField(
        label="Corpus file", help_text="BEIR corpus.jsonl, JSON, CSV, TSV or Parquet; also gzipped. Any size."
    )
    only_pooled = forms.BooleanField(required=False, label="Only documents that some pool contains")
