"""The bill of materials and the list of licences are those of what a container installs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from docs.materials import LICENCES, bill, distributions
from docs.requirements import BUILD, WRITTEN, pinned


@pytest.fixture(scope="module")
def parts() -> dict[str, Any]:
    """The bill as a program reads it."""
    found: dict[str, Any] = json.loads(json.dumps(bill()))
    return found


def test_a_bill_has_every_distribution_of_a_container_with_its_checksum(parts: dict[str, Any]) -> None:
    versions = pinned(WRITTEN)
    versions.pop(BUILD.partition("==")[0])
    assert {one["name"]: one["version"] for one in parts["components"]} == versions
    for one in parts["components"]:
        assert one["purl"] == f"pkg:pypi/{one['name']}@{one['version']}"
        assert one["hashes"]
        assert all(re.fullmatch("[0-9a-f]{64}", each["content"]) for each in one["hashes"])


def test_a_bill_has_what_the_standard_requires_and_is_the_same_each_time(parts: dict[str, Any]) -> None:
    assert (parts["bomFormat"], parts["specVersion"], parts["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", parts["serialNumber"])
    references = [one["bom-ref"] for one in parts["components"]]
    assert len(set(references)) == len(references)
    assert parts["dependencies"][0]["dependsOn"] == references
    assert bill() == parts


def test_every_distribution_has_a_licence_that_is_listed() -> None:
    """`make bill` writes the list again."""
    rows = re.findall(r"^\| (\S+) \| (\S+) \| (.+) \|$", LICENCES.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name: (version, licence) for name, version, licence in rows if not name.startswith("-")}
    listed.pop("distribution", None)
    assert {name: version for name, (version, _) in listed.items()} == {
        one.name: one.version for one in distributions()
    }
    assert [name for name, (_, licence) in listed.items() if licence == "unknown"] == []
