"""Where a second factor is required: nothing but its set-up, until it is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from pooling.interface.problems import PROBLEM_TYPE
from soundings.sign_in.second_factor import DUE

View = Callable[[HttpRequest], HttpResponse]
#: Pages that are open meanwhile; files of the site are served before.
OPEN = {"second_factor", "sign_out", "set_language", "script_words", "guide", "guide_page", "health", "ready"}


class SecondFactorDue:
    """Middleware: leads people who still have to set up a second factor to that page.

    Whether somebody has to is noted in the session, so that other requests pay nothing. A program's token is
    none of its business.
    """

    def __init__(self, get_response: View) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        """Now the address is known."""
        has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        if not has_session or request.headers.get("Authorization", "").startswith("Token "):
            return None
        match = request.resolver_match
        if match is None or match.url_name in OPEN or not request.session.get(DUE):
            return None
        if request.path.startswith("/api/"):
            return JsonResponse(_problem(), status=403, content_type=PROBLEM_TYPE)
        return redirect("second_factor")


def _problem() -> dict[str, object]:
    detail = _("Set up a second factor on the page of your account first.")
    return {"title": "Forbidden", "status": 403, "detail": detail, "fields": {}}
