"""Static files are sent compressed, and nothing else: their length gives away no secret of a page."""

from __future__ import annotations

from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TEXTS = ("text/", "image/svg+xml", "application/json")


class CompressedStatic(GZipMiddleware):
    """Middleware: style sheets, scripts and drawings take a quarter of the way; goes before WhiteNoise."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_text = response.get("Content-Type", "").startswith(TEXTS)
        is_static = request.path.startswith(settings.STATIC_URL)
        if response.status_code == HTTPStatus.OK and is_static and is_text:
            return super().process_response(request, response)
        return response
