"""Runs the tests of a company's sign-in, whose settings and tables differ from those of all other tests."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from docs.rooms import ROOT
from tests.soundings.sign_in.conftest import APART

HERE = ROOT / "tests" / "soundings" / "sign_in"
SETTINGS = "tests.soundings.sign_in.company_settings"
# The migrated database of these settings is kept apart from that of the others.
CACHE = ("-o", "cache_dir=.pytest_cache/company")


@pytest.mark.skipif(os.environ.get("DJANGO_SETTINGS_MODULE") == SETTINGS, reason="these are them")
def test_a_company_signs_in_as_its_tests_say() -> None:
    pytest.importorskip("allauth", reason="needs the extra sso")
    paths = [str(HERE / name) for name in APART]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", f"--ds={SETTINGS}", *CACHE, *paths]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=ROOT, env=inherited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
