"""Images of documents in a real browser: allowed ones arrive, nothing moves, nobody else is asked."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from labeling.models import JudgmentEvent, Queue
from tests.browser.judging import all_saved, eventually, open_judging, press, ready
from tests.browser.test_accessibility import LOOKS, violations
from tests.world import World

MAP = "https://images.example/map.png"
COVER = "https://images.example/cover.png"
SOURCE = f"""# Night buses

![Map of the lines]({MAP})

The night bus runs hourly. ![A spy](https://spy.example/pixel.png)
"""
BROKEN = "images => images.some((image) => !image.complete || !image.naturalWidth)"


def picture(width: int, height: int) -> bytes:
    """A PNG of one colour."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = (b"\0" + b"\x30\x80\xc0" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    )


@pytest.fixture
def asked(page_of: Callable[..., Page]) -> list[tuple[str, dict[str, str]]]:
    """What was asked of other hosts, with its headers."""
    return []


def routed(page: Page, asked: list[tuple[str, dict[str, str]]]) -> None:
    """Answer for every host that is not this machine."""

    def answer(route: Route) -> None:
        asked.append((route.request.url, route.request.headers))
        route.fulfill(body=picture(600, 300), content_type="image/png")

    page.route("https://**/*", answer)


@pytest.fixture
def shown(world: World, queue: Queue) -> Queue:
    world.collection.image_hosts = "images.example"
    world.collection.save()
    world.collection.documents.update(text=SOURCE, metadata={"format": "markdown", "image": COVER})
    return queue


@pytest.mark.parametrize("look", LOOKS)
def test_images_of_allowed_hosts_are_seen_and_no_other_host_is_asked(
    look: str,
    page_of: Callable[..., Page],
    world: World,
    shown: Queue,
    asked: list[tuple[str, dict[str, str]]],
) -> None:
    page = page_of(world.ben, **LOOKS[look])
    routed(page, asked)
    open_judging(page, shown)
    for _ in range(2):  # the first document is the server's, the second the script's
        ready(page)
        images = page.locator("[data-part=document] img")
        expect(images).to_have_count(2)
        for image in images.all():
            image.scroll_into_view_if_needed()
        eventually(page, lambda: not page.locator("[data-part=document] img").evaluate_all(BROKEN))
        assert {round(image.bounding_box()["height"]) for image in images.all()} == {240}  # type: ignore[index]
        expect(page.get_by_role("img", name="Map of the lines")).to_be_visible()
        expect(page.get_by_role("img", name="Image of the document")).to_be_visible()
        expect(page.locator("[data-part=text]")).to_contain_text("A spy")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.evaluate("scrollTo(0, 0)")
        press(page, "j")
    assert {address for address, _ in asked} == {MAP, COVER}
    assert not any("referer" in headers for _, headers in asked)


def test_a_document_without_an_image_shows_none_of_the_one_before(
    page_of: Callable[..., Page], world: World, shown: Queue, asked: list[tuple[str, dict[str, str]]]
) -> None:
    page = page_of(world.ben)
    routed(page, asked)
    world.collection.documents.filter(external_id="d1").update(metadata={}, text="Plain.")
    open_judging(page, shown)
    for _ in range(4):
        ready(page)
        is_plain = page.locator("[data-part=text]").inner_text() == "Plain."
        expect(page.get_by_role("img", name="Image of the document")).to_have_count(0 if is_plain else 1)
        press(page, "f")


def test_words_around_images_are_found_in_the_source(
    page_of: Callable[..., Page], world: World, shown: Queue, asked: list[tuple[str, dict[str, str]]]
) -> None:
    page = page_of(world.ben)
    routed(page, asked)
    open_judging(page, shown)
    page.evaluate("document.getSelection().selectAllChildren(document.querySelector('[data-part=text]'))")
    page.keyboard.press("v")
    press(page, "j")
    all_saved(page)
    event = JudgmentEvent.objects.get()
    found = event.document.text[event.span_start : event.span_end]
    assert found.startswith("Night buses\n\n![Map of the lines]")
    assert found.endswith("![A spy")
