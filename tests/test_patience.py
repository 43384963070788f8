"""No test fails because the machine is busy."""

from __future__ import annotations

import re
from pathlib import Path

import hypothesis

TESTS = Path(__file__).resolve().parent
# A limit in seconds that stands where it is used; a pause in a loop is shorter than a second.
LIMIT = re.compile(r"(?:\btimeout=|\.(?:wait|join|result|communicate)\()[1-9][\d_]*(?:\.\d+)?\)?")
# What is given up is what these test.
MEANT = {"labeling/prelabels/test_keys.py"}


def test_every_limit_on_waiting_is_one_that_only_a_hanging_process_reaches() -> None:
    found = {
        f"{name}:{number}": line.strip()
        for path in sorted(TESTS.rglob("*.py"))
        if (name := str(path.relative_to(TESTS))) not in MEANT
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if LIMIT.search(line)
    }
    assert found == {}, "Use PATIENCE_SECONDS of tests/patience.py."


def test_examples_of_property_tests_are_the_same_in_each_run_and_have_no_deadline() -> None:
    now = hypothesis.settings()

    assert now.deadline is None
    assert now.derandomize or hypothesis.settings.get_current_profile_name() == "fresh"
