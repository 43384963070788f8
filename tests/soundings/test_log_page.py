"""The guide's ways from the log to the report and from chunks to spans: commands and code run as printed."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.soundings.processes import ROOT

GUIDE = ROOT / "templates" / "docs"
# People type a password, and give a queue whose pairs these are; the labels come with the example.
BY_HAND = ("create_user ada", "import_prelabels SLUG QUEUE scores.tsv --format clicks")


def way() -> str:
    return (GUIDE / "log.md").read_text().partition("## Read a log")[0]


def output_of(text: str) -> str:
    """What the commands of a part of the guide print, one after the other."""
    printed = io.StringIO()
    for program, rest in re.findall(r"^ +(soundings|python) (.+)$", text, flags=re.MULTILINE):
        if program == "python":
            script, *options = rest.split()
            subprocess.run([sys.executable, str(ROOT / script), *options], check=True)
        elif rest not in BY_HAND:
            command, *options = shlex.split(rest.replace("--admin ada", "--admin admin"))
            call_command(command, *options, stdout=printed, stderr=printed)
    return printed.getvalue()


@pytest.mark.slow
@pytest.mark.django_db
def test_every_command_of_the_way_runs_and_gives_the_figures_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, admin_user: object
) -> None:
    monkeypatch.chdir(tmp_path)
    text = output_of(way())
    assert "errors" not in text
    for figure in ("0.672 [0.639, 0.704]", "0.642 [", "0.648 [", "0.653 [", "speak for 97 % of it"):
        assert figure in text
    assert "23.7 % of the new traffic asks queries that the old log lacks" in text
    assert "Queries: 4 new, 11 changed, 0 as before." in text
    asked = re.findall(r"Queue \d+, “\w+”: (\d+) pairs", text)
    assert [int(pairs) < 100 for pairs in asked] == [False, True]


def test_the_figures_of_the_way_add_up() -> None:
    rows = re.findall(r"\| (0\.\d{3}) \| (?:([+−])(0\.\d{3}))? ?\|", way())
    values = [float(value) for value, _, _ in rows]
    assert len(values) == 4
    for (_, sign, change), before, after in zip(rows[1:], values[:-1], values[1:], strict=True):
        assert (-1 if sign == "−" else 1) * float(change) == pytest.approx(after - before)
    assert values[-1] - values[0] == pytest.approx(-0.019)


def test_the_clicks_of_the_page_are_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clicks = (GUIDE / "log.md").read_text().partition("## Clicks")[2].partition("\n## ")[0]
    assert "scores.tsv: 40 pairs." in output_of(clicks)


def test_chunks_are_compared_and_their_labels_carried_with_the_figures_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (GUIDE / "chunks.md").read_text()
    text = output_of(page)
    recall = re.findall(r"^fixed-(\d+) +(\d) +(\S+) ", text, flags=re.MULTILINE)
    of_page = re.search(
        r"of 400 characters reach a span recall of (\S+), .* reach (\S+), .* reach (\S+)\. On", page
    )
    assert of_page is not None
    assert of_page.groups() == tuple(value for *place, value in recall if place != ["400", "6"])
    relevant, carried, proposed = re.findall(
        r"Of (\d+) relevant labels, (\d+) are carried, (\d+) lead to proposals alone, and 0", text
    )[0]
    assert f"in the example {carried} of {relevant} are carried and {proposed} lead to proposals" in page
    code, value = re.findall(r"^    (import soundings\n    .+\n)    (.+)$", page, flags=re.MULTILINE)[0]
    names: dict[str, object] = {}
    exec(code.replace("\n    ", "\n"), names)
    expression, _, figure = value.partition("#")
    assert f"{eval(expression, names):.3f}" == figure.strip()
