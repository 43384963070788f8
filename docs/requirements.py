"""What a container installs, with its checksums: `make requirements` writes deploy/requirements.txt.

The versions are those of constraints.txt. The checksums are those of the wheels for Linux on both processors,
as the package index tells them; a test compares names and versions, which needs no network.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINNED = ROOT / "constraints.txt"
WRITTEN = ROOT / "deploy" / "requirements.txt"
# What a container can be asked to do by a setting alone.
EXTRAS = ("site", "s3", "redis", "metrics", "sentry", "sso")
# Builds the wheel of Soundings itself; the image does not keep it.
BUILD = "setuptools==84.2.1"
# Asked for by libraries on the first patches of Python 3.11, which Debian has.
EARLIER = "async-timeout>=5"
PROCESSORS = ("x86_64", "aarch64")
# A wheel for an older system works on a newer one; the image's has 2.36 or later.
SYSTEMS = ("manylinux_2_34", "manylinux_2_28", "manylinux_2_17", "manylinux2014", "manylinux_2_5")
HEADER = """\
# What a container installs: every file has its checksum. Written by `make requirements` from constraints.txt.
"""


def wanted() -> list[str]:
    """What pyproject.toml asks for, for the product and for the extras of a container."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for extra in EXTRAS for one in _of_extra(extra, project["optional-dependencies"])]
    return [*project["dependencies"], *extras]


def _of_extra(name: str, extras: dict[str, list[str]]) -> list[str]:
    """What an extra asks for, with the extras of our own that it names."""
    found = []
    for one in extras[name]:
        match = re.fullmatch(r"soundings-ir\[([\w,]+)\]", one)
        inner = match[1].split(",") if match else []
        found += [part for other in inner for part in _of_extra(other, extras)] or [one]
    return list(dict.fromkeys(found))


def pinned(path: Path = PINNED) -> dict[str, str]:
    """The version of each distribution that a file pins, by its normalised name."""
    pins = re.findall(r"^([\w.-]+)==([^\s;]+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {normalised(name): version for name, version in pins}


def normalised(name: str) -> str:
    """A distribution's name as all spellings of it are compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def checksums(processor: str) -> dict[tuple[str, str], str]:
    """Name and version of each distribution, and the checksum of its wheel for a processor."""
    platforms = [f"--platform={system}_{processor}" for system in SYSTEMS]
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"),
            *("--dry-run", "--ignore-installed", "--only-binary=:all:", "--report", "-"),
            *("--python-version", "3.11", "--implementation", "cp", *platforms, "--target", folder),
            *("--constraint", str(PINNED), BUILD, EARLIER, *wanted()),
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603  our own
    found = {}
    for one in json.loads(done.stdout)["install"]:
        key = normalised(one["metadata"]["name"]), one["metadata"]["version"]
        found[key] = one["download_info"]["archive_info"]["hashes"]["sha256"]
    return found


def written(found: Iterable[dict[tuple[str, str], str]]) -> str:
    """The file: a distribution a line, with its checksums below it."""
    known: dict[tuple[str, str], set[str]] = {}
    for part in found:
        for key, checksum in part.items():
            known.setdefault(key, set()).add(checksum)
    lines = [HEADER]
    for (name, version), values in sorted(known.items()):
        hashes = [f"    --hash=sha256:{value}" for value in sorted(values)]
        lines.append(" \\\n".join([f"{name}=={version}", *hashes]) + "\n")
    return "".join(lines)


if __name__ == "__main__":
    WRITTEN.parent.mkdir(exist_ok=True)
    WRITTEN.write_text(written(map(checksums, PROCESSORS)), encoding="utf-8")
