"""Files that people send: bounded while they arrive, kept in storage while they wait for the worker."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from pooling.formats.bytes.parquet_pages import rows_in_footer
from pooling.formats.errors import FormatError
from pooling.formats.sources import GZIP_MAGIC, PARQUET_MAGIC, Source
from pooling.storage.storing import disk_errors_named

# A packed file is small for what it holds: text shrinks to about a tenth.
PACKED_FACTOR = 10
# What a row of a run or of qrels takes in memory, at the least.
ROW_BYTES = 40
# Files that were previewed lie here until they are imported, or until a day has passed.
PREVIEWED = "uploads/previewed"
IMPORTABLE = timedelta(days=1)


def are_large(files: Sequence[UploadedFile[Any]]) -> list[bool]:
    """Whether reading each is work for the background, by what it is and holds, whatever it is called.

    Of files that come together, those that exceed the bound with what is read before them are large too.
    """
    left, large = int(settings.BACKGROUND_UPLOAD_BYTES), []
    for upload in files:
        needed = _reading_bytes(upload, left)
        large.append(needed > left)
        left -= 0 if large[-1] else needed
    return large


def is_large(upload: UploadedFile[Any]) -> bool:
    """`are_large` of one file."""
    return are_large([upload])[0]


def _reading_bytes(upload: UploadedFile[Any], bound: int) -> int:
    """What reading the file takes, exact up to the bound."""
    size = upload.size or 0
    beginning = upload.read(len(PARQUET_MAGIC))
    upload.seek(0)
    is_packed = beginning.startswith((GZIP_MAGIC, PARQUET_MAGIC))
    if not is_packed or size * PACKED_FACTOR > bound:
        return size * (PACKED_FACTOR if is_packed else 1)
    with local_copy(upload) as path:
        upload.seek(0)
        source = Source(path, upload.name or "upload")
        if beginning == PARQUET_MAGIC:
            return (rows_in_footer(source) or 0) * ROW_BYTES
        return _unpacked_bytes(source, bound)


def _unpacked_bytes(source: Source, bound: int) -> int:
    total = 0
    try:
        for block in source.blocks(1 << 18):
            total += len(block)
            if total > bound:
                break
    except FormatError:
        return 0  # anyone who reads it says what is wrong
    return total


@contextmanager
def local_copy(upload: UploadedFile[Any]) -> Iterator[Path]:
    """The upload as a file of the local disk, for as long as the block runs."""
    if hasattr(upload, "temporary_file_path"):
        yield Path(upload.temporary_file_path())
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        with disk_errors_named(), path.open("wb") as file:
            shutil.copyfileobj(upload, file)
        yield path


def keep(upload: File[Any], folder: str = "uploads", ending: str = "") -> str:
    """Put the upload into storage, for the worker or for an import after its preview; its name there."""
    name = f"{folder}/{uuid4().hex}{ending}"
    with disk_errors_named():
        try:
            return default_storage.save(name, upload)
        except OSError:
            default_storage.delete(name)
            raise


@contextmanager
def kept(name: str) -> Iterator[Path]:
    """A kept upload as a file of the local disk, wherever the storage is."""
    try:
        yield Path(default_storage.path(name))
    except NotImplementedError:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "upload"
            with disk_errors_named(), default_storage.open(name) as source, path.open("wb") as file:
                shutil.copyfileobj(source, file)
            yield path


def discard(name: str) -> None:
    default_storage.delete(name)


def erase_previewed(now: datetime | None = None) -> int:
    """Remove files that were previewed more than a day ago and never imported; how many that were."""
    before = (now or timezone.now()) - IMPORTABLE
    try:
        names = [f"{PREVIEWED}/{name}" for name in default_storage.listdir(PREVIEWED)[1]]
    except FileNotFoundError:
        return 0
    old = [name for name in names if default_storage.get_modified_time(name) < before]
    for name in old:
        discard(name)
    return len(old)
