"""Where chunks stand in their documents: a map of chunks with offsets."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from pooling.chunks.given import Records, id_in, offsets_in, records_of
from pooling.chunks.intervals import Range
from pooling.formats.errors import excerpt
from pooling.formats.names import CHUNK, DOCUMENT, column_named
from pooling.heavy import pl

TEXT, CHECKSUM = ("text",), ("text_sha256",)


class Place(NamedTuple):
    """A chunk: characters `start` up to `end` of its document, counted from 0. text_sha256: of its text
    without differences in blanks; text: as the map has it; "" where the map does not say."""

    chunk_id: str
    document_id: str
    start: int
    end: int
    text_sha256: str = ""
    text: str = ""

    @property
    def range(self) -> Range:
        return self.start, self.end


@dataclass(frozen=True)
class ChunkMap:
    """All chunks of one chunking; `name` is what messages call it."""

    name: str
    places: Mapping[str, Place]

    @cached_property
    def by_document(self) -> dict[str, Document]:
        """Document id -> its chunks."""
        listed: dict[str, list[Place]] = {}
        for place in self.places.values():
            listed.setdefault(place.document_id, []).append(place)
        return {document: Document(places) for document, places in listed.items()}

    @property
    def documents(self) -> pl.Series:
        """The ids of its documents."""
        return pl.Series("document_id", list(self.by_document), dtype=pl.String)

    def overlapping(self, document_id: str, start: int, end: int) -> list[Place]:
        """The chunks of a document that have characters of a range, in the order of their starts."""
        document = self.by_document.get(document_id)
        return [] if document is None else document.overlapping(start, end)


class Document:
    """The chunks of one document, by their starts."""

    def __init__(self, places: list[Place]) -> None:
        self.places = sorted(places, key=lambda place: (place.start, place.end, place.chunk_id))
        self._starts = [place.start for place in self.places]
        self._reach = list(accumulate((place.end for place in self.places), max))

    def overlapping(self, start: int, end: int) -> list[Place]:
        first, behind = bisect_right(self._reach, start), bisect_left(self._starts, end)
        return [place for place in self.places[first:behind] if place.end > start]


def read_map(source: Records, what: str = "chunk_map", *, texts: bool = False) -> ChunkMap:
    """A map of chunks: chunk_id, document_id, start, end, and perhaps text or text_sha256.

    A file of any format with named fields, a frame, or dicts. Raises FormatError, with the line, for a chunk
    that comes twice and for offsets that are none. texts: keep those that the map has, for `carry`.

    >>> rows = [{"chunk_id": "c1", "document_id": "d", "start": 0, "end": 9}]
    >>> read_map(rows).overlapping("d", 8, 20)[0].chunk_id
    'c1'
    """
    if isinstance(source, ChunkMap):
        return source
    file, records = records_of(source, what)
    places: dict[str, Place] = {}
    lines: dict[str, int] = {}
    for line, record in records:
        chunk = id_in(file, line, record, CHUNK)
        document = id_in(file, line, record, DOCUMENT)
        if chunk in lines:
            problem = f"chunk {excerpt(chunk)} appears again (first on line {lines[chunk]})"
            raise file.error(line, problem, "Keep one line for each chunk.")
        lines[chunk] = line
        checksum, text = _text(record)
        where = offsets_in(file, line, record)
        places[chunk] = Place(chunk, document, *where, checksum, text if texts else "")
    if not places:
        raise file.empty()
    return ChunkMap(Path(file.display_name).name, places)


def _text(record: Mapping[str, Any]) -> tuple[str, str]:
    """The checksum, that of the map or of the text in it, and the text."""
    stated, column = (column_named(record, names) for names in (CHECKSUM, TEXT))
    text = None if column is None else record[column]
    if not isinstance(text, str):
        text = None
    if stated is not None and record[stated]:
        checksum = str(record[stated]).strip().lower()
    elif text is None:
        checksum = ""
    else:
        words = " ".join(unicodedata.normalize("NFC", text).split())
        checksum = sha256(words.encode()).hexdigest()
    return checksum, text or ""
