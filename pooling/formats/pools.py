"""Pools as `pool` writes them: one row per pooled pair below a header, TSV unless the suffix says CSV."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from pooling.formats.errors import excerpt
from pooling.formats.records import records_source
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source
from pooling.heavy import pl

COLUMNS: dict[str, type] = {
    "query_id": str,
    "document_id": str,
    "in_audit": bool,
    "inclusion_probability": float,
    "version": int,
    "best_rank": int,
    "run_count": int,
    "frame_size": int,
    "frame_reach": int,
}
NUMBERS = ("best_rank", "run_count", "frame_size", "frame_reach")
OPTIONAL = ("version", *NUMBERS)
# As `pool` writes them, and as the writers of data frames do.
FLAGS = {"0": False, "1": True, "false": False, "true": True}
#: What frames have in the place of these.
AS_IN_FILES = {"True": "1", "False": "0", "None": "", "nan": "", "<NA>": ""}

#: One value for each of COLUMNS.
_Row: TypeAlias = tuple[Any, ...]


def read_pool(source: Path | str) -> pl.DataFrame:
    """Columns query_id, document_id, in_audit, inclusion_probability (null where a pair was not chosen),
    version (of the pool that brought the pair; 1 where the file does not say), best_rank, run_count,
    frame_size (documents that the audit of the query drew from) and frame_reach (how far down the lists these
    stand); these are null where it does not.

    Parquet and JSON lines are read as well. Other columns are not looked at. FormatError for a column that is
    absent, a probability that is none, and a pair that comes twice.
    """
    return pool_of(*records_source(source, None, None))


def pool_of(file: Source, records: Iterable[tuple[int, dict[str, Any]]]) -> pl.DataFrame:
    """`read_pool` of records with their lines; a frame has what a file says in other words."""
    lines: dict[tuple[str, str], int] = {}
    rows: list[_Row] = []
    # Of Parquet and JSON a record has no more than the cells that are filled.
    names: dict[str, None] = {}
    for line, record in records:
        names |= dict.fromkeys(record)
        if not rows:
            _refuse_absent(file, names, later=("inclusion_probability",))
        row = _row(file, line, {name: _text(name, record[name]) for name in COLUMNS if name in record})
        first = lines.setdefault(row[:2], line)
        if first != line:
            pair = f"query {excerpt(row[0])}, document {excerpt(row[1])}"
            raise file.error(line, f"{pair} appears again (first on line {first})", "Give every pair once.")
        rows.append(row)
    if not rows:
        raise file.empty()
    _refuse_absent(file, names)
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def _refuse_absent(file: Source, names: dict[str, None], *, later: Iterable[str] = ()) -> None:
    absent = [name for name in COLUMNS if name not in (*names, *later, *OPTIONAL)]
    if absent:
        problem = f"no column {' or '.join(absent)} among {excerpt(', '.join(names), 80)}"
        raise file.error(1, problem, "Give a file written by `pool --output`.")


def _row(file: Source, line: int, record: dict[str, Any]) -> _Row:
    in_audit = FLAGS.get(record.get("in_audit", ""))
    if in_audit is None:
        raise file.error(line, f"in_audit is {excerpt(record.get('in_audit', ''))}", "Write 1 or 0.")
    return (
        checked_id(file, line, "query", record.get("query_id", "")),
        checked_id(file, line, "document", record.get("document_id", "")),
        in_audit,
        _probability(file, line, record.get("inclusion_probability", "")),
        _number(file, line, "version", record.get("version", "1")),
        *(_number(file, line, name, record[name]) if record.get(name) else None for name in NUMBERS),
    )


def _text(name: str, value: Any) -> str:
    """A value as a file has it; ids and texts stay as they are."""
    text = str(value)
    if isinstance(value, str) or name in ("query_id", "document_id"):
        return text
    return AS_IN_FILES.get(text, text.removesuffix(".0"))


def _number(file: Source, line: int, name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 10):
        raise file.error(line, f"the {name} is {excerpt(text)}", "Write a whole number.")
    return int(text)


def _probability(file: Source, line: int, text: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        problem = f"the inclusion probability is {excerpt(text)}"
        raise file.error(line, problem, "Write a number above 0 up to 1, or nothing.")
    return value
