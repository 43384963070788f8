"""Results of each part of a run, on whatever machine: one function for every engine."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from evaluation.measures import Integers
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.coverage import unjudged_keys
from evaluation.scoring.inputs import LINES, map_run, note_on_query_document, only_queries
from evaluation.scoring.scoring import Labels, RunPart, arrange_run, score_part
from pooling.formats.parts import PlainRows
from pooling.heavy import pl
from pooling.inputs.given import RunSource


@dataclass(frozen=True)
class Worked:
    """One part of a run: its score, and what the bounds of recall need of it."""

    part: RunPart
    keys: pl.DataFrame | None


@dataclass(frozen=True)
class Scorer:
    """Called with some whole queries of a run: what they come to.

    keyed: whether to tell what no label covers, pair by pair; for a single run counting is enough. queries:
    only these. later: ids of documents that need no label: see `CountedGroups.later`.
    """

    labels: Labels
    cutoffs: Integers
    conventions: Conventions
    queries: Collection[str] | None
    keyed: bool
    later: pl.Series | None = None

    def __call__(self, rows: pl.DataFrame | PlainRows) -> Worked:
        run = arrange_run(only_queries(rows, self.queries), self.labels, self.conventions)
        part = score_part(run, self.labels, self.cutoffs, self.conventions)
        deepest = int(self.cutoffs[-1])
        if not self.keyed:
            return Worked(part, None)
        return Worked(part, unjudged_keys(run, part.places, self.labels, deepest, later=self.later))

    @property
    def with_rank(self) -> bool:
        return self.conventions.ties == "rank"

    def prepare(self) -> None:
        """Compute now what several threads will read."""
        self.labels.prepare()


def work_here(name: str, source: RunSource, scorer: Scorer, notes: list[str]) -> list[Worked]:
    """One run on this machine, in parts and threads where it is a large file."""

    def noticing(rows: pl.DataFrame | PlainRows) -> Worked:
        if not (isinstance(rows, PlainRows) or callable(source)):
            first = rows.head(LINES).filter(pl.col("query_id") == pl.col("document_id"))
            notes.extend(note_on_query_document(name, query) for query in first["query_id"].head(1))
        return scorer(rows)

    return map_run(name, source, noticing, notes, with_rank=scorer.with_rank)
