"""A run of tests with one marker does not import the files in which no test can have it: most of them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

# Without one of these words, no test of a file has the marker; a run that finds otherwise ends with an error.
WORDS = {
    "slow": r"mark\.slow\b",
    "database": r"\b(django_db|db|world|one_of_each|live_server|transactional_db)\b",
    "spark": r"mark\.spark\b",
}
BROWSER = "browser"  # whose folder gives markers to all of its tests


@cache
def can_have(path: Path, marker: str) -> bool:
    """Whether a test of this file can have the marker."""
    if BROWSER in path.parts:
        return marker != "spark"
    return re.search(WORDS[marker], path.read_text(encoding="utf-8")) is not None


def is_read(path: Path, expression: str) -> bool:
    """Whether a file can have tests that `-m` asks for."""
    first = expression.partition(" ")[0]
    if first not in WORDS or " or " in expression:
        return True
    return can_have(path, first) and not (BROWSER in path.parts and expression.endswith(f"not {BROWSER}"))


class Reading:
    """The plugin."""

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
        return True if is_test and not is_read(collection_path, config.option.markexpr) else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for marker in WORDS:
                if item.get_closest_marker(marker) and not can_have(item.path, marker):
                    raise pytest.UsageError(
                        f"{item.nodeid} is {marker}, and -m {marker} would not read its file: "
                        f"write the marker in it, or add a word to tests/reading.py."
                    )
