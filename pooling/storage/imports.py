"""Importing an uploaded file: a small one at once, a large one by the background worker.

A kind of import is a function `(collection, path, *, file_name, user, report, **options) -> result`; a result
is plain data with `detail`, a sentence for people, and `url`, the page to go on to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import UploadedFile
from django.urls import reverse

from pooling.interface.problems import InputError
from pooling.jobs.running import Report, job_kind, start_job
from pooling.models import Collection, Job, Run
from pooling.runs.stored import import_run
from pooling.storage import uploads
from pooling.texts.importing import ImportSummary, import_documents, import_queries

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Importer = Callable[..., dict[str, Any]]

IMPORTERS: dict[str, Importer] = {}


def importer(kind: str) -> Callable[[Importer], Importer]:
    """Register a function as the import of files of `kind`, for requests and for the worker."""

    def register(function: Importer) -> Importer:
        IMPORTERS[kind] = function
        job_kind(kind)(_import_kept)
        return function

    return register


def _import_kept(job: Job, report: Report) -> dict[str, Any]:
    arguments = job.arguments
    try:
        with uploads.kept(arguments["upload"]) as path:
            return IMPORTERS[job.kind](
                job.collection,
                path,
                file_name=arguments["file_name"],
                user=job.created_by,
                report=report,
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
) -> dict[str, Any] | Job:
    """Import an uploaded file of `kind`; returns the import's result, or the job that will have it."""
    file_name = upload.name or "upload"
    if not uploads.is_large(upload):
        with uploads.local_copy(upload) as path, _refusals_of_the_file():
            return IMPORTERS[kind](
                collection, path, file_name=file_name, user=user, report=lambda share, detail: None, **options
            )
    kept = uploads.keep(upload)
    try:
        arguments = {"upload": kept, "file_name": file_name, "options": options}
        return start_job(collection, kind, arguments, user)
    except BaseException:
        uploads.discard(kept)
        raise


@importer("queries")
def _queries(
    collection: Collection, path: Path, *, file_name: str, user: User | None, report: Report
) -> dict[str, Any]:
    summary = import_queries(collection, path, file_name=file_name, user=user)
    return _said("Queries", summary, reverse("queries", args=[collection.slug]))


@importer("documents")
def _documents(
    collection: Collection,
    path: Path,
    *,
    file_name: str,
    user: User | None,
    report: Report,
    only_pooled: bool = False,
) -> dict[str, Any]:
    summary = import_documents(collection, path, file_name=file_name, only_pooled=only_pooled, report=report)
    return _said("Documents", summary, reverse("documents", args=[collection.slug]))


def _said(what: str, summary: ImportSummary, url: str) -> dict[str, Any]:
    return {**summary.to_dict(), "detail": f"{what}: {summary}.", "url": url}


@importer("run")
def _run(
    collection: Collection,
    path: Path,
    *,
    file_name: str,
    user: User | None,
    report: Report,
    name: str = "",
    collapse_chunks: str = "",
) -> dict[str, Any]:
    chunks = None
    if collapse_chunks:
        from pooling.ranking.chunks import Chunks

        chunks = Chunks(collapse_chunks)
    named = name or None
    run = import_run(
        collection, path, name=named, file_name=file_name, user=user, report=report, chunks=chunks
    )
    return result_of(run)


def result_of(run: Run) -> dict[str, Any]:
    """What the HTTP interface and a finished job say of a run."""
    return {
        "id": run.pk,
        "name": run.name,
        "rows": run.row_count,
        "queries": run.query_count,
        "depth": run.depth,
        "tag": run.tag,
        "sha256": run.sha256,
        "preflight": run.preflight,
        "detail": f"Run “{run.name}”: {run.row_count:,} rows for {run.query_count:,} queries.",
        "url": reverse("run", args=[run.collection.slug, run.pk]),
    }
