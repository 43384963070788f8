"""Common to pictures: colours, letters, and SVG, PNG and PDF without a network. No Django here.

vl-convert is imported inside the functions, because it takes longer to load than a page may.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pooling.heavy import alt

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
#: Of numbers, as d3 reads it: US-American, but for the blank before the sign of percent.
NUMBERS = {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["$", ""], "percent": " %"}
VARIANTS = ("light", "dark", "light-narrow", "dark-narrow")


@dataclass(frozen=True)
class Theme:
    """The colours of a picture; those of the style sheet, so that it sits in the page."""

    background: str
    ink: str
    quiet: str
    line: str
    runs: tuple[str, ...]


LIGHT = Theme(
    background="#ffffff",
    ink="#1d2327",
    quiet="#545f66",
    line="#e4e0d7",
    runs=("#0068a8", "#c44900", "#007f5f", "#a23b7d", "#8a6400", "#5a50c8", "#1d2327", "#6f7b84"),
)
DARK = Theme(
    background="#1c2226",
    ink="#e8eaeb",
    quiet="#a7b1b7",
    line="#333c42",
    runs=("#56b4e9", "#f5925a", "#4cc9a0", "#e59ac6", "#ecc84e", "#aea6fa", "#e8eaeb", "#8f9ca5"),
)

DARK_OF = dict(
    zip(*((one.background, one.ink, one.quiet, one.line, *one.runs) for one in (LIGHT, DARK)), strict=True)
)
MARK_OR_TEXT = re.compile(r'(?P<mark> (?:fill|stroke)=)"(?P<colour>#[0-9a-f]{6})"|>[^<]+')


def finished(layers: Sequence[alt.Chart], size: tuple[int, int], theme: Theme) -> alt.LayerChart:
    """Layers as one picture of a theme; `size` is that of the whole, so that a page can leave room for it."""
    # A point for each run and query is more than the 5,000 that Altair takes by itself.
    alt.data_transformers.disable_max_rows()
    fit = alt.AutoSizeParams(type="fit", contains="padding")
    sized = alt.layer(*layers).properties(width=size[0], height=size[1], autosize=fit)
    words = {"labelColor": theme.quiet, "titleColor": theme.quiet, "labelFont": FONT, "titleFont": FONT}
    picture: alt.LayerChart = sized.configure(
        background=theme.background,
        locale={"number": NUMBERS},
        font=FONT,
        padding={"left": 12, "right": 16, "top": 14, "bottom": 10},
        view={"stroke": None},
        axis={
            **words,
            "labelFontSize": 13,
            "titleFontSize": 13,
            "titleFontWeight": "normal",
            "gridColor": theme.line,
            "domainColor": theme.quiet,
            "tickColor": theme.quiet,
            "titlePadding": 8,
        },
        legend={"labelColor": theme.ink, "labelFont": FONT, "labelFontSize": 13, "rowPadding": 4},
    )
    return picture


def to_svg(chart: alt.LayerChart) -> bytes:
    """The picture as SVG; needs no network and no browser."""
    import vl_convert

    return str(
        vl_convert.vegalite_to_svg(chart.to_dict(validate=False), vl_version=grammar_version())
    ).encode()


def in_look(svg: bytes, variant: str) -> bytes:
    """A picture of the light theme in that of one of `VARIANTS`. The colours of marks are replaced, which
    takes a hundredth of drawing; what is written in the picture stays."""
    if not variant.startswith("dark"):
        return svg
    return MARK_OR_TEXT.sub(_in_dark, svg.decode()).encode()


def _in_dark(match: re.Match[str]) -> str:
    colour = match["colour"]
    return f'{match["mark"]}"{DARK_OF.get(colour, colour)}"' if colour else match[0]


def to_png(chart: alt.LayerChart, *, scale: float = 2) -> bytes:
    """The picture as PNG with `scale` pixels per point."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(chart.to_dict(), vl_version=grammar_version(), scale=scale))


def to_pdf(chart: alt.LayerChart) -> bytes:
    """The picture as PDF, for papers; its letters are outlines."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_pdf(chart.to_dict(validate=False), vl_version=grammar_version()))


def grammar_version() -> str:
    return ".".join(str(alt.SCHEMA_VERSION).lstrip("v").split(".")[:2])
