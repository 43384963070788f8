"""Input of an evaluation: labels and runs in parts, the queries chosen, runs of chunks, and cutoffs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

from evaluation.scoring.conventions import Conventions
from pooling.formats.parts import PlainRows, map_run_parts, read_plain_qrels
from pooling.formats.wording import counted
from pooling.heavy import np, pl
from pooling.inputs.given import RunSource, Source, is_unusual
from pooling.inputs.reading import qrels_frame, run_frame
from pooling.ranking.chunks import Chunks, collapse_chunks, collapse_notes

Result = TypeVar("Result")
DEFAULT_CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
#: So many lines of a run are looked at for queries among their own documents, and for ranks.
LINES = 2_000


def read_labels(
    source: Source, queries: Collection[str] | None, notes: list[str]
) -> PlainRows | pl.DataFrame:
    """The qrels with the least work: a regular file of all queries is no frame. notes: what was noticed."""
    if isinstance(source, str | Path) and queries is None and not is_unusual(source):
        plain = read_plain_qrels(source)
        if plain is not None:
            return plain
    return only_queries(qrels_frame(source, notes), queries)


@dataclass(frozen=True)
class CollapsedRun:
    """A run of chunks, read as one of documents when its turn comes; `notes` hear what became of them."""

    name: str
    source: RunSource
    chunks: Chunks
    conventions: Conventions
    notes: list[str]
    cutoffs: Sequence[int]

    def __call__(self) -> pl.DataFrame:
        """query_id, document_id, score, rank."""
        notes: list[str] = []
        ties, scores = self.conventions.ties, self.conventions.scores
        frame = run_frame(self.name, self.source, notes, with_rank=ties == "rank")
        collapsed = collapse_chunks(frame, self.chunks, self.name, ties=ties, scores=scores)
        notes += [
            f"{self.name}: {sentence}" for sentence in collapse_notes(collapsed, self.chunks, self.cutoffs)
        ]
        self.notes.extend(note for note in notes if note not in self.notes)  # a run may be read again
        return collapsed.frame


def collapsed_sources(
    sources: Mapping[str, RunSource],
    chunks: Chunks,
    conventions: Conventions,
    *,
    notes: list[str],
    cutoffs: Sequence[int],
) -> dict[str, RunSource]:
    """Documents in place of their chunks; `notes` is added to when they are read."""
    return {
        name: CollapsedRun(name, source, chunks, conventions, notes, cutoffs)
        for name, source in sources.items()
    }


@dataclass(frozen=True)
class RunWithoutQueries:
    """A run whose lists are without the document that has the id of their query; `notes` says of how many."""

    name: str
    source: RunSource
    with_rank: bool
    notes: list[str]

    def __call__(self) -> pl.DataFrame:
        frame = run_frame(self.name, self.source, self.notes, with_rank=self.with_rank)
        kept = frame.filter(pl.col("query_id") != pl.col("document_id"))
        left_out = counted(frame.height - kept.height, "document")
        note = f"Run {self.name}: left out {left_out} with the id of the query."
        if note not in self.notes and kept.height < frame.height:
            self.notes.append(note)
        return kept


def note_on_query_document(name: str, query: str) -> str:
    """A sentence on lists that have the document with the id of their query."""
    return (
        f"Run {name} has documents with the id of their query, such as “{query}”, and they count. "
        "--drop-query-document leaves them out, as BEIR does."
    )


def counting_negatives(rows: PlainRows | pl.DataFrame) -> PlainRows | pl.DataFrame:
    """Labels whose values below 0 are 0, which is judged and not relevant."""
    if isinstance(rows, pl.DataFrame):
        return rows.with_columns(pl.col("relevance").clip(0))
    return replace(rows, values=np.maximum(rows.values, 0))


def map_run(
    name: str,
    source: RunSource,
    function: Callable[[pl.DataFrame | PlainRows], Result],
    notes: list[str],
    *,
    with_rank: bool = False,
) -> list[Result]:
    """Apply `function` to a run, in parts of whole queries where it is a large file; the results in order."""
    if isinstance(source, str | Path) and not with_rank:
        results = map_run_parts(source, function)
        if results is not None:
            return results
    return [function(run_frame(name, source, notes, with_rank=with_rank))]


_Rows = TypeVar("_Rows", "pl.DataFrame", "pl.DataFrame | PlainRows")


def completed(labels: pl.DataFrame, queries: Iterable[str], frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The labels with relevance 0 for the pairs of `frames` that no label names, where their query is one of
    `queries`: those whose labels name all that is relevant.

    frames: with query_id and document_id, such as runs and pools.
    """
    pair = ["query_id", "document_id"]
    chosen = pl.DataFrame({"query_id": sorted(queries)}, schema={"query_id": pl.String})
    pairs = [frame.select(pair).join(chosen, on="query_id", how="semi") for frame in frames]
    if not pairs:
        return labels
    unlisted = pl.concat(pairs).unique().join(labels, on=pair, how="anti")
    zeros = unlisted.with_columns(relevance=pl.lit(0, dtype=labels.schema["relevance"]))
    return pl.concat([labels, zeros.select(labels.columns)]).sort(pair)


def completed_by(
    labels: pl.DataFrame,
    sources: Mapping[str, RunSource],
    pooled: pl.DataFrame | None,
    queries: Collection[str],
) -> pl.DataFrame:
    """The labels, with the unlisted documents of runs and pool for `queries`, which are complete."""
    frames = (run_frame(name, source) for name, source in sources.items())
    return completed(labels, queries, (*frames, *(() if pooled is None else (pooled,))))


def only_queries(rows: _Rows, queries: Collection[str] | None) -> _Rows:
    """The rows of these queries; all when `queries` is None."""
    if queries is None:
        return rows

    frame = rows if isinstance(rows, pl.DataFrame) else rows.frame()
    chosen = pl.DataFrame({"query_id": sorted(queries)}, schema={"query_id": pl.String})
    return frame.join(chosen, on="query_id", how="semi", maintain_order="left")


def cutoffs_array(k: int | Iterable[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The cutoffs as rising distinct whole numbers of at least 1."""
    values = [k] if isinstance(k, str) or not isinstance(k, Iterable) else list(k)
    for value in values:
        if isinstance(value, str):
            raise ValueError(f"K is {value!r}, a text; it must be a whole number of at least 1.")
        if not isinstance(value, Real) or isinstance(value, bool) or value < 1 or value % 1:
            raise ValueError(f"K is {value}; it must be a whole number of at least 1.")
    if not values:
        raise ValueError("Name at least one K.")
    return np.array(sorted({int(value) for value in values}), dtype=np.int64)
