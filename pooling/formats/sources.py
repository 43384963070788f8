"""Bytes of a file, wherever they come from: plain or gzip, bounded, split into lines on LF only."""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

from pooling.formats.errors import FormatError

#: Most bytes a gzip file may hold once unpacked, unless `max_bytes` says otherwise (4 GiB).
DEFAULT_MAX_BYTES = 4 * 2**30
#: Most bytes of one line: a longer one is no record of any format here (64 MiB).
MAX_LINE_BYTES = 64 * 2**20

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP_MAGIC = b"\x1f\x8b"
TABLE_SUFFIXES = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
KNOWN_SUFFIXES = (".run", ".txt", ".trec", ".res", *TABLE_SUFFIXES)


def name_of(path: Path | str) -> str:
    """The name of a run: its file's name without `.gz` and one known suffix.

    >>> name_of("runs/bm25.v2.run.gz")
    'bm25.v2'
    """
    name = without_gz(Path(path).name)
    for suffix in KNOWN_SUFFIXES:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def without_gz(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") and len(name) > 3 else name


@dataclass(frozen=True)
class Source:
    """One file to read; `shown` is the name that errors use and whose suffix decides the format."""

    path: Path
    shown: str
    max_bytes: int | None = None

    @cached_property
    def format(self) -> str:
        return TABLE_SUFFIXES.get(Path(without_gz(self.shown)).suffix.lower(), "trec")

    @cached_property
    def head(self) -> bytes:
        with self.opened_raw() as file:
            return file.read(4)

    @property
    def is_plain(self) -> bool:
        """Whether the bytes on disk are the text itself: neither gzip nor a byte order mark in front."""
        return not self.head.startswith((GZIP_MAGIC, BYTE_ORDER_MARK))

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def error(self, line: int | None, problem: str, remedy: str) -> FormatError:
        return FormatError(self.shown, line, problem, remedy)

    def opened_raw(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise self.error(None, f"the file cannot be opened ({reason})", "Check its name.") from error

    def bounded(self, default: int | None) -> int | None:
        return default if self.max_bytes is None else self.max_bytes

    def blocks(self, size: int = 1 << 20, default_bound: int | None = DEFAULT_MAX_BYTES) -> Iterator[bytes]:
        """The unpacked bytes in blocks, without the byte order mark; stops with an error past the bound."""
        packed = self.head.startswith(GZIP_MAGIC)
        bound = self.bounded(default_bound if packed else None)
        total = 0
        with self.opened_raw() as raw:
            file = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
            while block := self.next_block(file, size):
                total += len(block)
                if bound is not None and total > bound:
                    raise self.too_large(bound)
                first = total == len(block)
                yield block.removeprefix(BYTE_ORDER_MARK) if first else block

    def next_block(self, file: BinaryIO, size: int) -> bytes:
        try:
            return file.read(size)
        except EOFError as error:
            raise self.error(
                None, "the gzip file ends in the middle", "Copy or compress it once more."
            ) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self.error(
                None, f"the gzip file is damaged ({error})", "Copy or compress it once more."
            ) from error

    def too_large(self, bound: int) -> FormatError:
        return self.error(
            None, f"more than {bound:,} bytes once unpacked", "Split the file, or raise the limit."
        )

    def whole(self) -> bytes:
        """All unpacked bytes; errors on an empty file."""
        content = b"".join(self.blocks())
        if not content.strip(b" \t\r\n"):
            raise self.empty()
        return content

    def empty(self) -> FormatError:
        return self.error(None, "the file is empty", "Check that what writes it has finished.")

    def lines(self, default_bound: int | None = DEFAULT_MAX_BYTES) -> Iterator[tuple[int, bytes]]:
        """Numbered lines without LF or CRLF. Only LF ends a line: passages hold U+0085 and U+2028."""
        number, rest = 0, b""
        for block in self.blocks(default_bound=default_bound):
            *complete, rest = (rest + block).split(b"\n")
            for line in complete:
                number += 1
                yield number, line.removesuffix(b"\r")
            if len(rest) > MAX_LINE_BYTES:
                raise self.error(
                    number + 1, f"a line of more than {MAX_LINE_BYTES:,} bytes", "End each record with LF."
                )
        if rest:
            yield number + 1, rest.removesuffix(b"\r")

    def text_lines(self, default_bound: int | None = DEFAULT_MAX_BYTES) -> Iterator[tuple[int, str]]:
        """Numbered lines as text; errors name the first line that is not UTF-8 or holds a NUL."""
        for number, line in self.lines(default_bound):
            yield number, self.decoded(number, line)

    def decoded(self, number: int, line: bytes) -> str:
        if self.head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise self.error(number, "the file is UTF-16", "Save it as UTF-8.")
        if b"\0" in line:
            raise self.error(number, "a NUL byte, so this is a binary file", "Give a text file in UTF-8.")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            problem = f"byte {error.start + 1} of the line is not UTF-8"
            raise self.error(number, problem, "Save the file as UTF-8.") from error


def source_of(source: Path | str, file_name: str | None, max_bytes: int | None) -> Source:
    """The file, checked against `max_bytes` as it lies on disk."""
    path = Path(source)
    found = Source(path, file_name or path.name, max_bytes)
    if path.is_dir():
        raise found.error(None, "this is a folder", "Give the files in it.")
    if path.exists() and not path.is_file():
        raise found.error(
            None, "this is a pipe or a device, and files are read twice", "Save it to a file first."
        )
    if not found.head:
        raise found.empty()
    if max_bytes is not None and found.size > max_bytes:
        raise found.too_large(max_bytes)
    return found
