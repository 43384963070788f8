"""The page of archived and deleted things, and the offer in a message about a deletion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.db.models import F
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from pooling.formats.wording import counted
from pooling.models import Collection, Document, Query
from pooling.tidying.doing import restorable_until
from pooling.tidying.kept import Kept
from pooling.tidying.kinds import KINDS, Kind, collection_of, kind_of

# So many of a kind are listed; the rest are counted.
MOST_LISTED = 100


@dataclass(frozen=True)
class TidiedThing:
    """Something that was archived or deleted, when, by whom, and until when it can be restored."""

    kind: Kind
    thing: Kept
    name: str
    url: str
    at: datetime
    by: str
    until: datetime | None


@dataclass(frozen=True)
class TidiedList:
    rows: Sequence[TidiedThing]
    more: int


def archived_in(collection: Collection) -> TidiedList:
    return _listed(collection, deleted=False)


def deleted_in(collection: Collection) -> TidiedList:
    """Deleted things that can be restored; one query for each kind."""
    return _listed(collection, deleted=True)


def _listed(collection: Collection, *, deleted: bool) -> TidiedList:
    rows, more = [], 0
    for kind in KINDS.values():
        if kind.model is Collection:
            continue
        things = kind.rows_of(collection)
        if deleted:
            things = things.filter(deleted_at__isnull=False, erased_at=None).order_by("-deleted_at", "-pk")
        else:
            things = things.filter(deleted_at=None, archived_at__isnull=False).order_by("-archived_at", "-pk")
        if deleted and kind.model in (Query, Document):
            # What went with its import comes back with it.
            things = things.exclude(brought_by__deleted_at=F("deleted_at"))
        newest = list(things.select_related("deleted_by").only(kind.label, *FIELDS)[: MOST_LISTED + 1])
        more += len(newest) > MOST_LISTED
        rows += [_row(kind, thing, collection) for thing in newest[:MOST_LISTED]]
    return TidiedList(sorted(rows, key=lambda row: row.at, reverse=True), more)


FIELDS = ("archived_at", "deleted_at", "erased_at", "deleted_by__username")


def _row(kind: Kind, thing: Kept, collection: Collection) -> TidiedThing:
    at = thing.deleted_at or thing.archived_at
    assert at is not None
    thing.collection = collection  # type: ignore[attr-defined]  # its address needs it
    return TidiedThing(
        kind=kind,
        thing=thing,
        name=kind.name_of(thing),
        url=reverse("tidy", args=[collection.slug, kind.name, thing.pk]),
        at=at,
        by=thing.deleted_by.get_username() if thing.deleted_by else "",
        until=restorable_until(thing) if thing.deleted_at else None,
    )


def say_deleted(request: HttpRequest, things: Sequence[Kept]) -> None:
    """Say what was deleted, with the button that undoes it: it belongs to the form `undo` of every page."""
    kind = kind_of(things[0])
    same = all(isinstance(thing, kind.model) for thing in things)
    what = (
        f"{kind.noun} “{kind.name_of(things[0])}”"
        if len(things) == 1
        else counted(len(things), kind.noun, kind.plural)
        if same
        else f"{kind.noun} “{kind.name_of(things[0])}” and what it rested on"
    )
    _say(request, f"Deleted {what}.", "restore", things)


def say_archived(request: HttpRequest, things: Sequence[Kept]) -> None:
    """Say what was archived, with the button that undoes it."""
    kind = kind_of(things[0])
    what = (
        f"{kind.noun} “{kind.name_of(things[0])}”"
        if len(things) == 1
        else counted(len(things), kind.noun, kind.plural)
    )
    _say(request, f"Archived {what}: no longer in lists and forms.", "unarchive", things)


def _say(request: HttpRequest, sentence: str, action: str, things: Sequence[Kept]) -> None:
    collection = collection_of(things[0])
    if collection.deleted_at:
        url = reverse("collection_restore", args=[collection.pk])
    else:
        # What others rest on comes back first.
        named = ",".join(f"{kind_of(thing).name}:{thing.pk}" for thing in reversed(things))
        url = f"{reverse('tidied', args=[collection.slug])}?things={named}"
    messages.success(
        request,
        format_html(
            '{} <button class="button quiet-button" form="undo" formaction="{}" name="action" value="{}">'
            "Undo</button>",
            sentence,
            url,
            action,
        ),
    )
