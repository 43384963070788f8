"""Importing an uploaded file: a small one at once, a large one by the background worker.

A kind of import is a function `(collection, path, *, file_name, user, progress, **options)` that gives an
`Imported` or a `Result`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from pooling.interface.problems import InputError, StorageAwayError, is_outage
from pooling.interface.registering import NamedRegistry
from pooling.interface.results import Imported, Progress, Result
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_job
from pooling.models import Collection, Job
from pooling.storage import uploads

Importer = Callable[..., Result]
Function = TypeVar("Function", bound=Callable[..., Imported | Result])


@dataclass(frozen=True)
class PreviewTable:
    """A table of a preview: first rows as text, `count` of how many. asks: an import waits because of it."""

    heading: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    count: int
    note: str = ""
    asks: bool = False


@dataclass(frozen=True)
class Showing:
    """The preview of files of a kind.

    tables: the tables of a file for a collection, given its path and its name. imported: what the import
    would answer, where it stores more than a transaction takes back; else the import itself tells.
    more_tables: of what it answered.
    """

    tables: Callable[[Collection, Path, str], Sequence[PreviewTable]]
    imported: Importer | None = None
    more_tables: Callable[[Result], Sequence[PreviewTable]] | None = None


# So many rows of a table are seen.
FIRST_ROWS = 5
IMPORTERS: NamedRegistry[Importer] = NamedRegistry()
SHOWING: NamedRegistry[Showing] = NamedRegistry()


def importer(kind: str, *, showing: Showing | None = None, **facts: Any) -> Callable[[Function], Function]:
    """Register a function as the import of `kind`. showing: its preview; facts: as `job_kind` takes them."""

    def register(function: Function) -> Function:
        def imported(*file: Any, **choices: Any) -> Result:
            done = function(*file, **choices)
            return done.result() if isinstance(done, Imported) else done

        IMPORTERS[kind] = imported
        if showing is not None:
            SHOWING[kind] = showing
        job_kind(kind, **facts)(_import_kept)
        return function

    return register


def _import_kept(job: Job, progress: Progress) -> Result:
    arguments = job.arguments
    try:
        with uploads.kept(arguments["upload"]) as path:
            result = IMPORTERS[job.kind](
                job.collection,
                path,
                file_name=arguments["file_name"],
                user=job.created_by,
                progress=progress,
                **arguments["options"],
            )
    except BaseException as error:
        if not is_outage(error):  # after one, the import can be started again
            uploads.discard(arguments["upload"])
        raise
    with suppress(StorageAwayError):  # what was imported is stored
        uploads.discard(arguments["upload"])
    return result


@contextmanager
def _refusals_of_the_file() -> Iterator[None]:
    """A refusal that names no field is one of the file."""
    try:
        yield
    except InputError as error:
        error.fields = error.fields or {"file": str(error)}
        raise


def previewed(
    collection: Collection, kind: str, upload: UploadedFile[Any], *, user: User | None, **options: Any
) -> Result:
    """The result that importing a file of queries, documents, labels or a run would have; nothing of it
    stays.

    `InputError` for what the import would refuse, and for a file that only the background worker reads.
    """
    if uploads.is_large(upload):
        problem = "This file is too large for a preview. An import is stored whole or not at all."
        raise InputError(problem, field="file")
    with uploads.local_copy(upload) as path:
        return would_import(collection, kind, path, file_name=upload.name or "upload", user=user, **options)


def would_import(
    collection: Collection, kind: str, path: Path, *, file_name: str, user: User | None, **options: Any
) -> Result:
    """`previewed` of a file of the local disk, however large."""
    showing = SHOWING.get(kind)
    if showing is None:
        raise InputError("Only queries, documents, runs, qrels, judgments and pre-labels have a preview.")
    function = showing.imported or IMPORTERS[kind]
    with _refusals_of_the_file(), transaction.atomic():
        result = function(
            collection, path, file_name=file_name, user=user, progress=lambda share, detail: None, **options
        )
        transaction.set_rollback(True)
    # The numbers and addresses of what is not there; the next import may get them.
    gone = dict.fromkeys(result.keys() & {"import_id", "pass_id", "url", "undo"})
    words = result["detail"]
    words = (
        words.removeprefix("Imported") if words.startswith("Imported:") else f" {words[0].lower()}{words[1:]}"
    )
    return cast(Result, {**result, **gone, "detail": f"Would import{words}"})


def take_in(
    collection: Collection, kind: str, upload: UploadedFile[Any], *, user: User | None, **options: Any
) -> Result | Job:
    """Import an uploaded file of `kind`; returns the import's result, or the job that will have it."""
    file_name = upload.name or "upload"
    if not uploads.is_large(upload):
        with uploads.local_copy(upload) as path:
            return import_now(collection, kind, path, file_name=file_name, user=user, **options)
    return import_later(collection, kind, uploads.keep(upload), file_name=file_name, user=user, **options)


def import_now(
    collection: Collection, kind: str, path: Path, *, file_name: str, user: User | None, **options: Any
) -> Result:
    with _refusals_of_the_file():
        return IMPORTERS[kind](
            collection, path, file_name=file_name, user=user, progress=lambda share, detail: None, **options
        )


def import_later(
    collection: Collection, kind: str, upload_name: str, *, file_name: str, user: User | None, **options: Any
) -> Job:
    """Let the worker import a kept upload; it is discarded then, and also where no job can be started."""
    try:
        arguments = {"upload": upload_name, "file_name": file_name, "options": options}
        return start_job(collection, kind, arguments, user)
    except BaseException:
        uploads.discard(upload_name)
        raise
