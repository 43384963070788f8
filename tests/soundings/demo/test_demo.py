"""The demo, run once as a user runs it, and what it leaves in its database."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from tests.soundings.processes import manage

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(demo: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(demo[0], tmp_path_factory.mktemp("copy") / "demo")


@pytest.fixture(scope="module")
def printed(demo: tuple[Path, str]) -> str:
    return demo[1]


@pytest.fixture(scope="module")
def stored_at_first(folder: Path, printed: str) -> Counter[str]:
    return stored(folder)


def stored(folder: Path) -> Counter[str]:
    """How many files of each kind there are."""
    return Counter(path.suffix for path in (folder / "files").rglob("*") if path.is_file())


def rows(folder: Path, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(folder / "soundings.sqlite3") as connection:
        found = connection.execute(query).fetchall()
    connection.close()
    return found


def test_it_tells_its_steps_and_ends_with_a_table(printed: str) -> None:
    assert re.search(r"^ 1  Created the collection “demo”", printed, flags=re.MULTILINE)
    assert "judgments in the queue “Top 3”, two for each pair" in printed
    assert "simulated annotators" in printed
    for run in ("bm25", "fuzzy", "lsa", "lsa-2", "tfidf"):
        assert re.search(rf"{run}\W+[01]\.\d{{3}}.*\[[01]\.\d{{3}}, [01]\.\d{{3}}\].*%", printed)
    assert re.search(r"Recall@10 0\.\d{3} \[.*\] · \d+ of 24 queries.* · judged@10 \d", printed)


def test_its_estimates_are_nearer_to_the_truth_than_what_was_found(printed: str) -> None:
    row = r"^\W*(\S+)\W+([01]\.\d{3})\W+\[([01]\.\d{3}), ([01]\.\d{3})\]\W+([01]\.\d{3})\W+([01]\.\d{3})"
    rows = re.findall(row, printed, flags=re.MULTILINE)
    assert len(rows) == 5
    for _, *numbers in rows:
        estimate, low, high, truth, found = map(float, numbers)
        assert low <= truth <= high
        assert abs(estimate - truth) < abs(found - truth)


def test_the_readme_has_its_figures(printed: str) -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    estimate = re.search(r"Recall@10 of lsa-2 is ([\d.]+) (\[.*?\]) of the whole", printed)
    truth, found = (
        re.search(r"The truth is ([\d.]+):", printed),
        re.search(r"so far it is ([\d.]+),", printed),
    )
    assert estimate
    assert truth
    assert found
    assert f"**{estimate[1]}** {estimate[2]} |" in readme
    assert f"| the truth | {truth[1]} |" in readme
    assert f"| {found[1]} |" in readme


def test_it_says_how_to_sign_in_with_passwords_made_just_now(printed: str) -> None:
    assert re.search(r"demo-admin +password (\w{4}-){3}\w{4} ", printed)
    assert re.search(r"demo-annotator +password (\w{4}-){3}\w{4} ", printed)


def test_some_pairs_are_left_to_judge_and_coverage_shows_it(folder: Path, printed: str) -> None:
    left = re.search(r"(\d+) are left for you in the queue", printed)
    assert left
    assert int(left[1]) > 20
    # What an adaptive queue keeps in reserve behind its budget is open too, but has no place in the order.
    waiting = "select count(*) from labeling_item where state = 'open' and order_key > 0"
    assert rows(folder, waiting) == [(int(left[1]),)]
    coverage = [float(share) for share in re.findall(r"(\d+\.\d) %", printed)]
    assert coverage
    assert min(coverage) < 100


def test_nobody_judged_but_the_simulated_annotators_who_cannot_sign_in_and_the_admin_settled(
    folder: Path, printed: str
) -> None:
    people = """select distinct username, password like '!%' from auth_user
        join labeling_judgment on annotator_id = auth_user.id where is_adjudication = """
    simulated = [(f"simulated-annotator-{number}", 1) for number in (1, 2, 3)]
    assert sorted(rows(folder, people + "0")) == simulated
    assert rows(folder, people + "1") == [("demo-admin", 0)]


def test_no_pair_got_more_judgments_than_it_needed(folder: Path, printed: str) -> None:
    over = """select count(*) from labeling_item where done > needed and queue_id =
        (select id from labeling_queue where judgments_per_item = 2)"""
    assert rows(folder, over) == [(0,)]


def test_again_it_starts_anew_and_comes_to_the_same_figures(
    folder: Path, printed: str, stored_at_first: Counter[str]
) -> None:
    again = manage(folder, "demo", "--no-serve")
    assert again.returncode == 0
    assert "it is deleted and created again" in again.stdout
    figures = re.compile(r"[01]\.\d{3}")
    assert figures.findall(again.stdout) == figures.findall(printed)
    assert rows(folder, "select count(*) from pooling_collection") == [(1,)]
    assert stored(folder) == stored_at_first
