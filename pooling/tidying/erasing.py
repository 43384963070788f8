"""Erasing of what was deleted more than thirty days ago: its files, and its row unless something rests on it.

Nothing that a person did is discarded: a query, a document or a queue with verdicts keeps its row, without
its texts. Only a collection goes with everything in it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import FileField, ProtectedError, QuerySet, RestrictedError
from django.utils import timezone
from django_tasks import task

from pooling.interface.registering import Registry
from pooling.jobs.running import discard_interrupted_uploads
from pooling.models import Collection
from pooling.people.activity_log import record_action
from pooling.storage.uploads import erase_previewed
from pooling.tidying.kept import RESTORABLE, Kept
from pooling.tidying.kinds import KINDS, dependants_of, run_hooks

logger = logging.getLogger(__name__)

AT_ONCE = 1000
Erase = Callable[[Collection], None]

Forget = Callable[[datetime], None]

# What a stage or the site keeps for some days only, such as notes and addresses.
_FORGETTING: Registry[Forget, None] = Registry()

# What empties a collection, by stage; the last one registered goes first, for it rests on those before it.
_EMPTYING: Registry[Erase, None] = Registry()


def empties_collections(erase: Erase) -> Erase:
    """Register what takes a stage's rows out of a collection that is erased."""
    _EMPTYING[erase] = None
    return erase


def forgets_old(forget: Forget) -> Forget:
    """Register what deletes rows or texts that are kept for some days only."""
    _FORGETTING[forget] = None
    return forget


def erase_old(now: datetime | None = None) -> int:
    """Erase what was deleted more than thirty days ago, and return how many things that were.

    Files that were previewed more than a day ago and never imported go too, and those of imports that were
    interrupted a week ago, and what is kept for some days only (`forgets_old`), uncounted.
    """
    erase_previewed(now)
    discard_interrupted_uploads()
    for forget in _FORGETTING:
        forget(now or timezone.now())
    before = (now or timezone.now()) - RESTORABLE
    erased = 0
    # What rests on other things goes before these.
    for kind in reversed(list(KINDS.values())):
        old = kind.model.everything.filter(deleted_at__lte=before, erased_at=None).order_by("pk")
        for thing in old[:AT_ONCE]:
            try:
                erase(thing)
            except Exception:
                logger.exception("%s %s could not be erased", kind.name, thing.pk)
            else:
                erased += 1
    return erased


@task()
def erase_in_background() -> None:
    erase_old()


def erase(thing: Kept) -> None:
    if isinstance(thing, Collection):
        erase_collection(thing)
        return
    rows = type(thing).everything.filter(pk=thing.pk)
    files = stored_files(rows)
    with transaction.atomic():
        if dependants_of(thing) or not _row_deleted(thing):
            rows.update(erased_at=timezone.now())
        run_hooks("erased", thing, None)
    _remove(files)


def erase_collection(collection: Collection) -> None:
    kinds = [kind for kind in KINDS.values() if kind.model is not Collection]
    files = [name for kind in kinds for name in stored_files(kind.rows_of(collection))]
    with transaction.atomic():
        for empty in reversed(list(_EMPTYING)):
            empty(collection)
        record_action(collection, None, "collection erased")
        collection.delete()
    _remove(files)


def stored_files(rows: QuerySet[Any]) -> list[str]:
    """The names of the files of some rows; a report has other files in its folder."""
    fields = [field.name for field in rows.model._meta.concrete_fields if isinstance(field, FileField)]
    names = {name for row in rows.values_list(*fields) for name in row if name} if fields else set()
    if len(fields) > 1:
        folders = {str(PurePosixPath(name).parent) for name in names}
        names |= {f"{folder}/{name}" for folder in folders for name in default_storage.listdir(folder)[1]}
    return sorted(names)


def _row_deleted(thing: Kept) -> bool:
    try:
        with transaction.atomic():
            thing.delete()
    except (ProtectedError, RestrictedError):
        return False
    return True


def _remove(files: Iterable[str]) -> None:
    for name in files:
        default_storage.delete(name)
