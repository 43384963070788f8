"""Stored files as files of the local disk: in place, or as copies of what lies in object storage.

Stored files never change, so a copy is as good as the file: pages that read a few rows of a large run fetch
it once. What nobody has read for a while is removed, and more of it where the copies take too much room.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage

from pooling.storage.storing import disk_errors_named

# Copies that were read since then stay in any case: somebody may be reading them.
IN_USE_SECONDS = 60 * 60
KEPT_SECONDS = 24 * 60 * 60


def local_path(name: str) -> Path:
    """A stored file as a file of the local disk; `FileNotFoundError` where the storage has none."""
    try:
        return Path(default_storage.path(name))
    except NotImplementedError:  # a storage without local paths
        return _copy(name)


def _copy(name: str) -> Path:
    folder = Path(settings.DERIVED_DIR) / "copies"
    path = folder / name.replace("/", "-")
    with contextlib.suppress(FileNotFoundError):
        os.utime(path)  # read now
        return path
    with disk_errors_named(), default_storage.open(name, "rb") as source:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, part = tempfile.mkstemp(dir=folder, prefix="part-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
            Path(part).replace(path)
        finally:
            Path(part).unlink(missing_ok=True)
    _forget_old(folder, path)
    return path


def _forget_old(folder: Path, newest: Path) -> None:
    """Remove copies that nobody read for a day; above the bound also later ones, the oldest first."""
    copies = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process was quicker
            copies.append((path.stat().st_mtime, path.stat().st_size, path))
    now, taken = time.time(), sum(size for _, size, _ in copies)
    for read_at, size, path in sorted(copies):
        is_old = now - read_at > KEPT_SECONDS
        is_too_much = taken > settings.STORED_COPIES_BYTES and now - read_at > IN_USE_SECONDS
        if path != newest and (is_old or is_too_much):
            path.unlink(missing_ok=True)
            taken -= size
