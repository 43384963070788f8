"""What `evaluate` accepts, turned into the frames it works on: paths, dicts, pandas and Polars frames."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from pooling.formats.registry import name_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from evaluation.scoring.conventions import Conventions
    from pooling.formats.parts import PlainRows
    from pooling.ranking.chunks import Chunks

Result = TypeVar("Result")
Nested: TypeAlias = Mapping[str, Mapping[str, float]]
Source: TypeAlias = "pl.DataFrame | pd.DataFrame | Nested | str | Path"
RunSource: TypeAlias = "Source | Callable[[], pl.DataFrame]"
Runs: TypeAlias = Mapping[str, RunSource] | Sequence[str | Path]

_PAIR = {"query_id": "String", "document_id": "String"}
_QRELS = {**_PAIR, "relevance": "Int32"}
_RUN = {**_PAIR, "score": "Float64"}


def named_runs(runs: Runs) -> dict[str, RunSource]:
    """Name -> source; paths given as a list are named by their files."""
    if isinstance(runs, Mapping):
        return dict(runs)

    named: dict[str, RunSource] = {}
    for path in runs:
        name = name_of(path)
        if name in named:
            raise ValueError(
                f"Two runs are called {name}: {named[name]} and {path}. Rename one of the files."
            )
        named[name] = path
    return named


def read_labels(
    source: Source, queries: Collection[str] | None, notes: list[str]
) -> PlainRows | pl.DataFrame:
    """The qrels as they come with the least work: a regular file of all queries needs no frame.

    What a careful reading has to say is added to `notes`.
    """
    if isinstance(source, str | Path) and queries is None:
        from pooling.formats.parts import read_plain_qrels

        plain = read_plain_qrels(source)
        if plain is not None:
            return plain
    return only_queries(qrels_frame(source, notes), queries)


def qrels_frame(source: Source, notes: list[str] | None = None) -> pl.DataFrame:
    """A qrels frame (query_id, document_id, relevance) from any accepted source; each pair once.

    What the reader of a file has to say is added to `notes`.
    """
    from pooling.formats import read_qrels

    if isinstance(source, str | Path):
        read = read_qrels(source)
        if notes is not None:
            notes += [f"{Path(source).name}: {note}" for note in read.notes]
        return read.frame
    frame = _as_frame(source, _QRELS, "The qrels")
    _refuse_duplicates(frame, "The qrels")
    return frame


def run_frame(
    name: str, source: RunSource, notes: list[str] | None = None, *, with_rank: bool = False
) -> pl.DataFrame:
    """A run frame (query_id, document_id, score, with `rank` when asked for) from any accepted source.

    What the reader of a file has to say is added to `notes`.
    """
    from pooling.formats import read_run

    if callable(source):
        source = source()
    if isinstance(source, str | Path):
        read = read_run(source, name=name, with_rank=with_rank)
        if notes is not None:
            notes += [f"{Path(source).name}: {note}" for note in read.notes]
        return read.frame
    columns = {**_RUN, "rank": "Int64"} if with_rank else _RUN
    frame = _as_frame(source, columns, f"Run {name}")
    _refuse_duplicates(frame, f"Run {name}")
    if not bool(frame["score"].is_finite().all()):
        raise ValueError(
            f"Run {name} has a score that is missing, NaN or infinite; scores are finite numbers."
        )
    return frame


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
        from pooling.ranking.chunks import collapse_chunks, said

        notes: list[str] = []
        ties, scores = self.conventions.ties, self.conventions.scores
        frame = run_frame(self.name, self.source, notes, with_rank=ties == "rank")
        collapsed = collapse_chunks(frame, self.chunks, self.name, ties=ties, scores=scores)
        notes += [f"{self.name}: {sentence}" for sentence in said(collapsed, self.chunks, self.cutoffs)]
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
    """The same runs with documents in place of their chunks; `notes` is added to when they are read."""
    return {
        name: CollapsedRun(name, source, chunks, conventions, notes, cutoffs)
        for name, source in sources.items()
    }


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
        from pooling.formats.parts import map_run_parts

        results = map_run_parts(source, function)
        if results is not None:
            return results
    return [function(run_frame(name, source, notes, with_rank=with_rank))]


def pool_frame(source: Source | None) -> pl.DataFrame | None:
    """The pairs (query_id, document_id) of a pool frame."""
    if source is None:
        return None
    if isinstance(source, str | Path):
        raise ValueError("Give the pool as a frame with the columns query_id and document_id.")
    return _as_frame(source, _PAIR, "The pool")


_Rows = TypeVar("_Rows", "pl.DataFrame", "pl.DataFrame | PlainRows")


def completed(labels: pl.DataFrame, queries: Iterable[str], found: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The labels with relevance 0 for the pairs of `found` that no label names, where their query is one of
    `queries`: those whose labels name all that is relevant.

    found: frames with query_id and document_id, such as runs and pools.
    """
    import polars as pl

    pair = ["query_id", "document_id"]
    known = pl.DataFrame({"query_id": sorted(queries)}, schema={"query_id": pl.String})
    pairs = [frame.select(pair).join(known, on="query_id", how="semi") for frame in found]
    if not pairs:
        return labels
    unlisted = pl.concat(pairs).unique().join(labels, on=pair, how="anti")
    zeros = unlisted.with_columns(relevance=pl.lit(0, dtype=labels.schema["relevance"]))
    return pl.concat([labels, zeros.select(labels.columns)]).sort(pair)


