from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from evaluation.facts.comparing import FactComparison, fact_comparisons
from evaluation.facts.measures import FACT_MEASURES
from evaluation.facts.results import FactEvaluation, FactRow
from evaluation.measures import key_of
from evaluation.rendering.cells import Cells, Part
from evaluation.rendering.formats import mlflow_text, render_tables
from evaluation.scoring.wording import decimal, interval, percent, share_in_words, usual_cutoff
from pooling.formats.cells import table_text
from pooling.formats.wording import counted


def render_facts(evaluation: FactEvaluation, form: str, *, terminal: bool = False) -> str:
    """The evaluation alone, in one of the formats of `evaluation.rendering.formats`."""
    if form == "json":
        compared = {part.name: part.data for part in fact_comparison_parts(evaluation)}
        content = {**evaluation.to_dict(), **compared}
        return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    if form == "csv":
        return table_text(
            list(FactRow.__annotations__), (list(row.values()) for row in fact_rows(evaluation))
        )
    if form == "mlflow":
        return mlflow_text(evaluation.runs)
    more = [part.cells for part in fact_comparison_parts(evaluation) if part.cells is not None]
    return render_tables([fact_cells(evaluation), *more], form, terminal=terminal)


def fact_parts(evaluation: FactEvaluation) -> list[Part]:
    """For `evaluation.rendering.formats.render`, next to the measures over documents."""
    part = Part("facts", fact_cells(evaluation), evaluation.measured_how(), figures=evaluation.with_lines())
    return [part, *fact_comparison_parts(evaluation)]


def fact_comparison_parts(evaluation: FactEvaluation) -> list[Part]:
    """Pairs of runs; nothing where none can be compared."""
    made = fact_comparisons(evaluation)
    return [Part("fact_comparisons", _comparison_cells(made), made)] if made else []


def _comparison_cells(made: Sequence[FactComparison]) -> Cells:
    """One row per pair at the usual K."""
    k = usual_cutoff([one["k"] for one in made])
    rows = tuple(
        (
            f"{one['first']} - {one['second']}",
            decimal(one["difference"]) + interval({"low": one["low"], "high": one["high"]}),
            f"{decimal(one['bound_low'])} to {decimal(one['bound_high'])}",
            str(one["queries"]),
        )
        for one in made
        if one["k"] == k
    )
    note = "Bounds of a difference: whatever the verdicts on pairs that nobody judged."
    return Cells(
        (f"Fact recall@{k}", "difference", "bounds", "queries"), rows, (note,), "Comparisons by facts"
    )


def fact_rows(evaluation: FactEvaluation) -> Iterator[FactRow]:
    """One row per run, measure and K."""
    for run, figures in evaluation.with_lines().items():
        for name, k in evaluation.keys:
            one = figures[key_of(name, k)]
            yield {
                "run": run,
                "measure": name,
                "k": k,
                "mean": one["mean"],
                "low": one["low"],
                "high": one["high"],
                "micro": one.get("micro"),
                "bound_low": one.get("bound_low"),
                "bound_high": one.get("bound_high"),
                "judged_pairs": one.get("judged_pairs"),
                "queries": one["queries"],
                "line": one["line"],
            }


def fact_cells(evaluation: FactEvaluation) -> Cells:
    """One row per run and K, a column per measure, and next to fact recall its micro mean and bounds."""
    names = list(dict.fromkeys(name for name, _ in evaluation.keys))
    header = ["run", "K"]
    for name in names:
        header += [FACT_MEASURES[name].title, *(("micro", "bounds") if name == "fact_recall" else ())]
    rows = []
    for run in evaluation.runs:
        for k in dict.fromkeys(k for _, k in evaluation.keys):
            cells = [run, "all" if k is None else str(k)]
            for name in names:
                cells += _cells(evaluation, run, (name, k), first=name == names[0])
            rows.append((*cells, _judged(evaluation, run, k)))
    return Cells((*header, "judged pairs"), tuple(rows), tuple(_notes(evaluation)), "Facts")


def _cells(evaluation: FactEvaluation, run: str, key: tuple[str, int | None], *, first: bool) -> list[str]:
    figure = evaluation.runs[run].get(key_of(*key))
    if figure is None:
        return [""] * (3 if key[0] == "fact_recall" else 1)
    cells = [decimal(figure["mean"]) + (interval(figure) if first else "")]
    if key[0] == "fact_recall":
        cells += [decimal(figure["micro"]), f"{decimal(figure['bound_low'])}–{decimal(figure['bound_high'])}"]
    return cells


def _judged(evaluation: FactEvaluation, run: str, k: int | None) -> str:
    if k is None:
        return ""
    at_k = (evaluation.runs[run].get(key_of(name, k)) for name, _ in evaluation.keys)
    return percent(next((one.get("judged_pairs") for one in at_k if one), None))


def _notes(evaluation: FactEvaluation) -> list[str]:
    first = evaluation.keys[0][0]
    cutoffs = [k for name, k in evaluation.keys if name == first and k is not None]
    key = key_of(first, usual_cutoff(cutoffs) if cutoffs else None)
    notes = [f"{run}: {evaluation.line(run, key)}" for run in evaluation.runs]
    notes.append(f"[low, high]: {share_in_words(evaluation.interval['level'])} interval over queries.")
    if any(name == "fact_recall" for name, _ in evaluation.keys):
        notes[-1] += (
            " Bounds: whatever the verdicts on pairs that nobody judged; a document outside the pool counts "
            "as unjudged for every fact."
        )
    notes += [
        f"{run}: ignored {counted(unknown, 'query')} without facts."
        for run, (_, unknown) in evaluation.missing.items()
        if unknown
    ]
    return notes
