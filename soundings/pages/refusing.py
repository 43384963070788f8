"""Middleware for what no view should have to think of: texts that no database keeps, and refusals that a view
lets through, in one sentence each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from pooling.formats.bytes.storable import PROBLEM, unstorable_in
from pooling.interface.problems import InputError, refusals
from soundings.pages.errors import in_a_sentence


class Refusing:
    """Refuses NUL and halves of characters in addresses and forms; answers `InputError` with its sentence.

    Bodies of calls are refused by `pooling.interface.parsers`, and what calls refuse by their own handler.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer."""
        return self.get_response(request)

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
