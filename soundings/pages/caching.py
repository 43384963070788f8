"""Headers of answers: who may keep them, what they may load, and of which version of the HTTP interface they
are.

Browsers and proxies may keep the guide and static files, and nothing that anybody signed in sees.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

View = Callable[[HttpRequest], HttpResponseBase]

# The same for everybody who is not signed in, and about nobody.
PUBLIC_PAGES = {"guide", "guide_page"}

# Everything comes from the site itself; images from the addresses in place of the braces as well.
CONTENT_POLICY = (
    "default-src 'self'; img-src 'self' data:{}; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
# Of a site that is debugged: such a page has its styles and scripts in itself.
STYLED_BY_DJANGO = {404, 500}


def kept_by_nobody(get_response: View) -> View:
    """Middleware: forbid to store an answer, unless its view says that it is public or it is a public page.

    Static files are answered before this is asked. On a computer that people share, what somebody saw is gone
    when they have signed out.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if not _is_public(request, response):
            response["Cache-Control"] = "private, no-store"
        return response

    return answer


def content_policy(get_response: View) -> View:
    """Middleware: forbid whatever a page does not load. A view that allows images from elsewhere puts their
    addresses on its answer as `image_addresses`.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if settings.DEBUG and response.status_code in STYLED_BY_DJANGO:
            return response
        addresses = getattr(response, "image_addresses", ())
        policy = CONTENT_POLICY.format("".join(f" {address}" for address in addresses))
        response["Content-Security-Policy"] = policy
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
