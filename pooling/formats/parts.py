"""Large TREC files by their bytes: a run in parts of whole queries, qrels in one piece, both in threads.

Only regular files are read this way; any other, and every file with an error, is left to `read_run` and
`read_qrels`, which name what is wrong. The checks are the same: shape, finite scores, no pair twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from os import cpu_count
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar

from pooling.formats.bytes.decimals import decimals
from pooling.formats.bytes.ids import (
    PADDING,
    WORD,
    Codes,
    Ids,
    Words,
    any_twice,
    codes_of,
    first_rows,
    pair_keys,
)
from pooling.formats.bytes.lines import QRELS, RUN, IrregularError, Layout, Lines, separator_of
from pooling.formats.registry import source_of
from pooling.formats.sources import Source
from pooling.formats.trec import scan
from pooling.formats.values import INT32
from pooling.heavy import Integers, np, npt, pl

Task = TypeVar("Task")
Result = TypeVar("Result")

#: Smaller runs gain nothing from being parted.
SMALLEST = 1 << 24
COLUMNS = ("query_id", "document_id", "value")
#: What one machine of several is given at a time.
RANGE_BYTES = 1 << 25
PART_BYTES = 1 << 21  # about what a core's cache holds with all that is computed from it


@dataclass(frozen=True)
class PlainRows:
    """Some whole queries of a run or of qrels, in file order, checked; ids stay where they are in the text.

    queries: (q,) distinct ids. start: (q,) their first rows. documents, values: (n,) one for each row, the
    values being scores or labels.
    """

    queries: Ids
    start: Integers
    documents: Ids
    values: npt.NDArray[np.float64]
    separator: bytes

    @cached_property
    def depth(self) -> Integers:
        """(q,) rows of each query."""
        return np.diff(self.start, append=len(self.documents))

    @cached_property
    def keys(self) -> Words:
        """(n,) the keys of the pairs, as `pair_keys` gives them."""
        return pair_keys(self.queries, self.depth, self.documents)

    def compare_with_next(self, rows: Integers) -> npt.NDArray[np.int8]:
        """-1, 0 or 1: whether the document id of a row is below, equal to or above the next one."""
        return self.documents[rows].compare(self.documents[rows + 1])

    def frame(self) -> pl.DataFrame:
        lines = scan(text_of(self.documents.codes), RUN, self.separator, None)
        return lines.select("query_id", "document_id", pl.col("value").alias("score")).collect()


def map_run_parts(
    source: Path | str,
    function: Callable[[PlainRows], Result],
    *,
    file_name: str | None = None,
    max_bytes: int | None = None,
    smallest: int = SMALLEST,
    part_bytes: int = PART_BYTES,
) -> list[Result] | None:
    """`function` of each part, of whole queries, in file order, in several threads; None: use `read_run`."""
    file = source_of(source, file_name, max_bytes, "run")
    return map_parts(file, RUN, function, part_bytes) if file.size >= smallest else None


def read_plain_qrels(source: Path | str, *, part_bytes: int = PART_BYTES) -> PlainRows | None:
    """Qrels in one piece, whole labels as values; None: use `read_qrels`."""
    file = source_of(source, None, None, "qrels")
    parts = map_parts(file, QRELS, checked_labels, part_bytes)
    return joined(parts) if parts else None


def map_parts(
    file: Source, layout: Layout, function: Callable[[PlainRows], Result], part_bytes: int
) -> list[Result] | None:
    """`function` of each part in file order; None for an irregular file or one with scattered queries."""
    done = keyed_parts(file, layout, function, part_bytes) if file.format == "trec" else None
    if done is None or any_twice(np.concatenate([keys for keys, _ in done])):
        return None
    return [result for _, result in done]


class Text(Protocol):
    """A text in blocks: a `Source`, or a range of one."""

    def blocks(self, size: int) -> Iterator[bytes]: ...


def keyed_parts(
    text: Text, layout: Layout, function: Callable[[PlainRows], Result], part_bytes: int
) -> list[tuple[Words, Result]] | None:
    """The keys of the queries and `function` of each part in order; None for an irregular text."""

    def work(codes: Codes) -> tuple[Words, Result]:
        rows = read_part(codes, layout, separator)
        return rows.queries.keys, function(rows)

    separator = separator_of(next(text.blocks(1 << 16)))
    try:
        return list(in_threads(work, whole_queries(text, separator, part_bytes)))
    except IrregularError:
        return None


@dataclass(frozen=True)
class Range:
    """The bytes of a plain file from `first` up to `last`."""

    path: Path
    first: int
    last: int

    def blocks(self, size: int) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(self.first)
            while block := file.read(min(size, self.last - file.tell())):
                yield block


def map_range(
    path: Path,
    first: int,
    last: int,
    function: Callable[[PlainRows], Result],
    *,
    part_bytes: int = PART_BYTES,
) -> list[tuple[Words, Result]] | None:
    """As `map_run_parts` for one of a run's `query_ranges`, with keys by which ranges can be compared."""
    return keyed_parts(Range(path, first, last), RUN, function, part_bytes)


