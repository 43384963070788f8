"""Events from everywhere for the trail: sign-ins, files that leave the site, changes under /admin/."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from email.message import Message
from typing import Any

from django.conf import settings
from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponseBase

from pooling.interface.problems import InputError
from pooling.models import AdminAction, Collection
from pooling.people.activity_log import record_action
from pooling.people.current import COLLECTION
from pooling.tidying.erasing import forgets_old

View = Callable[[HttpRequest], HttpResponseBase]
DOWNLOADED = "file downloaded"


def downloads_written(get_response: View) -> View:
    """Middleware: a file to save is written down before its first byte is sent."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if response.status_code == 200 and request.method != "HEAD" and _is_file(response):
            _write_download(request, response)
        return response

    return answer


def _is_file(response: HttpResponseBase) -> bool:
    return str(response.headers.get("Content-Disposition", "")).startswith("attachment")


def _write_download(request: HttpRequest, response: HttpResponseBase) -> None:
    header = Message()
    header["Content-Disposition"] = response.headers["Content-Disposition"]
    match = request.resolver_match
    # Numbers alone: some addresses hold a secret.
    keys = {name: key for name, key in (match.kwargs if match else {}).items() if isinstance(key, int)}
    who = request.user if request.user.is_authenticated else None
    slug = COLLECTION.get()
    collection = Collection.everything.filter(slug=slug, deleted_at=None).first() if slug else None
    facts = {"page": match.url_name if match else "", **keys}
    record_action(collection, who, DOWNLOADED, header.get_filename() or "", **facts)


def write_change(instance: LogEntry) -> None:
    """Write down what somebody did under /admin/: to which row and in which fields, never their values."""
    done = {ADDITION: "added", DELETION: "deleted"}.get(instance.action_flag, "changed")
    model = instance.content_type.model_class() if instance.content_type else None
    subject: object = f"{instance.content_type} {instance.object_id}"
    if model is get_user_model() and instance.action_flag != DELETION:
        subject = get_user_model()(pk=int(instance.object_id or 0))
    collection = None
    if model is Collection:
        collection = Collection.everything.filter(pk=instance.object_id or 0).first()
    fields = sorted(set(_fields(instance.change_message)))
    record_action(collection, instance.user, f"{done} under /admin/", subject, fields=fields)


def _fields(message: str) -> Iterator[str]:
    """The fields, and the kinds of rows next to it, that a message of Django's admin names."""
    try:
        parts: list[dict[str, dict[str, Any]]] = json.loads(message or "[]")
    except ValueError:
        return
    for part in parts:
        for done, what in part.items():
            yield from what.get("fields", [])
            if "name" in what:
                yield f"{done} {what['name']}"


@forgets_old
def forget_addresses(now: datetime) -> None:
    """Remove addresses, and what their checksums were made with, after SIGN_IN_LOG_DAYS."""
    before = now - timedelta(days=settings.SIGN_IN_LOG_DAYS)
    old = AdminAction.objects.exclude(address="").filter(at__lt=before)
    old.update(address="", address_salt="")


def kept_of(text: str) -> tuple[int, str] | None:
    """NUMBER:CHECKSUM, as a check prints it; `InputError` for anything else, None for nothing."""
    if not text:
        return None
    number, colon, checksum = text.strip().partition(":")
    if not (colon and number.isascii() and number.isdigit() and len(number) < 19 and len(checksum) == 64):
        problem = "`kept` is a line's number and checksum, as an earlier check printed them."
        raise InputError(problem, field="kept")
    return int(number), checksum
