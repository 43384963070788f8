"""The formats of judgments by their names, and reading a file of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pooling.formats.judgments import argilla, label_studio, quepid, soundings
from pooling.formats.judgments.records import JudgmentFormat, JudgmentRecord, Names, sentence_on_passed
from pooling.formats.registry import source_of

JUDGMENT_FORMATS: dict[str, JudgmentFormat] = {
    format.name: format for module in (soundings, quepid, label_studio, argilla) for format in module.FORMATS
}


def read_judgments(
    path: Path, format: str, names: Names, *, file_name: str | None = None, max_bytes: int | None = None
) -> Iterator[JudgmentRecord]:
    """Judgments of a file one by one, and what is not read, as `passed`; FormatError, also for none."""
    source = source_of(path, file_name, max_bytes)
    has_judgment, passed = False, Counter[str]()
    for record in JUDGMENT_FORMATS[format].read(source, names):
        has_judgment = has_judgment or not record.passed
        if record.passed:
            passed[record.passed] += 1
        yield record
    if not has_judgment:
        remedy = sentence_on_passed(passed) if passed else "Check that the export is not empty."
        raise source.error(None, "there is no judgment in this file", remedy)
