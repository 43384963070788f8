"""The files in a folder of queries or documents, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pooling.formats.errors import FormatError
from pooling.formats.sources import without_gz

#: A document each, where a folder has no file of records.
PLAIN_TEXT = (".txt", ".md")
MOST_FILES = 1_000_000


def files_in(folder: Path, name: str, suffixes: Collection[str]) -> list[Path]:
    """The files of records in a folder: those called `name`, or in a folder called so, as BEIR and MTEB lay
    them out; else all of them. None where it has plain texts only.
    """
    there = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    within = next((path for path in there if path.is_dir() and path.name == name), None)
    if within is not None:
        there = [path for path in sorted(within.iterdir()) if not path.name.startswith(".")]
    files = [path for path in there if path.is_file() and _suffix(path) in suffixes]
    named = [path for path in files if without_gz(path.name).rpartition(".")[0] == name]
    return named or files


def texts_in(folder: Path) -> list[Path]:
    """The plain texts below a folder; FormatError where it has none, or far too many."""
    paths = sorted(path for path in folder.rglob("*") if _suffix(path) in PLAIN_TEXT and path.is_file())
    if not paths:
        problem = "this folder has no queries.*, corpus.* or other file of records, and no .txt or .md file"
        raise FormatError(folder.name, None, problem, "Give the files themselves.")
    if len(paths) > MOST_FILES:
        problem = f"{len(paths):,} texts in one folder"
        raise FormatError(folder.name, None, problem, "Write them as JSON lines.")
    return paths


def _suffix(path: Path) -> str:
    return Path(without_gz(path.name)).suffix.lower()
