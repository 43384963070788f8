"""What every form shares: errors shown next to the fields they belong to."""

from __future__ import annotations

from django import forms

from pooling.interface.problems import InputError


def show_problem(form: forms.BaseForm, error: Exception) -> None:
    """Put a refusal next to the fields it names, else above the form."""
    fields = error.fields if isinstance(error, InputError) else {}
    named = {name: text for name, text in fields.items() if name in form.fields}
    for name, text in named.items():
        form.add_error(name, text)
    if not named:
        form.add_error("file" if "file" in form.fields else None, str(error))
