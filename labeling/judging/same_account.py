"""Keeps a verdict with the person who gave it: a page says whose it is, and nobody else's session takes it.

Without this, a page of Ben's that still lies open would send under Cleo's name once she has signed in in the
same browser.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _

View = Callable[[HttpRequest], HttpResponse]
HEADER = "X-Account"


def same_account(get_response: View) -> View:
    """Middleware: answer 409 to a request whose X-Account header names another user than the session does."""

    def answer(request: HttpRequest) -> HttpResponse:
        meant = request.headers.get(HEADER)
        if meant is None or not request.user.is_authenticated or meant == str(request.user.pk):
            return get_response(request)
        problem = {
            "title": "Conflict",
            "status": 409,
            "detail": _("This browser is now signed in as {name}.").format(name=request.user.get_username()),
            "fields": {},
            "signed_in": request.user.get_username(),
        }
        return JsonResponse(problem, status=409, content_type="application/problem+json")

    return answer
