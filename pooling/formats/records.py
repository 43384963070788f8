"""Queries and documents with their text: JSON, CSV, TSV and Parquet; documents are streamed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from pooling.formats.errors import FormatError, excerpt
from pooling.formats.judgments.elements import first_sign
from pooling.formats.judgments.quepid import NEED, PAIRS, query_of_pair
from pooling.formats.kinds.delimited import tsv_rows, with_header
from pooling.formats.kinds.ranx import array_records
from pooling.formats.names import (
    DOCUMENT,
    DOCUMENT_TEXT,
    ID,
    LONGEST_NAMES,
    METADATA,
    OTHER_ID,
    PASSAGE,
    QUERY,
    QUERY_TEXT,
    TITLE,
    plain_name,
)
from pooling.formats.query_facts import weight_of
from pooling.formats.registry import Record, formats, formats_by_suffix, source_of
from pooling.formats.rows import checked_id
from pooling.formats.sources import MAX_LINE_BYTES, Source, without_gz
from pooling.formats.tables import MOST_FIELDS

#: A document each, where a folder has no file of records.
PLAIN_TEXT = (".txt", ".md")
MOST_FILES = 1_000_000


def files_in(folder: Path, name: str, suffixes: Collection[str]) -> list[Path]:
    """The files of records in a folder: those called `name`, or in a folder called so, as BEIR and MTEB lay
    them out; else all of them. None where it has plain texts only."""
    there = [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]
    within = next((path for path in there if path.is_dir() and path.name == name), None)
    if within is not None:
        there = [path for path in sorted(within.iterdir()) if not path.name.startswith(".")]
    files = [path for path in there if path.is_file() and _suffix(path) in suffixes]
    named = [path for path in files if without_gz(path.name).rpartition(".")[0] == name]
    return named or files


def texts_in(folder: Path) -> list[Path]:
    """The plain texts below a folder; FormatError where it has none, or far too many."""
    paths = sorted(path for path in folder.rglob("*") if _suffix(path) in PLAIN_TEXT and path.is_file())
    if not paths:
        problem = "this folder has no queries.*, corpus.* or other file of records, and no .txt or .md file"
        raise FormatError(folder.name, None, problem, "Give the files themselves.")
    if len(paths) > MOST_FILES:
        problem = f"{len(paths):,} texts in one folder"
        raise FormatError(folder.name, None, problem, "Write them as JSON lines.")
    return paths


def _suffix(path: Path) -> str:
    return Path(without_gz(path.name)).suffix.lower()


#: A first line with none of these names no columns.
FIELD_NAMES = frozenset((*ID, *DOCUMENT_TEXT, *TITLE, *QUERY, *DOCUMENT, "metadata", "answer"))
TWO_COLUMNS = ["_id", "text"]
#: Names of fields in one sentence.
MOST_NAMED = 8
#: Characters of an id made of a text, up to which it is the whole text.
LONGEST_MADE = 100


@dataclass(frozen=True)
class QueryRecord:
    """A query as its file tells it; `metadata` holds what else the record has."""

    id: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


class DocumentRecord(NamedTuple):
    id: str
    title: str
    text: str
    metadata: dict[str, Any]
    line: int


def read_queries(
    source: Path | str,
    *,
    file_name: str | None = None,
    max_bytes: int | None = None,
    fields: FieldsRead | None = None,
) -> list[QueryRecord]:
    """Queries in file order from `queries.jsonl` (`_id`, `text`, `metadata`), a JSON array, Parquet, CSV or
    TSV with a header, TSV of two columns without one, or a folder of such files. Each text of Quepid's books,
    ratings and snapshots, which have no ids, is a query whose id is made of it.

    `fields` takes down what the fields were read as. Raises FormatError for a missing id or text, for an id
    that comes twice, and for a weight (`weight` or `frequency` in the metadata) that is not a number above 0.
    """
    lines: dict[str, int] = {}
    texts: dict[str, str] = {}
    queries = []
    before = 0
    for file, records in _parts_of(source, file_name, max_bytes, "queries"):
        line = 0
        for line, record in records:
            if pair := query_of_pair(record):
                query = _named_by_text(*pair)
                if texts.setdefault(query.id, query.text) != query.text:
                    problem = (
                        f"{excerpt(texts[query.id])} and {excerpt(query.text)} are both query {query.id}"
                    )
                    raise file.error(line, problem, "Give the queries ids in JSON lines.")
                if query.id in lines:
                    continue
            else:
                parts = Parts(file, line, record, QUERY)
                query = QueryRecord(parts.id, parts.text(required=True), parts.rest())
                _rename_metadata(query.metadata)
                if fields is not None:
                    fields.add(parts)
            first = lines.setdefault(query.id, before + line)
            refuse_second(file, query.id, first=first - before, line=line)
            refuse_odd_weight(file, query, line)
            queries.append(query)
        if not line:
            raise file.empty()
        before += line
    return queries


def _rename_metadata(metadata: dict[str, Any]) -> None:
    """Give fields that have several known names the one that other code reads."""
    for name in list(metadata):
        standard_name = "narrative" if name == NEED else METADATA.get(plain_name(name))
        if standard_name and standard_name not in metadata:
            metadata[standard_name] = metadata.pop(name)


def _named_by_text(text: str, narrative: str) -> QueryRecord:
    """A query whose id is its text, with _ for blanks: one that a TREC file can hold."""
    id = re.sub(r"\s+|^#", "_", text)
    if len(id) > LONGEST_MADE:
        id = f"{id[:LONGEST_MADE]}_{sha256(text.encode()).hexdigest()[:8]}"
    return QueryRecord(id, text, {"narrative": narrative} if narrative else {})


def iterate_documents(
    source: Path | str,
    *,
    file_name: str | None = None,
    max_bytes: int | None = None,
    fields: FieldsRead | None = None,
) -> Iterator[DocumentRecord]:
    """Documents one by one from `corpus.jsonl` (`_id`, `title`, `text`), or what `read_queries` reads; a
    folder may also hold texts, each a document called after its file.

    Constant memory; so an id that comes twice is for the caller to find. Title and text may be empty or
    absent; FormatError at the end of a file in which no document has either. Lines of later files of a
    folder go on counting. `fields` takes down what the fields were read as.
    """
    fields = FieldsRead() if fields is None else fields
    before = 0
    for file, records in _parts_of(source, file_name, max_bytes, "corpus"):
        line = has_text = 0
        for line, record in records:
            parts = Parts(file, line, record, DOCUMENT)
            title, text = parts.title, parts.text(required=False)
            has_text = has_text or bool(title or text)
            fields.add(parts)
            yield DocumentRecord(parts.id, title, text, parts.rest(), before + line)
        if not line:
            raise file.empty()
        if not has_text:
            raise file.error(None, "no document has a text", fields.remedy())
        before += line


def _parts_of(
    source: Path | str, file_name: str | None, max_bytes: int | None, name: str
) -> Iterator[tuple[Source, Iterator[Record]]]:
    """The file, or the files of a folder, each with its records; of plain texts one record each."""
    path = Path(source)
    if not path.is_dir():
        file, records = records_source(path, file_name, max_bytes)
        is_book = name == "queries" and file.format == "json" and first_sign(file) == "{"
        yield file, array_records(file, PAIRS) if is_book else records
        return
    suffixes = [suffix for suffix, format in formats_by_suffix().items() if format.records]
    if files := files_in(path, name, suffixes):
        for one in files:
            yield records_source(one, one.relative_to(path).as_posix(), max_bytes)
        return
    for text in texts_in(path):
        file = Source(text, text.relative_to(path).as_posix(), max_bytes)
        yield file, iter([(1, _plain_text(file))])


def _plain_text(file: Source) -> dict[str, str]:
    """A text as a record, called after its file."""
    if file.size > MAX_LINE_BYTES:
        raise file.too_long(1)
    return {"_id": file.display_name, "text": "\n".join(line for _, line in file.text_lines())}


def records_source(
    source: Path | str, file_name: str | None, max_bytes: int | None
) -> tuple[Source, Iterator[Record]]:
    """The file, and its records with their lines; FormatError for a format that has none."""
    file = source_of(source, file_name, max_bytes)
    records = formats()[file.format].records
    if records is None:
        raise file.error(
            None,
            "no ids and texts are recognized in it",
            "Give JSON, JSON lines, CSV, TSV, Parquet, or topics or documents of TREC.",
        )
    return file, _without_header(file) or records(file)


def _without_header(file: Source) -> Iterator[Record] | None:
    """Id and text of a TSV with no known name in line 1; None for two bare words, which are unknown names."""
    if file.format != "tsv":
        return None
    first = next((line for _, line in file.text_lines()), "").split("\t")
    if len(first) != len(TWO_COLUMNS) or any(plain_name(name) in FIELD_NAMES for name in first):
        return None
    if not any(letter.isdigit() for letter in first[0]) and len(first[1].split()) == 1:
        return None
    return with_header(file, TWO_COLUMNS, tsv_rows(file, file.text_lines()))


def refuse_second(file: Source, identifier: str, *, first: int, line: int) -> None:
    if first != line:
        problem = f"query {excerpt(identifier)} appears again (first on line {first})"
        raise file.error(line, problem, "Give every record a unique id.")


def refuse_odd_weight(file: Source, query: QueryRecord, line: int) -> None:
    try:
        weight_of(query.metadata)
    except ValueError as error:
        problem = f"query {excerpt(query.id)}: {error}"
        raise file.error(line, problem, "Write how often the query is asked, or leave it out.") from None


class Layout(NamedTuple):
    """Fields of a record by their part; `others` are its metadata."""

    id: str | None
    title: str | None
    text: str | None
    others: tuple[str, ...]


@lru_cache(maxsize=256)
def layout_of(fields: tuple[str, ...], ids: tuple[str, ...], with_title: bool) -> Layout:
    """The parts that fields of these names play; the records of a file have few sets of names."""
    left = {plain_name(name): name for name in reversed(fields)}
    texts = DOCUMENT_TEXT if with_title else QUERY_TEXT

    def take(aliases: tuple[str, ...]) -> str | None:
        alias = next((alias for alias in aliases if alias in left), None)
        return None if alias is None else left.pop(alias)

    def has_text(name: str) -> bool:
        """`query` or `document` is the id only where another column holds the text."""
        return name in texts and not any(other in left for other in texts if other != name)

    usual = (name for name in ids if name.endswith(("id", "docno")) or not has_text(name))
    id = take((*ID, *(PASSAGE if with_title else ()), *usual, *OTHER_ID))
    title = take(TITLE) if with_title else None
    text = take(texts)
    return Layout(id, title, text, tuple(name for name in fields if name not in (id, title, text)))


def _layout_of(fields: tuple[str, ...], ids: tuple[str, ...]) -> Layout:
    """`layout_of`, where names that are long do not stay in memory."""
    find = layout_of if sum(map(len, fields)) <= LONGEST_NAMES else layout_of.__wrapped__
    return find(fields, ids, ids is DOCUMENT)


class Parts:
    """The parts of one record, under any of their names; the rest is metadata."""

    def __init__(self, file: Source, line: int, record: dict[str, Any], ids: tuple[str, ...]) -> None:
        self.file, self.line, self.record = file, line, record
        if len(record) > MOST_FIELDS:
            raise file.error(line, f"{len(record):,} fields", f"Give a record at most {MOST_FIELDS:,}.")
        self.layout = _layout_of(tuple(record), ids)
        if self.layout.id is None:
            fields = excerpt(", ".join(record), 80)
            raise file.error(line, f"no id among the fields {fields}", "Name the id _id.")
        self.id = checked_id(file, line, "record's", record[self.layout.id])

    @property
    def title(self) -> str:
        return self._words(self.layout.title) or ""

    def text(self, *, required: bool) -> str:
        text = self._words(self.layout.text)
        if required and text is None:
            fields, likely = excerpt(", ".join(self.record), 80), likely_text(self.record)
            remedy = f"Rename {excerpt(likely)} to text, if that is the text." if likely else NAME_THE_TEXT
            raise self.file.error(self.line, f"no text among the fields {fields}", remedy)
        return text or ""

    def _words(self, name: str | None) -> str | None:
        value = None if name is None else self.record[name]
        if value is not None and not isinstance(value, str):
            raise self.file.error(self.line, f"the field {name!r} is not text", "Write it as a string.")
        return value

    def rest(self) -> dict[str, Any]:
        """Other fields of the record; an object called `metadata` is that itself."""
        rest = {name: self.record[name] for name in self.layout.others}
        inner = rest.get("metadata")
        if not isinstance(inner, dict):
            return rest
        del rest["metadata"]
        return {**rest, **inner}


NAME_THE_TEXT = "Call the field that has the text “text”."


def likely_text(record: dict[str, Any]) -> str | None:
    """The field with the longest text of several words."""
    texts = {name: value for name, value in record.items() if isinstance(value, str) and " " in value.strip()}
    return max(texts, key=lambda name: len(texts[name]), default=None)


class FieldsRead:
    def __init__(self) -> None:
        self.layouts: set[Layout] = set()
        self.likely: Counter[str] = Counter()

    def add(self, parts: Parts) -> None:
        layout = parts.layout
        if layout.text is None and len(self.likely) < MOST_FIELDS and (name := likely_text(parts.record)):
            self.likely[name] += 1
        if layout not in self.layouts and len(self.layouts) < MOST_FIELDS:
            self.layouts.add(layout)

    def names(self, part: str) -> list[str]:
        """The fields that were read as `id`, `title`, `text` or `others`."""
        parts = (getattr(layout, part) for layout in self.layouts)
        return sorted({name for one in parts if one for name in ((one,) if isinstance(one, str) else one)})

    def remedy(self) -> str:
        fields = sorted({*self.names("id"), *self.names("others")})
        likely = next((name for name, _ in self.likely.most_common(1)), None)
        remedy = f"Rename {excerpt(likely)} to text, if that is the text." if likely else NAME_THE_TEXT
        return f"The fields are {excerpt(', '.join(fields), 80)}. {remedy}"

    def __str__(self) -> str:
        """A sentence where the names do not say it: `Read as text: segment. Kept as metadata: url.`"""
        parts = []
        for part, usual in (("id", ID), ("title", ("title",)), ("text", ("text",))):
            names = self.names(part)
            if set(names) - set(usual):
                parts.append(f"Read as {part}: {_listed(names)}.")
        if others := [name for name in self.names("others") if name != "metadata"]:
            parts.append(f"Kept as metadata: {_listed(others)}.")
        return " ".join(parts)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(name[:40] for name in names[:MOST_NAMED]) + more
