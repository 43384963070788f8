"""Engines that score runs: on this machine, or on several by Spark."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.scoring.scorer import Scorer, Worked, work_here
from evaluation.scoring.spark import work_by_spark
from pooling.inputs.given import RunSource

ENGINES = ("local", "spark")


def work_runs(
    sources: Mapping[str, RunSource], scorer: Scorer, notes: list[str], engine: str
) -> dict[str, list[Worked]]:
    """Every run's parts, worked out by an engine; what the readers of files have to say goes to `notes`."""
    if engine not in ENGINES:
        raise ValueError(f"Unknown engine {engine!r}; known are {', '.join(ENGINES)}.")
    scorer.prepare()
    if engine == "spark":
        return work_by_spark(sources, scorer, notes)
    return {name: work_here(name, source, scorer, notes) for name, source in sources.items()}
