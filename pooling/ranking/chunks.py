"""Runs of chunks as runs of documents: the score of a document is the highest of its chunks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NotRequired, TypedDict

from pooling.formats.errors import excerpt
from pooling.formats.names import CHUNK, DOCUMENT, column_named
from pooling.formats.registry import source_of
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.ranking.ranking import order_run
from pooling.ranking.shared_ids import Side, sentence_on


class ChunksRule(TypedDict):
    """The rule that made documents of chunks, as results keep it: a separator or a file of chunks and
    documents.

    `score` is which chunk's score a document has, `words` the rule as it is shown next to a number.
    """

    score: str
    separator: NotRequired[str | None]
    file: NotRequired[str]
    words: str


@dataclass(frozen=True)
class Chunks:
    """The document of a chunk: what stands before the last `separator` of its id, or what a file says.

    An id without the separator is a separate document. mapping: chunk id -> document id, of every chunk.
    name: the file of the mapping, as messages call it.

    >>> Chunks("#").words
    'best chunk per document (id before the last “#”)'
    """

    separator: str | None = None
    mapping: dict[str, str] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if (self.separator is None) == (self.mapping is None):
            raise ValueError("Map chunks by a separator or by a file of chunks and documents, not both.")
        if self.separator is not None and (not self.separator or self.separator.strip(" \t\r\n") == ""):
            raise ValueError("The separator of chunk ids is empty; write for instance “#”.")

    @property
    def words(self) -> str:
        how = f"id before the last “{self.separator}”" if self.mapping is None else f"by {self.name}"
        return f"best chunk per document ({how})"

    def to_dict(self) -> ChunksRule:
        if self.mapping is None:
            return {"score": "max", "separator": self.separator, "words": self.words}
        return {"score": "max", "file": self.name, "words": self.words}

    @cached_property
    def _frame(self) -> pl.DataFrame:
        mapping = self.mapping or {}
        columns = {"chunk_id": list(mapping), "document_id": list(mapping.values())}
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    def documents(self, ids: pl.Series, run: str) -> pl.Series:
        frame = ids.alias("chunk_id").to_frame()
        if self.mapping is not None:
            documents = frame.join(self._frame, on="chunk_id", how="left", maintain_order="left")[
                "document_id"
            ]
            if documents.null_count():
                there = sentence_on(
                    Side("chunks", ids), Side(f"chunks of {self.name}", self._frame["chunk_id"])
                )
                remedy = f"Add its line there. {there}"
                self._refuse(ids, documents.is_null(), run, what=f"is not in {self.name}", remedy=remedy)
            return documents
        # The last separator, found as the first of the reversed text: Polars has no search from the right.
        parts = pl.col("chunk_id").str.split(str(self.separator))
        before = parts.list.head(parts.list.len() - 1).list.join(str(self.separator))
        documents = frame.select(
            pl.when(parts.list.len() > 1).then(before).otherwise(pl.col("chunk_id")).alias("document_id")
        )["document_id"]
        what = f"has no document before its “{self.separator}”"
        self._refuse(ids, documents == "", run, what=what, remedy="Choose another separator.")
        return documents

    @staticmethod
    def _refuse(ids: pl.Series, wrong: pl.Series, run: str, *, what: str, remedy: str) -> None:
        first = ids.filter(wrong).head(1).to_list()
        if first:
            raise ValueError(f"Run {run}: chunk {first[0]} {what}. {remedy}")


@dataclass(frozen=True)
class CollapsedRun:
    """A run of documents: `frame` in its order, with `rank` counted again, and what became of the chunks.

    chunks, documents: rows before and after. before, after: query id -> its rows then.
    """

    frame: pl.DataFrame
    before: dict[str, int]
    after: dict[str, int]

    @property
    def chunks(self) -> int:
        return sum(self.before.values())

    @property
    def documents(self) -> int:
        """Rows after."""
        return self.frame.height

    def note(self, words: str) -> str:
        fewest, most = min(self.after.values(), default=0), max(self.after.values(), default=0)
        depth = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        kept = "" if self.documents < self.chunks else " No two chunks belonged to the same document."
        return (
            f"{counted(self.chunks, 'chunk')} became {counted(self.documents, 'document')}, "
            f"{depth} for a query: {words}.{kept}"
        )

    def shortened(self, k: int) -> int:
        """Queries that had `k` chunks or more and are left with fewer documents."""
        return sum(self.before[query] >= k > documents for query, documents in self.after.items())

    def warning(self, k: int) -> str | None:
        """A sentence when lists that reached down to `k` no longer do."""
        short = self.shortened(k)
        if not short:
            return None
        return (
            f"After the collapse {short:,} of {len(self.after):,} queries have fewer than {k:,} documents, "
            f"though their lists had {k:,} chunks or more. Retrieve more chunks to measure at {k:,}."
        )


def collapse_chunks(
    frame: pl.DataFrame, chunks: Chunks, run: str, *, ties: str = "docid", scores: str = "float64"
) -> CollapsedRun:
    """One row per query and document: that of its chunk which stands highest in the run's order.

    frame: query_id, document_id (of the chunk), score, perhaps rank. The documents are put in the order of
    `pooling.ranking.ranking`, by the same rules, and `rank` counts their places. ValueError for a chunk
    without a document.

    >>> import polars as pl
    >>> ids = ["a#1", "b#1", "a#2"]
    >>> run = pl.DataFrame({"query_id": ["1"] * 3, "document_id": ids, "score": [1.0, 2, 3]})
    >>> collapse_chunks(run, Chunks("#"), "bm25").frame.select("document_id", "score", "rank").rows()
    [('a', 3.0, 1), ('b', 2.0, 2)]
    """
    ordered = order_run(frame, ties=ties, scores=scores).drop("position")
    documents = chunks.documents(ordered["document_id"], run)
    best = ordered.with_columns(documents.alias("document_id")).unique(
        ["query_id", "document_id"], keep="first", maintain_order=True
    )
    # By document id, where the ids of chunks may have settled a tie another way.
    settled = order_run(best, ties=ties, scores=scores)
    ranked = settled.drop("position").with_columns(settled["position"].cast(pl.Int64).alias("rank"))
    return CollapsedRun(ranked, _lengths(ordered), _lengths(ranked))


def _lengths(frame: pl.DataFrame) -> dict[str, int]:
    return dict(frame.group_by("query_id", maintain_order=True).len().iter_rows())


def read_chunk_map(path: Path) -> Chunks:
    """A TSV file of `chunk_id document_id`, or with a header that names them; FormatError names the line."""
    file = source_of(path, None, None)
    mapping: dict[str, str] = {}
    width, places = 2, (0, 1)
    for number, line in file.text_lines():
        fields = line.split("\t")
        named = [column_named(fields, names) for names in (CHUNK, DOCUMENT)] if number == 1 else []
        if named and None not in named:
            width, places = len(fields), (fields.index(str(named[0])), fields.index(str(named[1])))
            continue
        if len(fields) != width or not all(fields[place] for place in places):
            wrong = counted(len(fields), "field") + f" instead of {width}"
            raise file.error(
                number,
                wrong if len(fields) != width else "an id is empty",
                "Write the chunk's id, a tab, and its document's id."
                if width == 2
                else "Give every row one field for each column.",
            )
        chunk, document = (fields[place] for place in places)
        if mapping.setdefault(chunk, document) != document:
            what = f"chunk {excerpt(chunk)} is of {excerpt(mapping[chunk])} and of {excerpt(document)}"
            raise file.error(number, what, "Keep one line for each chunk.")
    if not mapping:
        raise file.empty()
    return Chunks(mapping=mapping, name=file.display_name)


def collapse_notes(collapsed: CollapsedRun, chunks: Chunks, cutoffs: Iterable[int] = ()) -> list[str]:
    """Sentences about one run: the counts, and the warning at the first K that suffers."""
    warnings = (collapsed.warning(k) for k in sorted(cutoffs))
    warning = next((one for one in warnings if one), None)
    return [sentence for sentence in (collapsed.note(chunks.words), warning) if sentence]
