"""An evaluation that shows itself: as a table in a cell, as pictures, as an HTML file, and in MLflow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.charts.html_file import check_html_path
from evaluation.comparisons.answer import Answer
from evaluation.comparisons.answering import answered
from evaluation.comparisons.wording import answer_in_words
from evaluation.notebooks.cell import basis_line, table_of_cell
from evaluation.notebooks.report import html_of
from evaluation.notebooks.tracking import log_result
from evaluation.pool_estimates.of_pool import Basis, estimates_of, recall_cutoffs, too_large
from evaluation.pool_estimates.pool_file import design_of_files
from evaluation.rendering.formats import render_tables, table_cells
from evaluation.rendering.span_tables import span_cells
from evaluation.scoring.estimate_figures import Estimates
from evaluation.scoring.results import Evaluation
from pooling.inputs.reading import pool_table
from pooling.interface.terminal import whole_installation

if TYPE_CHECKING:
    from evaluation.notebooks.pictures import Picture


@dataclass(frozen=True, repr=False)
class Result(Evaluation):
    """Runs × qrels under one set of conventions, as `soundings.evaluate` returns it.

    `summary` and `per_query` are pandas frames, `to_dict` has plain values, `answer` says which run is best
    and how sure that is. In a notebook the result is a table; `chart` draws it, `to_html` writes a report,
    `to_mlflow` logs it.
    """

    def answer(self) -> Answer | None:
        """The best run at the K nearest 10, how sure that is, and what to do next; None where recall was not
        measured or is undefined."""
        with whole_installation():
            return answered(self, basis=self._basis, estimates=self.estimates())

    def estimates(self) -> Estimates | None:
        """What the audit of the pool says, as the command has it under `estimates`; None where no pool with
        an audit was given, or recall was not measured."""
        with whole_installation():
            return self._estimates

    @cached_property
    def _estimates(self) -> Estimates | None:
        basis = self._basis
        return None if basis is None else estimates_of(basis, complete="complete" in self.settings)

    @cached_property
    def _basis(self) -> Basis | None:
        pool = None if self.pool is None else pool_table(self.pool)
        if pool is None or not recall_cutoffs(self) or too_large(self):
            return None
        design = design_of_files({"pool": pool}, self)
        return Basis.of(self, design) if design.has_audit else None

    def chart(self, kind: str = "curve", measure: str = "recall", *, dark: bool = False) -> Picture:
        """A picture of the report: `curve`, `distribution`, `gains`, `relevant`, `precision-recall` or
        `coverage`.

        An Altair chart, which a notebook shows without a network. Raises ValueError for a kind that there
        is not, or not for these measures.
        """
        with whole_installation():
            from evaluation.notebooks.pictures import picture_of  # Cut: a class of Altair's, which loads it

            return picture_of(self, kind, measure, dark=dark)

    def to_html(self, file: str | Path) -> Path:
        """Write the report as one HTML file with pictures, tables and conventions, which fetches nothing.

        Raises ValueError for a name that does not end in .html, and for a folder that there is not.
        """
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
