"""Common to pages with uploads and lists: taking a file in, going on to the result, paging."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme

from pooling.interface.forms import Figure, say_instead
from pooling.interface.problems import InputError, refusals
from pooling.interface.results import Result
from pooling.models import Job

PER_PAGE = 50
#: The cookie that carries a secret from the request that made it to the page that shows it.
ONCE = "shown_once"
FormType = TypeVar("FormType", bound="forms.BaseForm")


@contextmanager
def problems_as_messages(request: HttpRequest) -> Iterator[None]:
    """End what is within at an `InputError`, which the next page says."""
    try:
        yield
    except InputError as error:
        messages.error(request, str(error))


def person(request: HttpRequest) -> User:
    return cast("User", request.user)


def speak(request: HttpRequest) -> None:
    """Say what follows in the language that the browser's cookie or the browser itself asks for.

    For pages all of whose sentences are translated: those of annotators. Everything else is in English, so
    that numbers, files and what programs read are the same for everybody.
    """
    translation.activate(translation.get_language_from_request(request))
    request.LANGUAGE_CODE = translation.get_language()
    request.speaks = True  # type: ignore[attr-defined]


def go_on(request: HttpRequest, outcome: Result | Job) -> HttpResponse:
    if isinstance(outcome, Job):
        # Where it is done by then, the page goes on to the result at once.
        return redirect(f"{outcome.get_absolute_url()}?follow")
    say_done(request, outcome)
    return redirect(outcome["url"])


def say_done(request: HttpRequest, result: Result) -> None:
    """The sentence of finished work, with the button that undoes it: of the form `undo` of every page."""
    if "undo" not in result:
        messages.success(request, result["detail"])
        return
    button = (
        '{} <button class="button quiet-button" form="undo" formaction="{}" name="action" value="delete">'
        "Undo</button>"
    )
    messages.success(request, format_html(button, result["detail"], result["undo"]))


def answered(
    request: HttpRequest, form: FormType, figures: Callable[[FormType], Sequence[Figure]]
) -> HttpResponse:
    """The figures of a form as it stands, for htmx; one that is not complete has a sentence instead."""
    context: dict[str, Any] = {}
    # A name may still be missing.
    wrong = next((name for name in form.errors if name != "name"), None)
    try:
        if wrong is None:
            context["figures"] = figures(form)
        else:
            label = f"{form[wrong].label}: " if wrong in form.fields else ""
            context["problem"] = f"{label}{form.errors[wrong][0]}"
    except refusals() as error:
        context["problem"] = str(error)
    return render(request, "_figures.html", context)


def go_on_with(request: HttpRequest, secret: Mapping[str, str | int]) -> HttpResponse:
    """Redirect to this page, which shows the secret once, by a cookie of a minute; nothing is stored."""
    response = redirect(request.path)
    response.set_signed_cookie(
        ONCE,
        json.dumps(dict(secret)),
        salt=_salt(request),
        max_age=60,
        path=request.path,
        secure=request.is_secure(),
        httponly=True,
        samesite="Strict",
    )
    return response


def made_once(request: HttpRequest) -> dict[str, Any]:
    """The values of `go_on_with`; empty where nothing was just made."""
    given = request.get_signed_cookie(ONCE, "{}", salt=_salt(request), max_age=60)
    return cast("dict[str, Any]", json.loads(given or "{}"))


def secret_page(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """A page with a secret, which no cache keeps and no reload shows again."""
    response = render(request, template, dict(context))
    response["Cache-Control"] = "private, no-store"
    response.delete_cookie(ONCE, path=request.path, samesite="Strict")
    return response


def _salt(request: HttpRequest) -> str:
    return f"{ONCE} {person(request).pk} {request.path}"


def page_of(request: HttpRequest, rows: QuerySet[Any] | Sequence[Any], per_page: int = PER_PAGE) -> Page[Any]:
    """The page of a list that the address asks for; a page out of range is the nearest one."""
    page = Paginator(rows, per_page).get_page(number := request.GET.get("page", ""))
    if number not in ("", str(page.number)):
        say_instead(request, "page", number, f"page={page.number}")
    return page


def page_here(request: HttpRequest, page: str) -> str:
    """The address of a page of this site that a form names to go on to, or nothing."""
    is_here = url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return page if is_here and page.startswith("/") else ""


def to_list(request: HttpRequest, name: str, *parts: object) -> HttpResponse:
    """Go back to the page of a list on which somebody sent the form of a row, or to the list."""
    return redirect(page_here(request, request.POST.get("next", "")) or reverse(name, args=parts))


def parameter(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "")
