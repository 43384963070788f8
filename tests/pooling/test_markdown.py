"""Guidelines are shown as HTML, and nothing in them runs."""

from __future__ import annotations

import pytest

from pooling.markdown import render_markdown


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
