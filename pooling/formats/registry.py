"""The file formats: what each is called, and what reads and writes it. Their entries are in `kinds`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NamedTuple, TypeAlias

from pooling.formats import kinds
from pooling.formats.answers import learning_to_rank
from pooling.formats.recognition import BEGINNING, recognized
from pooling.formats.rows import Row
from pooling.formats.sources import Source, without_gz
from pooling.heavy import pl

#: The line of a record, or 0 where the format has none, and its fields by their names.
Record: TypeAlias = tuple[int, dict[str, Any]]


class Target(NamedTuple):
    """The place of rows that are written: `path` is what errors name, `tag` is of a run alone."""

    path: Path | str
    tag: str = ""


Writer: TypeAlias = "Callable[[pl.DataFrame, Target], str | bytes]"
LineWriter: TypeAlias = Callable[[tuple[str, ...], Iterable[Mapping[str, object]]], Iterator[str]]

TEXT = "text/plain; charset=utf-8"
#: What lists of formats begin with; the others follow in the order of their names.
USUAL = ("trec", "beir", "csv", "tsv", "jsonl", "json", "parquet")


@dataclass(frozen=True)
class Format:
    """A file format; what it does not read or write is None, and is not offered for it.

    name: as options, addresses and HTTP calls call it. title: as pages call it. suffix: of a download.
    media_type: what a download is to the browser; text is shown as text whatever an id holds.
    suffixes: of files read in it, in lower case.

    rows: those of a `run` or of `qrels`, every rule checked. fast_rows: the same as a frame with the columns
    query_id, document_id, value, rank and line, or None where the careful `rows` must decide.
    records: one by one, for queries, documents and gold questions.
    writers: of a `run` (columns query_id, document_id, rank, score) and of `qrels` (query_id, document_id,
    relevance). They give the whole file, and raise FormatError for ids that it cannot hold.
    write_lines: any table, line by line, of the names of its columns and its rows.
    """

    name: str
    title: str
    suffix: str
    media_type: str = TEXT
    suffixes: tuple[str, ...] = ()
    rows: Callable[[Source, str], Iterator[Row]] | None = None
    fast_rows: Callable[[Source, str], pl.DataFrame | None] | None = None
    records: Callable[[Source], Iterator[Record]] | None = None
    writers: Mapping[str, Writer] = field(default_factory=dict)
    write_lines: LineWriter | None = None


@cache
def formats() -> dict[str, Format]:
    """Every format by its name; found on first use, because a format is read with what looks formats up."""
    modules = (import_module(f"{kinds.__name__}.{module.name}") for module in iter_modules(kinds.__path__))
    by_name: dict[str, Format] = {format.name: format for module in modules for format in module.FORMATS}
    first = [name for name in USUAL if name in by_name]
    return {name: by_name[name] for name in (*first, *sorted(by_name.keys() - {*first}))}


@cache
def formats_by_suffix() -> dict[str, Format]:
    """Suffix of a file to be read, in lower case -> its format."""
    return {suffix: format for format in formats().values() for suffix in format.suffixes}


def format_of(name: str) -> Format:
    """The format of a file of this name, without `.gz`; a suffix that none of them has is TREC text.

    >>> format_of("queries.JSONL").name, format_of("bm25.v2").name
    ('jsonl', 'trec')
    """
    return formats_by_suffix().get(Path(name).suffix.lower(), formats()["trec"])


def writing(kind: str) -> dict[str, Format]:
    """The formats in which a `run` or `qrels` can be written, by their names."""
    return {name: format for name, format in formats().items() if kind in format.writers}


def line_writers() -> dict[str, LineWriter]:
    return {name: format.write_lines for name, format in formats().items() if format.write_lines}


def name_of(path: Path | str) -> str:
    """The name of a run: its file's name without `.gz` and one known suffix.

    >>> name_of("runs/bm25.v2.run.gz")
    'bm25.v2'
    """
    name = without_gz(Path(path).name)
    for suffix in formats_by_suffix():
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def named_file(argument: Path | str) -> tuple[str, Path]:
    """The name and the file of a run, of what a command line gives: FILE, or NAME=FILE.

    >>> named_file("old=runs/bm25.run")[0], named_file("runs/bm25.run")[0]
    ('old', 'bm25')
    """
    name, sign, file = str(argument).partition("=")
    if sign and name and file and "/" not in name and not Path(argument).exists():
        return name, Path(file)
    return name_of(argument), Path(argument)


def source_of(
    source: Path | str, file_name: str | None, max_bytes: int | None, kind: str = "records"
) -> Source:
    """The file, within `max_bytes`, and its format. kind: `run`, `qrels` or `records`, for `recognized`."""
    path = Path(source)
    name = file_name or path.name
    named = Source(path, name, max_bytes, format_of(without_gz(name)).name)
    if not named.head:
        raise named.empty()
    if max_bytes is not None and named.size > max_bytes:
        raise named.too_large(max_bytes)
    named.refuse_other_packers(named.head)
    beginning = next(named.blocks(BEGINNING), b"")
    if kind != "records" and (other := learning_to_rank(beginning, kind)):
        raise named.error(None, *other)
    return replace(named, **recognized(beginning, named.format, kind)._asdict())
