"""The `evaluate` of the front door: that of `evaluation.scoring`, with a result that notebooks can show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import wraps
from typing import ParamSpec

from evaluation.notebooks.result import Result
from evaluation.scoring import evaluating
from evaluation.scoring.results import Evaluation
from pooling.inputs.reading import CHOSEN, says_choices

WITHOUT_AUDIT = (
    f"The pool has no columns {' and '.join(sorted(CHOSEN))}: bounds cover it, and nothing is estimated."
)
Arguments = ParamSpec("Arguments")


def _as_result(measure: Callable[Arguments, Evaluation]) -> Callable[Arguments, Result]:
    @wraps(measure)
    def evaluate(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        measured = measure(*args, **options)
        if measured.pool is not None and not says_choices(measured.pool):
            measured = replace(measured, notes=(*measured.notes, WITHOUT_AUDIT))
        return Result(**{one.name: getattr(measured, one.name) for one in fields(measured)})

    return evaluate


evaluate = _as_result(evaluating.evaluate)
