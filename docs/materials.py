"""What a container is made of: `make bill` writes a bill of materials (CycloneDX 1.6) and a list of licences.

Names, versions and checksums are those of deploy/requirements.txt; licences are what the installed
distributions say of themselves. Needs no network.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import NamedTuple, TypedDict
from uuid import NAMESPACE_URL, uuid5

import soundings
from docs.requirements import BUILD, ROOT, WRITTEN

BILL = ROOT / "build" / "bill.json"
LICENCES = ROOT / "deploy" / "licences.md"
OURS = "soundings-ir"
# Of those that are not everywhere installed.
KNOWN = {"setuptools": "MIT", "async-timeout": "Apache-2.0"}
# Some distributions put the whole text where its name belongs.
LONGEST_NAME = 60
CLASSIFIER = "License :: "
HEADER = """\
# Licences of what a container installs

Written by `make bill` from what the distributions say of themselves. Soundings is under Apache-2.0 (LICENSE).

| distribution | version | licence |
| --- | --- | --- |
"""


class Hash(TypedDict):
    """A checksum as the standard writes it."""

    alg: str
    content: str


Component = TypedDict(
    "Component",
    {
        "type": str,
        "bom-ref": str,
        "name": str,
        "version": str,
        "purl": str,
        "licenses": list[dict[str, dict[str, str]]],
        "hashes": list[Hash],
    },
)


class Distribution(NamedTuple):
    """One that a container installs."""

    name: str
    version: str
    checksums: list[str]


def distributions(path: Path = WRITTEN) -> list[Distribution]:
    """Those of deploy/requirements.txt, in its order."""
    parts = path.read_text(encoding="utf-8").replace(" \\\n", " ").splitlines()
    found = [re.match(r"([\w.-]+)==(\S+)", line) for line in parts]
    return [Distribution(one[1], one[2], re.findall(r"sha256:(\w+)", one.string)) for one in found if one]


def licence_of(name: str) -> str:
    """The licence of an installed distribution, by the newest of three ways to say it; "unknown" without."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return KNOWN.get(name, "unknown")
    for expression in told.get_all("License-Expression", []):
        return str(expression)
    lines = [line for text in told.get_all("License", []) for line in str(text).strip().splitlines()]
    if len(lines) == 1 and len(lines[0]) <= LONGEST_NAME:
        return lines[0]
    classified = [one for one in told.get_all("Classifier", []) if one.startswith(CLASSIFIER)]
    return ", ".join(one.rpartition(" :: ")[2] for one in classified) or KNOWN.get(name, "unknown")


def component(one: Distribution) -> Component:
    """A distribution as the standard writes it."""
    address = f"pkg:pypi/{one.name}@{one.version}"
    return {
        "type": "library",
        "bom-ref": address,
        "name": one.name,
        "version": one.version,
        "purl": address,
        "licenses": [{"license": {"name": licence_of(one.name)}}],
        "hashes": [{"alg": "SHA-256", "content": checksum} for checksum in one.checksums],
    }


def bill() -> dict[str, object]:
    """The bill of materials; the same parts give the same bill."""
    parts = [component(one) for one in distributions() if not BUILD.startswith(one.name)]
    content = json.dumps(parts, sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": OURS,
                "name": OURS,
                "version": soundings.__version__,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": parts,
        "dependencies": [{"ref": OURS, "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def licences() -> str:
    """The list, as Markdown."""
    rows = [f"| {one.name} | {one.version} | {licence_of(one.name)} |\n" for one in distributions()]
    return HEADER + "".join(rows)


if __name__ == "__main__":
    BILL.parent.mkdir(exist_ok=True)
    BILL.write_text(json.dumps(bill(), indent=2) + "\n", encoding="utf-8")
    LICENCES.write_text(licences(), encoding="utf-8")
    print(f"{BILL.relative_to(ROOT)}: {len(distributions()) - 1} distributions")
