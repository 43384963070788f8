"""Middleware: refuses texts that no database keeps, and answers refusals that a view lets through."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import TooManyFieldsSent, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template import loader
from django.urls import Resolver404, resolve
from django.utils.translation import gettext, gettext_noop
from django.views import defaults
from django.views.csrf import csrf_failure

from pooling.formats.bytes.storable import PROBLEM, unstorable_in
from pooling.interface.pages import speak
from pooling.interface.problems import (
    DATABASE_AWAY,
    PROBLEM_TYPE,
    RETRY_SECONDS,
    InputError,
    StorageFullError,
    is_disk_full,
    is_outage,
    problem_body,
    refusals,
    too_many_parts,
)
from pooling.people.access import SiteAdminNeededError
from soundings.sign_in.leading_back import page_of_form

# What goes wrong outside any view: a page, or below /api/ the object that every refusal there is.


# For a person, where the cause is not only that the database is away.
FULL = {
    "heading": gettext_noop("The server's disk is full"),
    "sentence": gettext_noop(
        "Nothing can be saved until there is space again. Tell the person who runs this site."
    ),
}


def not_understood(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, for a request that Django itself refuses."""
    if isinstance(exception, TooManyFieldsSent | TooManyFilesSent):
        return in_a_sentence(request, InputError(too_many_parts()))
    if _is_for_a_program(request):
        return _problem(HTTPStatus.BAD_REQUEST, "The request was not understood.")
    speak(request)
    return defaults.bad_request(request, exception)


def in_a_sentence(request: HttpRequest, error: Exception) -> HttpResponse:
    """A page with the error's sentence: 400 unless the refusal says another status."""
    status = error.status if isinstance(error, InputError) else HTTPStatus.BAD_REQUEST
    if _is_for_a_program(request):
        return _problem(status, str(error), error.fields if isinstance(error, InputError) else None)
    answer = render(request, "400.html", {"sentence": str(error)}, status=status)
    if wait := getattr(error, "wait", None):
        answer["Retry-After"] = str(wait)
    return answer


def _no_such_method(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """A page with a way on, as where the address of a form is opened."""
    speak(request)
    sentence = gettext("This address takes {allowed}, not {method}. Go back and try again.")
    words = {
        "heading": gettext("The address does not take this"),
        "sentence": sentence.format(allowed=response["Allow"], method=request.method),
    }
    headers = {"Allow": response["Allow"]}
    return HttpResponse(loader.get_template("400.html").render(words, request), status=405, headers=headers)


def missing_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404, for an address that is none, and for a form about what is no longer there."""
    if _is_for_a_program(request):
        return _problem(HTTPStatus.NOT_FOUND, "No such address; see /api/docs/ for the list.")
    speak(request)
    if request.method == "POST" and request.resolver_match:
        words = {"is_form": True, "back": _page_of_the_form(request)}
        return render(request, "404.html", words, status=HTTPStatus.NOT_FOUND)
    return defaults.page_not_found(request, exception)


def _page_of_the_form(request: HttpRequest) -> str:
    """Where the form was sent from; nothing where that page is about the same, which is gone."""
    page = page_of_form(request)
    try:
        before = resolve(urlsplit(page).path)
    except Resolver404:
        return ""
    of_form = request.resolver_match.kwargs if request.resolver_match else {}
    return page if of_form.items() - before.kwargs.items() else ""


def not_allowed(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403, with the role that is missing."""
    speak(request)
    if isinstance(exception, SiteAdminNeededError):
        return render(request, "403.html", {"exception": str(exception), "is_of_site": True}, status=403)
    return defaults.permission_denied(request, exception)


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403, for a form without the token of its cookie."""
    speak(request)
    return csrf_failure(request, reason)


def our_fault(request: HttpRequest) -> HttpResponse:
    """500 without the cause, which the log has; 503 when the database is away, 507 when the disk is full."""
    error = sys.exc_info()[1]
    if error is not None and is_disk_full(error):
        if _is_for_a_program(request):
            return _problem(HTTPStatus.INSUFFICIENT_STORAGE, str(StorageFullError()))
        return _page(request, HTTPStatus.INSUFFICIENT_STORAGE, FULL)
    if error is not None and is_outage(error):
        return _away(request)
    if _is_for_a_program(request):
        return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong.")
    speak(request)
    return defaults.server_error(request)


def _away(request: HttpRequest) -> HttpResponse:
    if _is_for_a_program(request):
        response = _problem(HTTPStatus.SERVICE_UNAVAILABLE, DATABASE_AWAY)
    else:
        response = _page(request, HTTPStatus.SERVICE_UNAVAILABLE, {})
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _page(request: HttpRequest, code: HTTPStatus, words: dict[str, str]) -> HttpResponse:
    """Without a request in its context, for that would ask the database who is signed in."""
    speak(request)
    words = {name: gettext(sentence) for name, sentence in words.items()}
    return HttpResponse(loader.get_template("503.html").render(words), status=code)


def _is_for_a_program(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def _problem(code: HTTPStatus, detail: str, fields: Mapping[str, str] | None = None) -> HttpResponse:
    return JsonResponse(problem_body(code, detail, fields), status=code, content_type=PROBLEM_TYPE)


class Refusing:
    """Refuses NUL and halves of characters in addresses and forms; answers `InputError` with its sentence.

    Bodies of calls are refused by `pooling.interface.parsers`, and what calls refuse by their own handler.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED or _is_for_a_program(request):
            return response
        return _no_such_method(request, response)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, parts: dict[str, Any]
    ) -> HttpResponse | None:
        """404 for an address and 400 for fields that cannot be kept."""
        if unstorable_in(parts) is not None:
            raise Http404
        sent = [request.GET] if request.path.startswith("/api/") else [request.GET, request.POST]
        for fields in sent:
            name = unstorable_in(dict(fields.lists()))
            if name is not None:
                return in_a_sentence(request, InputError(f"“{name}” {PROBLEM}", field=name))
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The page with the sentence of a refusal."""
        return in_a_sentence(request, error) if isinstance(error, refusals()) else None
