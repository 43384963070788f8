"""The judging page as a test speaks of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect

from labeling.models import Item, Judgment, Queue
from labeling.qrels.releases import export_release, release_qrels
from tests.patience import wait_until
from tests.world import DOCUMENTS, QUERIES, World

# Calls that send verdicts; some of them claim items too.
JUDGMENTS = re.compile(r"/judgments/(\?claim=\d+)?$")
VERDICT_KEYS = {"j": "relevant", "f": "not_relevant"}

# Sends a key as another layout does: [key, code, more].
PRESS = """([key, code, more]) => document.body.dispatchEvent(
    new KeyboardEvent("keydown", {key, code, bubbles: true, cancelable: true, ...more}))"""


class Pair(NamedTuple):
    """What is on screen: the query's text and the document's title."""

    query: str
    title: str


def open_judging(page: Page, queue: Queue) -> None:
    """Go to the page, leave its start card, and wait until its script holds a batch."""
    page.goto(f"/queues/{queue.pk}/judge/")
    holds_a_batch(page)
    begin(page)
    ready(page)


def begin(page: Page) -> None:
    """Leave the start card, where there is one."""
    start = page.locator("[data-part=begin]")
    if start.is_visible():
        start.click()


def holds_a_batch(page: Page) -> None:
    """Wait until an answer to a claim has been taken in."""
    expect(page.locator("#judging")).to_have_attribute("data-held", re.compile("."))


def ready(page: Page) -> None:
    """Wait until the page takes keys for what it shows: it ignores them right after a change."""
    expect(page.locator("#judging")).to_have_attribute("data-accepts", re.compile("keys|true"))


def ready_for_taps(page: Page) -> None:
    """Wait until the page takes taps: it ignores them longer than keys after a change."""
    expect(page.locator("#judging")).to_have_attribute("data-accepts", "true")


def tap_verdict(page: Page, name: str) -> None:
    """Tap a verdict button once the page takes taps."""
    ready_for_taps(page)
    page.get_by_role("button", name=name, exact=True).tap()


def on_screen(page: Page) -> Pair:
    return Pair(page.locator("[data-part=query]").inner_text(), page.locator("#document-title").inner_text())


def press(page: Page, key: str) -> Pair:
    """Press a verdict key once and wait for the next document; the pair that was judged."""
    ready(page)
    judged = on_screen(page)
    page.keyboard.press(key)
    expect(page.locator("[data-part=last]")).to_contain_text(judged.title)
    return judged


def follow(link: Locator) -> None:
    """Click what leads to another page, and wait until it has come: nobody looks at the page that is left."""
    with link.page.expect_event("load"):
        link.click()


def save_state(page: Page) -> Locator:
    return page.locator("[data-part=save_state]")


def all_saved(page: Page) -> None:
    """Wait until nothing waits."""
    expect(page.locator("#judging")).to_have_attribute("data-waiting", "0")


def stored(queue: Queue) -> dict[Pair, str]:
    """The verdicts in the database, in the order in which they were given."""
    judgments = Judgment.objects.filter(collection=queue.collection).select_related("query", "document")
    judgments = judgments.order_by("event")
    return {Pair(row.query.text, row.document.title): row.verdict for row in judgments}


def exported(world: World) -> dict[Pair, str]:
    """The labels of a qrels release of the collection, as its TREC file has them."""
    release = release_qrels(world.collection, name="a release", user=world.ada)
    lines = export_release(release, "trec").decode().splitlines()
    rows = (line.split() for line in lines)
    return {
        Pair(QUERIES[query], DOCUMENTS[document][0]): "relevant" if relevance == "1" else "not_relevant"
        for query, _, document, relevance in rows
    }


def kept(page: Page) -> int:
    """How many unsent verdicts, skips and undos the browser keeps, whoever they belong to."""
    return int(
        page.evaluate(
            """() => new Promise((resolve, reject) => {
                const opening = indexedDB.open("soundings");
                opening.onerror = reject;
                opening.onsuccess = () => {
                    const database = opening.result;
                    const counting = database.transaction("unsent").objectStore("unsent").count();
                    counting.onsuccess = () => { database.close(); resolve(counting.result); };
                };
            })"""
        )
    )


def leased(queue: Queue) -> int:
    return sum(Item.objects.filter(queue=queue).values_list("leased", flat=True))


def eventually(page: Page, condition: Callable[[], bool]) -> None:
    """Wait for what no page can show, because the page that did it is gone."""
    wait_until(condition, page.wait_for_timeout)
