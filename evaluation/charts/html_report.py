"""An evaluation as one HTML file: pictures, tables, conventions and provenance, and nothing that is fetched.
No Django here.

The file forbids itself every request and every script; it follows the reader's colour scheme and is light on
paper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from evaluation.charts import drawing as charts
from evaluation.charts.kinds import KINDS, ChartChoice, ChartKind, default_choice
from evaluation.charts.tables import Figures
from evaluation.charts.words import cells_in_words, columns_in_words

if TYPE_CHECKING:
    from evaluation.rendering.cells import Cells
    from evaluation.report_store.provenance import Provenance
    from evaluation.scoring.figures import Figure

# Rows of one table in the file: it is read by people.
MOST_ROWS = 200
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
Drawer = Callable[[ChartKind, ChartChoice, bool], bytes]


@dataclass(frozen=True)
class HtmlReport:
    """What the file says. notes: sentences above everything else, such as warnings. draw: how a picture is
    had as SVG (kind, choice, dark); None draws it anew. worth: tables of what the numbers are worth, of
    `evaluation.rendering.estimate_tables`."""

    title: str
    summary: str
    figures: Figures
    provenance: Provenance
    notes: Sequence[str] = ()
    draw: Drawer | None = None
    measures: Sequence[str] = field(default=())
    worth: Sequence[Cells] = ()


def render_html(report: HtmlReport) -> str:
    """The whole file."""
    figures = report.figures
    choice = default_choice(figures)
    kinds = [kind for kind in KINDS.values() if kind.is_there(figures)]
    parts = [
        f"<h1>{escape(report.title)}</h1>",
        f'<p class="lead">{escape(report.summary)}</p>',
        *(f'<p class="note">{escape(note)}</p>' for note in report.notes),
        _picture(report, kinds[0], choice),
        *_figure_tables(figures, report.measures),
        *(_worth(cells, number) for number, cells in enumerate(report.worth)),
        *(_picture(report, kind, choice) for kind in kinds[1:]),
        _lines(figures, choice),
        _provenance(report.provenance, estimated=bool(report.worth)),
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{escape(report.title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _figure_tables(figures: Figures, measures: Sequence[str]) -> Iterable[str]:
    """A table for each measure: a row per run, a column per K, mean with interval and bounds in each cell."""
    from evaluation.measures import MEASURES

    for name in measures:
        cutoffs: list[int | None] = [*figures.cutoffs(name)]
        if figures.figure(figures.runs[0], name, None) is not None:
            cutoffs.append(None)
        if not cutoffs:
            continue
        header = [("Run", True), *((f"@{k}" if k else "whole run", False) for k in cutoffs)]
        rows = [
            [(run, True), *((_figure(figures.figure(run, name, k), name), False) for k in cutoffs)]
            for run in figures.runs
        ]
        measure = MEASURES[name]
        yield f'<section aria-labelledby="mean-{name}"><h2 id="mean-{name}">{escape(measure.title)}</h2>'
        bounds = " and, below, its bounds whatever the unjudged documents turn out to be"
        read = f"Mean over queries, with its interval{bounds if name == 'recall' else ''}."
        yield f"<p>{escape(measure.definition)} {read}</p>{_table(header, rows, f'mean-{name}')}</section>"


def _figure(figure: Figure | None, measure: str) -> str:
    from evaluation.scoring.results import decimal, interval, percent

    if figure is None:
        return "–"
    if measure == "judged":
        return percent(figure["mean"])
    bounds = figure.get("bounds") or (None, None)
    below = "" if bounds[0] is None else f"\n{decimal(bounds[0])}–{decimal(bounds[1])}"
    return f"{decimal(figure['mean'])}{interval(figure)}{below}"


def _worth(cells: Cells, number: int) -> str:
    """A table of estimates with its notes; the first column names the rows."""
    name = f"worth-{number}"
    notes = "".join(f"<p>{escape(note)}</p>" for note in cells.notes)
    rows = [[(text, place == 0) for place, text in enumerate(row)] for row in cells.rows[:MOST_ROWS]]
    header = [(title, place == 0) for place, title in enumerate(cells.header)]
    table = _table(header, rows, name) + _more(len(cells.rows)) if rows else ""
    title = f'<h2 id="{name}">{escape(cells.title)}</h2>'
    return f'<section aria-labelledby="{name}">{title}{table}{notes}</section>'


def _more(rows: int) -> str:
    return f"<p>and {rows - MOST_ROWS:,} more rows.</p>" if rows > MOST_ROWS else ""


def _picture(report: HtmlReport, kind: ChartKind, choice: ChartChoice) -> str:
    table = kind.table(report.figures, choice)
    rows = kind.rows(table, choice)
    said = escape(kind.said(table, choice))
    drawn = "".join(_inline(report, kind, choice, table, dark=dark) for dark in (False, True))
    words = _table(columns_in_words(rows, choice), cells_in_words(rows.head(MOST_ROWS)), kind.name)
    words += _more(len(rows))
    return (
        f'<section aria-labelledby="{kind.name}"><h2 id="{kind.name}">{escape(kind.title(choice))}</h2>\n'
        f'<figure><div role="img" aria-label="{said}" tabindex="0">{drawn}</div>\n'
        f"<figcaption>{escape(kind.reading)}</figcaption></figure>\n"
        f"<p>{said}</p>\n"
        f"<details><summary>The numbers of this picture</summary>{words}</details></section>"
    )


def _inline(report: HtmlReport, kind: ChartKind, choice: ChartChoice, table: Any, *, dark: bool) -> str:
    """A picture as a part of the page: seen in one colour scheme only, and with ids of its own."""
    if report.draw is not None:
        svg = report.draw(kind, choice, dark).decode()
    else:
        svg = charts.to_svg(kind.draw(table, report.figures, choice, dark=dark)).decode()
    scheme = "dark" if dark else "light"
    own = re.sub(r'(?<=id=")(?=[\w-]+")|(?<=url\(#)', f"{kind.name}-{scheme}-", svg)
    return own.replace("<svg ", f'<svg aria-hidden="true" focusable="false" data-scheme="{scheme}" ', 1)


def _lines(figures: Figures, choice: ChartChoice) -> str:
    found = [(run, figures.figure(run, choice.measure, choice.k)) for run in figures.runs]
    items = "".join(
        f"<li><strong>{escape(run)}</strong><br>{escape(figure.get('line', '') if figure else '')}</li>"
        for run, figure in found
    )
    return (
        '<section aria-labelledby="lines"><h2 id="lines">The numbers with their conventions</h2>'
        f"<ul>{items}</ul></section>"
    )


def _provenance(provenance: Provenance, *, estimated: bool) -> str:
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in provenance.facts())
    pool = "; estimates need the pool as well" if estimated else ""
    return (
        '<section aria-labelledby="again"><h2 id="again">Where these numbers come from</h2>'
        f"<dl>{facts}</dl><p>The same figures from the same files{pool}:</p>"
        f'<pre tabindex="0">{escape(provenance.command)}</pre></section>'
    )


def _table(
    header: Sequence[tuple[str, bool]], rows: Sequence[Sequence[tuple[str, bool]]], labelled_by: str
) -> str:
    """A table whose first column names its rows; cells hold text, and whether that is a name."""
    titles = "".join(f'<th scope="col"{_number(is_name)}>{escape(title)}</th>' for title, is_name in header)
    lines = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{escape(text)}</th>'
            if place == 0
            else f"<td{_number(is_name)}>{_broken(text)}</td>"
            for place, (text, is_name) in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-labelledby="{labelled_by}">'
        f"<table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _number(is_name: bool) -> str:
    return "" if is_name else ' class="number"'


def _broken(text: str) -> str:
    return escape(text).replace("\n", "<br>")


STYLE = """
:root {
  color-scheme: light dark;
  --ground: #fff; --ink: #1d2327; --quiet: #545f66; --line: #d9d5cb; --note: #fdf2d6;
}
@media screen and (prefers-color-scheme: dark) {
  :root { --ground: #1c2226; --ink: #e8eaeb; --quiet: #a7b1b7; --line: #3d474e; --note: #372b12; }
  [data-scheme=light] { display: none; }
}
@media print {
  [data-scheme=dark] { display: none; }
  details::details-content { content-visibility: visible; height: auto; }
}
@media screen and (prefers-color-scheme: light) { [data-scheme=dark] { display: none; } }
html { font: 16px/1.5 system-ui, sans-serif; background: var(--ground); color: var(--ink); }
body { margin: 0; }
main { max-width: 1000px; margin: 0 auto; padding: 24px 16px 60px; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { font-size: 1.2rem; margin-top: 2em; }
.lead, figcaption, dt { color: var(--quiet); }
.note { background: var(--note); padding: 10px 14px; border-radius: 6px; }
figure { margin: 0 0 1em; }
figure > div { overflow-x: auto; }
figure svg { max-width: 100%; min-width: 600px; height: auto; }
figcaption { font-size: 0.9rem; max-width: 75ch; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 8px 0; font-size: 0.88rem; }
th, td { text-align: left; padding: 4px 12px 4px 0; vertical-align: top; }
tr > * { border-bottom: 1px solid var(--line); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
dd { margin: 0 0 6px; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 10px; }
pre { border: 1px solid var(--line); border-radius: 6px; }
summary { min-height: 24px; cursor: pointer; }
section { break-inside: auto; }
figure, tr { break-inside: avoid; }
"""
