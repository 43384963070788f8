"""The formats of judgments by their names, and reading a file of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pooling.formats.judgments import argilla, label_studio, quepid, soundings
from pooling.formats.judgments.records import JudgmentFormat, JudgmentRecord, Names
from pooling.formats.registry import source_of

JUDGMENT_FORMATS: dict[str, JudgmentFormat] = {
    format.name: format for module in (soundings, quepid, label_studio, argilla) for format in module.FORMATS
}


def read_judgments(
    path: Path,
    format: str,
    names: Names,
    *,
    file_name: str | None = None,
    max_bytes: int | None = None,
) -> Iterator[JudgmentRecord]:
    """The judgments of a file, one by one, in constant memory; FormatError for what cannot be read.

    An empty file, and one without any judgment, are errors too.
    """
    source = source_of(path, file_name, max_bytes)
    found = False
    for record in JUDGMENT_FORMATS[format].read(source, names):
        found = True
        yield record
    if not found:
        raise source.error(None, "there is no judgment in this file", "Check that the export is not empty.")
