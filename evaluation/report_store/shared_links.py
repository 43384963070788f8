"""Links to a report or a comparison without an account, for a time, while their maker is an admin."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from evaluation.models import Report, SharedLink
from pooling.interface.problems import InputError
from pooling.people.activity_log import record_action
from pooling.people.link_tokens import hashed, is_of_an_admin, new_token

USUAL_DAYS = 30
LONGEST_DAYS = 365
LONGEST_NOTE = 100
MOST_LINKS = 100
# When it was last opened is written once in so long a time, not for every picture.
OPENED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class Sharing:
    """A link for `days` from now or to the end of `until`; with two runs and `k`, to their comparison."""

    days: int = USUAL_DAYS
    until: date | None = None
    note: str = ""
    first: str = ""
    second: str = ""
    k: int | None = None


class Shared(NamedTuple):
    """A link and its token, which is shown once and stored nowhere."""

    link: SharedLink
    token: str


@transaction.atomic
def share(report: Report, sharing: Sharing, *, by: User) -> Shared:
    """Make a link; `InputError` for an end that has passed or is more than a year away, and for too many."""
    now = timezone.now()
    ends = _end(sharing, now)
    if len(sharing.note) > LONGEST_NOTE:
        raise InputError(f"A note may have at most {LONGEST_NOTE} characters.", field="note")
    if links_of(report).count() >= MOST_LINKS:
        raise InputError(f"This report has {MOST_LINKS} links. Withdraw one first.")
    token = new_token()
    link = SharedLink.objects.create(
        report=report,
        collection=report.collection,
        token_sha256=hashed(token),
        first=sharing.first,
        second=sharing.second,
        k=sharing.k,
        note=sharing.note.strip(),
        created_by=by,
        expires_at=ends,
    )
    until = timezone.localtime(ends).date().isoformat()
    record_action(report.collection, by, "report shared", report.name, link=link.pk, until=until)
    return Shared(link, token)


@transaction.atomic
def withdraw_link(link: SharedLink, *, by: User) -> None:
    """End a link at once; a second time changes nothing."""
    ended = SharedLink.objects.filter(pk=link.pk, withdrawn_at=None).update(withdrawn_at=timezone.now())
    if ended:
        record_action(link.collection, by, "shared link withdrawn", link.report.name, link=link.pk)


def links_of(report: Report) -> QuerySet[SharedLink]:
    rows = report.shared_links.filter(is_of_an_admin("created_by"), withdrawn_at=None)
    return rows.filter(expires_at__gt=timezone.now()).select_related("created_by")


def opened_link(token: str) -> SharedLink:
    """Look up a token and note that it was opened; `InputError` why not, `missing` for one that never was."""
    rows = SharedLink.objects.filter(token_sha256=hashed(token))
    link = rows.select_related("report__collection", "report__release").first()
    if link is None:
        raise InputError(
            "This link is not valid. Part of it may be missing: ask the person who sent it.", missing=True
        )
    now = timezone.now()
    if link.report.deleted_at or link.report.collection.deleted_at:
        raise InputError("What this link shows was deleted. Ask the person who sent it.")
    if link.withdrawn_at:
        raise InputError("This link was withdrawn. Ask for a new one.")
    if link.expires_at <= now:
        raise InputError("This link has expired. Ask for a new one.")
    if not rows.filter(is_of_an_admin("created_by")).exists():
        raise InputError(
            "This was shared by someone who is not an admin any more. Ask someone else for a link."
        )
    if link.opened_at is None or now - link.opened_at > OPENED_EVERY:
        SharedLink.objects.filter(pk=link.pk).update(opened_at=now)
    return link


def _end(sharing: Sharing, now: datetime) -> datetime:
    if sharing.until is None:
        if not 1 <= sharing.days <= LONGEST_DAYS:
            raise InputError(f"A link is valid for 1 to {LONGEST_DAYS} days.", field="days")
        return now + timedelta(days=sharing.days)
    today = timezone.localtime(now).date()
    if not today <= sharing.until <= today + timedelta(days=LONGEST_DAYS):
        raise InputError("Choose a day from today to a year from now.", field="until")
    return timezone.make_aware(datetime.combine(sharing.until, time.max))
