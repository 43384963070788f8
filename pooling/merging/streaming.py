"""Pools of any size: runs are split by query into files, and each part of the queries is pooled by itself.

A part holds all rows of its queries, so its pool is that of the whole, and memory depends on the size of the
parts. The tasks are plain objects to be called one after the other, or by several machines that share a
folder (`pooling.merging.spark`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pooling.formats import read_run
from pooling.formats.registry import named_file
from pooling.formats.writing import delimitable, shortest_decimals
from pooling.heavy import np, pl
from pooling.merging.choice import Choice
from pooling.merging.merging import build_pool
from pooling.merging.summary import notes_on
from pooling.ranking.chunks import Chunks, collapse_chunks, collapse_notes
from pooling.ranking.ranking import order_run, query_starts
from pooling.ranking.sample import spread_budget

Task = TypeVar("Task")
Result = TypeVar("Result")

#: Bytes of run files that go into one part.
PART_BYTES = 1 << 26
#: Fewest and most parts: each is a file by run, and one open file in the end.
FEWEST_PARTS, MOST_PARTS = 8, 500
#: Rows of all tops together from which a pool is made in parts, unless it is asked for.
MOST_ROWS = 50_000_000
HEADER = "query_id\tdocument_id\tposition\trun_count\tbest_rank\trrf\tin_audit\tinclusion_probability\n"


class Engine(Protocol):
    """Calls a function with every task; the results in the order of the tasks."""

    def __call__(self, function: Callable[[Task], Result], tasks: Sequence[Task], /) -> Iterable[Result]: ...


def named_paths(arguments: Iterable[Path]) -> dict[str, Path]:
    """Run name -> its file, of FILE or NAME=FILE; ValueError when two files have one name."""
    named: dict[str, Path] = {}
    for name, path in map(named_file, arguments):
        if name in named:
            raise ValueError(f"{path}: there is a run called {name!r} already. Name one: NAME={path}.")
        named[name] = path
    return named


def read_top(
    name: str, path: Path, choice: Choice, chunks: Chunks | None = None
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """A run's first documents, cut after reading, and its notes; chunks: documents by their best chunk."""
    run = read_run(path, name=name, with_rank=choice.ties == "rank")
    frame, notes, depth = run.frame, run.notes, choice.reach_of(name)
    if chunks is not None:
        collapsed = collapse_chunks(frame, chunks, run.name, ties=choice.ties, scores=choice.scores)
        frame = collapsed.frame if choice.ties == "rank" else collapsed.frame.drop("rank")
        notes = (*notes, *collapse_notes(collapsed, chunks, [depth]))
    return order_run(frame, ties=choice.ties, scores=choice.scores, depth=depth), notes


