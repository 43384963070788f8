"""Forms that are sent after a session has ended lead back to their page, with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from pooling.interface.pages import page_here, speak

View = Callable[[HttpRequest], HttpResponse]


def forms_lead_back(get_response: View) -> View:
    """Middleware: after signing in, people return to the page whose form they sent, not its address."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.method in ("GET", "HEAD") or not _leads_to_form(request, response):
            return response
        speak(request)
        messages.warning(request, _("You are signed out, so nothing was changed. Sign in and try again."))
        page = page_of_form(request)
        return redirect_to_login(page) if page else redirect(settings.LOGIN_URL)

    return answer


def _leads_to_form(request: HttpRequest, response: HttpResponse) -> bool:
    """A redirect to sign-in that comes back to the address the form was sent to."""
    address = urlsplit(response.headers.get("Location", ""))
    following = parse_qs(address.query).get(REDIRECT_FIELD_NAME)
    return address.path == resolve_url(settings.LOGIN_URL) and following == [request.get_full_path()]


def page_of_form(request: HttpRequest) -> str:
    """The page of this site that the browser names, or nothing."""
    page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure()):
        return ""
    return page_here(request, urlsplit(page)._replace(scheme="", netloc="", fragment="").geturl())
