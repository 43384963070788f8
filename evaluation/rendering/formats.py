"""An evaluation as text: terminal table, JSON, CSV, Markdown, LaTeX, each with its conventions."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evaluation.measures import MEASURES, key_of
from evaluation.rendering.cells import Cells, Part
from evaluation.rendering.estimate_tables import estimate_tables
from evaluation.rendering.span_tables import span_cells
from evaluation.rendering.tradeoffs import trade_offs
from evaluation.scoring.estimate_figures import Estimates, runs_with_estimates
from evaluation.scoring.figures import EvaluationResult, MeanSpan, as_read, mean_as_read, mlflow_metrics
from evaluation.scoring.results import Evaluation, decimal, interval, percent
from evaluation.scoring.wording import interval_in_words
from pooling.formats.cells import table_text
from pooling.formats.wording import aligned


def render(
    evaluation: Evaluation,
    form: str,
    *,
    terminal: bool = False,
    with_trade_offs: bool = False,
    parts: Sequence[Part] = (),
    estimates: Estimates | None = None,
) -> str:
    """The evaluation in one of FORMATS, ending in a line feed; `terminal` draws the tables for a screen.

    with_trade_offs: next to it the table of `evaluation.rendering.tradeoffs`; parts: tables that come after;
    estimates: of `evaluation.estimates.of_pool`. CSV takes the rows of parts that have some, MLflow no
    part, and both no other table.
    """
    if form not in FORMATS:
        raise ValueError(f"There is no format {form!r}; choose one of {', '.join(FORMATS)}.")
    if form in FLAT_FORMATS:
        name = FLAT_FORMATS[form]
        if with_trade_offs:
            raise ValueError(f"{name} does not support trade-offs; choose table, json, markdown or latex.")
        if form == "mlflow" and evaluation.strata:
            raise ValueError(f"{name} does not support tags; choose another format.")
        for part in parts:
            if part.cells is not None and (part.rows is None or form == "mlflow"):
                problem = (
                    f"{part.cells.title} have no place in {name}; choose table, json, markdown or latex."
                )
                raise ValueError(problem)
    if form == "csv":
        return _csv(evaluation, parts)
    if form == "json":
        return _json(evaluation, with_trade_offs, parts, estimates)
    if form == "mlflow":
        return mlflow_text({name: evaluation.figures_of(name) for name in evaluation.runs})
    tables = all_cells(evaluation, with_trade_offs=with_trade_offs)
    if estimates is not None:
        tables = _with_estimates(tables, evaluation, estimates)
    tables += [part.cells for part in parts if part.cells is not None]
    sentences = [sentence for part in parts for sentence in part.sentences]
    if sentences and (duplicates := evaluation.settings.get("duplicates")):
        sentences.append(f"Near-identical documents: {duplicates['words']}.")
    return _above(sentences, form) + render_tables(tables, form, terminal=terminal)


def _above(sentences: Sequence[str], form: str) -> str:
    """The sentences before the tables, the first loudest; empty in LaTeX, whose tables go into papers."""
    if not sentences or form == "latex":
        return ""
    if form == "markdown":
        first, *others = map(_markdown_cell, sentences)
        return "\n\n".join([f"**{first}**", *others]) + "\n\n"
    return "\n".join(sentences) + "\n\n"


def render_tables(tables: Sequence[Cells], form: str, *, terminal: bool = False) -> str:
    """Tables as `table`, `markdown` or `latex`; `terminal` draws them for a screen."""
    render_one = _rich_table if form == "table" and terminal else _AS_TEXT[form]
    return "\n".join(map(render_one, tables))


def all_cells(evaluation: Evaluation, *, with_trade_offs: bool = False) -> list[Cells]:
    """The table of all queries, then those of strata, trade-offs and excerpts where there are any."""
    tables = [table_cells(evaluation)]
    if evaluation.strata:
        tables.append(strata_cells(evaluation))
    if with_trade_offs:
        tables.append(trade_off_cells(evaluation))
    if evaluation.spans is not None:
        tables.append(span_cells(evaluation.spans))
    return tables


def _with_estimates(tables: Sequence[Cells], evaluation: Evaluation, estimates: Estimates) -> list[Cells]:
    """Their tables after the others; where nothing can be estimated, why, below the first."""
    figures = {name: run.figures for name, run in evaluation.runs.items()}
    more = estimate_tables(figures, estimates)
    if estimates["runs"]:
        return [*tables, *more]
    first, *others = tables
    return [replace(first, notes=(*first.notes, *more[0].notes)), *others]


def table_cells(evaluation: Evaluation) -> Cells:
    """One row per run and K (`all`: the whole run), a column per measure, and next to recall its micro mean,
    bounds and, if any, ties."""
    tied = any("ties" in figure for run in evaluation.runs.values() for figure in run.figures.values())
    header = ["run", "K"]
    for measure in evaluation.measures:
        header.append(MEASURES[measure].title)
        if measure == "recall":
            header += ["micro", "bounds", *(["ties min exp max"] if tied else [])]
    rows = [
        (
            name,
            "all" if k is None else str(k),
            *itertools.chain(
                *(_cells(evaluation, name, measure, k, tied=tied) for measure in evaluation.measures)
            ),
        )
        for name in evaluation.runs
        for k in _lines_at(evaluation)
    ]
    return Cells(tuple(header), tuple(rows), tuple(_notes(evaluation)))


def _lines_at(evaluation: Evaluation) -> list[int | None]:
    """The cutoffs that have a row, and None where something is over the whole run."""
    return list(dict.fromkeys([*evaluation.cutoffs.tolist(), *(k for _, k in evaluation.keys)]))


def strata_cells(evaluation: Evaluation) -> Cells:
    """One row per tag, run and K: the queries in the mean, and each measure's mean with its interval."""
    header = ("tag", "run", "K", "n", *(MEASURES[measure].title for measure in evaluation.measures))
    rows = []
    for tag, stratum in evaluation.strata.items():
        for name, figures in stratum.figures.items():
            for k in _lines_at(evaluation):
                keys = [key_of(measure, k) for measure in evaluation.measures]
                values = [as_read(figures[key]) if key in figures else None for key in keys]
                queries = next((str(figure["queries"]) for figure in values if figure), "")
                cells = (f"{decimal(one['mean'])}{interval(one)}" if one else "" for one in values)
                rows.append((tag, name, "all" if k is None else str(k), queries, *cells))
    note = "n: queries in the mean. A query with several tags counts in each."
    return Cells(header, tuple(rows), (note,), "By tag")