def part_count(paths: Iterable[Path]) -> int:
    size = sum(path.stat().st_size for path in paths)
    return min(max(FEWEST_PARTS, size // PART_BYTES), MOST_PARTS)


@dataclass(frozen=True)
class Split:
    deepest: int
    queries: list[str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class SplitRun:
    """Reads a run, cuts it, and writes the rows of each part of the queries to a separate file."""

    folder: Path
    parts: int
    choice: Choice
    chunks: Chunks | None = None

    def __call__(self, task: tuple[int, tuple[str, Path]]) -> Split:
        number, (name, path) = task
        top, notes = read_top(name, path, self.choice, self.chunks)
        starts = query_starts(top)
        lengths = np.diff(np.append(starts, top.height))
        queries = top["query_id"].gather(starts).to_list()
        of_query = [zlib.crc32(query.encode()) % self.parts for query in queries]
        part = pl.Series("part", np.repeat(np.array(of_query, dtype=np.int32), lengths))
        deepest = int(top["position"].max() or 0)  # type: ignore[arg-type]
        rows = top.drop("position").with_columns(part)
        for (of_rows,), chosen in rows.partition_by("part", as_dict=True, include_key=False).items():
            chosen.write_parquet(split_file(self.folder, of_rows, number), compression="lz4")
        # Every run has a file in every part: what a run is worth may depend on how many there are.
        for absent in set(range(self.parts)) - set(of_query):
            rows.drop("part").clear().write_parquet(split_file(self.folder, absent, number))
        return Split(deepest, queries, notes)


def split_file(folder: Path, part: object, run: int) -> Path:
    return folder / f"part{part}-run{run}.parquet"


def read_part(folder: Path, part: int, runs: int) -> dict[str, pl.DataFrame]:
    return {str(run): pl.read_parquet(split_file(folder, part, run)) for run in range(runs)}


@dataclass(frozen=True)
class CountPart:
    """Counts the distinct documents of each query of a part: {query id: documents}."""

    folder: Path
    runs: int

    def __call__(self, part: int) -> dict[str, int]:
        pairs = pl.concat(
            frame.select("query_id", "document_id")
            for frame in read_part(self.folder, part, self.runs).values()
        )
        return dict(pairs.group_by("query_id").agg(pl.col("document_id").n_unique()).iter_rows())


@dataclass(frozen=True)
class PooledPart:
    """A part's rows of the TSV: each query's are the bytes from one of `edges` to the next."""

    path: Path
    queries: list[str]
    edges: list[int]


@dataclass(frozen=True)
class PoolPart:
    """Pools the queries of a part and writes its rows of the TSV."""

    folder: Path
    runs: int
    deepest: int
    choice: Choice

    def __call__(self, part: int) -> PooledPart:
        path = self.folder / f"part{part}.tsv"
        rows = read_part(self.folder, part, self.runs)
        if not any(frame.height for frame in rows.values()):
            return PooledPart(path, [], [])
        # Each run was cut to its depth when it was split.
        choice = replace(self.choice, depth=self.deepest, depths={})
        pooled = build_pool(rows, finders=False, deepest=self.deepest, **asdict(choice))
        content = pool_as_tsv(pooled, header=False).encode()
        starts = query_starts(pooled)
        line_ends = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == ord("\n")) + 1
        edges = np.concatenate(([0], line_ends))[np.append(starts, pooled.height)]
        path.write_bytes(content)
        return PooledPart(path, pooled["query_id"].gather(starts).to_list(), edges.tolist())


def pool_in_parts(
    named: Mapping[str, Path], choice: Choice, *, folder: Path, engine: Engine, chunks: Chunks | None = None
) -> tuple[Iterator[bytes], list[str]]:
    """The TSV of the pool in pieces, and notes on the runs; `folder`, for parts, is seen by all workers."""
    parts, runs = range(part_count(named.values())), len(named)
    split = list(engine(SplitRun(folder, len(parts), choice, chunks), list(enumerate(named.items()))))
    done = zip(named.values(), split, strict=True)
    notes = [f"{path.name}: {note}" for path, one in done for note in one.notes]
    queries_of = {
        name: pl.Series(one.queries, dtype=pl.String) for name, one in zip(named, split, strict=True)
    }
    notes += notes_on(queries_of, choice.budget)
    if isinstance(choice.budget, int):
        sizes: dict[str, int] = {}
        for counted in engine(CountPart(folder, runs), parts):
            sizes |= counted
        queries = sorted(sizes)
        shares = spread_budget(np.array([sizes[query] for query in queries]), choice.budget)
        choice = replace(choice, budget=dict(zip(queries, shares.tolist(), strict=True)))
    deepest = max(done.deepest for done in split)
    return in_order_of_queries(engine(PoolPart(folder, runs, deepest, choice), parts)), notes


def in_order_of_queries(parts: Iterable[PooledPart]) -> Iterator[bytes]:
    """The header, then the rows of each query, the queries in bytewise order."""
    places = [
        (query, number, part.path, first, last)
        for number, part in enumerate(parts)
        for query, (first, last) in zip(part.queries, pairwise(part.edges), strict=True)
    ]
    yield HEADER.encode()
    with ExitStack() as stack:
        files: dict[int, Any] = {}
        for _, number, path, first, last in sorted(places, key=lambda place: place[0].encode()):
            if number not in files:
                files[number] = stack.enter_context(path.open("rb"))
            files[number].seek(first)
            yield files[number].read(last - first)


def pool_as_tsv(pooled: pl.DataFrame, *, header: bool = True) -> str:
    """The pooled pairs, header first, one tab between; π is empty where there is none."""
    columns = pooled.with_columns(
        pl.col("in_audit").cast(pl.UInt8),
        shortest_decimals(pooled["rrf"]),
        shortest_decimals(pooled["inclusion_probability"]),
    )
    rows = delimitable(columns.drop("is_beyond", strict=False))
    return rows.write_csv(separator="\t", quote_style="never", null_value="", include_header=header)
