"""The guide's way from the log to the report: its commands run as they are printed, with its figures."""

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

PAGE = ROOT / "templates" / "docs" / "log.md"
# People read a password from the terminal and judge in the browser; the labels come with the example.
BY_HAND = ("create_user ada", "serve")


def way() -> str:
    return PAGE.read_text().partition("## Read a log")[0]


@pytest.mark.slow
@pytest.mark.django_db
def test_every_command_of_the_way_runs_and_gives_the_figures_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, admin_user: object
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    for program, rest in re.findall(r"^ +(soundings|python) (.+)$", way(), flags=re.MULTILINE):
        if program == "python":
            script, *options = rest.split()
            subprocess.run([sys.executable, str(ROOT / script), *options], check=True)
        elif rest not in BY_HAND:
            command, *options = shlex.split(rest.replace("--admin ada", "--admin admin"))
            call_command(command, *options, stdout=printed, stderr=printed)
    text = printed.getvalue()
    assert "errors" not in text
    for figure in ("0.672 [0.640, 0.704]", "0.642 [", "0.648 [", "0.653 [", "speak for 97% of it"):
        assert figure in text
    assert "23.7% of the new traffic asks queries that the old log lacks" in text
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
