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
#: Most bytes of one record: a longer one is none of any format here. As objects of Python it takes up to 25
#: times as many (8 MiB).
MAX_LINE_BYTES = 8 * 2**20
#: A packed file may hold this many times its own bytes, and this many bytes whatever its size (16 MiB). Text
#: shrinks to a tenth or so; what shrinks to a thousandth is there to fill a memory.
UNPACKED_FACTOR = 32
LEAST_UNPACKED = 16 * 2**20
#: What readers hand out may be this many times the bytes on disk, in characters of names and values: a header
#: is handed out with every row, and a word that a packed file holds once with every row that names it.
HANDED_FACTOR = 64
#: Characters that a record counts beside its own: what many empty ones cost.
RECORD_COST = 64

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP_MAGIC = b"\x1f\x8b"
PARQUET_MAGIC = b"PAR1"
# Of packers that no format here uses. Polars would unpack what they made without a bound.
OTHER_PACKERS = {
    b"\x28\xb5\x2f\xfd": "zstd",
    **dict.fromkeys((b"x\x01", b"x\x5e", b"x\x9c", b"x\xda"), "zlib"),
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "ZIP",
}


def without_gz(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") and len(name) > 3 else name


@dataclass(frozen=True)
class Source:
    """One file to read; `display_name` is the name that errors use, `format` the name of its format.

    Of a table: `separator`, where it is not the one of its format; `names` of the columns, where no line
    has them.
    """

    path: Path
    display_name: str
    max_bytes: int | None = None
    format: str = "trec"
    separator: str = ""
    names: tuple[str, ...] = ()

    @cached_property
    def head(self) -> bytes:
        with self.opened_raw() as file:
            return file.read(6)

    @property
    def is_plain(self) -> bool:
        """The bytes on disk are the text itself: neither gzip nor a byte order mark in front."""
        return not self.head.startswith((GZIP_MAGIC, BYTE_ORDER_MARK))

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def error(self, line: int | None, problem: str, remedy: str) -> FormatError:
        return FormatError(self.display_name, line, problem, remedy)

    def opened_raw(self) -> BinaryIO:
        return opened_file(self.path, self.display_name)

    @property
    def unpacked_bound(self) -> int:
        """Most bytes that a packed file may hold."""
        bound = DEFAULT_MAX_BYTES if self.max_bytes is None else self.max_bytes
        return min(bound, max(LEAST_UNPACKED, UNPACKED_FACTOR * self.size))

    @property
    def handed_bound(self) -> int:
        bound = DEFAULT_MAX_BYTES if self.max_bytes is None else self.max_bytes
        return max(LEAST_UNPACKED, min(4 * bound, HANDED_FACTOR * self.size))

    def blocks(self, size: int = 1 << 20) -> Iterator[bytes]:
        """The unpacked bytes in blocks, without the byte order mark; stops with an error past the bound."""
        packed = self.head.startswith(GZIP_MAGIC)
        bound = self.unpacked_bound if packed else self.max_bytes
        total = 0
        with self.opened_raw() as raw:
            file = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
            while block := self.next_block(file, size):
                total += len(block)
                if bound is not None and total > bound:
                    raise self.unpacks_too_far() if packed else self.too_large(bound)
                first = total == len(block)
                if first:
                    self.refuse_other_packers(block)
                yield block.removeprefix(BYTE_ORDER_MARK) if first else block

    def refuse_other_packers(self, beginning: bytes) -> None:
        for magic, name in OTHER_PACKERS.items():
            if beginning.startswith(magic):
                if self.display_name.lower().endswith((".xlsx", ".ods")):
                    raise self.error(None, "a workbook is not read", "Save the sheet as CSV in UTF-8.")
                if self._is_folder_for_mteb:
                    raise self.error(
                        None,
                        "this is a ZIP of a folder for MTEB",
                        "Unpack it, and give one of its files: qrels/test.jsonl has the labels.",
                    )
                raise self.error(
                    None, f"the file is compressed with {name}", "Decompress it, or compress it with gzip."
                )

    @property
    def _is_folder_for_mteb(self) -> bool:
        """The first file in a ZIP, whose name is 30 bytes after its beginning, is the corpus."""
        with self.opened_raw() as file:
            return file.read(64)[30:].startswith(b"corpus.jsonl")

    def next_block(self, file: BinaryIO, size: int) -> bytes:
        try:
            return file.read(size)
        except EOFError as error:
            raise self.error(None, "the gzip file is incomplete", "Copy or compress it again.") from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self.error(
                None, f"the gzip file is damaged ({error})", "Copy or compress it again."
            ) from error

    def too_large(self, bound: int) -> FormatError:
        return self.error(
            None, f"more than {bound:,} bytes once unpacked", "Split the file, or raise the limit."
        )

    def unpacks_too_far(
        self, remedy: str = "Decompress it, and use the file inside.", bound: int | None = None
    ) -> FormatError:
        """The error of a file that holds more than `bound` bytes, `unpacked_bound` unless given."""
        bound = self.unpacked_bound if bound is None else bound
        if bound == self.max_bytes:
            return self.too_large(bound)
        problem = f"its {self.size:,} bytes unpack to more than {bound:,}"
        return self.error(None, problem, remedy)

    def whole(self) -> bytes:
        """All unpacked bytes; errors on an empty file."""
        content = b"".join(self.blocks())
        if not content.strip(b" \t\r\n"):
            raise self.empty()
        return content

    def empty(self) -> FormatError:
        return self.error(None, "the file is empty", "Check that the program writing it has finished.")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Numbered lines without LF or CRLF. Only LF ends a line: passages hold U+0085 and U+2028."""
        number, rest = 0, b""
        output = OutputBudget(self) if self.head.startswith(GZIP_MAGIC) else None
        for block in self.blocks():
            *complete, rest = (rest + block).split(b"\n")
            for line in complete:
                number += 1
                if output is not None:
                    output.take(len(line))
                yield number, line.removesuffix(b"\r")
            if len(rest) > MAX_LINE_BYTES:
                raise self.too_long(number + 1)
        if rest:
            yield number + 1, rest.removesuffix(b"\r")

    def too_long(self, line: int) -> FormatError:
        problem = f"a record of more than {MAX_LINE_BYTES:,} bytes"
        return self.error(line, problem, "End each record with LF, and split longer records.")

    def text_lines(self) -> Iterator[tuple[int, str]]:
        """Numbered lines as text; errors name the first line that is not UTF-8 or holds a NUL."""
        for number, line in self.lines():
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


class OutputBudget:
    """Adds up what a reader hands out of a file as it goes, so that it ends where that is too much."""

    def __init__(self, source: Source) -> None:
        self._source, self._left = source, source.handed_bound

    def take(self, characters: int, records: int = 1) -> None:
        """Count records that have this many characters in all; FormatError past `handed_bound`."""
        self._left -= RECORD_COST * records + characters
        if self._left < 0:
            source = self._source
            is_packed = source.head.startswith(GZIP_MAGIC)
            remedy = "Decompress it, and use the file inside." if is_packed else "Write it as JSON lines."
            raise source.unpacks_too_far(remedy, source.handed_bound)


def opened_file(path: Path, name: str = "") -> BinaryIO:
    """FormatError for what is not there, may not be read, or is no file."""
    require_file(path, name)
    try:
        return path.open("rb")
    except OSError as error:
        problem = f"the file cannot be opened ({(error.strerror or str(error)).lower()})"
        raise FormatError(name or path.name, None, problem, "Check its name.") from error


def require_file(path: Path, name: str = "") -> None:
    """FormatError for a device or a pipe, which may have no end, and for a folder."""
    problem = remedy = ""
    if path.is_dir():
        problem, remedy = "this is a folder", "Give the files in it."
    elif path.exists() and not path.is_file():
        problem, remedy = "this is a pipe or a device, and files are read twice", "Save it to a file first."
    if problem:
        raise FormatError(name or path.name or str(path), None, problem, remedy)
