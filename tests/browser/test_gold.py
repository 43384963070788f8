"""An admin who pauses an annotator and restores them, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.queues.opening import open_queue
from tests.browser.judging import open_judging
from tests.browser.test_accessibility import violations
from tests.labeling.helpers import judge, make_pool
from tests.world import World


def test_an_admin_pauses_and_restores(page_of: Callable[..., Page], world: World) -> None:
    question = add_question(
        world.collection, NewQuestion(query="q1", document="d5", answer="relevant", reason="It is.")
    )
    options = GoldOptions(0.5, 0.5, practice_questions=0, gold_pause="proposed")
    queue = open_queue(make_pool(world), seed=1, gold=options)
    judge(queue, world.ben, queue.items.get(document=question.document).pk, "not_relevant", active_ms=700)
    admin = page_of(world.ada)
    admin.goto("/collections/harbour/gold/")
    assert violations(admin) == []
    admin.goto(f"/queues/{queue.pk}/gold/")
    assert violations(admin) == []
    admin.get_by_role("link", name="ben", exact=True).click()
    expect(admin.get_by_text("It is.")).to_be_visible()
    assert violations(admin) == []
    admin.get_by_label("Why").fill("answers within a second")
    admin.get_by_role("button", name="Pause and set aside").click()
    expect(admin.get_by_role("button", name="Restore")).to_be_visible()
    assert violations(admin) == []
    ben = page_of(world.ben)
    ben.goto(f"/queues/{queue.pk}/judge/")
    sentence = "This queue is paused for you until an admin has reviewed your work"
    expect(ben.locator("[data-part=empty_text]")).to_contain_text(sentence)
    admin.get_by_role("button", name="Restore").click()
    expect(admin.get_by_role("button", name="Pause and set aside")).to_be_visible()
    expect(admin.get_by_role("row", name="answers within a second")).to_contain_text("by ada")
    open_judging(ben, queue)


def test_a_question_that_is_changed_in_a_long_list_stays_in_sight(
    page_of: Callable[..., Page], world: World
) -> None:
    for query in ("q1", "q2", "q3"):
        for number in range(1, 7):
            add_question(world.collection, NewQuestion(query=query, document=f"d{number}", answer="relevant"))
    page = page_of(world.ada)
    page.goto("/collections/harbour/gold/?sort=-query")
    row = page.locator("tbody tr").last
    name = row.get_by_role("rowheader").inner_text()
    row.get_by_role("button", name="Out of use").click()
    page.wait_for_url("**/gold/?sort=-query#*")
    changed = page.get_by_role("row").filter(has=page.get_by_role("button", name="Use again"))
    expect(changed).to_contain_text(name.split()[0])
    expect(changed).to_be_in_viewport()
