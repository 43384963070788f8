"""Middleware around everything: a request has a number, a line in the log, and its place in the figures."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial

from django.http import HttpRequest, HttpResponseBase

from pooling.people.current import ADDRESS, COLLECTION
from soundings.accounts.throttling import client_address
from soundings.serving import figures
from soundings.serving.logs import REQUEST, REQUESTS, number_for

logger = logging.getLogger(REQUESTS)

View = Callable[[HttpRequest], HttpResponseBase]


def watched(get_response: View) -> View:
    """Middleware: number the request, send the number back, log and count the answer."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        request.number = number_for(request)  # type: ignore[attr-defined]
        tokens = REQUEST.set(request), COLLECTION.set("")
        address_token = ADDRESS.set(partial(client_address, request))
        started = time.perf_counter()
        try:
            response = get_response(request)
            seconds = time.perf_counter() - started
            response["X-Request-ID"] = request.number  # type: ignore[attr-defined]
            route = f"/{request.resolver_match.route}" if request.resolver_match else "elsewhere"
            figures.count_request(request.method or "", route, response.status_code, seconds)
            if logger.isEnabledFor(logging.INFO):
                facts = {"method": request.method, "route": route, "status": response.status_code}
                sentence = "%s %s %s"
                values = (request.method, route, response.status_code)
                logger.info(sentence, *values, extra=facts | {"seconds": round(seconds, 4)})
            return response
        finally:
            REQUEST.reset(tokens[0])
            COLLECTION.reset(tokens[1])
            ADDRESS.reset(address_token)

    return answer
