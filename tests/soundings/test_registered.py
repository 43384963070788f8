"""What the modules register is there in every process, whatever else it has loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest
from django.urls import reverse

from docs.rooms import ROOT
from pooling.jobs.kinds import KINDS, WORK
from pooling.storage.imports import IMPORTERS

#: Prints what is registered once Django is set up, as in a worker, and again after every module was imported.
FRESH = """
import django
django.setup()
from importlib import import_module
from django.contrib.auth.signals import user_logged_in, user_logged_out
from docs.rooms import PACKAGES, modules
from pooling.jobs.kinds import KINDS, WORK
from pooling.storage.imports import IMPORTERS, SHOWING
from pooling.tables.table import _ADDED
from pooling.tidying import erasing, kinds

def count(table):
    return {str(name): len(found) if isinstance(found, list) else 1 for name, found in table.items()}

def registered():
    tables = (WORK, KINDS, IMPORTERS, SHOWING, _ADDED, kinds.KINDS, kinds._DEPENDS, kinds._RESTS_ON,
        kinds._HOOKS, kinds._HOOKS_OF_MANY)
    several = (erasing._FORGETTING, erasing._EMPTYING, user_logged_in.receivers,
        user_logged_out.receivers)
    return [count(table) for table in tables], [len(one) for one in several]

before = registered()
for path in modules():
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    if not {"__main__", "wsgi", "migrations", "gunicorn_settings"} & set(name.split(".")):
        try:
            import_module(name)
        except ModuleNotFoundError as error:  # of an extra that is not installed
            assert error.name.partition(".")[0] not in PACKAGES, error
        except RuntimeError as error:  # of an extra that is not switched on
            assert "INSTALLED_APPS" in str(error), error
for now, then in zip(registered(), before, strict=True):
    assert now == then, (now, then)
"""


@pytest.mark.slow
def test_a_fresh_process_knows_what_every_module_registers() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FRESH], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0


def test_every_import_is_a_job_and_every_job_begins_at_a_page_that_is_there() -> None:
    assert IMPORTERS.keys() <= WORK.keys() == KINDS.keys()
    assert list(KINDS) == sorted(KINDS)  # in whatever order the modules were imported
    assert all(reverse(kind.begins_at, args=["harbour"]) for kind in KINDS.values() if kind.begins_at)
