"""Thresholds as continuous integration reads them: JUnit XML, and the summary of a job in Markdown."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

from evaluation.rendering.cells import Cells
from evaluation.rendering.formats import render_tables
from evaluation.scoring.expectations import Check
from pooling.formats.wording import counted
from pooling.formats.writing import write_text

# GitHub Actions names the file of a step's summary here.
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
# What XML cannot hold, not even escaped.
_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def check_gates(options: Mapping[str, Any], thresholds: Mapping[str, float] | None) -> None:
    """ValueError before the work where `junit` or `job_summary` could not be written, or would be empty."""
    if options["junit"] and not thresholds:
        raise ValueError(
            "--junit writes a test for each threshold; name one with --fail-under MEASURE=VALUE."
        )
    for path in (options["junit"], summary_path(options["job_summary"])):
        if path and not path.absolute().parent.is_dir():
            raise ValueError(f"There is no folder {path.parent}; create it or name another.")


def write_gates(options: Mapping[str, Any], checks: Sequence[Check], tables: Callable[[], str]) -> None:
    if options["junit"]:
        write_junit(options["junit"], checks)
    if place := summary_path(options["job_summary"]):
        append_summary(place, checks, tables())


def summary_path(option: Path | None) -> Path | None:
    """The file of `--job-summary`; without a name it is the one of GitHub Actions."""
    if option is None:
        return None
    if option != Path():
        return option
    if not (place := os.environ.get(SUMMARY_VARIABLE)):
        raise ValueError(f"--job-summary needs a FILE where {SUMMARY_VARIABLE} is not set.")
    return Path(place)


def write_junit(path: Path, checks: Sequence[Check]) -> None:
    """One test suite for each run, and in it a test case for each threshold, which fails below it."""
    failures = sum(check.is_below for check in checks)
    root = Xml.Element("testsuites", name="soundings", tests=str(len(checks)), failures=str(failures))
    for run in dict.fromkeys(check.run for check in checks):
        of_run = [check for check in checks if check.run == run]
        failures = sum(check.is_below for check in of_run)
        name = _xml_text(run)
        suite = Xml.SubElement(
            root, "testsuite", name=name, tests=str(len(of_run)), failures=str(failures), errors="0"
        )
        for check in of_run:
            case = Xml.SubElement(
                suite, "testcase", classname=name, name=f"{check.key} >= {check.least}", time="0"
            )
            if check.is_below:
                Xml.SubElement(case, "failure", message=_xml_text(check.sentence), type="threshold")
            else:
                Xml.SubElement(case, "system-out").text = _xml_text(check.sentence)
    Xml.indent(root)
    write_text(path, Xml.tostring(root, encoding="unicode", xml_declaration=False) + "\n")


def append_summary(path: Path, checks: Sequence[Check], markdown: str) -> None:
    """Add the thresholds as a table, and `markdown` below it, to what other steps wrote there."""
    missed = sum(check.is_below for check in checks)
    outcome = f"{counted(missed, 'threshold')} missed" if missed else "every threshold reached"
    title = f"## Retrieval: {outcome}\n\n" if checks else "## Retrieval\n\n"
    rows = tuple(
        (check.run, check.key, check.least, check.value, "below" if check.is_below else "reached")
        for check in checks
    )
    labels = dict.fromkeys(check.rests_on for check in checks if check.rests_on)
    notes = (f"Means {', '.join(labels)}: no audit corrects them.",) if labels else ()
    table = Cells(("run", "measure", "at least", "value", "result"), rows, notes)
    above = render_tables([table], "markdown") + "\n" if checks else ""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(f"{title}{above}{markdown}\n")


def _xml_text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
