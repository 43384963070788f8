"""Scoring past one machine: ranges of run files that hold whole queries, each a task for Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.scoring.scorer import Scorer, Worked, work_here
from pooling.formats.bytes.ids import Words, any_twice
from pooling.formats.parts import map_range, query_ranges
from pooling.heavy import np
from pooling.inputs.given import RunSource
from pooling.inputs.reading import run_frame
from pooling.merging.spark import spark_map


@dataclass(frozen=True)
class RunTask:
    """A run file, or the bytes from `first` to `last` of one."""

    name: str
    path: Path
    first: int = 0
    last: int | None = None


@dataclass(frozen=True)
class Done:
    """Result of a task; `queries` are the keys of the queries of a range."""

    parts: list[Worked]
    notes: tuple[str, ...] = ()
    queries: tuple[Words, ...] = ()


@dataclass(frozen=True)
class ScoreFile:
    """Called in a worker: reads what a task names and scores it; None for a range that is not plain."""

    scorer: Scorer

    def __call__(self, task: RunTask) -> Done | None:
        if task.last is None:
            notes: list[str] = []
            frame = run_frame(task.name, task.path, notes, with_rank=self.scorer.with_rank)
            return Done([self.scorer(frame)], tuple(notes))
        parts = map_range(task.path, task.first, task.last, self.scorer)
        if parts is None:
            return None
        return Done([part for _, part in parts], queries=tuple(keys for keys, _ in parts))


def work_by_spark(
    sources: Mapping[str, RunSource], scorer: Scorer, notes: list[str]
) -> dict[str, list[Worked]]:
    """Every run's parts. Runs given as frames are in memory already and are scored where they are."""
    files = {name: Path(source) for name, source in sources.items() if isinstance(source, str | Path)}
    tasks = [task for name, path in files.items() for task in tasks_of(name, path, scorer)]
    done = results_by_run(ScoreFile(scorer), tasks)
    whole = [RunTask(name, files[name]) for name, results in done.items() if results is None]
    done |= results_by_run(ScoreFile(scorer), whole)
    worked = {}
    for name, source in sources.items():
        results = done.get(name)
        if results is None:
            worked[name] = work_here(name, source, scorer, notes)
        else:
            worked[name] = [part for one in results for part in one.parts]
            notes += [note for one in results for note in one.notes]
    return worked


def tasks_of(name: str, path: Path, scorer: Scorer) -> list[RunTask]:
    """Ranges of a large plain file; else the whole file."""
    ranges = None if scorer.with_rank else query_ranges(path)
    if ranges is None:
        return [RunTask(name, path)]
    return [RunTask(name, path, first, last) for first, last in ranges]


def results_by_run(function: ScoreFile, tasks: list[RunTask]) -> dict[str, list[Done] | None]:
    """Run name -> its tasks' results in order; None when the file must be read whole after all."""
    by_run: dict[str, list[Done | None]] = {}
    for task, result in zip(tasks, spark_map(function, tasks), strict=True):
        by_run.setdefault(task.name, []).append(result)
    return {name: checked(results) for name, results in by_run.items()}


def checked(results: list[Done | None]) -> list[Done] | None:
    """The results, unless a range was not plain or a query stands in two of them."""
    plain = [result for result in results if result is not None]
    keys = [key for result in plain for key in result.queries]
    return None if len(plain) < len(results) or (keys and any_twice(np.concatenate(keys))) else plain


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
