"""Errors sent to a server that collects them (Sentry's protocol), without what anybody wrote."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import soundings
from soundings.serving.logs import about_request

Event = MutableMapping[str, Any]
# Headers and cookies hold tokens, bodies and query strings texts and verdicts, messages of errors any.
KEPT_OF_REQUEST = ("method",)


def start_sending(address: str) -> None:
    """Send what nobody expected to `address` from now on."""
    import sentry_sdk

    sentry_sdk.init(
        dsn=address,
        release=f"soundings@{soundings.__version__}",
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=only_kinds_and_places,  # type: ignore[arg-type]
    )


def only_kinds_and_places(event: Event, hint: object = None) -> Event:
    """Leave of an event the kind and place of each error, and the numbers of request and person."""
    for name in ("user", "extra", "breadcrumbs", "logentry", "message", "server_name"):
        event.pop(name, None)
    request = event.get("request", {})
    event["request"] = {name: request[name] for name in KEPT_OF_REQUEST if name in request}
    for error in event.get("exception", {}).get("values", []):
        error.pop("value", None)
        for frame in error.get("stacktrace", {}).get("frames", []):
            frame.pop("vars", None)
    event["tags"] = {name: str(value) for name, value in about_request().items()}
    return event
