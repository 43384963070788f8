"""What is worked out of each part of a run, on whatever machine: one function for every engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.conventions import Conventions
from evaluation.coverage import unjudged_keys
from evaluation.inputs import RunSource, map_run, only_queries
from evaluation.measures import Integers
from evaluation.scoring import Labels, Places, RunPart, arrange_run, find_pairs, score_part

if TYPE_CHECKING:
    import polars as pl

    from pooling.formats.parts import PlainRows

ENGINES = ("local", "spark")


@dataclass(frozen=True)
class Worked:
    """What one part of a run leaves behind: its score, and what the bounds of recall need of it."""

    part: RunPart
    in_pool: Places | None
    keys: pl.DataFrame | None


@dataclass(frozen=True)
class Scorer:
    """Called with some whole queries of a run: what they come to.

    pooled: the pairs of a given pool without a label; else, with `several` runs, what no label covers is
    told by keys. queries: only these.
    """

    labels: Labels
    cutoffs: Integers
    conventions: Conventions
    pooled: Labels | None
    queries: Collection[str] | None
    several: bool

    def __call__(self, rows: pl.DataFrame | PlainRows) -> Worked:
        run = arrange_run(only_queries(rows, self.queries), self.labels, self.conventions)
        part = score_part(run, self.labels, self.cutoffs, self.conventions)
        if self.pooled is not None:
            return Worked(part, find_pairs(run, self.pooled), None)
        deepest = int(self.cutoffs[-1])
        keys = unjudged_keys(run, part.places, self.labels, deepest) if self.several else None
        return Worked(part, None, keys)

    @property
    def with_rank(self) -> bool:
        """Whether runs must be read with their ranks."""
        return self.conventions.ties == "rank"

    def prepare(self) -> None:
        """Compute now what several threads will read."""
        for pairs in (self.labels, self.pooled):
            if pairs is not None:
                pairs.prepare()


def work_runs(
    sources: Mapping[str, RunSource], scorer: Scorer, notes: list[str], engine: str
) -> dict[str, list[Worked]]:
    """Every run's parts, worked out by an engine; what the readers of files have to say goes to `notes`."""
    if engine not in ENGINES:
        raise ValueError(f"Unknown engine {engine!r}; known are {', '.join(ENGINES)}.")
    scorer.prepare()
    if engine == "spark":
        from evaluation.spark import work_by_spark

        return work_by_spark(sources, scorer, notes)
    return {name: work_here(name, source, scorer, notes) for name, source in sources.items()}


def work_here(name: str, source: RunSource, scorer: Scorer, notes: list[str]) -> list[Worked]:
    """One run on this machine, in parts and threads where it is a large file."""
    return map_run(name, source, scorer, notes, with_rank=scorer.with_rank)
