"""`make slow` and `make postgres` import the files alone whose tests they run, and miss none."""

from __future__ import annotations

import pytest

from tests.reading import Reading

pytest_plugins = ["pytester"]

MARKED = """
import pytest

@pytest.mark.slow
def test_of_mathematics():
    pass
"""
UNREADABLE = "raise AssertionError('This file was read.')"


def run(pytester: pytest.Pytester, expression: str, other: str) -> pytest.RunResult:
    pytester.makeini("[pytest]\nmarkers =\n  slow\n  database\n  browser")
    pytester.makepyfile(test_marked=MARKED, test_other=other)
    return pytester.runpytest_inprocess(
        "-p", "no:xdist", "-p", "no:django", "-m", expression, plugins=[Reading()]
    )


@pytest.mark.parametrize(
    ("expression", "outcomes"),
    [
        ("slow", {"passed": 1}),
        ("slow and not browser", {"passed": 1}),
        ("slow or database", {"errors": 1}),
        ("not slow", {"errors": 1}),
        ("", {"errors": 1}),
    ],
)
def test_files_without_a_marker_are_not_read_for_it(
    pytester: pytest.Pytester, expression: str, outcomes: dict[str, int]
) -> None:
    found = run(pytester, expression, UNREADABLE).parseoutcomes()
    assert {name: count for name, count in found.items() if name != "deselected"} == outcomes


def test_a_marker_that_a_file_does_not_name_ends_the_run(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "import pytest\ndef pytest_collection_modifyitems(items):\n"
        "    for item in items:\n        item.add_marker(pytest.mark.slow)"
    )
    done = run(pytester, "not database", "def test_something(): pass")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert "-m slow would not read its file" in done.stderr.str()
