"""A required second factor: nothing but its set-up before, and nothing without its code after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from rest_framework.views import APIView

from soundings.sign_in.second_factor import is_due, is_missing

View = Callable[[HttpRequest], HttpResponse]
#: Pages that are open meanwhile; files of the site are served before.
SET_UP = "second_factor"
OPEN = {"sign_out", "set_language", "script_words", "guide", "guide_page", "health", "ready"}


class SecondFactorDue:
    """Middleware: leads people who still have to set up a second factor to that page, and signs out those
    whose account has one and who gave no code of it in this session.

    Pages know people by their sessions alone, whatever else a request says of itself. Calls may come with a
    token instead: `soundings.accounts.authentication` asks, once it knows with what a call came.
    """

    def __init__(self, get_response: View) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, *given: Any) -> HttpResponse | None:
        """Now the address is known."""
        name = request.resolver_match.url_name if request.resolver_match else None
        is_open = name in OPEN or issubclass(getattr(view, "cls", object), APIView)
        if is_open or not is_due(request):
            return None
        if not is_missing(request.user):  # type: ignore[arg-type]  # nobody else is due
            logout(request)
            return redirect_to_login(request.get_full_path())
        return None if name == SET_UP else redirect(SET_UP)
