"""Queries and documents with their text: BEIR JSON lines, CSV and TSV; documents are streamed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pooling.formats.errors import shown
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source, source_of
from pooling.formats.tables import DOCUMENT, QUERY, RECORDS, plain_name

ID = ("_id", "id")
TEXT = ("text", "contents", "content", "body", "query", "question")
TITLE = ("title",)


@dataclass(frozen=True)
class QueryRecord:
    """A query as its file tells it; `metadata` holds what else the record has."""

    id: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DocumentRecord:
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

    Raises FormatError for a missing id or text and for an id that comes twice.
    """
    file = records_source(source, file_name, max_bytes)
    lines: dict[str, int] = {}
    queries = []
    for line, record in RECORDS[file.format](file):
        parts = Parts(file, line, record, QUERY)
        query = QueryRecord(parts.id, parts.text(required=True), parts.rest())
        refuse_second(file, "query", query.id, lines.setdefault(query.id, line), line)
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
    file = records_source(source, file_name, max_bytes)
    line = 0
    for line, record in RECORDS[file.format](file):
        parts = Parts(file, line, record, DOCUMENT)
        title = parts.take(TITLE)
        yield DocumentRecord(parts.id, title or "", parts.text(required=False), parts.rest(), line)
    if not line:
        raise file.empty()


def records_source(source: Path | str, file_name: str | None, max_bytes: int | None) -> Source:
    file = source_of(source, file_name, max_bytes)
    if file.format not in RECORDS:
        raise file.error(
            None, f"texts are not read from {file.format} files", "Give JSON lines (.jsonl), CSV or TSV."
        )
    return file


def refuse_second(file: Source, kind: str, identifier: str, first: int, line: int) -> None:
    if first != line:
        problem = f"{kind} {shown(identifier)} comes again (first on line {first})"
        raise file.error(line, problem, "Give every record an id of its own.")


class Parts:
    """The parts of one record, taken out under any of their names; the rest is metadata."""

    def __init__(self, file: Source, line: int, record: dict[str, Any], ids: tuple[str, ...]) -> None:
        self.file, self.line, self.left = file, line, dict(record)
        self.names = {plain_name(name): name for name in reversed(list(record))}
        self.id = self._id(ids)

    def _id(self, ids: tuple[str, ...]) -> str:
        aliases = (*ID, *(name for name in ids if name.endswith(("id", "docno")) or not self._has_text(name)))
        name = self._name(aliases)
        if name is None:
            found = shown(", ".join(self.left), 80)
            raise self.file.error(self.line, f"no id among the fields {found}", "Name the id _id.")
        return checked_id(self.file, self.line, "record's", self.left.pop(name))

    def _has_text(self, name: str) -> bool:
        """`query` or `document` is the id only where another column holds the text."""
        return name in TEXT and not any(other in self.names for other in TEXT if other != name)

    def _name(self, aliases: tuple[str, ...]) -> str | None:
        present = (self.names[alias] for alias in aliases if alias in self.names)
        return next((name for name in present if name in self.left), None)

    def take(self, aliases: tuple[str, ...]) -> str | None:
        name = self._name(aliases)
        value = None if name is None else self.left.pop(name)
        if value is not None and not isinstance(value, str):
            raise self.file.error(self.line, f"the field {name!r} is not a text", "Write it as a string.")
        return value

    def text(self, *, required: bool) -> str:
        text = self.take(TEXT)
        if required and text is None:
            found = shown(", ".join(self.left), 80)
            raise self.file.error(self.line, f"no text beside {found}", "Name the text column text.")
        return text or ""

    def rest(self) -> dict[str, Any]:
        """What else the record has; an object called `metadata` is that itself."""
        inner = self.left.get("metadata")
        if not isinstance(inner, dict):
            return self.left
        return {**{name: value for name, value in self.left.items() if name != "metadata"}, **inner}
