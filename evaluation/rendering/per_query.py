"""The values of every query as a file, in the format that its suffix names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile

import polars as pl

from evaluation.scoring.results import Evaluation
from pooling.formats.cells import guarded_frame

WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".csv": lambda frame, path: guarded_frame(frame).write_csv(path),
    ".tsv": lambda frame, path: guarded_frame(frame).write_csv(path, separator="\t"),
    ".json": lambda frame, path: frame.write_json(path),
    ".jsonl": lambda frame, path: frame.write_ndjson(path),
    ".parquet": lambda frame, path: frame.write_parquet(path),
}


def check_per_query_path(path: Path) -> None:
    """ValueError when `write_per_query` could not write there; better said before the work than after it."""
    if path.suffix not in WRITERS:
        raise ValueError(f"{path.name} ends in none of {', '.join(WRITERS)}; the suffix names the format.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"There is no folder {path.parent}; create it or name another.")


def write_per_query(evaluation: Evaluation, path: Path) -> None:
    """Write run, query_id, measure, k, value (null where the query does not count), all or nothing."""
    write_frame(evaluation.per_query_frame(), path)


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """The same of any frame of values by query."""
    check_per_query_path(path)
    with NamedTemporaryFile(dir=path.absolute().parent, prefix=".per-query-", delete=False) as temporary:
        part = Path(temporary.name)
    try:
        WRITERS[path.suffix](frame, part)
        part.chmod(0o666 & ~_umask())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
