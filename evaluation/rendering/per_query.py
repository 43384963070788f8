"""The values of every query as a file, in the format that its suffix names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from evaluation.measures import trec_eval_name
from pooling.formats.cells import guarded_frame
from pooling.formats.writing import refuse, replaced
from pooling.heavy import pl

# The suffix of what `trec_eval -q` prints.
TREC = ".trec"


def trec_eval_lines(frame: pl.DataFrame) -> str:
    """The lines of `trec_eval -q` for one run: measure, query and value to four decimals, query by query, and
    then the means as `all`. Queries that do not count have no line."""
    refuse("--per-query", frame, r"^$|[ \t\n\r]", "a blank or a line end", remedy="Write CSV or JSON lines.")
    values = frame.drop_nulls("value")
    means = values.group_by("measure", "k", maintain_order=True).agg(pl.lit("all").alias("query_id"), "value")
    means = means.with_columns(pl.col("value").list.mean())
    columns = ("query_id", "measure", "k", "value")
    by_query = values.group_by("query_id", maintain_order=True).agg(columns[1:]).explode(columns[1:])
    return "".join(
        f"{trec_eval_name(measure, k):<22}\t{query}\t{value:6.4f}\n"
        for query, measure, k, value in (*by_query.iter_rows(), *means.select(columns).iter_rows())
    )


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".csv": lambda frame, path: guarded_frame(frame).write_csv(path),
    ".tsv": lambda frame, path: guarded_frame(frame).write_csv(path, separator="\t"),
    ".json": lambda frame, path: frame.write_json(path),
    ".jsonl": lambda frame, path: frame.write_ndjson(path),
    ".parquet": lambda frame, path: frame.write_parquet(path),
    TREC: lambda frame, path: path.write_text(trec_eval_lines(frame), encoding="utf-8", newline="\n"),
}


class HasValues(Protocol):
    def per_query_frame(self) -> pl.DataFrame: ...


def check_per_query_path(path: Path | None, runs: int = 1) -> None:
    """ValueError now where `write_frame` could not write there, or not these runs; None: nothing to write."""
    if path is None:
        return
    if path.suffix not in WRITERS:
        raise ValueError(f"{path.name} ends in none of {', '.join(WRITERS)}; the suffix names the format.")
    if path.suffix == TREC and runs > 1:
        problem = f"{path.name}: the output of trec_eval has no column for runs, and there are {runs}."
        raise ValueError(f"{problem} Evaluate one run, or write CSV, TSV, JSON or Parquet.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"There is no folder {path.parent}; create it or name another.")


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write run, query_id, measure, k, value (null where the query does not count), all or nothing."""
    check_per_query_path(path)
    with replaced(path) as part:
        WRITERS[path.suffix](frame, part)


def write_values(path: Path | None, *evaluations: HasValues | None) -> None:
    """Write the values of all of them that there are; without a path nothing."""
    if path is not None:
        write_frame(pl.concat(one.per_query_frame() for one in evaluations if one is not None), path)
