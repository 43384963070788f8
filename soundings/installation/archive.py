"""The file of a backup: a ZIP of rows, files, and a last list with checksums, absent if cut off."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypedDict, cast

from pooling.formats.sources import LEAST_UNPACKED, require_file
from pooling.formats.writing import errors_about
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.storage.storing import disk_errors_named

FORMAT = 1
LIST = "backup.json"
# Folders of the archive: tables, stored files, and answers of models that are not in the database yet.
TABLES, FILES, JOURNALS = "tables", "files", "prelabels"
CHUNK = 1 << 20
# A table of equal rows shrinks further than texts do; what shrinks more than this is there to fill a disk.
UNPACKED_FACTOR = 200
# The list is read at once, and becomes 25 times as many bytes. Its checksums hardly shrink.
LIST_FACTOR = 16


class Part(TypedDict):
    """A file in the archive: its place there, size in bytes, and checksum."""

    name: str
    size: int
    sha256: str


class Table(Part):
    """The rows of a table in one file: a list of values for each line, in the order of `columns`."""

    table: str
    columns: list[str]
    rows: int


class Contents(TypedDict):
    """The description in a backup; `migrations`: app and name of each that the database had."""

    format: int
    version: str
    taken_at: str
    database: str
    secret_key: str
    migrations: list[list[str]]
    tables: list[Table]
    files: list[Part]
    journals: list[Part]
    missing: list[str]
    altered: list[str]


class ArchiveWriter:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def add(self, name: str, chunks: Iterable[bytes], *, packed: bool) -> Part:
        digest, size = hashlib.sha256(), 0
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
        with self._archive.open(info, "w", force_zip64=True) as file:
            for chunk in chunks:
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        return {"name": name, "size": size, "sha256": digest.hexdigest()}

    def finish(self, contents: Contents) -> None:
        self._archive.writestr(LIST, json.dumps(contents, ensure_ascii=False), zipfile.ZIP_DEFLATED)


@contextmanager
def new_archive(path: Path) -> Iterator[ArchiveWriter]:
    """Write a backup next to its place, closed to other accounts; it gets its name when it is whole."""
    if path.exists():
        raise InputError(f"{path} already exists. Choose another name.", field="file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"There is no folder {path.parent}; create it or name another.", field="file")
    part = path.with_name(f"{path.name}.part")
    with disk_errors_named(), errors_about(path):
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with disk_errors_named(), os.fdopen(descriptor, "w+b") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                yield ArchiveWriter(archive)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


class Archive:
    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path, self._archive = path, archive
        self.contents = self._contents()

    def _contents(self) -> Contents:
        for part in self._archive.infolist():
            factor = LIST_FACTOR if part.filename == LIST else UNPACKED_FACTOR
            if part.file_size > max(LEAST_UNPACKED, factor * part.compress_size):
                unpacked = f"{part.compress_size:,} bytes of {part.filename} unpack to {part.file_size:,}"
                problem = f"{self._path} is not a backup of Soundings: {unpacked}."
                raise InputError(problem, field="file")
        try:
            contents = json.loads(self._archive.read(LIST))
            form = contents["format"]
        except (KeyError, TypeError, ValueError, *DAMAGE):
            raise InputError(f"{self._path} is not a backup of Soundings.", field="file") from None
        if form != FORMAT:
            raise newer(self._path, contents)
        return cast("Contents", contents)

    def require_whole(self, progress: Progress) -> None:
        """Read everything once; `InputError` names the first part that is not what was written."""
        parts: list[Part] = [*self.contents["tables"], *self.contents["files"], *self.contents["journals"]]
        total, done = sum(part["size"] for part in parts) or 1, 0
        for part in parts:
            digest = hashlib.sha256()
            try:
                with self.open(part) as file:
                    while chunk := file.read(CHUNK):
                        digest.update(chunk)
                        done += len(chunk)
                        progress(done / total, "reading")
            except (KeyError, *DAMAGE):
                raise damaged(self._path, part["name"]) from None
            if digest.hexdigest() != part["sha256"]:
                raise damaged(self._path, part["name"])

    def open(self, part: Part) -> IO[bytes]:
        return self._archive.open(part["name"])

    def lines(self, table: Table) -> Iterator[list[object]]:
        with self.open(table) as file:
            for line in file:
                yield json.loads(line)


# What reading a broken ZIP may raise.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Read a backup; `InputError` where it is none, or was cut off."""
    require_file(path, str(path))
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGE:
        raise InputError(
            f"{path} is not a backup, or not all of it: it is cut off or damaged. Use another copy.",
            field="file",
        ) from None
    with archive:
        yield Archive(path, archive)


def damaged(path: Path, name: str) -> InputError:
    return InputError(f"{path} is damaged at {name}. Nothing was restored. Use another copy.", field="file")


def newer(path: Path, contents: Contents) -> InputError:
    version = contents.get("version", "?")
    return InputError(
        f"{path} was made by a newer version of Soundings ({version}). Install that version, then restore.",
        field="file",
    )
