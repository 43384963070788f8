"""Excerpts: the characters of documents that answer a query, whatever chunks they are in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pooling.chunks.given import Records, id_in, offsets_in, records_of
from pooling.chunks.intervals import Range, difference, union
from pooling.chunks.maps import ChunkMap
from pooling.formats.errors import excerpt as quoted
from pooling.formats.names import DOCUMENT, QUERY
from pooling.formats.wording import counted, plural
from pooling.ranking.shared_ids import examples_of


class Excerpt(NamedTuple):
    """Characters `start` up to `end` of a document, which answer a query."""

    query_id: str
    document_id: str
    start: int
    end: int

    @property
    def range(self) -> Range:
        return self.start, self.end

    def __str__(self) -> str:
        return f"{quoted(self.document_id)} {self.start}–{self.end}"


@dataclass(frozen=True)
class Excerpts:
    """All excerpts of a file, each once; `name` is what messages call it."""

    name: str
    excerpts: Sequence[Excerpt]

    @cached_property
    def by_query(self) -> dict[str, dict[str, list[Range]]]:
        """Query id -> document id -> the characters that answer, as a set."""
        listed: dict[str, dict[str, list[Range]]] = {}
        for one in self.excerpts:
            listed.setdefault(one.query_id, {}).setdefault(one.document_id, []).append(one.range)
        return {
            query: {document: union(ranges) for document, ranges in of_query.items()}
            for query, of_query in listed.items()
        }

    @cached_property
    def by_pair(self) -> Mapping[tuple[str, str], Sequence[Excerpt]]:
        """Query and document id -> the excerpts there."""
        listed: dict[tuple[str, str], list[Excerpt]] = {}
        for one in self.excerpts:
            listed.setdefault((one.query_id, one.document_id), []).append(one)
        return listed

    def outside(self, chunks: ChunkMap) -> tuple[list[Excerpt], list[Excerpt]]:
        """The excerpts of which no chunk has a character, and those of which no chunk has a part."""
        without, in_part = [], []
        for one in self.excerpts:
            places = chunks.overlapping(one.document_id, *one.range)
            if not places:
                without.append(one)
            elif difference([one.range], union(place.range for place in places)):
                in_part.append(one)
        return without, in_part

    def notes_on(self, chunks: ChunkMap, *, then: str) -> list[str]:
        """Sentences on excerpts that the chunks lack; then: what comes of it. ValueError where all are."""
        without, in_part = self.outside(chunks)
        if len(without) == len(self.excerpts):
            raise ValueError(
                f"No excerpt of {self.name} is in a chunk of {chunks.name}, such as {without[0]}; documents "
                f"of {chunks.name} are {examples_of(chunks.documents)}."
            )
        notes = []
        total = counted(len(self.excerpts), "excerpt")
        if without:
            notes.append(
                f"{len(without):,} of {total} in {self.name} {plural(len(without), 'is', 'are')} in no chunk "
                f"of {chunks.name}, such as {without[0]}; {then}."
            )
        if in_part:
            notes.append(
                f"{len(in_part):,} of {total} in {self.name} {plural(len(in_part), 'has', 'have')} "
                f"characters in no chunk of {chunks.name}, such as {in_part[0]}; {then}."
            )
        return notes


def read_excerpts(source: Records, what: str = "spans") -> Excerpts:
    """Excerpts: query_id, document_id, start, end, with half-open offsets as in the map of chunks.

    A file of any format with named fields, a frame, or dicts. Raises FormatError, with the line, for a field
    that is missing and for offsets that are none.

    >>> row = {"query_id": "q1", "document_id": "d", "start": 5, "end": 9}
    >>> read_excerpts([row, row]).by_query
    {'q1': {'d': [(5, 9)]}}
    """
    file, records = records_of(source, what)
    excerpts: dict[Excerpt, None] = {}
    for line, record in records:
        query = id_in(file, line, record, QUERY)
        document = id_in(file, line, record, DOCUMENT)
        excerpts[Excerpt(query, document, *offsets_in(file, line, record))] = None
    if not excerpts:
        raise file.empty()
    return Excerpts(Path(file.display_name).name, list(excerpts))