def only_queries(rows: _Rows, queries: Collection[str] | None) -> _Rows:
    """The rows of these queries; all when `queries` is None."""
    if queries is None:
        return rows
    import polars as pl

    frame = rows if isinstance(rows, pl.DataFrame) else rows.frame()
    chosen = pl.DataFrame({"query_id": sorted(queries)}, schema={"query_id": pl.String})
    return frame.join(chosen, on="query_id", how="semi", maintain_order="left")


def cutoffs_array(k: int | Iterable[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The cutoffs as rising distinct whole numbers of at least 1."""
    values = list(k) if isinstance(k, Iterable) else [k]
    for value in values:
        if isinstance(value, bool) or int(value) != value or value < 1:
            raise ValueError(f"K is {value}; it must be a whole number of at least 1.")
    if not values:
        raise ValueError("Name at least one K.")
    return np.array(sorted({int(value) for value in values}), dtype=np.int64)


def _as_frame(source: Any, columns: Mapping[str, str], what: str) -> pl.DataFrame:
    import polars as pl

    if isinstance(source, Mapping):
        return _from_nested(source, columns, what)
    if not isinstance(source, pl.DataFrame):
        absent = [name for name in columns if name not in source.columns]
        _refuse_absent(absent, columns, what)
        # Column by column, because Polars' own reader of pandas frames needs pyarrow.
        source = pl.DataFrame({name: source[name].to_list() for name in columns}, strict=False)
    _refuse_absent([name for name in columns if name not in source.columns], columns, what)
    for name in ("query_id", "document_id"):
        if source.height and source.schema[name] != pl.String:
            raise ValueError(
                f"{what} has a column {name} that is not text; ids are strings, as in the files."
            )
    frame: pl.DataFrame = source.select(
        pl.col(name).cast(getattr(pl, kind)) for name, kind in columns.items()
    )
    if sum(frame.null_count().row(0)):
        raise ValueError(f"{what} has empty values; every row needs {', '.join(columns)}.")
    return frame


def _from_nested(source: Mapping[str, Any], columns: Mapping[str, str], what: str) -> pl.DataFrame:
    import polars as pl

    value = list(columns)[-1]
    rows = [(query, document, held) for query, pairs in source.items() for document, held in pairs.items()]
    if value == "rank":
        raise ValueError(
            f"{what} is a dict and has no ranks; give a frame with a rank column, or other ties."
        )
    if not all(isinstance(query, str) and isinstance(document, str) for query, document, _ in rows):
        raise ValueError(f"{what} has an id that is not text; ids are strings, as in the files.")
    schema = {name: getattr(pl, kind) for name, kind in columns.items()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _refuse_absent(absent: Sequence[str], columns: Mapping[str, Any], what: str) -> None:
    if absent:
        raise ValueError(f"{what} has no column {', '.join(absent)}; it needs {', '.join(columns)}.")


def _refuse_duplicates(frame: pl.DataFrame, what: str) -> None:
    # Equal pairs have equal hashes: only when two are equal is the slow exact test worth its time.
    keys = np.sort((frame["document_id"].hash(0) ^ frame["query_id"].hash(1)).to_numpy())
    if not bool((keys[1:] == keys[:-1]).any()):
        return
    pairs = frame.select("query_id", "document_id")
    twice = pairs.filter(pairs.is_duplicated())
    if twice.height:
        query, document = twice.row(0)
        raise ValueError(f"{what} holds document {document} of query {query} more than once; keep one row.")
