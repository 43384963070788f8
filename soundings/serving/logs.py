"""Logs: lines for people, or a JSON object a line for programs, with what belongs to the request.

A line names request, person (by number) and collection. It never holds what somebody wrote, judged or keeps
secret: bodies, query strings, cookies and headers are not logged, and of an error its kind and place.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest

import soundings
from pooling.people.current import COLLECTION

TEXT, JSON = "text", "json"
FORMATS = (TEXT, JSON)
# What a proxy in front may call a request; anything else gets a number of ours.
GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
# What `extra=` of our own messages may add to a line.
OWN_FIELDS = ("method", "route", "status", "seconds")
REQUESTS = "soundings.requests"

REQUEST: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def logging_of(format: str, level: str, *, requests: bool) -> dict[str, object]:
    """Django's LOGGING for a format and a level; with `requests`, a line for each answer."""
    if format not in FORMATS:
        raise ImproperlyConfigured(f"SOUNDINGS_LOG_FORMAT is “{format}”; choose one of {', '.join(FORMATS)}.")
    if level not in logging.getLevelNamesMapping():
        raise ImproperlyConfigured(f"SOUNDINGS_LOG_LEVEL is “{level}”; choose DEBUG, INFO, WARNING or ERROR.")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {TEXT: {"format": "%(message)s"}, JSON: {"()": "soundings.serving.logs.JsonLines"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": format}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "axes": {"level": "ERROR"},
            "django.request": {"level": "ERROR"},
            REQUESTS: {"level": "INFO" if requests else "ERROR"},
        },
    }


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, logger, message; request, person, collection; error."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message_of(record),
        }
        line |= about_request()
        line |= {name: vars(record)[name] for name in OWN_FIELDS if name in vars(record)}
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            line["where"] = place_of(record)
        return json.dumps(line, ensure_ascii=False, default=str)


def message_of(record: logging.LogRecord) -> str:
    """A record's sentence; Django's own names the address with what follows it, which may be an answer."""
    return record.getMessage().partition("?")[0] if record.name.startswith("django.") else record.getMessage()


def place_of(record: logging.LogRecord) -> list[str]:
    """The trace of an error, innermost last: file, line and function, and no values."""
    assert record.exc_info
    frames = traceback.extract_tb(record.exc_info[2])
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def about_request() -> Mapping[str, object]:
    """Number of the request, of the person, and the collection; what is not known is left out."""
    request = REQUEST.get()
    if request is None:
        return {}
    facts: dict[str, object] = {"request": request.number}  # type: ignore[attr-defined]
    if person := person_of(request):
        facts["person"] = person
    if collection := COLLECTION.get():
        facts["collection"] = collection
    return facts


def person_of(request: HttpRequest) -> int | None:
    """The number of the person, where it is known already: a line asks no database."""
    # Who a token belongs to stands in the place of Django's own, which looks the session up when asked.
    user = getattr(request, "_cached_user", None) or vars(request).get("user")
    number = vars(user).get("id") if hasattr(user, "__dict__") else None
    return number if isinstance(number, int) else None


def number_for(request: HttpRequest) -> str:
    """The proxy's number of the request, or one of ours."""
    given = request.headers.get("X-Request-ID", "")
    return given if GIVEN_ID.fullmatch(given) else uuid4().hex


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
