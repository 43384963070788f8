"""What pages with uploads and lists share: taking a file in, going on to the result, paging."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from pooling.interface.forms import show_problem
from pooling.interface.problems import refusals
from pooling.models import Collection, Job
from pooling.storage.imports import take_in
from pooling.storage.uploads import refuse_oversized

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PER_PAGE = 50


def person(request: HttpRequest) -> User:
    """Who is signed in; for views behind `login_required`."""
    return cast("User", request.user)


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


def go_on(request: HttpRequest, outcome: dict[str, Any] | Job) -> HttpResponse:
    """Redirect to the result of finished work with its sentence, or to the job that does it."""
    if isinstance(outcome, Job):
        return redirect("job", outcome.pk)
    messages.success(request, outcome["detail"])
    return redirect(outcome["url"])


def page_of(request: HttpRequest, rows: QuerySet[Any], per_page: int = PER_PAGE) -> Page[Any]:
    """The page of a list that the address asks for; a page out of range is the nearest one."""
    return Paginator(rows, per_page).get_page(request.GET.get("page"))


def asked(request: HttpRequest, name: str) -> str:
    """A search word of the address, without the NUL that PostgreSQL would choke on."""
    return request.GET.get(name, "").replace("\0", "")
