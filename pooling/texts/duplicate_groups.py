"""Groups of near-identical documents as a table: `document_id group_id`, a row for each member."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.kinds.delimited import delimited_records, separator_of
from pooling.formats.registry import source_of
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source as File
from pooling.formats.writing import refuse
from pooling.heavy import pl
from pooling.inputs.columns import columns_of
from pooling.inputs.given import Source, described

COLUMNS = ("document_id", "group_id")


@dataclass(frozen=True)
class DuplicateGroups:
    """frame: document_id, group_id, each document once, of groups of two or more. name: that of the file."""

    frame: pl.DataFrame
    name: str

    @property
    def count(self) -> int:
        return self.frame["group_id"].n_unique()


def groups_from(source: Source) -> DuplicateGroups:
    """Groups from a file, a dict or a frame (document_id, group_id); ValueError for empty or repeated ids."""
    if isinstance(source, str | Path):
        return read_groups(Path(source))
    columns = columns_of(source)
    if columns is not None and set(columns.names) >= set(COLUMNS):
        rows: Iterable[Sequence[Any]] = zip(*(columns.column(name) for name in COLUMNS), strict=True)
    elif columns is None and isinstance(source, Mapping):
        rows = source.items()
    else:
        raise ValueError(
            f"The duplicates are {described(source)}, which cannot be read. Give a path, a dict "
            "{document: group}, or a frame with the columns document_id and group_id."
        )
    records = (dict(zip(COLUMNS, row, strict=True)) for row in rows)
    return _checked(File(Path(), "the duplicates"), enumerate(records, 1))


def read_groups(path: Path) -> DuplicateGroups:
    """The table of a file, TSV or CSV by suffix, or only a header; FormatError for empty or repeated ids."""
    file = source_of(path, None, None)
    header, *rows = islice((line for _, line in file.text_lines() if line.strip()), 2)
    names = [name.strip(' "') for name in header.split(separator_of(file) if file.format == "csv" else "\t")]
    if absent := [name for name in COLUMNS if name not in names]:
        problem = f"no column {' or '.join(absent)} among {excerpt(', '.join(names), 80)}"
        raise file.error(1, problem, "Begin the file with the line document_id, a tab, and group_id.")
    return _checked(file, delimited_records(file) if rows else ())


def _checked(file: File, records: Iterable[tuple[int, dict[str, Any]]]) -> DuplicateGroups:
    lines: dict[str, tuple[int, str]] = {}
    for line, record in records:
        document, group = (
            checked_id(file, line, kind, record[name])
            for kind, name in zip(("document", "group"), COLUMNS, strict=True)
        )
        first, other = lines.setdefault(document, (line, group))
        if first != line:
            problem = f"document {excerpt(document)} appears again (first on line {first})"
            if other != group:
                problem = (
                    f"document {excerpt(document)} is in two groups, {excerpt(other)} (line {first}) and "
                    f"{excerpt(group)}"
                )
            raise file.error(line, problem, "Give every document one group.")
    columns = {"document_id": list(lines), "group_id": [group for _, group in lines.values()]}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(COLUMNS, pl.String))
    return DuplicateGroups(frame.filter(pl.col("group_id").is_duplicated()), file.display_name)


def groups_text(path: Path, groups: Iterable[Sequence[str]]) -> str:
    """The table of groups, each named after its first member; FormatError for an id that TSV cannot hold."""
    rows = [(member, group[0]) for group in groups for member in group]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    remedy = "Groups are written as TSV, which cannot hold it; change the id in the corpus."
    refuse(path, frame, r"[\t\n\r\x00]", "a tab, a line end or a NUL", remedy=remedy)
    return "".join("\t".join(row) + "\n" for row in (COLUMNS, *rows))
