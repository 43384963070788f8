"""Taking in a file from a page."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse

from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on, person
from pooling.interface.problems import refusals
from pooling.interface.uploads import refuse_oversized
from pooling.models import Collection
from pooling.storage.imports import take_in


def upload(request: HttpRequest, collection: Collection, kind: str, form: forms.Form) -> HttpResponse | None:
    """Import the form's file as `kind` and say where to go on; None when the form has errors to show."""
    try:
        refuse_oversized(request)
        if form.is_valid():
            options = {name: value for name, value in form.cleaned_data.items() if name != "file"}
            return go_on(request, take_in(collection, kind, file_of(form), user=person(request), **options))
    except refusals() as error:
        show_problem(form, error)
    return None


def file_of(form: forms.Form) -> UploadedFile[Any]:
    """The one file of a valid form."""
    return cast("UploadedFile[Any]", form.cleaned_data["file"])
