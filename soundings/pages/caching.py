"""Headers of answers: only the guide and static files may be kept; and the interface's version."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

View = Callable[[HttpRequest], HttpResponseBase]

# The same for everybody who is not signed in, and about nobody.
PUBLIC_PAGES = {"guide", "guide_page"}


def kept_by_nobody(get_response: View) -> View:
    """Middleware: keep no answer that is not public, since on a shared computer others could see it."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if not _is_public(request, response):
            response["Cache-Control"] = "private, no-store"
        return response

    return answer


def interface_version(get_response: View) -> View:
    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.path.startswith("/api/"):
            response["Soundings-Interface"] = settings.INTERFACE_VERSION
        return response

    return answer


def _is_public(request: HttpRequest, response: HttpResponseBase) -> bool:
    if "public" in response.get("Cache-Control", ""):
        return True
    page = request.resolver_match.url_name if request.resolver_match else ""
    return page in PUBLIC_PAGES and not request.user.is_authenticated
