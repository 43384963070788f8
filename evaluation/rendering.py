"""An evaluation as text: terminal table, JSON, CSV, Markdown, LaTeX, each with its conventions."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass

from evaluation.measures import MEASURES, key_of
from evaluation.results import Evaluation, decimal, interval, percent


@dataclass(frozen=True)
class Cells:
    """One row per run and K (`all`: the whole run), every cell as text; `notes` belong below the table."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def render(evaluation: Evaluation, form: str, *, terminal: bool = False) -> str:
    """The evaluation in one of FORMATS, ending in a line feed; `terminal` draws the table for a screen."""
    if form == "table" and terminal:
        return _rich_table(table_cells(evaluation))
    if form not in FORMATS:
        raise ValueError(f"There is no format {form!r}; choose one of {', '.join(FORMATS)}.")
    return FORMATS[form](evaluation)


def table_cells(evaluation: Evaluation) -> Cells:
    """The cells: a column per measure, and beside recall its micro mean, bounds and, if any, ties."""
    tied = any("ties" in figure for run in evaluation.runs.values() for figure in run.figures.values())
    header = ["run", "K"]
    for measure in evaluation.measures:
        header.append(MEASURES[measure].title)
        if measure == "recall":
            header += ["micro", "bounds", *(["ties min exp max"] if tied else [])]
    cutoffs = dict.fromkeys([*evaluation.cutoffs.tolist(), *(k for _, k in evaluation.keys)])
    rows = [
        (
            name,
            "all" if k is None else str(k),
            *itertools.chain(
                *(_cells(evaluation, name, measure, k, tied) for measure in evaluation.measures)
            ),
        )
        for name in evaluation.runs
        for k in cutoffs
    ]
    return Cells(tuple(header), tuple(rows), tuple(_notes(evaluation)))


def _cells(evaluation: Evaluation, run: str, measure: str, k: int | None, tied: bool) -> list[str]:
    figure = evaluation.runs[run].figures.get(key_of(measure, k))
    if figure is None:
        return [""] * ((3 + tied) if measure == "recall" else 1)
    if measure == "judged":
        return [percent(figure["mean"])]
    # One interval per row keeps the table within a terminal; JSON and CSV have them all.
    cells = [decimal(figure["mean"]) + (interval(figure) if measure == evaluation.measures[0] else "")]
    if measure == "recall":
        ties = figure.get("ties", {})
        cells += [decimal(figure["micro"]), "–".join(decimal(bound) for bound in figure["bounds"])]
        cells += [" ".join(decimal(value) for value in ties.values())] if tied else []
    return cells


def _notes(evaluation: Evaluation) -> list[str]:
    measure, k = _example_key(evaluation)
    lines = [f"{name}: {evaluation.convention_line(name, measure, k)}" for name in evaluation.runs]
    made = evaluation.settings["interval"]
    samples = f", {made['samples']:,} samples, seed {made['seed']}" if made["resampled"] else ""
    lines.append(
        f"[low, high]: {made['level']:.0%} interval, {made['method']}{samples}. Bounds: recall whatever the "
        f"labels of the unjudged documents in the pool ({evaluation.settings['pool']})."
    )
    lines += [
        f"{name}: ignored the {run.counted.unknown} of its queries that have no label."
        for name, run in evaluation.runs.items()
        if run.counted.unknown
    ]
    return lines


def _example_key(evaluation: Evaluation) -> tuple[str, int | None]:
    """The figure that the lines below the table explain: the first measure, at K = 10 where it is."""
    first = evaluation.measures[0]
    cutoffs = [k for measure, k in evaluation.keys if measure == first]
    return first, 10 if 10 in cutoffs else cutoffs[-1]


def _plain_table(evaluation: Evaluation) -> str:
    cells = table_cells(evaluation)
    table = [cells.header, *cells.rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(cells.header))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    return "\n".join([*lines, "", *cells.notes]) + "\n"


def _rich_table(cells: Cells) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table()
    for column, title in enumerate(cells.header):
        table.add_column(title, justify="left" if column == 0 else "right")
    for row, previous in zip(cells.rows, (None, *cells.rows), strict=False):
        if previous is not None and row[0] != previous[0]:
            table.add_section()
        table.add_row(*(Text(cell) for cell in row))
    with console.capture() as captured:
        console.print(table)
        for note in cells.notes:
            console.print(Text(note))
    return captured.get()


def _json(evaluation: Evaluation) -> str:
    return json.dumps(evaluation.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _csv(evaluation: Evaluation) -> str:
    out = io.StringIO()
    rows = evaluation.summary_rows()
    columns = [*(rows[0] if rows else ()), "line"]
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "line": evaluation.convention_line(row["run"], row["measure"], row["k"])})
    return out.getvalue()


def _markdown(evaluation: Evaluation) -> str:
    cells = table_cells(evaluation)
    rule = ["---", *["---:"] * (len(cells.header) - 1)]
    lines = [
        "| " + " | ".join(_markdown_cell(cell) for cell in row) + " |"
        for row in (cells.header, rule, *cells.rows)
    ]
    return "\n".join([*lines, "", *(f"- {_markdown_cell(note)}" for note in cells.notes)]) + "\n"


def _markdown_cell(text: str) -> str:
    for character in "\\`*_|<":
        text = text.replace(character, "\\" + character)
    return text


def _latex(evaluation: Evaluation) -> str:
    cells = table_cells(evaluation)
    columns = "l" + "r" * (len(cells.header) - 1)
    header, *rows = (
        " & ".join(_latex_text(cell) for cell in row) + r" \\" for row in (cells.header, *cells.rows)
    )
    table = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\hline",
        header,
        r"\hline",
        *rows,
        r"\hline",
        r"\end{tabular}",
    ]
    notes = [rf"\par{{\footnotesize {_latex_text(note)}}}" for note in cells.notes]
    return "\n".join([*table, *notes]) + "\n"


_LATEX = str.maketrans(
    {character: "\\" + character for character in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "[": "{[}",  # a bracket after \\ would be read as its argument
        "–": "--",
        "·": r"$\cdot$",
        "≥": r"$\geq$",
        "↓": r"$\downarrow$",
        "↑": r"$\uparrow$",
    }
)


def _latex_text(text: str) -> str:
    return text.translate(_LATEX)


FORMATS: dict[str, Callable[[Evaluation], str]] = {
    "table": _plain_table,
    "json": _json,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
