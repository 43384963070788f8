"""Generated runs and qrels of any size, the same for the same seed, kept between benchmarks."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

#: Documents of a query come from a range this many times the depth, so that runs overlap as real ones do.
SPREAD = 4
#: Rows written in one go: bounds memory whatever the size asked for.
CHUNK_ROWS = 2_000_000
#: Most rows of one file; a mistyped number does not fill the disk.
MOST_ROWS = 50_000_000


def generate_runs(folder: Path, runs: int, queries: int, depth: int, seed: int = 0) -> list[Path]:
    """Write `runs` run files of `queries` × `depth` lines, unless they are there; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for index in range(runs):
        path = folder / f"run{index:02}-{queries}x{depth}-{seed}.run"
        if not path.exists():
            write_once(path, run_chunks(index, queries, depth, seed))
        paths.append(path)
    return paths


def generate_parquet_run(folder: Path, index: int, queries: int, depth: int, seed: int = 0) -> Path:
    """Write the rows of the same run of `generate_runs` as Parquet, unless they are there; the path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"run{index:02}-{queries}x{depth}-{seed}.parquet"
    if not path.exists():
        names = {"query": "query_id", "document": "document_id", "score": "score"}
        chunks = [chunk.select(*names).rename(names) for chunk in run_chunks(index, queries, depth, seed)]
        part = path.with_suffix(".part")
        pl.concat(chunks).write_parquet(part)
        part.replace(path)
    return path


def generate_qrels(folder: Path, queries: int, relevant: int = 10, seed: int = 0, depth: int = 100) -> Path:
    """Write qrels: about `relevant` relevant documents a query, as many that are not; returns the path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"qrels-{queries}x{relevant}-{depth}-{seed}.txt"
    if not path.exists():
        write_once(path, qrels_chunks(queries, relevant, depth, seed))
    return path


def write_once(path: Path, chunks: Iterator[pl.DataFrame]) -> None:
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        for chunk in chunks:
            chunk.write_csv(file, include_header=False, separator=" ", quote_style="never")
    part.replace(path)


def query_blocks(queries: int, rows_each: int) -> Iterator[np.ndarray]:
    if queries * rows_each > MOST_ROWS:
        raise ValueError(f"{queries} × {rows_each} rows are more than {MOST_ROWS:,}.")
    step = max(1, CHUNK_ROWS // rows_each)
    return (np.arange(start, min(start + step, queries)) for start in range(0, queries, step))


def run_chunks(index: int, queries: int, depth: int, seed: int) -> Iterator[pl.DataFrame]:
    """Scores that fall by uneven steps; documents of one query are distinct, near ranks near in every run."""
    random = np.random.default_rng((seed, index))
    for block in query_blocks(queries, depth):
        shape = (len(block), depth)
        offset = random.integers(0, SPREAD, size=shape)
        document = (np.arange(depth) * SPREAD + offset)[:, random.permutation(depth)]
        score = 100 - np.cumsum(random.integers(1, 1000, size=shape), axis=1) / 1000
        yield pl.DataFrame(
            {
                "query": pl.Series(np.repeat(block + 1, depth)).cast(pl.String),
                "iteration": pl.repeat("Q0", document.size, eager=True),
                "document": document_ids(block, document),
                "rank": np.tile(np.arange(1, depth + 1), len(block)),
                "score": np.round(score.ravel(), 3),
                "tag": pl.repeat(f"run{index:02}", document.size, eager=True),
            }
        )


def document_ids(block: np.ndarray, document: np.ndarray) -> pl.Series:
    """Ids such as D0012345: shared between queries, as in a real collection."""
    number = (document + (block % 9973)[:, None] * 1009) % 10_000_000
    return pl.select(pl.lit("D") + pl.Series(number.ravel()).cast(pl.String).str.zfill(7)).to_series()


def qrels_chunks(queries: int, relevant: int, depth: int, seed: int) -> Iterator[pl.DataFrame]:
    random = np.random.default_rng((seed, 1_000_003))
    rows = 2 * relevant
    step = max(1, depth * SPREAD // rows)
    for block in query_blocks(queries, rows):
        document = np.arange(rows) * step + random.integers(0, step, size=(len(block), rows))
        yield pl.DataFrame(
            {
                "query": pl.Series(np.repeat(block + 1, rows)).cast(pl.String),
                "iteration": pl.repeat("0", document.size, eager=True),
                "document": document_ids(block, document),
                "relevance": random.integers(0, 2, size=document.size),
            }
        )