def query_ranges(path: Path | str, *, smallest: int = SMALLEST) -> list[tuple[int, int]] | None:
    """Ranges of bytes that end where the lines of a query end; None for what must be read whole."""
    file = source_of(path, None, None, "run")
    if file.format != "trec" or not file.is_plain or file.size < smallest:
        return None
    edges = [0]
    with file.opened_raw() as raw:
        for nominal in range(RANGE_BYTES, file.size, RANGE_BYTES):
            raw.seek(max(nominal, edges[-1]))
            edges.append(start_of_next_query(raw))
    return [(first, last) for first, last in pairwise([*edges, file.size]) if first < last]


def start_of_next_query(raw: BinaryIO) -> int:
    """Where the next query begins, behind the line being read; the end of the file without one."""
    raw.readline()
    query = None
    while line := raw.readline():
        before, query = query, line.split(None, 1)[:1]
        if before is not None and query != before:
            return raw.tell() - len(line)
    return raw.tell()


def read_part(codes: Codes, layout: Layout, separator: bytes) -> PlainRows:
    """A checked part; IrregularError for anything that is not plainly in order."""
    lines = Lines(codes, 0, len(codes) - WORD, fields=layout.fields, separator=separator)
    queries, documents, values = (lines.field(layout.columns.index(name)) for name in COLUMNS)
    start = first_rows(queries)
    numbers = decimals(codes, values.start, values.length)
    if numbers is None:
        numbers = read_numbers(codes, layout, separator)
    rows = PlainRows(queries[start], start, documents, numbers, separator)
    if any_twice(rows.keys):
        raise IrregularError
    return rows


def read_numbers(codes: Codes, layout: Layout, separator: bytes) -> npt.NDArray[np.float64]:
    """The values through Polars, which reads numbers written in any way."""
    try:
        read = scan(text_of(codes), layout, separator, None).select("value").collect()["value"]
    except pl.exceptions.PolarsError as error:
        raise IrregularError from error
    if read.null_count() or not read.is_finite().all():
        raise IrregularError
    return read.to_numpy()


def text_of(codes: Codes) -> bytes:
    return codes[:-WORD].tobytes()


def whole_queries(file: Text, separator: bytes, part_bytes: int) -> Iterator[Codes]:
    """The text in parts that end where a query ends, each with some bytes more, as `Ids` wants it."""
    rest = b""
    for block in file.blocks(part_bytes):
        content = b"".join((rest, block, PADDING))
        end = start_of_last_query(content, len(content) - WORD, separator)
        if end:
            yield np.frombuffer(content, dtype=np.uint8)[: end + WORD]
        rest = content[end:-WORD]
    if rest:
        yield codes_of(rest, b"" if rest.endswith(b"\n") else b"\n")


def start_of_last_query(content: bytes, size: int, separator: bytes) -> int:
    """Offset at which the lines of the last whole line's query begin; the lines before it are complete."""
    end = content.rfind(b"\n", 0, size) + 1
    start = content.rfind(b"\n", 0, end - 1) + 1 if end else 0
    query = content[start:end].partition(separator)[0] + separator
    while start:
        before = content.rfind(b"\n", 0, start - 1) + 1
        if not content.startswith(query, before):
            return start
        start = before
    return 0


def checked_labels(rows: PlainRows) -> PlainRows:
    whole = (rows.values == np.rint(rows.values)) & (np.abs(rows.values) < INT32)
    if not bool(whole.all()):
        raise IrregularError
    return rows


def joined(parts: Sequence[PlainRows]) -> PlainRows:
    rows = np.array([len(part.documents) for part in parts])
    queries, documents = (
        Ids.join([getattr(part, name) for part in parts]) for name in ("queries", "documents")
    )
    before = np.repeat(np.cumsum(rows) - rows, [len(part.queries) for part in parts])
    start, values, keys = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "values", "keys")
    )
    whole = PlainRows(queries, start + before, documents, values, parts[0].separator)
    whole.__dict__["keys"] = keys  # known already
    return whole


def in_threads(work: Callable[[Task], Result], parts: Iterable[Task]) -> Iterator[Result]:
    """The results in order, with a few parts under way at a time, so that memory stays small."""
    workers = min(cpu_count() or 1, 8)
    waiting = iter(parts)
    with ThreadPoolExecutor(workers) as pool:
        first = islice(waiting, 2 * workers)
        pending: deque[Future[Result]] = deque(pool.submit(work, part) for part in first)
        while pending:
            result = pending.popleft().result()
            pending.extend(pool.submit(work, part) for part in islice(waiting, 1))
            yield result
