"""Importing an uploaded file: a small one at once, a large one by the background worker.

A kind of import is a function `(collection, path, *, file_name, user, progress, **options) -> Result`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import UploadedFile

from pooling.interface.problems import InputError
from pooling.interface.progress import Progress
from pooling.interface.results import Result
from pooling.jobs.running import job_kind, start_job
from pooling.models import Collection, Job
from pooling.storage import uploads

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Importer = Callable[..., Result]

IMPORTERS: dict[str, Importer] = {}


def importer(kind: str) -> Callable[[Importer], Importer]:
    """Register a function as the import of files of `kind`, for requests and for the worker."""

    def register(function: Importer) -> Importer:
        IMPORTERS[kind] = function
        job_kind(kind)(_import_kept)
        return function

    return register


def _import_kept(job: Job, progress: Progress) -> Result:
    arguments = job.arguments
    try:
        with uploads.kept(arguments["upload"]) as path:
            return IMPORTERS[job.kind](
                job.collection,
                path,
                file_name=arguments["file_name"],
                user=job.created_by,
                progress=progress,
                **arguments["options"],
            )
    finally:
        uploads.discard(arguments["upload"])


@contextmanager
def _refusals_of_the_file() -> Iterator[None]:
    """A refusal that names no field is one of the file."""
    try:
        yield
    except InputError as error:
        error.fields = error.fields or {"file": str(error)}
        raise


def take_in(
    collection: Collection, kind: str, upload: UploadedFile[Any], *, user: User | None, **options: Any
) -> Result | Job:
    """Import an uploaded file of `kind`; returns the import's result, or the job that will have it."""
    file_name = upload.name or "upload"
    if not uploads.is_large(upload):
        with uploads.local_copy(upload) as path, _refusals_of_the_file():
            return IMPORTERS[kind](
                collection,
                path,
                file_name=file_name,
                user=user,
                progress=lambda share, detail: None,
                **options,
            )
    kept = uploads.keep(upload)
    try:
        arguments = {"upload": kept, "file_name": file_name, "options": options}
        return start_job(collection, kind, arguments, user)
    except BaseException:
        uploads.discard(kept)
        raise
