"""TREC runs and qrels: fields separated by spaces and tabs, no header, no quoting.

A line whose first character is `#` is a comment, as in trec_eval 10; an id may hold `#` anywhere, and a
document id may begin with it. Blank lines are skipped. Regular files go straight through Polars; others are
tidied first; what still does not fit is read line by line, which names the line at fault.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pooling.formats.bytes.lines import Layout, separator_of
from pooling.formats.errors import excerpt
from pooling.formats.pairs import hashes
from pooling.formats.rows import Row, frame_of
from pooling.formats.sources import Source
from pooling.formats.values import BadValueError, parse_rank, parse_relevance, parse_score
from pooling.formats.wording import plural
from pooling.heavy import NDArray, np, pl

# A column reader may be trusted with a regular text file: each line has exactly the fields it should,
# separated by one blank of one kind, ended by LF; no comment line, no other control character. Polars fills
# short lines with nulls and can drop long ones, so it is found out here, in one pass at about 2 GB a second.

LINE_FEED, HASH, HIGHEST_BLANK = 10, 35, 32


@dataclass
class LineShape:
    """Feeds on blocks of bytes; `regular` says whether all of them had the shape."""

    fields: int
    separator: bytes
    ascii: bool = True
    _phase: int = 0
    _last_low: bool = True  # a blank before the first byte would be one too many

    def __post_init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def takes(self, block: bytes) -> bool:
        """The block goes on in the same shape; UTF-8 is checked on the way."""
        if not block.isascii() or self._decoder.getstate()[0]:
            self.ascii = False
            self._decoder.decode(block)
        codes = np.frombuffer(block, dtype=np.uint8)
        low = codes <= HIGHEST_BLANK
        if (self._last_low and (low[0] or self._is_comment(codes[0]))) or bool((low[1:] & low[:-1]).any()):
            return False
        self._last_low = bool(low[-1])
        return self._blanks_fit(codes, np.flatnonzero(low))

    def _is_comment(self, code: int) -> bool:
        return self._phase == 0 and code == HASH

    def _blanks_fit(self, codes: NDArray[np.uint8], blanks: NDArray[Any]) -> bool:
        """Every n-th blank is a line feed and all others are the separator."""
        line_ends = blanks[self.fields - 1 - self._phase :: self.fields]
        self._phase = (self._phase + len(blanks)) % self.fields
        separators = np.count_nonzero(codes == self.separator[0])
        if separators + len(line_ends) != len(blanks) or not bool((codes[line_ends] == LINE_FEED).all()):
            return False
        starts = line_ends[:-1] + 1 if len(line_ends) and line_ends[-1] == len(codes) - 1 else line_ends + 1
        return not bool((codes[starts] == HASH).any())

    def ends_well(self) -> bool:
        """The last line is whole, with or without its line feed."""
        self._decoder.decode(b"", final=True)
        return self._phase == (0 if self._last_low else self.fields - 1)


def shape_of(blocks: Iterable[bytes], fields: int, separator: bytes) -> LineShape | None:
    """The shape of a regular file, or None where a careful reader is needed."""
    shape = LineShape(fields, separator)
    try:
        regular = all(shape.takes(block) for block in blocks) and shape.ends_well()
    except UnicodeDecodeError:
        return None
    return shape if regular else None


BLANKS = re.compile(r"[ \t]+")
HEADER_ENDS = ("score", "relevance", "rel", "rating", "label", "grade")
# Lines of comments that follow each other go at once: a list of millions of pieces would fill the memory.
COMMENTS = re.compile(rb"^(?:#[^\n]*+(?:\n|\Z))++", re.MULTILINE)


@dataclass(frozen=True)
class TrecTable:
    """Columns query_id, document_id, value, rank (null where unreadable) in file order."""

    frame: pl.DataFrame
    comments: int
    ascii: bool


def read_trec(source: Source, layout: Layout, need_rank: bool = False) -> TrecTable:
    """The fastest reading that can be trusted with this file."""
    return (
        read_plain(source, layout) or read_tidied(source, layout) or read_careful(source, layout, need_rank)
    )


def read_plain(source: Source, layout: Layout) -> TrecTable | None:
    """Straight from the disk, the shape checked next to the parsing; None unless plain and regular."""
    if not source.is_plain:
        return None
    beginning = next(source.blocks(size=1 << 16))
    separator = separator_of(beginning)
    if not begins_regular(beginning, layout.fields, separator):
        return None
    with ThreadPoolExecutor(1) as pool:
        shape = pool.submit(shape_of, source.blocks(size=1 << 18), layout.fields, separator)
        frame = parse(source.path, layout, separator)
        checked = shape.result()
    return table(frame, checked, 0) if frame is not None and checked else None


def read_tidied(source: Source, layout: Layout) -> TrecTable | None:
    """The whole text with comments, blank lines, doubled blanks and CRLF taken out."""
    content, comments = tidied(source.whole())
    pieces = (content[start : start + (1 << 18)] for start in range(0, len(content), 1 << 18))
    shape = shape_of(pieces, layout.fields, b" ") if content else None
    frame = parse(content, layout, b" ") if shape else None
    return table(frame, shape, comments) if frame is not None and shape else None


def table(frame: pl.DataFrame, shape: LineShape, comments: int) -> TrecTable | None:
    usable = frame.height and frame["value"].is_finite().all() and not frame["value"].null_count()
    return TrecTable(frame, comments, shape.ascii) if usable else None


def begins_regular(beginning: bytes, fields: int, separator: bytes) -> bool:
    """A look at the first block, so that a file of another kind is never handed to the column reader."""
    try:
        return LineShape(fields, separator).takes(beginning)
    except UnicodeDecodeError:
        return False


def tidied(content: bytes) -> tuple[bytes, int]:
    """The content in regular shape where that needs no judgment, and the number of comment lines left out."""
    comments = 0
    if content.startswith(b"#") or b"\n#" in content:
        comments = content.startswith(b"#") + content.count(b"\n#")
        content = COMMENTS.sub(b"", content)
    content = content.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    while b"  " in content:
        content = content.replace(b"  ", b" ")
    content = content.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    while b"\n\n" in content:
        content = content.replace(b"\n\n", b"\n")
    return content.lstrip(b"\n"), comments


def parse(content: Path | bytes, layout: Layout, separator: bytes) -> pl.DataFrame | None:
    """Columns through Polars, without the rank where that is no whole number; None if unreadable."""
    attempts = (pl.Int32, None) if layout.has_rank else (None,)
    for rank in attempts:
        try:
            return scan(content, layout, separator, rank).collect(engine="streaming")
        except pl.exceptions.PolarsError:
            continue
    return None


def scan(
    content: Path | bytes, layout: Layout, separator: bytes, rank: type[pl.Int32] | None
) -> pl.LazyFrame:
    types = {"value": pl.Float64, "rank": rank or pl.String}
    lines = pl.scan_csv(
        content,
        has_header=False,
        separator=separator.decode(),
        quote_char=None,
        schema={name: types.get(name, pl.String) for name in layout.columns},
        glob=False,
    )
    ranks = pl.col("rank") if rank else pl.lit(None, dtype=pl.Int32).alias("rank")
    return lines.select(*layout.ids, "value", ranks, *hashes())


def last_tag(source: Source) -> str:
    """The tag of the last line, as trec_eval takes it; in a constant amount of memory."""
    ending = b""
    if source.is_plain:
        with source.opened_raw() as file:
            file.seek(max(0, source.size - (1 << 16)))
            ending = file.read()
    else:
        for block in source.blocks():
            ending = (ending + block)[-(1 << 16) :]
    lines = [line for line in ending.split(b"\n") if line.strip() and not line.startswith(b"#")]
    return BLANKS.split(lines[-1].decode(errors="replace").strip(" \t\r"))[-1] if lines else ""


def read_careful(source: Source, layout: Layout, need_rank: bool) -> TrecTable:
    """Line by line; raises FormatError at the first line that breaks a rule."""
    seen = {"comments": 0}
    frame = frame_of(careful_rows(source, layout, need_rank, seen))
    if not frame.height:
        raise source.empty()
    return TrecTable(frame.drop("line").with_columns(hashes()), seen["comments"], False)


def careful_rows(
    source: Source, layout: Layout, need_rank: bool = False, seen: dict[str, int] | None = None
) -> Iterator[Row]:
    """Every row with its line number. `seen` collects the number of comments."""
    tally = {} if seen is None else seen
    first = True
    for number, line in source.text_lines():
        if line.startswith("#"):
            tally["comments"] = tally.get("comments", 0) + 1
            continue
        fields = BLANKS.split(line.strip(" \t"))
        if fields == [""]:
            continue
        if first and (foreign := foreign_beginning(layout, fields)):
            raise source.error(number, *foreign)
        if len(fields) != layout.fields:
            problem = f"{len(fields)} {plural(len(fields), 'field')} instead of {layout.fields}"
            raise source.error(number, problem, f"Write {layout.expected}{advice(layout, len(fields))}.")
        first = False
        yield row_of(source, layout, number, fields, need_rank=need_rank)


def numbers_of_rows(source: Source) -> Iterator[int]:
    """The line number of each row of a file that was read: comments and blank lines have none."""
    lines = source.lines()
    return (number for number, line in lines if line.strip(b" \t") and not line.startswith(b"#"))


def advice(layout: Layout, count: int) -> str:
    if count > layout.fields:
        return f" and nothing after the {layout.expected.split()[-1]}; ids contain no spaces"
    return " with all fields" if layout.kind == "qrels" or count < layout.fields - 1 else ", the tag included"


def foreign_beginning(layout: Layout, fields: list[str]) -> tuple[str, str] | None:
    """The sign in a first line of another format or of a header, with its remedy."""
    if len(fields) < layout.fields - 1 and any(field.count(",") >= 2 for field in fields):
        return "this looks like CSV", "Name the columns query_id, document_id and score or relevance."
    if len(fields) != layout.fields and any("\r" in field for field in fields):
        return "lines end with a carriage return only", "Save the file with LF or CRLF at the line ends."
    if layout.kind == "qrels" and len(fields) == 6 and fields[3].isdigit() and not is_word(fields[4]):
        return "this looks like a run", f"Write {layout.expected}; runs come after the labels."
    value = fields[layout.columns.index("value")] if len(fields) == layout.fields else ""
    if is_word(value) or fields[-1].lower() in HEADER_ENDS:
        return (
            f"this looks like a header ({excerpt(' '.join(fields))})",
            f"Remove the line (each line is {layout.expected}), or give the file the suffix .tsv or .csv.",
        )
    return None


def is_word(field: str) -> bool:
    """The field is a name of a column rather than a number gone wrong."""
    return field[:1].isalpha() and field.lower() not in ("nan", "inf", "infinity", "none", "null")


def row_of(source: Source, layout: Layout, number: int, fields: list[str], *, need_rank: bool) -> Row:
    value = fields[layout.columns.index("value")]
    try:
        rank = rank_of(fields[3], need_rank) if layout.has_rank else None
        parsed = parse_score(value) if layout.kind == "run" else float(parse_relevance(value))
    except BadValueError as bad:
        raise source.error(number, bad.problem, bad.remedy) from bad
    return Row(fields[0], fields[2], parsed, rank, number)


def rank_of(text: str, needed: bool) -> int | None:
    """The rank; one that is no whole number is ignored where it decides nothing, as trec_eval does."""
    try:
        return parse_rank(text)
    except BadValueError:
        if needed:
            raise
        return None


def reads_as_row(line: str, layout: Layout) -> bool:
    """The line would be a valid row: then a `#` before it may belong to the query id."""
    fields = BLANKS.split(line.strip(" \t"))
    if len(fields) != layout.fields:
        return False
    parse_value = parse_score if layout.kind == "run" else parse_relevance
    try:
        parse_value(fields[layout.columns.index("value")])
    except BadValueError:
        return False
    return True
