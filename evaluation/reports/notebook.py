"""An evaluation that shows itself: as a table in a cell, as pictures, as an HTML file, and in MLflow."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, wraps
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, cast

from evaluation.charts.html_file import check_html_path, checksum, figures_of, summary_of
from evaluation.charts.html_report import HtmlReport, render_html
from evaluation.comparisons.answer import Answer
from evaluation.comparisons.answering import AnswerRequest, answered
from evaluation.comparisons.tables import answer_part
from evaluation.comparisons.wording import answer_in_words, of_relevant_count
from evaluation.estimates.of_pool import Basis, estimates_of, recall_cutoffs, too_large
from evaluation.estimates.pool_file import depth_of_file, design_of_files
from evaluation.measures import titled
from evaluation.rendering.estimate_tables import estimate_tables
from evaluation.rendering.formats import render_tables, table_cells, with_parts
from evaluation.rendering.span_tables import span_cells
from evaluation.report_store.provenance import Provenance, software_versions
from evaluation.scoring import evaluating
from evaluation.scoring.estimate_figures import Estimates
from evaluation.scoring.figures import EvaluationResult, as_read, mean_as_read, mlflow_metrics, mlflow_runs
from evaluation.scoring.inputs import DEFAULT_CUTOFFS, only_queries
from evaluation.scoring.results import Evaluation, decimal, interval, percent
from evaluation.scoring.wording import cutoffs_down_to, interval_in_words
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.inputs.reading import CHOSEN, lasting, pool_table
from pooling.interface.terminal import whole_installation

if TYPE_CHECKING:
    from evaluation.reports.notebook_pictures import Picture

WITHOUT_AUDIT = (
    f"The pool has no columns {' and '.join(sorted(CHOSEN))}: bounds cover it, and nothing is estimated."
)
Arguments = ParamSpec("Arguments")
#: More columns do not fit next to each other in a cell.
MOST_CUTOFFS = 5
# The colours of the page around it, so that a dark notebook stays dark.
_STYLE = """<style>
.soundings { overflow-x: auto }
.soundings p { margin: .4em 0; max-width: 75ch }
.soundings small { opacity: .8 }
.soundings table { border-collapse: collapse }
.soundings table, .soundings tr, .soundings th, .soundings td { background: none; color: inherit }
.soundings th, .soundings td { border: 0 solid; border-bottom-width: 1px; padding: 4px 14px 4px 0 }
.soundings th, .soundings td { border-color: rgba(128, 128, 128, .4); text-align: right; white-space: nowrap }
.soundings th:first-child { text-align: left }
</style>
"""


def table_of_cell(result: Evaluation, answer: Answer | None) -> str:
    """HTML with every text escaped; it takes the colours of the page."""
    measure, at = result.example_key()
    cutoffs = _cutoffs([k for name, k in result.keys if name == measure], at)
    head = "".join(f'<th scope="col">{escape(titled(measure, k))}</th>' for k in cutoffs)
    judged = f"judged@{at}" if at is not None else f"judged@{int(result.cutoffs[-1])}"
    rows = []
    for name in _best_first(result, measure, at):
        cells = "".join(f"<td>{_figure(result, name, measure, k)}</td>" for k in cutoffs)
        share = result.runs[name].figures.get(judged)
        covered = "–" if share is None else percent(mean_as_read(share))
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}<td>{escape(covered)}</td></tr>')
    sentences = () if answer is None else answer_in_words(answer)
    best = _best_first(result, measure, at)[:1]
    line = [f"{name}: {result.convention_line(name, measure, at)}" for name in best]
    below = [
        basis_line(result),
        *line,
        f"[low, high]: {interval_in_words(result.settings['interval'])}.",
        *result.notes,
        *result.left_out(),
        *result.warnings(),
        *result.below(),
    ]
    header = f'<th scope="col">run</th>{head}<th scope="col">{escape(judged)}</th>'
    table = f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    words = _paragraphs(sentences, strong=True), _paragraphs(below, strong=False)
    return f'{_STYLE}<div class="soundings">{words[0]}{table}{words[1]}</div>'


def basis_line(result: Evaluation) -> str:
    """A line on what the means of the table rest on, and what recall is a recall of."""
    means = f"Means over queries {result.rests_on}"
    if "complete" in result.settings or "recall" not in result.measures:
        return f"{means}."
    return f"{means}; recall is {of_relevant_count(int(result.labels.relevant.sum()))}."


def _cutoffs(cutoffs: list[int | None], at: int | None) -> list[int | None]:
    if len(cutoffs) <= MOST_CUTOFFS:
        return cutoffs
    place = cutoffs.index(at)
    first = min(max(0, place - MOST_CUTOFFS // 2), len(cutoffs) - MOST_CUTOFFS)
    return cutoffs[first : first + MOST_CUTOFFS]


def _best_first(result: Evaluation, measure: str, k: int | None) -> list[str]:
    means = {name: result.figure(name, measure, k)["mean"] for name in result.runs}
    return sorted(result.runs, key=lambda name: -(means[name] or 0.0))


def _figure(result: Evaluation, run: str, measure: str, k: int | None) -> str:
    figure = as_read(result.figure(run, measure, k))
    return f"{escape(decimal(figure['mean']))}<small>{escape(interval(figure))}</small>"


def _paragraphs(sentences: tuple[str, ...] | list[str], *, strong: bool) -> str:
    """The first of them loud, or all of them quiet."""
    quiet = [f"<p><small>{escape(one)}</small></p>" for one in sentences]
    if not strong or not sentences:
        return "".join(quiet)
    first, *others = sentences
    return f"<p><strong>{escape(first)}</strong></p>" + "".join(f"<p>{escape(one)}</p>" for one in others)


# What MLflow does not take in the name of a metric on every system.
_OTHER = re.compile(r"[^\w\-. ]", re.ASCII)
REPORT = "soundings.html"


def log_result(result: Evaluation, html: str) -> None:
    """Log to the active run; ImportError where MLflow is not installed."""
    try:
        import mlflow
    except ImportError:
        raise ImportError("to_mlflow needs MLflow: pip install mlflow.") from None
    names = mlflow_runs(result.runs, _OTHER)
    figures = {name: result.figures_of(name) for name in result.runs}
    mlflow.log_metrics(mlflow_metrics(figures, names, separator="."))
    measure, k = result.example_key()
    lines = {f"soundings.{name}": result.convention_line(run, measure, k) for run, name in names.items()}
    mlflow.set_tags(lines)
    mlflow.log_text(html, REPORT)


@dataclass(frozen=True, repr=False)
class Result(Evaluation):
    """Runs × qrels under one set of conventions, as `soundings.evaluate` returns it.

    `summary` and `per_query` are pandas frames, `to_dict` has plain values, `answer` says which run is best
    and how sure that is. In a notebook the result is a table; `chart` draws it, `to_html` writes a report,
    `to_mlflow` logs it. names_k: the values of K were named. audited: the name of the pool where it says what
    was chosen; `pool` is then its table, of the queries measured.
    """

    names_k: bool = field(default=False, repr=False, compare=False)
    audited: str = field(default="", repr=False, compare=False)

    def to_dict(self) -> EvaluationResult:
        """What `evaluate --format json` prints: what every evaluation has, the `answer`, and with a pool
        `estimates` and for recall of each run its `estimate`."""
        result = super().to_dict()
        try:
            parts, estimates = [answer_part(self.answer())], self._estimates
        except ImportError:  # these need more than the figures do
            return result
        return cast(EvaluationResult, with_parts(result, parts, estimates))

    def answer(self) -> Answer | None:
        """The best run at the K nearest 10, or with a pool at the deepest K that was named and is within its
        depth, how sure that is, and what to do next; None where recall was not measured or is undefined."""
        with whole_installation():
            request = AnswerRequest(names_k=self.names_k)
            return answered(self, request, basis=self._basis, estimates=self._estimates)

    def estimates(self) -> Estimates | None:
        """What the audit of the pool says, as the command has it under `estimates`; None where no pool with
        an audit was given, or recall was not measured."""
        with whole_installation():
            basis = self._basis
            has_audit = basis is not None and basis.pool is not None and basis.pool.has_audit
            return self._estimates if has_audit else None

    @cached_property
    def _estimates(self) -> Estimates | None:
        if not self.audited or not recall_cutoffs(self):
            return None
        return estimates_of(self._basis, complete="complete" in self.settings)

    @cached_property
    def _basis(self) -> Basis | None:
        if not self.audited or not recall_cutoffs(self) or too_large(self):
            return None
        return Basis.of(self, design_of_files({self.audited: cast("pl.DataFrame", self.pool)}, self))

    def chart(self, kind: str = "", measure: str = "recall", *, dark: bool = False) -> Picture:
        """A picture of the report: `estimated-curve`, `curve`, `distribution`, `gains`, `relevant`,
        `precision-recall` or `coverage`; without a kind the first one of a report, which is recall as the
        audit of the pool estimates it, and the means by the labels at hand where it does not.

        An Altair chart, which a notebook shows without a network. Raises ValueError for a kind that there
        is not, or not for these measures.
        """
        with whole_installation():
            # Cut: a class of Altair's, which loads it
            from evaluation.reports.notebook_pictures import picture_of

            return picture_of(self, kind, measure, self.estimates(), dark=dark)

    def to_html(self, file: str | Path) -> Path:
        """Write the report as one HTML file; ValueError for another suffix, and for no such folder."""
        path = Path(file)
        check_html_path(path)
        path.write_text(self._html(), encoding="utf-8")
        return path

    def to_mlflow(self) -> None:
        """Log the means, the ends of their intervals and the coverage to the active run of MLflow, with the
        HTML report as an artifact; without an active run, MLflow begins one.

        Metrics are called `recall_at_10`, `recall_at_10_low`, `recall_at_10_high`, `judged_at_10`; of
        several runs, `bm25.recall_at_10`. Raises ImportError where MLflow is not installed.
        """
        log_result(self, self._html())

    def _html(self) -> str:
        with whole_installation():
            answer = self.answer()
            return html_of(self, () if answer is None else answer_in_words(answer), self.estimates())

    def _repr_html_(self) -> str:
        try:
            answer = self.answer()
        except ImportError:  # the table needs less than the answer
            answer = None
        return table_of_cell(self, answer)

    def __repr__(self) -> str:
        cells = table_cells(self)
        noted = replace(cells, notes=(basis_line(self), *cells.notes))
        spans = [] if self.spans is None else [span_cells(self.spans)]
        return render_tables([noted, *spans], "table").rstrip()


def html_of(result: Evaluation, sentences: Sequence[str], estimates: Estimates | None = None) -> str:
    """The whole file; sentences: what it begins with."""
    measure, k = result.example_key()
    name, sha256 = _named(result.qrels, "qrels")
    provenance = Provenance(
        labels=(name, sha256),
        runs=[(run, _named(source, run)[1]) for run, source in result.sources.items()],
        software=software_versions(),
        interval=result.settings["interval"],
        pool=result.settings["pool"],
        command=_call(result),
    )
    only = next(iter(result.runs)) if len(result.runs) == 1 else None
    figures = {run: one.figures for run, one in result.runs.items()}
    report = HtmlReport(
        title=f"{name}, {counted(len(result.runs), 'run')}",
        summary=summary_of(result) if only is None else result.convention_line(only, measure, k),
        figures=figures_of(result, estimates),
        provenance=provenance,
        notes=[*result.notes, *result.left_out(), *result.warnings(), *result.below()],
        measures=result.measures,
        sentences=sentences,
        tables=[] if result.spans is None else [span_cells(result.spans)],
        worth=[] if estimates is None else estimate_tables(figures, estimates),
    )
    return render_html(report)


def _named(source: Any, otherwise: str) -> tuple[str, str]:
    if isinstance(source, str | Path) and Path(source).is_file():
        return Path(source).name, checksum(Path(source))
    return otherwise, ""


def _call(result: Evaluation) -> str:
    interval = result.settings["interval"]
    conventions = ", ".join(f"{name}={value!r}" for name, value in result.conventions.to_dict().items())
    duplicates = result.settings.get("duplicates")
    groups = f", duplicates={duplicates['file']!r}, count={duplicates['count']!r}" if duplicates else ""
    return (
        f"soundings.evaluate(qrels, runs, k={result.cutoffs.tolist()}, measures={list(result.measures)}, "
        f"conventions=Conventions({conventions}), bootstrap_samples={interval['samples']}, "
        f"seed={interval['seed']}, confidence={interval['level']}{groups})"
    )


def _as_result(measure: Callable[Arguments, Evaluation]) -> Callable[Arguments, Result]:
    @wraps(measure)
    def evaluate(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        names_k = "k" in options or len(args) > 2
        chosen: dict[str, Any] = options
        chosen["pool"] = given = lasting(chosen.get("pool"))
        table = None if given is None else pool_table(given)
        if table is not None:
            chosen["pool"] = table = only_queries(table, chosen.get("queries"))
            if not names_k and (depth := depth_of_file(table)) is not None:
                chosen["k"] = cutoffs_down_to(DEFAULT_CUTOFFS, depth)
        measured = measure(*args, **options)
        if given is not None and table is None:
            measured = replace(measured, notes=(*measured.notes, WITHOUT_AUDIT))
        values = {one.name: getattr(measured, one.name) for one in fields(measured)}
        audited = "" if table is None else _named(given, "pool")[0]
        return Result(**values, names_k=names_k, audited=audited)

    return evaluate


evaluate = _as_result(evaluating.evaluate)
