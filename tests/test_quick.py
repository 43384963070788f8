"""`make quick` runs the files of tests that a change touches, nearest first."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import quick
from tests.quick import changed_paths, touched_by


def test_nearest_are_a_rooms_own_tests_then_those_that_import_it_then_the_rest() -> None:
    near = touched_by(["pooling/formats/cells.py"])

    assert near["tests/pooling/formats/test_cells.py"] == 1
    assert near["tests/pooling/formats/test_formats_trec.py"] == 1
    assert near["tests/labeling/qrels/test_judgment_export.py"] == 2
    assert set(near.values()) == {1, 2, 3}
    assert not [path for path in near if path.startswith("tests/browser/")]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("tests/pooling/formats/test_cells.py", "tests/pooling/formats/test_cells.py"),
        ("tests/bounded.py", "tests/pooling/formats/test_values.py"),
        ("templates/labeling/quality.html", "tests/labeling/quality/test_quality.py"),
        ("labeling/management/commands/order_queue.py", "tests/labeling/adaptive/test_live_prior.py"),
    ],
)
def test_what_is_no_module_of_a_room_touches_the_tests_that_use_it(changed: str, expected: str) -> None:
    assert expected in touched_by([changed])


def test_what_is_not_committed_counts_and_what_was_committed_since_the_main_branch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str) -> None:
        (tmp_path / name).write_text(name)
        git("add", name)
        git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-m", name)

    monkeypatch.setattr(quick, "ROOT", tmp_path)
    git("init", "--initial-branch=main")
    commit("old.py")
    assert changed_paths() == []

    (tmp_path / "old.py").write_text("changed")
    (tmp_path / "new.py").write_text("new")
    assert changed_paths() == ["new.py", "old.py"]

    git("update-ref", "refs/remotes/origin/main", "HEAD")
    commit("committed.py")
    assert changed_paths() == ["committed.py", "new.py", "old.py"]
