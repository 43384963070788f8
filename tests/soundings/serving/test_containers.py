"""The files for containers and systemd, as far as they can be held against the project without an engine."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import load_command_class
from packaging.requirements import Requirement
from pytest_django.live_server_helper import LiveServer

from docs.requirements import BUILD, EARLIER, WRITTEN, normalised, pinned, wanted
from soundings.serving.ask_health import answers
from tests.soundings.processes import ROOT, environment, free_port
from tests.test_docs import variables

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
UNIT = ROOT / "deploy" / "soundings.service"
# What other programs read.
FOREIGN = {"PATH", "HOME", "PORT", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
VARIABLE = re.compile(r"\$\{(\w+)")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return found


def instruction(name: str) -> list[str]:
    """What follows an instruction of the Dockerfile, each time; lines that go on are one."""
    return re.findall(rf"^{name} (.+)$", DOCKERFILE.replace("\\\n", " "), flags=re.MULTILINE)


def parsed(command: list[str]) -> dict[str, Any]:
    """A command as its own parser reads it; an option that does not exist is an error."""
    assert command[0].endswith("soundings")
    parser = load_command_class("soundings", command[1]).create_parser("soundings", command[1])
    return vars(parser.parse_args(command[2:]))


def test_every_command_in_the_files_exists_with_its_options(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert parsed(services["web"]["command"])["only"] == "web"
    worker = parsed(services["worker"]["command"])
    assert (worker["only"], worker["no_migrate"]) == ("worker", True)
    alone = parsed(yaml.safe_load(instruction("CMD")[-1]))
    assert (alone["only"], alone["host"]) == ("", "0.0.0.0")
    unit = re.search(r"^ExecStart=(.+)$", UNIT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert unit
    assert parsed(shlex.split(unit[1]))["host"] == "127.0.0.1"


def test_every_variable_in_the_files_is_a_setting(compose: dict[str, Any]) -> None:
    named = {name for line in instruction("ENV") for name in re.findall(r"(\w+)=", line)}
    for service in ("web", "worker"):
        named |= set(compose["services"][service]["environment"])
    named |= set(re.findall(r"^Environment=(\w+)", UNIT.read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert {"SOUNDINGS_DATA", "DATABASE_URL", "SOUNDINGS_TLS"} <= named
    assert named - FOREIGN - variables() == set()


def test_what_compose_asks_for_is_told_in_the_guide(compose: dict[str, Any]) -> None:
    guide = (ROOT / "templates" / "docs" / "settings.md").read_text(encoding="utf-8")
    asked = set(VARIABLE.findall((ROOT / "compose.yaml").read_text(encoding="utf-8")))
    assert asked
    assert [name for name in asked if f"`{name}`" not in guide] == []


def test_services_wait_for_services_that_exist_and_keep_what_must_stay(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"proxy", "web", "worker", "database", "cache"}
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        for volume in service.get("volumes", []):
            place = volume.partition(":")[0]
            assert place in compose["volumes"] or (ROOT / place).is_file()
    # Nothing but the proxy is reached from outside.
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    upstream = (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8").partition("reverse_proxy ")[2]
    port = re.search(r"PORT=(\d+)", DOCKERFILE)
    assert port
    assert upstream.split()[0] == f"web:{port[1]}"


def test_an_image_has_files_that_exist_runs_as_nobody_special_and_says_how_it_is() -> None:
    copied = [line.split()[0] for line in instruction("COPY") if not line.startswith("--from")]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert DOCKERFILE.index("\nUSER soundings") < DOCKERFILE.index("\nCMD")
    assert instruction("VOLUME") == ["/data"]
    assert "soundings.serving.ask_health" in instruction("HEALTHCHECK")[0]


def test_what_the_image_leaves_out_is_not_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    carried = {Path(place).parts[0] for places in project["data-files"].values() for place in places}
    carried |= {name.rstrip("*") for name in project["packages"]["find"]["include"]}
    left_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert carried & set(left_out) == set()


def test_health_is_asked_of_the_site_and_is_no_when_nothing_answers(tmp_path: Path) -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "soundings.serving.ask_health"],
        cwd=ROOT,
        env=environment(tmp_path, PORT=str(free_port())),
        check=False,
    )
    assert asked.returncode == 1


@pytest.mark.django_db(transaction=True)
def test_health_is_yes_while_the_site_answers(live_server: LiveServer) -> None:
    assert answers(live_server.thread.port, "localhost")


def test_a_container_installs_what_the_project_asks_for_in_the_versions_that_are_tested() -> None:
    """`make requirements` writes the file again."""
    listed = pinned(WRITTEN)
    listed.pop(normalised(BUILD.partition("==")[0]))
    assert listed.items() <= pinned().items()
    # What the first patches of Python 3.11 need more need not be installed here.
    assert set(listed) == _needed(wanted()) | {Requirement(EARLIER).name}


def test_every_distribution_of_a_container_has_its_checksum() -> None:
    parts = WRITTEN.read_text(encoding="utf-8").replace(" \\\n", " ").splitlines()
    lines = [line for line in parts if line and not line.startswith("#")]
    assert [
        line for line in lines if not re.fullmatch(r"\S+==\S+(\s+--hash=sha256:[0-9a-f]{64})+", line)
    ] == []
    assert len(lines) == len(pinned(WRITTEN))


def _needed(wanted: list[str]) -> set[str]:
    """All that these need, and so on, as the installed distributions say; on Linux, as a container is."""
    found: set[str] = set()
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(one), "") for one in wanted]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = normalised(requirement.name)
        found.add(name)
        for wanted_extra in ("", *requirement.extras):
            if (name, wanted_extra) not in seen:
                seen.add((name, wanted_extra))
                waiting += [(Requirement(one), wanted_extra) for one in requires(name) or []]
    return found


def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed (Debian's package systemd)")
    unit = tmp_path / "soundings.service"
    text = UNIT.read_text(encoding="utf-8").replace("/opt/soundings/bin/soundings", sys.executable)
    unit.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert "soundings.service:" not in done.stderr
    assert done.returncode == 0, done.stderr
