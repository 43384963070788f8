"""Texts as people read them: re-flowed, with the structure of their source, with what is known of them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from labeling.items.passages import strongest_sentence
from labeling.judging.flow import reflowed
from labeling.judging.leases import claim
from labeling.judging.offers import LONGEST_SOURCE, facts_of, offers_of, rich_html
from labeling.judging.sentences import query_size
from labeling.models import Queue
from tests.labeling.helpers import make_queue
from tests.world import World

PROSE = (
    "The night bus leaves the square at one and every thirty minutes after that until the first train. " * 4
)
LIST = "\n".join(f"- item {number} of a list, which is about as long as the others" for number in range(9))


def no_marks(text: str) -> list[tuple[int, int]]:
    return []


def bus(text: str) -> list[tuple[int, int]]:
    return [(at, at + 3) for at in range(len(text)) if text.startswith("bus", at)]


@pytest.mark.parametrize("width", [50, 72, 80])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_hard_wrap_is_undone_and_paragraphs_stay(width: int, end: str) -> None:
    paragraphs = [textwrap.fill(PROSE, width).replace("\n", end) for _ in range(2)]
    wrapped = f"{end}{end}".join(paragraphs)
    flowing = reflowed(wrapped)
    assert len(flowing) == len(wrapped)
    assert [" ".join(one.split()) for one in flowing.split(end + end)] == [PROSE.strip()] * 2
    assert flowing.count("\n") == 2


@pytest.mark.parametrize(
    "text",
    [
        LIST,
        "Short lines\nof verse\nare left\nas they are",
        PROSE,
        "",
        "\n".join(["one line of about fifty characters is not a wrap"] * 2),
        "def f():\n    return 1\n" * 20,
        "Line nine leaves the harbour square at seven and\n" * 8,  # verse: each line begins with a capital
        "Line nine     harbour square     seven o'clock     daily\n" * 8,
        "Line nine and line ten and 7.15 8.15 9.15 and the others\n".lower() * 8,
        'x = {"line": "nine", "from": "harbour square", "at": "seven"}\n' * 8,
        "leave(harbour, square); wait(seven, minutes); arrive(station);\n" * 8,
    ],
)
def test_lines_that_no_wrap_made_stay(text: str) -> None:
    assert reflowed(text) == text


def test_a_list_inside_a_wrapped_text_stays_a_list() -> None:
    wrapped = textwrap.fill(PROSE, 60) + "\n- night bus\n- ferry\n"
    assert reflowed(wrapped).endswith("\n- night bus\n- ferry\n")


@given(st.text(alphabet="ab \n\r-", max_size=400))
def test_reflowing_changes_nothing_but_line_breaks(text: str) -> None:
    flowing = reflowed(text)
    assert len(flowing) == len(text)
    assert {(old, new) for old, new in zip(text, flowing, strict=True) if old != new} <= {
        ("\n", " "),
        ("\r", " "),
    }


def test_a_text_without_a_full_stop_is_not_tinted_as_one_sentence() -> None:
    text = "night bus lines and bus stops of the harbour"
    assert strongest_sentence("night bus", text, bus(text)) is None
    assert strongest_sentence("bus", text + ".", bus(text)) == (0, len(text) + 1)


def test_markdown_and_html_keep_their_structure_and_have_marks() -> None:
    source = "# Lines\n\nA *bus* & a `bus`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n"
    html = rich_html(source, {"format": "markdown"}, bus)
    assert html is not None
    for part in (
        "<h2>Lines</h2>",
        "<em><mark>bus</mark></em> &amp; a <code><mark>bus</mark></code>",
        "<td>1</td>",
        "<li>one</li>",
    ):
        assert part in html
    assert rich_html("<p>A <b>bus</b></p>", {"content_type": "text/html; charset=utf-8"}, no_marks) == (
        "<p>A <b>bus</b></p>"
    )


def tinted(source: str, sentence: str, kind: str = "markdown") -> str:
    def strongest(text: str, marks: Sequence[tuple[int, int]]) -> tuple[int, int]:
        start = text.index(sentence)
        return start, start + len(sentence)

    return (rich_html(source, {"format": kind}, bus, strongest=strongest) or "").strip()


def test_the_strongest_sentence_goes_through_what_is_inside_a_line_and_no_further() -> None:
    tint = '<span class="judging-sentence">'
    assert tinted("Rain.\n\nA *bus*\nruns. Fog.", "A bus runs.") == (
        f"<p>Rain.</p>\n<p>{tint}A </span><em>{tint}<mark>bus</mark></span></em>{tint}\nruns.</span> Fog.</p>"
    )
    assert tinted("<h1>Bus</h1><p>A b<b>us</b></p>", "Bus\n", "html").startswith(f"<h2>{tint}Bus</span></h2>")
    assert "<mark>b</mark><b><mark>us</mark></b>" in tinted("<p>A b<b>us</b></p>", "A", "html")
    assert tinted("```\none\n two\n```", "one") == f"<pre><code>{tint}one</span>\n two\n</code></pre>"


@pytest.mark.parametrize("kind", ["html", "markdown"])
@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<p onclick=alert(1) style='position:fixed' class=verdict-bar id=judging>x</p>",
        "<a href='javascript:alert(1)'>x</a> [x](javascript:alert(1)) ![x](https://example.org/x.png)",
        "<style>@import url(https://example.org/x.css)</style><link rel=stylesheet href=//example.org>",
        "<svg><style><img src=x onerror=alert(1)></style></svg><math><mtext><script>alert(1)</script>",
        "<ol start='><script>alert(1)</script>'><li>x</ol><p title='\"><script>alert(1)</script>'>x</p>",
        "<iframe src=https://example.org></iframe><object data=x></object><form action=x><button>x</button>",
        "&lt;script&gt;alert(1)&lt;/script&gt; &lt;bus onload=alert(1)&gt;",
        "<mark>bus</mark><template><script>alert(1)</script></template>",
    ],
)
def test_nothing_in_a_document_runs_loads_or_leads_anywhere(kind: str, attack: str) -> None:
    html = rich_html(f"A bus.\n\n{attack}", {"format": kind}, bus)
    assert html is not None
    tags = set(re.findall(r"<[^>]*>", html))
    harmless = "h2 h3 h4 h5 h6 p ol ul li em strong b i code pre br mark"
    assert tags <= {f"<{slash}{name}>" for name in harmless.split() for slash in ("", "/")}
    assert "<mark>bus</mark>" in html


@pytest.mark.parametrize(
    ("text", "metadata"),
    [
        ("# A", {}),
        ("# A", {"format": "plain"}),
        ("# A", {"format": 3}),
        ("# A" * LONGEST_SOURCE, {"format": "markdown"}),
    ],
)
def test_other_texts_are_plain(text: str, metadata: dict[str, Any]) -> None:
    assert rich_html(text, metadata, no_marks) is None


@pytest.mark.parametrize(
    ("metadata", "facts"),
    [
        (
            {"url": "https://a.example/x", "date": "2026-03-04", "source": " Harbour\nnews ", "rank": 1},
            ["2026-03-04", "Harbour news", "https://a.example/x"],
        ),
        ({"authors": ["Ada", 3, "Ben"], "published": 2026}, ["2026", "Ada, Ben"]),
        ({"date": True, "source": {"a": 1}, "author": None, "url": ""}, []),
        ({"source": "x" * 400}, ["x" * 300 + " …"]),
        ({"score": 0.9, "label": "relevant", "run": "alpha"}, []),
    ],
)
def test_only_date_source_author_and_url_are_told(metadata: dict[str, Any], facts: list[str]) -> None:
    assert facts_of(metadata) == facts


@pytest.mark.parametrize(
    ("text", "size"),
    [("bus " * 12, 0), ("bus " * 13, 1), ("bus " * 19, 2), ("bus " * 30, 3), ("夜" * 100, 1), ("", 0)],
)
def test_a_long_query_is_smaller(text: str, size: int) -> None:
    assert query_size(text) == size


@pytest.fixture
def queue(world: World) -> Queue:
    return make_queue(world)


def test_an_offer_has_flowing_text_structure_and_facts(world: World, queue: Queue) -> None:
    wrapped = textwrap.fill(PROSE * 8, 60)
    world.collection.queries.update(text="night bus")
    world.collection.documents.update(text=wrapped, metadata={"date": "2026-03-04", "rank": 7})
    plain = offers_of(queue, world.ben, claim(queue, world.ben, 1).leases)[0]["document"]
    assert plain["text"] == wrapped.replace("\n", " ")
    assert plain["passage"] is not None
    assert (plain["html"], plain["facts"]) == (None, ["2026-03-04"])
    world.collection.documents.update(metadata={"format": "markdown"})
    rich = offers_of(queue, world.ben, claim(queue, world.ben, 1).leases)[0]["document"]
    assert (rich["passage"], rich["sentence"]) == (None, None)
    assert (rich["html"] or "").startswith("<p>The <mark>night</mark>")


def test_the_page_shows_sanitised_structure(world: World, queue: Queue) -> None:
    world.collection.documents.update(
        text="<h1>Lines</h1><script>alert(1)</script><p onclick=x>A bus.</p>",
        metadata={"format": "html", "url": "javascript:alert(1)<b>"},
    )
    client = Client()
    client.force_login(world.ben)
    page = client.get(f"/queues/{queue.pk}/judge/").content.decode()
    assert "<h2>Lines</h2><p>A " in page
    assert "<span>javascript:alert(1)&lt;b&gt;</span>" in page
    assert "<p onclick" not in page
    assert "<script>alert" not in page


def test_how_one_reads_is_remembered_by_account(world: World, queue: Queue) -> None:
    client = Client()
    client.force_login(world.ben)
    assert client.get("/api/reading/").json() == {
        "size": "normal",
        "width": "normal",
        "face": "serif",
        "contrast": "normal",
    }
    for change in ({"size": "large"}, {"face": "sans"}):
        answer = client.patch("/api/reading/", change, content_type="application/json")
    assert answer.json() == {"size": "large", "width": "normal", "face": "sans", "contrast": "normal"}
    page = client.get(f"/queues/{queue.pk}/judge/").content.decode()
    assert 'data-size="large" data-width="normal" data-face="sans"' in page
    refused = client.patch("/api/reading/", {"size": "x"}, content_type="application/json")
    assert refused.status_code == 400
    client.force_login(world.cleo)
    assert client.get("/api/reading/").json()["size"] == "normal"
    assert Client().patch("/api/reading/", {}, content_type="application/json").status_code in (401, 403)
