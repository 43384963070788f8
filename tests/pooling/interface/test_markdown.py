"""Guidelines are shown as HTML, and nothing in them runs."""

from __future__ import annotations

import nh3
import pytest
from django.test import Client

from pooling.interface.markdown import LONGEST_MARKDOWN, beginning_of, render_markdown
from pooling.interface.problems import InputError
from pooling.people.membership import create_collection
from tests.world import World


def test_markdown_becomes_html() -> None:
    html = render_markdown("# Rules\n\nRelevant *helps*.\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<h1>Rules</h1>" in html
    assert "<em>helps</em>" in html
    assert "<td>1</td>" in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "<a href='javascript:alert(1)'>x</a>",
        "![x](https://elsewhere.example/pixel.png)",
        "<p onclick='alert(1)'>x</p>",
        "<style>body {display: none}</style>",
    ],
)
def test_nothing_that_runs_or_calls_out_survives(text: str) -> None:
    html = render_markdown(text)
    for sign in ("<script", 'href="javascript', "<img", "<p onclick", "<style"):
        assert sign not in html


@pytest.mark.django_db
def test_guidelines_are_rendered_once_for_every_page_that_shows_them(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[str] = []
    clean = nh3.clean
    monkeypatch.setattr(nh3, "clean", lambda html, **options: rendered.append(html) or clean(html, **options))
    client.force_login(world.ben)
    for guidelines in ("Relevant *answers* the query.", "Relevant *helps* with the query."):
        world.collection.guidelines = guidelines
        world.collection.save()
        pages = {client.get(f"/collections/{world.collection.slug}/").content for _ in range(3)}
        assert all(b"<em>" in page for page in pages)
    assert len(rendered) == 2


@pytest.mark.parametrize(
    ("most", "beginning"), [(99, "# Rules\n\nHelp.\n \nMore."), (16, "# Rules\n\nHelp."), (3, "# Rules")]
)
def test_the_beginning_of_a_text_ends_with_a_paragraph(most: int, beginning: str) -> None:
    assert beginning_of("\n# Rules\n\nHelp.\n \nMore.\n", most) == beginning


def test_the_beginning_of_a_text_ends_with_no_heading() -> None:
    assert beginning_of("Help.\n\n## Relevant\n\n### Why\n\nA timetable.", 27) == "Help."


def test_a_text_that_would_take_seconds_is_shown_as_it_is() -> None:
    rows = "|*a*\n|-\n" + "|*b*\n" * LONGEST_MARKDOWN
    html = render_markdown(rows + "<script>")
    assert html.startswith("<pre>|*a*")
    assert html.endswith("&lt;script&gt;</pre>")


@pytest.mark.usefixtures("everyone_creates")
@pytest.mark.django_db
def test_guidelines_have_a_bound_wherever_they_are_written(world: World, client: Client) -> None:
    long = "x" * (LONGEST_MARKDOWN + 1)
    client.force_login(world.ada)
    slug = world.collection.slug
    page = client.post(
        f"/collections/{slug}/edit/", {"name": "Harbour", "question": "Relevant?", "guidelines": long}
    )
    assert b"at most 40000 characters" in page.content
    answer = client.post("/api/collections/", {"slug": "new", "name": "New", "guidelines": long})
    assert answer.status_code == 400
    assert "guidelines" in answer.json()["fields"]
    with pytest.raises(InputError, match="at most 40,000 characters"):
        create_collection(None, slug="new", name="New", guidelines=long)
