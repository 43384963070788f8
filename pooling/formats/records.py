"""Queries and documents with their text: BEIR JSON lines, CSV and TSV; documents are streamed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pooling.formats.errors import shown
from pooling.formats.query_facts import weight_of
from pooling.formats.registry import Record, formats, source_of
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source
from pooling.formats.tables import DOCUMENT, MOST_FIELDS, QUERY, plain_name

ID = ("_id", "id")
TEXT = ("text", "contents", "content", "body", "query", "question")
TITLE = ("title",)
#: Characters of all names of the fields of a record, up to which their layout is kept.
LONGEST_NAMES = 2_000


@dataclass(frozen=True)
class QueryRecord:
    """A query as its file tells it; `metadata` holds what else the record has."""

    id: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


class DocumentRecord(NamedTuple):
    """A document as its file tells it, with the line on which it stands."""

    id: str
    title: str
    text: str
    metadata: dict[str, Any]
    line: int


def read_queries(
    source: Path | str, *, file_name: str | None = None, max_bytes: int | None = None
) -> list[QueryRecord]:
    """Queries in file order from `queries.jsonl` (`_id`, `text`, `metadata`), or CSV or TSV with a header.

    Raises FormatError for a missing id or text, for an id that comes twice, and for a weight (`weight` or
    `frequency` in the metadata) that is not a number above 0.
    """
    file, records = records_source(source, file_name, max_bytes)
    lines: dict[str, int] = {}
    queries = []
    for line, record in records:
        parts = Parts(file, line, record, QUERY)
        query = QueryRecord(parts.id, parts.text(required=True), parts.rest())
        refuse_second(file, "query", query.id, first=lines.setdefault(query.id, line), line=line)
        refuse_odd_weight(file, query, line)
        queries.append(query)
    if not queries:
        raise file.empty()
    return queries


def iterate_documents(
    source: Path | str, *, file_name: str | None = None, max_bytes: int | None = None
) -> Iterator[DocumentRecord]:
    """Documents one by one from `corpus.jsonl` (`_id`, `title`, `text`), or CSV or TSV with a header.

    Constant memory; so an id that comes twice is for the caller to find. Title and text may be empty or
    absent.
    """
    file, records = records_source(source, file_name, max_bytes)
    line = 0
    for line, record in records:
        parts = Parts(file, line, record, DOCUMENT)
        yield DocumentRecord(parts.id, parts.title, parts.text(required=False), parts.rest(), line)
    if not line:
        raise file.empty()


def records_source(
    source: Path | str, file_name: str | None, max_bytes: int | None
) -> tuple[Source, Iterator[Record]]:
    """The file, and its records with their lines; FormatError for a format that has none."""
    file = source_of(source, file_name, max_bytes)
    records = formats()[file.format].records
    if records is None:
        raise file.error(
            None, f"texts are not read from {file.format} files", "Give JSON lines (.jsonl), CSV or TSV."
        )
    return file, records(file)


def refuse_second(file: Source, kind: str, identifier: str, *, first: int, line: int) -> None:
    if first != line:
        problem = f"{kind} {shown(identifier)} appears again (first on line {first})"
        raise file.error(line, problem, "Give every record a unique id.")


def refuse_odd_weight(file: Source, query: QueryRecord, line: int) -> None:
    try:
        weight_of(query.metadata)
    except ValueError as error:
        problem = f"query {shown(query.id)}: {error}"
        raise file.error(line, problem, "Write how often the query is asked, or leave it out.") from None


class Layout(NamedTuple):
    """Which fields of a record play which part; `others` are its metadata."""

    id: str | None
    title: str | None
    text: str | None
    others: tuple[str, ...]


@lru_cache(maxsize=256)
def layout_of(fields: tuple[str, ...], ids: tuple[str, ...], with_title: bool) -> Layout:
    """The parts that fields of these names play; the records of a file have few sets of names."""
    left = {plain_name(name): name for name in reversed(fields)}

    def take(aliases: tuple[str, ...]) -> str | None:
        alias = next((alias for alias in aliases if alias in left), None)
        return None if alias is None else left.pop(alias)

    def has_text(name: str) -> bool:
        """`query` or `document` is the id only where another column holds the text."""
        return name in TEXT and not any(other in left for other in TEXT if other != name)

    id = take((*ID, *(name for name in ids if name.endswith(("id", "docno")) or not has_text(name))))
    title = take(TITLE) if with_title else None
    text = take(TEXT)
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
            found = shown(", ".join(record), 80)
            raise file.error(line, f"no id among the fields {found}", "Name the id _id.")
        self.id = checked_id(file, line, "record's", record[self.layout.id])

    @property
    def title(self) -> str:
        return self._words(self.layout.title) or ""

    def text(self, *, required: bool) -> str:
        text = self._words(self.layout.text)
        if required and text is None:
            found = shown(", ".join(self.layout.others), 80)
            raise self.file.error(
                self.line, f"no text among the fields {found}", "Name the text column text."
            )
        return text or ""

    def _words(self, name: str | None) -> str | None:
        value = None if name is None else self.record[name]
        if value is not None and not isinstance(value, str):
            raise self.file.error(self.line, f"the field {name!r} is not text", "Write it as a string.")
        return value

    def rest(self) -> dict[str, Any]:
        """What else the record has; an object called `metadata` is that itself."""
        rest = {name: self.record[name] for name in self.layout.others}
        inner = rest.get("metadata")
        if not isinstance(inner, dict):
            return rest
        del rest["metadata"]
        return {**rest, **inner}
