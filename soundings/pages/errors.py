"""What goes wrong outside any view: a page, or below /api/ the object that every refusal there is."""

from __future__ import annotations

import sys
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.views import defaults

from pooling.interface.problems import (
    DATABASE_AWAY,
    PROBLEM_TYPE,
    RETRY_SECONDS,
    StorageFullError,
    is_disk_full,
    is_outage,
    problem_body,
)

# For a person, where the cause is not only that the database is away.
FULL = {
    "heading": "The server's disk is full",
    "sentence": "Nothing can be saved until there is space again. Tell the person who runs this site.",
}


def not_understood(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, for a request that Django itself refuses."""
    if _is_for_a_program(request):
        return _problem(HTTPStatus.BAD_REQUEST, "The request was not understood.")
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404, for an address that is none."""
    if _is_for_a_program(request):
        return _problem(HTTPStatus.NOT_FOUND, "No such address; see /api/docs/ for the list.")
    return defaults.page_not_found(request, exception)


def our_fault(request: HttpRequest) -> HttpResponse:
    """500, which says nothing of the cause, for the log does.

    503 when it is the database that is away, 507 when the disk is full.
    """
    error = sys.exc_info()[1]
    if error is not None and is_disk_full(error):
        return _full(request)
    if error is not None and is_outage(error):
        return _away(request)
    if _is_for_a_program(request):
        return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong.")
    return defaults.server_error(request)


def _away(request: HttpRequest) -> HttpResponse:
    if _is_for_a_program(request):
        response = _problem(HTTPStatus.SERVICE_UNAVAILABLE, DATABASE_AWAY)
    else:
        response = _page(HTTPStatus.SERVICE_UNAVAILABLE, {})
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _full(request: HttpRequest) -> HttpResponse:
    if _is_for_a_program(request):
        return _problem(HTTPStatus.INSUFFICIENT_STORAGE, str(StorageFullError()))
    return _page(HTTPStatus.INSUFFICIENT_STORAGE, FULL)


def _page(code: HTTPStatus, words: dict[str, str]) -> HttpResponse:
    """Without a request in its context, for that would ask the database who is signed in."""
    return HttpResponse(loader.get_template("503.html").render(words), status=code)


def _is_for_a_program(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def _problem(code: HTTPStatus, detail: str) -> HttpResponse:
    return JsonResponse(problem_body(code, detail), status=code, content_type=PROBLEM_TYPE)
