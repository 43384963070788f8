"""Evidence and words of one's own in a real browser: selected, marked, stored with the verdict."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from labeling.models import JudgmentEvent, Queue
from tests.browser.judging import all_saved, open_judging, press, ready
from tests.browser.test_accessibility import LOOKS, violations
from tests.world import World

TEXT = "🚋 Trams stop at midnight. The night bus runs hourly, until five. Ferries sleep."
DECIDES = "runs hourly"
STRONGEST = "The night bus runs hourly, until five."
LONG = "Nothing of note stands here. " * 80 + TEXT

SELECT = """words => {
  const part = document.querySelector("[data-part=text]");
  const nodes = document.createNodeIterator(part, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    const start = node.data.indexOf(words);
    if (start < 0) continue;
    document.getSelection().setBaseAndExtent(node, start, node, start + words.length);
    return true;
  }
  return false;
}"""


@pytest.fixture
def shown(world: World, queue: Queue) -> Queue:
    world.collection.documents.update(text=TEXT, metadata={})
    world.collection.queries.update(text="night bus")
    Queue.objects.update(highlight="sentence")
    return queue


def stored(page: Page) -> str | None:
    """The evidence of the only verdict, cut from the text by its offsets; None without any."""
    all_saved(page)
    event = JudgmentEvent.objects.get()
    return None if event.span_start is None else event.document.text[event.span_start : event.span_end]


def test_a_key_takes_what_is_selected(page_of: Callable[..., Page], world: World, shown: Queue) -> None:
    page = page_of(world.ben)
    open_judging(page, shown)
    assert page.evaluate(SELECT, DECIDES)
    page.keyboard.press("v")
    expect(page.locator(".judging-evidence")).to_have_text(DECIDES)
    assert violations(page) == []
    press(page, "j")
    assert stored(page) == DECIDES
    expect(page.locator(".judging-evidence")).to_have_count(0)


def test_without_a_selection_it_takes_the_strongest_sentence_and_then_drops_it(
    page_of: Callable[..., Page], world: World, shown: Queue
) -> None:
    page = page_of(world.ben)
    open_judging(page, shown)
    assert "".join(page.locator(".judging-sentence").all_inner_texts()) == STRONGEST
    quote = page.locator("[data-part=evidence_quote]")
    page.keyboard.press("v")
    expect(quote).to_have_text(STRONGEST)
    page.keyboard.press("v")
    expect(quote).to_be_hidden()
    page.keyboard.press("v")
    expect(quote).to_be_visible()
    press(page, "j")
    assert stored(page) == STRONGEST
    assert JudgmentEvent.objects.get().highlight == "sentence"


def test_it_goes_with_relevant_alone_and_undo_brings_it_back(
    page_of: Callable[..., Page], world: World, shown: Queue
) -> None:
    page = page_of(world.ben)
    open_judging(page, shown)
    page.keyboard.press("v")
    press(page, "f")
    assert stored(page) is None
    ready(page)
    page.keyboard.press("v")
    press(page, "j")
    all_saved(page)
    ready(page)
    page.keyboard.press("u")
    expect(page.locator("[data-part=evidence_quote]")).to_have_text(STRONGEST)


@pytest.mark.parametrize("whole", [False, True])
def test_offsets_are_those_of_the_whole_text(
    whole: bool, page_of: Callable[..., Page], world: World, shown: Queue
) -> None:
    world.collection.documents.update(text=LONG)
    page = page_of(world.ben)
    open_judging(page, shown)
    if whole:
        page.keyboard.press("d")
    assert page.evaluate(SELECT, DECIDES)
    page.keyboard.press("v")
    press(page, "j")
    assert stored(page) == DECIDES


def test_words_of_a_page_made_from_markdown_are_found_in_its_source(
    page_of: Callable[..., Page], world: World, shown: Queue
) -> None:
    source = "# Lines\n\nThe **ferry** sails\n*twice* a day."
    world.collection.documents.update(text=source, metadata={"format": "markdown"})
    page = page_of(world.ben)
    open_judging(page, shown)
    page.evaluate("document.getSelection().selectAllChildren(document.querySelector('[data-part=text] p'))")
    page.keyboard.press("v")
    expect(page.locator("[data-part=evidence_quote]")).to_be_visible()
    press(page, "j")
    assert stored(page) == "The **ferry** sails\n*twice* a day"


SELECT_PLACE = """([words, place]) => {
  const part = document.querySelector("[data-part=text]");
  const start = [...Array(place + 1)].reduce(after => part.textContent.indexOf(words, after) + 1, 0) - 1;
  const ends = [start, start + words.length].map((offset, isEnd) => {
    const nodes = document.createNodeIterator(part, NodeFilter.SHOW_TEXT);
    let node = nodes.nextNode();
    for (; offset >= node.length + isEnd; node = nodes.nextNode()) offset -= node.length;
    return [node, offset];
  });
  document.getSelection().setBaseAndExtent(...ends.flat());
}"""


@pytest.mark.parametrize(
    ("kind", "source", "words", "place", "evidence"),
    [
        ("markdown", "A bus at one.\n\nThen *a bus* at two.\n\nNo bus at three.", "bus at", 1, "bus* at"),
        ("markdown", "They met **half**way home.", "halfway", 0, "half**way"),
        ("markdown", "[Bus](https://bus.example/bus) by bus.", "bus", 0, "bus"),
        ("html", "<p>It&#8217;s caf&eacute; time: it&rsquo;s caf&#xe9;.</p>", "s café", 1, "s caf&#xe9;"),
        ("html", "<!-- late --><style>p.late {}</style><p>Not <b>l</b>ate, late.</p>", "late", 1, "late"),
        ("html", "<p>🚋 late</p><p>🚋 later</p>", "late", 1, "late"),
    ],
)
def test_evidence_on_a_page_made_from_its_source_is_stored_where_it_was_selected(
    kind: str,
    source: str,
    words: str,
    place: int,
    evidence: str,
    page_of: Callable[..., Page],
    world: World,
    shown: Queue,
) -> None:
    world.collection.documents.update(text=source, metadata={"format": kind})
    page = page_of(world.ben)
    open_judging(page, shown)
    page.evaluate(SELECT_PLACE, [words, place])
    page.keyboard.press("v")
    press(page, "j")
    assert stored(page) == evidence
    start = JudgmentEvent.objects.get().span_start
    places = [match.start() for match in re.finditer(re.escape(evidence), source)]
    assert start == places[-1]


def test_the_strongest_sentence_of_a_page_made_from_markdown_is_tinted_and_taken(
    page_of: Callable[..., Page], world: World, shown: Queue
) -> None:
    source = "# Lines\n\nTrams sleep. The *night*\nbus runs **hourly**. Ferries sleep."
    world.collection.documents.update(text=source, metadata={"format": "markdown"})
    page = page_of(world.ben)
    open_judging(page, shown)
    tinted = page.locator(".judging-sentence")
    assert " ".join("".join(tinted.all_text_contents()).split()) == "The night bus runs hourly."
    assert violations(page) == []
    page.keyboard.press("v")
    press(page, "j")
    assert stored(page) == "The *night*\nbus runs **hourly"
    assert JudgmentEvent.objects.get().highlight == "sentence"


@pytest.mark.parametrize("look", LOOKS)
def test_a_selection_offers_evidence_and_words_to_look_for(
    look: str, page_of: Callable[..., Page], world: World, shown: Queue
) -> None:
    page = page_of(world.ben, **LOOKS[look])
    open_judging(page, shown)
    assert page.evaluate(SELECT, DECIDES)
    page.get_by_role("button", name="Mark as evidence").click()
    assert page.evaluate(SELECT, "Ferries")
    page.get_by_role("button", name="Look for this").click()
    expect(page.locator("mark.own")).to_have_text("Ferries")
    assert violations(page) == []
    press(page, "j")
    assert stored(page) == DECIDES
    expect(page.locator("mark.own")).to_have_text("Ferries")  # of the next document of the query
    page.get_by_role("button", name="No longer look for Ferries").click()
    expect(page.locator("mark.own")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_queue_that_highlights_nothing_marks_nothing(
    page_of: Callable[..., Page], world: World, shown: Queue
) -> None:
    Queue.objects.update(highlight="none")
    page = page_of(world.ben)
    open_judging(page, shown)
    press(page, "j")
    all_saved(page)
    assert page.locator("mark, .judging-sentence").count() == 0
    assert JudgmentEvent.objects.get().highlight == "none"
