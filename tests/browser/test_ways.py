"""The most frequent ways in a real browser, with the clicks counted; typing and choosing files are not.

The last judgment to the answer is in `test_results.py`, a failed trial tidied up in `test_tidying.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from evaluation.models import Report
from tests.evaluation.cast import make_release, make_report
from tests.world import ALPHA, BETA, DOCUMENTS, QUERIES, World, qrels_text, run_text

FILE = "input[type=file]"


class Clicks:
    """Clicks, counted."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, *targets: Locator) -> None:
        for target in targets:
            target.click()
            self.count += 1


def written(folder: Path) -> dict[str, str]:
    """The files that somebody comes with, by what they hold."""
    texts = {
        "queries.tsv": "id\ttext\n" + "".join(f"{name}\t{text}\n" for name, text in QUERIES.items()),
        "documents.tsv": "id\ttext\n" + "".join(f"{name}\t{text}\n" for name, (_, text) in DOCUMENTS.items()),
        "alpha.run": run_text(ALPHA),
        "beta.run": run_text(BETA),
        "labels.qrels": qrels_text(),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: str(folder / name) for name in texts}


@pytest.mark.usefixtures("everyone_creates")
@pytest.mark.parametrize("is_complete", [pytest.param(False, marks=pytest.mark.way), True])
def test_from_nothing_to_a_report_in_ten_clicks(
    page_of: Callable[..., Page], world: World, is_complete: bool
) -> None:
    files, click = written(world.folder), Clicks()
    page = page_of(world.ada)
    page.goto("/")
    click(page.get_by_role("link", name="New collection"))
    page.get_by_label("Name", exact=True).fill("Pier")
    page.get_by_label("Question").fill("Does it help?")
    click(page.get_by_role("button", name="Create the collection"))
    page.set_input_files(FILE, files["queries.tsv"])
    click(
        page.get_by_role("button", name="Import queries"), page.get_by_role("link", name="Import documents")
    )
    page.set_input_files(FILE, files["documents.tsv"])
    click(page.get_by_role("button", name="Import documents"), page.get_by_role("link", name="Import a run"))
    page.set_input_files(FILE, [files["alpha.run"], files["beta.run"]])
    click(
        page.get_by_role("button", name="Import", exact=True), page.get_by_role("link", name="Import labels")
    )
    page.set_input_files(FILE, files["labels.qrels"])
    if is_complete:
        page.get_by_label("Complete").press("Space")
    click(
        page.get_by_role("button", name="Import", exact=True),
        page.get_by_role("button", name="Release and measure"),
    )
    expect(page.locator("#answer")).to_be_visible()
    assert page.url.endswith(Report.objects.get().get_absolute_url())
    assert click.count <= 10


def test_what_one_run_found_and_another_missed_and_why_in_three_clicks_from_the_report(
    page_of: Callable[..., Page], world: World
) -> None:
    report = make_report(world, k=(1,))
    click = Clicks()
    page = page_of(world.vera)
    page.goto(report.get_absolute_url())
    click(page.locator("#worst-queries > summary"))
    click(page.get_by_role("link", name="What another run found and").first)
    expect(page.get_by_role("heading", name="Both lists, rank by rank")).to_be_visible()
    click(page.locator(".label-link", has_text=": why d").first)
    expect(page.get_by_role("heading", level=1)).to_contain_text("label")
    assert click.count <= 3


def test_how_it_went_since_last_week_is_on_the_overview(page_of: Callable[..., Page], world: World) -> None:
    last = make_report(world, "q1 0 d1 1\nq2 0 d2 1\n", k=(1,))
    week_ago = last.created_at - timedelta(days=7)
    Report.objects.filter(pk=last.pk).update(created_at=week_ago)
    make_release(world, "q1 0 d4 1\n", name="later")
    make_report(world, k=(1,))
    page = page_of(world.vera)
    page.goto("/collections/harbour/")
    expect(page.locator(".answer-figure .change")).to_contain_text("since")
    expect(page.locator(".answer-figure .change a")).to_have_text(f"{week_ago.day} {week_ago:%B}")