def trade_off_cells(evaluation: Evaluation) -> Cells:
    """One row per run and K: recall, precision and F1, recall per place and what each place since the K
    before added; below it the least K that reaches a recall."""
    header = ("run", "K", "Recall", "Precision", "F1", "recall per place", "added per place")
    by_run = trade_offs(evaluation)
    rows = tuple(
        (
            name,
            str(row["k"]),
            _small(row["recall"]),
            _small(row["precision"]),
            _small(row["f1"]),
            _small(row["recall_per_place"]),
            _small(row["added_per_place"]),
        )
        for name, of_run in by_run.items()
        for row in of_run["by_k"]
    )
    notes = tuple(
        f"{name}: the least K whose mean recall reaches "
        + ", ".join(f"{target}: {k or 'none does'}" for target, k in of_run["k_reaching"].items())
        for name, of_run in by_run.items()
    )
    return Cells(header, rows, notes, "Trade-offs by K")


def _small(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _cells(evaluation: Evaluation, run: str, measure: str, k: int | None, *, tied: bool) -> list[str]:
    figure = evaluation.runs[run].figures.get(key_of(measure, k))
    if figure is None:
        return [""] * ((3 + tied) if measure == "recall" else 1)
    if measure == "judged":
        return [percent(mean_as_read(figure))]
    # One interval per row keeps the table within a terminal; JSON and CSV have them all.
    cells = [decimal(figure["mean"]) + (interval(figure) if measure == evaluation.measures[0] else "")]
    if measure == "recall":
        ties = figure.get("ties")
        bounds = [decimal(bound) for bound in figure["bounds"] if bound is not None]
        cells += [decimal(figure["micro"]), "–".join(bounds) or decimal(None)]
        means = (ties["min"], ties["expected"], ties["max"]) if ties else ()
        cells += [" ".join(map(decimal, means))] if tied else []
    return cells


def _notes(evaluation: Evaluation) -> list[str]:
    measure, k = evaluation.example_key()
    lines = [f"{name}: {evaluation.convention_line(name, measure, k)}" for name in evaluation.runs]
    lines.append(
        f"[low, high]: {interval_in_words(evaluation.settings['interval'])}. Bounds: recall whatever the "
        f"labels of the unjudged documents in the pool ({evaluation.settings['pool']})."
    )
    return [*lines, *evaluation.warnings(), *evaluation.left_out()]


def _plain_table(cells: Cells) -> str:
    title = [cells.title, ""] if cells.title else []
    return "\n".join([*title, *aligned([cells.header, *cells.rows]), "", *cells.notes]) + "\n"


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
        if cells.title:
            console.print(Text(cells.title, style="bold"))
        console.print(table)
        for note in cells.notes:
            console.print(Text(note))
    return captured.get()


def _json(
    evaluation: Evaluation,
    with_trade_offs: bool = False,
    parts: Sequence[Part] = (),
    estimates: Estimates | None = None,
) -> str:
    content = with_parts(evaluation.to_dict(), parts, estimates)
    if with_trade_offs:
        content["trade_offs"] = trade_offs(evaluation)
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def with_parts(
    result: EvaluationResult, parts: Sequence[Part], estimates: Estimates | None = None
) -> dict[str, object]:
    """A result with the data of its parts, and with estimates under `estimates` and of each run."""
    runs: dict[str, Mapping[str, object]] = {**result["runs"]}
    for part in parts:
        runs |= {run: {**runs[run], **figures} for run, figures in part.figures.items()}
    content: dict[str, object] = {**result, "runs": runs}
    if estimates is not None:
        content["estimates"] = estimates
        estimated = runs_with_estimates(result["runs"], estimates)
        content["runs"] = {name: {**figures, **estimated[name]} for name, figures in runs.items()}
    return content | {part.name: part.data for part in parts}


def mlflow_text(runs: Mapping[str, Mapping[str, MeanSpan]]) -> str:
    """One JSON object for `mlflow.log_metrics`, of the figures of each run by key."""
    return json.dumps(mlflow_metrics(runs), indent=2, allow_nan=False) + "\n"


def _csv(evaluation: Evaluation, parts: Sequence[Part] = ()) -> str:
    rows, tagged = evaluation.summary_rows(), evaluation.strata_rows()
    more = [row for part in parts for row in part.rows or ()]
    # The columns are there only with strata or such parts; they are empty in the rows of all queries.
    named = dict.fromkeys(name for row in rows for name in row)
    columns = [*(["tag"] if tagged else []), *named, "line"]
    columns += [name for name in (more[0] if more else ()) if name not in columns]
    described = [
        {**row, "line": evaluation.convention_line(row["run"], row["measure"], row["k"])} for row in rows
    ]
    return table_text(columns, ([row.get(name) for name in columns] for row in (*described, *tagged, *more)))


def _markdown_table(cells: Cells) -> str:
    rule = ["---", *["---:"] * (len(cells.header) - 1)]
    lines = [
        "| " + " | ".join(_markdown_cell(cell) for cell in row) + " |"
        for row in (cells.header, rule, *cells.rows)
    ]
    title = [f"### {cells.title}", ""] if cells.title else []
    return "\n".join([*title, *lines, "", *(f"- {_markdown_cell(note)}" for note in cells.notes)]) + "\n"


def _markdown_cell(text: str) -> str:
    for character in "\\`*_|<":
        text = text.replace(character, "\\" + character)
    return text


def with_notes(text: str, form: str, notes: Sequence[str]) -> str:
    """Text in `markdown` or `latex` with more sentences below it."""
    if form == "markdown":
        return text + "\n" + "".join(f"- {_markdown_cell(note)}\n" for note in notes)
    return text + "".join(rf"\par{{\footnotesize {_latex_text(note)}}}" + "\n" for note in notes)


def _latex_table(cells: Cells) -> str:
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
    title = [rf"\par\textbf{{{_latex_text(cells.title)}}}\par"] if cells.title else []
    return "\n".join([*title, *table, *notes]) + "\n"


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


_AS_TEXT = {"table": _plain_table, "markdown": _markdown_table, "latex": _latex_table}
FORMATS = ("table", "json", "csv", "markdown", "latex", "mlflow")
#: Those of figures alone, and what sentences call them.
FLAT_FORMATS = {"csv": "CSV", "mlflow": "MLflow"}
