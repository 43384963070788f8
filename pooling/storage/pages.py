"""Taking in files from a page, at once or after a preview."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on, person, say_done
from pooling.interface.problems import refusals
from pooling.interface.results import Result
from pooling.interface.uploads import refuse_uploads
from pooling.models import Collection, Job
from pooling.storage.imports import SHOWING, take_in
from pooling.storage.previews import Preview, import_staged, preview

# Says whether an import should be shown before it is done, though nobody asked for a preview.
Asks = Callable[[Collection], bool]


def upload(
    request: HttpRequest,
    collection: Collection,
    kind: str,
    form: forms.Form,
    *,
    section: str,
    asks: Asks | None = None,
) -> HttpResponse | None:
    """Import the form's files as `kind`, or show what that would do, and say where to go on; None when the
    form has errors to show. Of several files each is imported by itself, and the first refused one stops.

    section: to which page the preview belongs. asks: whether the collection has what a file can contradict;
    a file that does is shown first.
    """
    if staged := request.POST.getlist("staged"):
        return _import_previewed(request, collection, kind, staged)
    outcomes: list[Result | Job] = []
    try:
        refuse_uploads(request)
        if not form.is_valid():
            return None
        options = {name: value for name, value in form.cleaned_data.items() if name != "file"}
        files = files_of(form)
        is_asked_for = "preview" in request.POST and kind in SHOWING
        if is_asked_for or (asks and asks(collection)):
            shown = [preview(collection, kind, file, user=person(request), **options) for file in files]
            if is_asked_for or any(one.asks for one in shown):
                return _page(request, collection, shown, section)
            return _import_previewed(request, collection, kind, [one.staged for one in shown])
        for file in files:
            outcomes.append(take_in(collection, kind, file, user=person(request), **options))
    except refusals() as error:
        show_problem(form, error)
        _say(request, outcomes)
        return None
    return _done(request, collection, outcomes)


def files_of(form: forms.Form) -> list[UploadedFile[Any]]:
    """The file of a valid form, or its files."""
    found = form.cleaned_data["file"]
    return list(found) if isinstance(found, list) else [found]


def _page(
    request: HttpRequest, collection: Collection, shown: Sequence[Preview], section: str
) -> HttpResponse:
    context = {
        "previews": shown,
        "can_import": not any(one.problem for one in shown),
        "collection": collection,
        "section": section,
    }
    return render(request, "pooling/import_preview.html", context)


def _import_previewed(
    request: HttpRequest, collection: Collection, kind: str, staged: Sequence[str]
) -> HttpResponse:
    outcomes: list[Result | Job] = []
    try:
        for one in staged:
            outcomes.append(import_staged(collection, kind, one, user=person(request)))
    except refusals() as error:
        _say(request, outcomes)
        messages.error(request, str(error))
        return redirect(request.path)
    return _done(request, collection, outcomes)


def _done(request: HttpRequest, collection: Collection, outcomes: Sequence[Result | Job]) -> HttpResponse:
    """Where one goes on: to what was imported or to its job, of several runs to their list."""
    if len(outcomes) == 1:
        return go_on(request, outcomes[0])
    _say(request, outcomes)
    return redirect("runs", collection.slug)


def _say(request: HttpRequest, outcomes: Sequence[Result | Job]) -> None:
    for outcome in outcomes:
        if isinstance(outcome, Job):
            name = outcome.arguments["file_name"]
            messages.success(request, f"{name} is imported in the background as job {outcome.pk}.")
        else:
            say_done(request, outcome)
