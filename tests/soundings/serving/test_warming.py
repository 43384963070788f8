"""What `serve` loads before the first request, and what of it a fork may copy."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.soundings.processes import ROOT

CODE = """
import sys, threading, django
django.setup()
from django.db import connection
from soundings.serving import warming
HEAVY = {"polars", "pandas", "numpy", "scipy", "altair"}
warming.load_what_forks()
print(sorted(HEAVY & set(sys.modules)), threading.active_count(), connection.connection)
warming.load_the_rest()
print(sorted(HEAVY - set(sys.modules)))
"""


@pytest.mark.slow
def test_what_has_threads_is_loaded_after_the_fork_and_then_nothing_is_left_to_load() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["['numpy', 'scipy'] 1 None", "[]"]
