"""An installed wheel carries what the site needs beside its packages, and its version stands in one place."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import soundings

ROOT = Path(__file__).resolve().parent.parent
TEXTS = {".py", ".md", ".html", ".txt", ".yml"}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_template_static_file_and_example_is_carried_to_its_place(project: dict[str, Any]) -> None:
    carried = {
        f"{folder.removeprefix('share/soundings/')}/{path.name}"
        for folder, patterns in project["tool"]["setuptools"]["data-files"].items()
        for pattern in patterns
        for path in ROOT.glob(pattern)
        if path.is_file()
    }
    present = {
        str(path.relative_to(ROOT))
        for folder in ("locale", "templates", "static", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and "pictures" not in path.parts
    }
    assert present - carried == set()


@pytest.mark.parametrize("package", ["soundings", "pooling", "labeling", "evaluation"])
def test_an_installed_package_says_that_it_is_typed(project: dict[str, Any], package: str) -> None:
    carried = project["tool"]["setuptools"]["package-data"]["*"]

    assert [path.name for pattern in carried for path in (ROOT / package).glob(pattern)] == ["py.typed"]


def test_the_version_is_written_once(project: dict[str, Any]) -> None:
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "soundings.__version__"}
    assert "version" not in project["project"]


def test_nobody_is_told_to_install_the_other_project_of_this_name(project: dict[str, Any]) -> None:
    assert project["project"]["name"] == "soundings-ir"
    assert list(project["project"]["scripts"]) == ["soundings"]
    folders = ("soundings", "pooling", "labeling", "evaluation", "templates", "examples", "docs")
    texts = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "Makefile")]
    texts += [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS]
    wrong = re.compile(r"pip install[^\n]*\bsoundings\b(?!-ir)")
    assert [str(path) for path in texts if wrong.search(path.read_text(encoding="utf-8"))] == []


def test_the_newest_changes_are_those_of_this_version() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+?),? ", changes, re.MULTILINE)

    assert newest
    assert newest[1] == soundings.__version__
