"""Renaming, archiving, deleting and restoring: the one place that does it, for whatever kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import UniqueConstraint
from django.utils import timezone

from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.activity_log import record_action
from pooling.storage.storing import checked_name
from pooling.tidying.kept import RESTORABLE, Kept
from pooling.tidying.kinds import (
    KINDS,
    Kind,
    collection_of,
    dependants_of,
    grounds_of,
    kind_of,
    run_hooks,
    run_hooks_of_many,
)

BATCH = 5000


def rename(thing: Kept, name: str, *, by: User | None = None) -> None:
    """Give a thing another name, not where it is written already; `InputError` for one that will not do."""
    kind = kind_of(thing)
    if kind.immutable:
        raise InputError(kind.immutable, field="name", conflict=True)
    name = checked_name(name, kind.noun)
    before = kind.name_of(thing)
    if name == before:
        return
    with _changing(thing, kind, name) as row:
        setattr(row, kind.label, name)
        row.save(update_fields=[kind.label])
        row.former_name = before  # type: ignore[attr-defined]
        run_hooks("renamed", row, by)
        record_action(collection_of(row), by, f"{kind.noun} renamed", name, before=before)
    setattr(thing, kind.label, name)


def archive(thing: Kept, archived: bool = True, *, by: User | None = None) -> None:
    kind = kind_of(thing)
    if not kind.archived:
        raise InputError(f"An {kind.noun} cannot be archived.", conflict=True)
    if bool(thing.archived_at) == archived:
        return
    with _changing(thing, kind) as row:
        row.archived_at = timezone.now() if archived else None
        row.save(update_fields=["archived_at"])
        done = "archived" if archived else "unarchived"
        record_action(collection_of(row), by, f"{kind.noun} {done}", kind.name_of(row))
    thing.archived_at = row.archived_at


def delete(thing: Kept, *, by: User | None = None) -> None:
    """Delete a thing, to be restored within thirty days; `InputError` names what is in the way."""
    kind = kind_of(thing)
    with _changing(thing, kind) as row:
        refuse_needed(row)
        row.deleted_at, row.deleted_by = timezone.now(), by
        row.save(update_fields=["deleted_at", "deleted_by"])
        run_hooks("deleted", row, by)
        record_action(collection_of(row), by, f"{kind.noun} deleted", kind.name_of(row))
    thing.deleted_at, thing.deleted_by = row.deleted_at, row.deleted_by


def refuse_needed(thing: Kept) -> None:
    """`InputError` where something has to go before a thing can."""
    kind = kind_of(thing)
    if blocking := [one.sentence() for one in dependants_of(thing) if one.blocks]:
        raise InputError(
            f"The {kind.noun} “{kind.name_of(thing)}” cannot be deleted: {', and '.join(blocking)}. "
            "Archive it instead: lists and forms no longer show it, and nothing else changes.",
            conflict=True,
        )


def restore(thing: Kept, *, name: str | None = None, by: User | None = None) -> None:
    """Undo a deletion, with everything it changed; `name` is another name for it.

    `InputError` after thirty days, where what it rests on is deleted as well, and where its name was given
    to something else: that proposes another.
    """
    kind = kind_of(thing)
    with transaction.atomic():
        row = _locked(thing)
        if row.deleted_at is None:
            raise InputError(f"The {kind.noun} “{kind.name_of(row)}” is not deleted.", conflict=True)
        if row.erased_at or timezone.now() > restorable_until(row):
            raise InputError("It was deleted more than thirty days ago and cannot be restored.")
        if gone := next((one.thing for one in grounds_of(row) if one.needed and one.thing.deleted_at), None):
            what = kind_of(gone)
            raise InputError(
                f"It rests on the {what.noun} “{what.name_of(gone)}”, which is deleted too. "
                "Restore that first.",
                conflict=True,
            )
        if name and not kind.immutable:
            setattr(row, kind.label, checked_name(name, kind.noun))
        run_hooks("restoring", row, by)
        row.deleted_at, row.deleted_by = None, None
        _save_restored(row, kind)
        run_hooks("restored", row, by)
        record_action(collection_of(row), by, f"{kind.noun} restored", kind.name_of(row))
    thing.refresh_from_db(fields=_restored_fields(kind))


def bring_back(model: type[Kept], collection: Collection, keys: Sequence[int], **facts: Any) -> None:
    """Restore queries or documents that a file has again, whenever deleted; `facts` change with that."""
    kind = next(kind for kind in KINDS.values() if kind.model is model)
    for start in range(0, len(keys), BATCH):
        rows = model.everything.filter(pk__in=keys[start : start + BATCH])
        rows.update(deleted_at=None, deleted_by=None, erased_at=None, **facts)
        run_hooks_of_many("restored", collection, rows)
    if not keys:
        return
    why = {"reason": "in an imported file"}
    if len(keys) == 1:
        name = kind.name_of(model.everything.get(pk=keys[0]))
        record_action(collection, None, f"{kind.noun} restored", name, **why)
    else:
        record_action(
            collection, None, f"{kind.plural} restored", counted(len(keys), kind.noun, kind.plural), **why
        )


def restorable_until(thing: Kept) -> datetime:
    """When a deleted thing is erased."""
    if thing.deleted_at is None:
        raise ValueError("It is not deleted.")
    return thing.deleted_at + RESTORABLE


def free_name_like(thing: Kept) -> str:
    """A name for a thing whose own was given away: “NAME (restored)”, with a number where needed."""
    kind = kind_of(thing)
    name = kind.name_of(thing)
    taken = set(_siblings(thing).values_list(kind.label, flat=True)) if _is_unique(kind) else set()
    if name not in taken:
        return name
    numbers = ("", *(f" {number}" for number in range(2, len(taken) + 3)))
    return next(one for number in numbers if (one := f"{name[:180]} (restored{number})") not in taken)


def _is_unique(kind: Kind) -> bool:
    constraints = kind.model._meta.constraints
    return any(kind.label in one.fields for one in constraints if isinstance(one, UniqueConstraint))


def _siblings(thing: Any) -> Any:
    rows = type(thing).objects.all()
    return rows.filter(collection=thing.collection_id) if hasattr(thing, "collection_id") else rows


def _restored_fields(kind: Kind) -> list[str]:
    fields = ["deleted_at", "deleted_by", *([] if kind.immutable else [kind.label])]
    return [*fields, "slug"] if kind.model is Collection else fields


def _save_restored(row: Kept, kind: Kind) -> None:
    if isinstance(row, Collection):
        slug = row.slug
        taken = set(Collection.objects.values_list("slug", flat=True))
        numbers = ("", *(f"-{number}" for number in range(2, len(taken) + 3)))
        row.slug = next(one for number in numbers if (one := slug[: 60 - len(number)] + number) not in taken)
    try:
        with transaction.atomic():
            row.save(update_fields=_restored_fields(kind))
    except IntegrityError:
        raise InputError(
            f"Another {kind.noun} is called “{kind.name_of(row)}” now. "
            f"Restore this one under another name, such as “{free_name_like(row)}”.",
            field="name",
            conflict=True,
        ) from None


def _locked(thing: Kept) -> Kept:
    rows = type(thing).everything.select_for_update(of=("self",), no_key=True)
    row: Kept | None = rows.filter(pk=thing.pk).first()
    if row is None:
        raise InputError("It was erased in the meantime.", missing=True)
    return row


@contextmanager
def _changing(thing: Kept, kind: Kind, name: str = "") -> Iterator[Kept]:
    """The locked row of a thing that is not deleted; a name that is taken is one clear sentence."""
    try:
        with transaction.atomic():
            row = _locked(thing)
            if row.deleted_at:
                raise InputError(f"The {kind.noun} “{kind.name_of(row)}” is deleted.", conflict=True)
            yield row
    except IntegrityError:
        if not name:
            raise
        problem = f"Another {kind.noun} is already called “{name}”. Choose another name."
        raise InputError(problem, field="name", conflict=True) from None
