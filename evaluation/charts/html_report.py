"""An evaluation as one HTML file: pictures, tables, conventions and provenance, and nothing that is fetched.

The file forbids itself every request and every script; it follows the reader's colour scheme and is light on
paper. Its templates are given nothing but texts, and need no settings: `evaluate --html` has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from evaluation.charts import drawing as charts
from evaluation.charts.kinds import KINDS, ChartChoice, ChartKind, default_choice
from evaluation.charts.tables import Figures
from evaluation.charts.words import cells_in_words, columns_in_words
from evaluation.measures import MEASURES
from evaluation.rendering.cells import Cells
from evaluation.report_store.provenance import Provenance
from evaluation.scoring.figures import Figure
from evaluation.scoring.results import decimal, interval, percent
from pooling.interface.assets import ASSETS_DIR
from pooling.interface.charting import in_look

# Rows of one table in the file: it is read by people.
MOST_ROWS = 200
#: A text, and whether it is a name rather than a number.
Cell: TypeAlias = tuple[str, bool]
Drawer = Callable[[ChartKind, ChartChoice], bytes]


@dataclass(frozen=True)
class HtmlReport:
    """Contents of the file. sentences: what it begins with, the first sentence loudest. notes: sentences
    above everything else, such as warnings. draw: how a picture is had as SVG in the light look (kind,
    choice); None draws it again. tables: after the means. worth: tables of what the numbers are worth, of
    `evaluation.rendering.estimate_tables`."""

    title: str
    summary: str
    figures: Figures
    provenance: Provenance
    notes: Sequence[str] = ()
    draw: Drawer | None = None
    measures: Sequence[str] = field(default=())
    tables: Sequence[Cells] = ()
    worth: Sequence[Cells] = ()
    sentences: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """A table whose first column names its rows, cut after MOST_ROWS. labelled_by: the id of its heading."""

    header: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    labelled_by: str
    more: str = ""


@dataclass(frozen=True)
class MeasureSection:
    """The means of a measure: a row per run, a column per K."""

    title: str
    words: str
    table: Table


@dataclass(frozen=True)
class WorthSection:
    """A table of estimates with its notes; `table` is None where there are only notes."""

    name: str
    title: str
    table: Table | None
    notes: Sequence[str]


@dataclass(frozen=True)
class PictureSection:
    """A picture with its numbers. drawn: as SVG, in a light and in a dark look."""

    name: str
    title: str
    summary: str
    reading: str
    svg: str
    table: Table


def render_html(report: HtmlReport) -> str:
    # Only for who asks for the file: loading them takes a tenth of a second.
    from django.template import Context, Engine

    choice = default_choice(report.figures)
    kinds = [kind for kind in KINDS.values() if kind.is_there(report.figures)]
    first, *others = (_picture(report, kind, choice) for kind in kinds)
    context = {
        "report": report,
        "first": first,
        "means": list(means_of(report.figures, report.measures)),
        "worth": [worth_of(cells, number) for number, cells in enumerate((*report.tables, *report.worth))],
        "others": others,
        "lines": lines_of(report.figures, choice),
        "facts": report.provenance.facts(),
    }
    template = Engine(dirs=[str(ASSETS_DIR / "templates")]).get_template("evaluation/file.html")
    return template.render(Context(context))


def means_of(figures: Figures, measures: Sequence[str]) -> Iterator[MeasureSection]:
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
        bounds = " and, below, its bounds whatever the unjudged documents of the pool turn out to be"
        read = f"Mean over queries, with its interval{bounds if name == 'recall' else ''}."
        basis = " Of the relevant documents found so far, unless the labels are complete."
        words = f"{measure.definition} {read}{basis if name == 'recall' else ''}"
        yield MeasureSection(measure.title, words, Table(header, rows, f"mean-{name}"))


def _figure(figure: Figure | None, measure: str) -> str:
    if figure is None:
        return "–"
    if measure == "judged":
        return percent(figure["mean"])
    bounds = figure.get("bounds") or (None, None)
    below = "" if bounds[0] is None else f"\n{decimal(bounds[0])}–{decimal(bounds[1])}"
    return f"{decimal(figure['mean'])}{interval(figure)}{below}"


def worth_of(cells: Cells, number: int) -> WorthSection:
    name = f"worth-{number}"
    rows = [[(text, place == 0) for place, text in enumerate(row)] for row in cells.rows[:MOST_ROWS]]
    header = [(title, place == 0) for place, title in enumerate(cells.header)]
    table = Table(header, rows, name, _more(len(cells.rows))) if rows else None
    return WorthSection(name, cells.title, table, cells.notes)


def _more(rows: int) -> str:
    return f"{rows - MOST_ROWS:,}" if rows > MOST_ROWS else ""


def _picture(report: HtmlReport, kind: ChartKind, choice: ChartChoice) -> PictureSection:
    table = kind.table(report.figures, choice)
    rows = kind.rows(table, choice)
    if report.draw is not None:
        svg = report.draw(kind, choice)
    else:
        svg = charts.to_svg(kind.draw(table, report.figures, choice))
    return PictureSection(
        name=kind.name,
        title=kind.title(choice),
        summary=kind.summary(table, choice),
        reading=kind.reading,
        svg=_inline(kind, svg, "light") + _inline(kind, svg, "dark"),
        table=Table(
            columns_in_words(rows, choice), cells_in_words(rows.head(MOST_ROWS)), kind.name, _more(len(rows))
        ),
    )


def _inline(kind: ChartKind, svg: bytes, look: str) -> str:
    """A picture as a part of the page: seen in one colour scheme only, and with ids of its own."""
    text = in_look(svg, look).decode()
    own = re.sub(r'(?<=id=")(?=[\w-]+")|(?<=url\(#)', f"{kind.name}-{look}-", text)
    return own.replace("<svg ", f'<svg aria-hidden="true" focusable="false" data-scheme="{look}" ', 1)


def lines_of(figures: Figures, choice: ChartChoice) -> list[tuple[str, str]]:
    run_figures = ((run, figures.figure(run, choice.measure, choice.k)) for run in figures.runs)
    return [(run, figure.get("line", "") if figure else "") for run, figure in run_figures]
