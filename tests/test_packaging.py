"""An installed wheel carries what the site needs beside its packages."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_template_static_file_and_example_is_carried_to_its_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    carried = {
        f"{folder.removeprefix('share/soundings/')}/{path.name}"
        for folder, patterns in project["tool"]["setuptools"]["data-files"].items()
        for pattern in patterns
        for path in ROOT.glob(pattern)
        if path.is_file()
    }
    present = {
        str(path.relative_to(ROOT))
        for folder in ("templates", "static", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and "pictures" not in path.parts
    }
    assert present - carried == set()
