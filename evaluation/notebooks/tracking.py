"""A result in MLflow: metrics, the conventions as tags, and the HTML report as an artifact."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from evaluation.scoring.results import Evaluation

Value = TypeVar("Value")

# What MLflow takes in the name of a metric on every system; `@` is none of it.
_OTHER = re.compile(r"[^A-Za-z0-9_\-. ]")
REPORT = "soundings.html"


def log_result(result: Evaluation, html: str) -> None:
    """Log to the active run; ImportError where MLflow is not installed."""
    try:
        import mlflow
    except ImportError:
        raise ImportError("to_mlflow needs MLflow: pip install mlflow.") from None
    mlflow.log_metrics(metrics_of(result))
    measure, k = result.example_key()
    lines = {name: result.convention_line(name, measure, k) for name in result.runs}
    mlflow.set_tags({f"soundings.{name}": line for name, line in _prefixed(lines).items()})
    mlflow.log_text(html, REPORT)


def metrics_of(result: Evaluation) -> dict[str, float]:
    """Metric -> its mean or an end of its interval, where it is defined.

    `recall@10` of the run bm25 is `recall_at_10`, or `bm25.recall_at_10` where there are several runs.
    """
    metrics: dict[str, float] = {}
    for name, figures in _prefixed({name: result.figures_of(name) for name in result.runs}).items():
        first = f"{name}." if len(result.runs) > 1 else ""
        for key, figure in figures.items():
            named = first + key.replace("@", "_at_")
            ends = {named: figure["mean"], f"{named}_low": figure["low"], f"{named}_high": figure["high"]}
            metrics |= {metric: value for metric, value in ends.items() if value is not None}
    return metrics


def _prefixed(of_runs: Mapping[str, Value]) -> dict[str, Value]:
    """By a name that MLflow takes; two runs whose names become one get numbers."""
    flat: dict[str, Value] = {}
    for name, value in of_runs.items():
        plain = _OTHER.sub("_", name).strip(" .") or "run"
        number = 2
        while plain in flat:
            plain, number = f"{plain}_{number}", number + 1
        flat[plain] = value
    return flat
