from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from pooling.formats.bytes.parquet_pages import DamagedError, opened
from pooling.formats.registry import Format, Record, Target
from pooling.formats.sources import MAX_LINE_BYTES, OutputBudget, Source
from pooling.formats.tables import MOST_FIELDS, Roles, breaks_rule
from pooling.formats.values import BadValueError, parse_relevance, parse_score
from pooling.heavy import pl

LONGEST_ID = 10_000
#: Rows of texts that are read at a time.
SOME_ROWS = 5_000


def parquet_table(source: Source, kind: str) -> pl.DataFrame:
    """A Parquet file by the same names of columns; ids may be strings or whole numbers."""
    try:
        with opened(source) as parquet:
            roles = Roles(source, None, parquet.names, kind)
            names = {
                roles.query: "query_id",
                roles.document: "document_id",
                roles.value: "value",
                roles.rank: "rank",
            }
            wanted = {old: new for old, new in names.items() if old is not None}
            parquet.refuse_bomb(set(wanted))
            # Polars opens the bytes whatever the suffix is.
            content = parquet.content
            return _read(
                source, kind, io.BytesIO(content) if isinstance(content, bytes) else source.path, wanted
            )
    except (DamagedError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise source.error(
            None, "this is not a Parquet file", "Check the suffix or write it again."
        ) from error


def _read(source: Source, kind: str, file: Path | io.BytesIO, new_names: dict[str, str]) -> pl.DataFrame:
    lazy = pl.scan_parquet(file, glob=False, hive_partitioning=False)
    chosen = lazy.select(pl.col(old).alias(new) for old, new in new_names.items())
    original = {new: old for old, new in new_names.items()}
    # A file of a run without ranks has the column empty.
    may_be_empty = {"rank"} if "value" in original else set()
    for name, dtype in chosen.collect_schema().items():
        if name in may_be_empty and dtype == pl.Null:
            continue
        if not (_is_id(name, dtype) or dtype.is_integer() or (name == "value" and dtype.is_float())):
            problem = f"the column {original[name]!r} is of type {dtype}"
            raise source.error(None, problem, "Write ids as strings and numbers as numbers.")
    frame, output = chosen.collect(), OutputBudget(source)
    for name, dtype in frame.schema.items():
        if frame[name].null_count() and name not in may_be_empty:
            raise source.error(None, f"the column {original[name]!r} has empty cells", "Fill or remove them.")
        if _is_id(name, dtype):
            lengths = frame[name].cast(pl.String).str.len_bytes()
            _check_ids(source, original[name], lengths)
            output.take(int(lengths.sum()), 0)
    return finished(source, frame, kind)


def parquet_records(source: Source) -> Iterator[Record]:
    """Rows of a Parquet file as records, some at a time, with their number from 1."""
    try:
        with opened(source) as parquet:
            if len(parquet.names) > MOST_FIELDS:
                problem = f"{len(parquet.names):,} columns"
                raise source.error(None, problem, f"Give at most {MOST_FIELDS:,}.")
            parquet.refuse_bomb(set(parquet.names))
            content = parquet.content
            file = io.BytesIO(content) if isinstance(content, bytes) else source.path
            lazy = pl.scan_parquet(file, glob=False, hive_partitioning=False)
            rows, output = parquet.rows, OutputBudget(source)
        for start in range(0, rows, SOME_ROWS):
            some = lazy.slice(start, SOME_ROWS).collect()
            if not some.height:
                break
            output.take(_characters(some), some.height)
            number = start
            for piece in _pieces(source, some, start):
                for row in piece.iter_rows(named=True):
                    number += 1
                    yield number, {name: _plain(value) for name, value in row.items() if value is not None}
    except (DamagedError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise source.error(
            None, "this is not a Parquet file", "Check the suffix or write it again."
        ) from error


def _pieces(source: Source, frame: pl.DataFrame, start: int) -> Iterator[pl.DataFrame]:
    """Parts of at most a record's bytes; FormatError for a larger row. start: rows of the file before it."""
    size = _characters(frame)
    if size <= MAX_LINE_BYTES:
        yield frame
        return
    if frame.height == 1:
        raise source.too_long(start + 1)
    half = frame.height // 2
    yield from _pieces(source, frame[:half], start)
    yield from _pieces(source, frame[half:], start + half)


def _characters(frame: pl.DataFrame) -> int:
    """The bytes of all names and values, as rows have them, without making one of them."""
    return sum(len(column.name) * frame.height + _bytes_of(column) for column in frame.iter_columns())


def _bytes_of(column: pl.Series) -> int:
    dtype = column.dtype
    if isinstance(dtype, pl.Categorical | pl.Enum):
        column, dtype = column.cast(pl.String), pl.String()
    if isinstance(dtype, pl.String):
        return int(column.str.len_bytes().sum())
    if isinstance(dtype, pl.Binary):  # told in up to four signs a byte
        return 4 * int(column.bin.size().sum())
    if isinstance(dtype, pl.List | pl.Array):
        return _bytes_of(column.explode())
    if isinstance(dtype, pl.Struct):
        parts = [column.struct.field(field.name) for field in dtype.fields]
        return sum(len(part.name) * len(part) + _bytes_of(part) for part in parts)
    return 8 * len(column)


def _plain(value: object) -> object:
    """A value as JSON has it: what it has no word for is text."""
    if isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return None if value is None else str(value)


def _is_id(name: str, dtype: pl.DataType) -> bool:
    return name.endswith("_id") and isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def _check_ids(source: Source, column: str, lengths: pl.Series) -> None:
    if bool((lengths == 0).any()):
        raise source.error(None, f"the column {column!r} has an empty id", "Fill or remove it.")
    if bool((lengths > LONGEST_ID).any()):
        problem = f"the column {column!r} has an id of more than {LONGEST_ID:,} bytes"
        raise source.error(None, problem, "Write ids, not texts.")


def finished(source: Source, frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Columns in the agreed types; a value that breaks a rule is shown as it stands."""
    if "rank" not in frame.columns:
        frame = frame.with_columns(rank=pl.lit(None, dtype=pl.Int64))
    if "value" not in frame.columns:
        frame = frame.with_columns(value=-pl.col("rank").cast(pl.Float64))
    typed = frame.select(
        pl.col("query_id", "document_id").cast(pl.String),
        pl.col("value").cast(pl.Float64),
        pl.col("rank").cast(pl.Int64),
        pl.lit(0, dtype=pl.Int64).alias("line"),
    )
    try:
        for value in typed.filter(breaks_rule(kind))["value"].head(1):
            parse_score(repr(value)) if kind == "run" else parse_relevance(repr(value))
    except BadValueError as bad:
        raise source.error(None, bad.problem, bad.remedy) from bad
    return typed


def parquet_bytes(frame: pl.DataFrame, target: Target) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


FORMATS = (
    Format(
        name="parquet",
        title="Parquet",
        suffix=".parquet",
        media_type="application/vnd.apache.parquet",
        suffixes=(".parquet",),
        fast_rows=parquet_table,
        records=parquet_records,
        writers={"run": parquet_bytes, "qrels": parquet_bytes},
    ),
)
