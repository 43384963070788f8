"""Writing runs and qrels so that every other tool reads them: UTF-8, LF, no BOM, no comments."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pooling.formats.errors import FormatError, excerpt
from pooling.formats.registry import Target, writing
from pooling.formats.sources import without_gz
from pooling.heavy import pl


@contextmanager
def replaced(path: Path | str) -> Iterator[Path]:
    """A path to write to that takes the place of `path` at the end, and leaves nothing behind after an error.

    A device or pipe is written to as it is. OSErrors name `path`, not the temporary file.
    """
    target = Path(path).resolve()
    with errors_about(path):
        if target.exists() and not target.is_file():
            yield target
            return
        with temporary_file_of(target) as temporary:
            yield temporary
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
            temporary.replace(target)


@contextmanager
def errors_about(path: Path | str) -> Iterator[None]:
    """OSErrors name the `path` that somebody chose, not the temporary file next to it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


@contextmanager
def temporary_file_of(target: Path) -> Iterator[Path]:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def write_run(frame: pl.DataFrame, path: Path | str, *, tag: str, format: str = "trec") -> None:
    """Write a run in row order: trec, csv, tsv, jsonl, json (ranx), parquet; FormatError for unfit ids."""
    if "rank" not in frame.columns:
        frame = frame.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query_id"))
    frame = frame.select("query_id", "document_id", "rank", "score")
    write_content(path, content_of(frame, Target(path, tag), format, "run"))


def write_qrels(frame: pl.DataFrame, path: Path | str, *, format: str = "trec") -> None:
    """Write qrels in the frame's row order, as trec, beir (TSV), csv, tsv, jsonl, json (ranx) or parquet."""
    write_content(path, qrels_content(frame, path, format))


def qrels_content(frame: pl.DataFrame, path: Path | str, format: str) -> bytes:
    """The bytes of `write_qrels`, before they are packed."""
    frame = frame.select("query_id", "document_id", "relevance")
    return content_of(frame, Target(path), format, "qrels")


def content_of(frame: pl.DataFrame, target: Target, format: str, kind: str) -> bytes:
    formats = writing(kind)
    if format not in formats:
        raise ValueError(f"Unknown format {format!r}; known are {', '.join(formats)}.")
    content = formats[format].writers[kind](frame, target)
    return content.encode() if isinstance(content, str) else content


def write_text(path: Path | str, text: str) -> None:
    """Write a text whole or not at all; a name that ends in .gz gets a gzip file, as it promises."""
    write_content(path, text.encode())


def write_content(path: Path | str, content: bytes) -> None:
    """As `write_text`, for bytes."""
    with replaced(path) as temporary:
        temporary.write_bytes(packed(path, content))


def write_pieces(path: Path | str, pieces: Iterable[bytes]) -> None:
    """As `write_text`, for what is too large to be in memory at once."""
    with replaced(path) as temporary, temporary.open("wb") as file:
        if Path(path).suffix.lower() == ".gz":
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packer:
                packer.writelines(pieces)
        else:
            file.writelines(pieces)


def note_on_tabs(path: Path | None) -> str:
    """A line where a table of tab-separated values goes to a file whose name promises commas, or ""."""
    if path is None or not without_gz(path.name).lower().endswith(".csv"):
        return ""
    return f"{path}: its values are separated by tabs; name it .tsv to say so.\n"


def packed(path: Path | str, content: bytes) -> bytes:
    """The bytes as a file of this name holds them; without a time in them, so that equal stays equal."""
    return gzip.compress(content, mtime=0) if Path(path).suffix.lower() == ".gz" else content


def delimited(frame: pl.DataFrame, separator: str) -> str:
    """Rows without quoting; floats as the shortest decimals that read back as the same number."""
    return "".join(separator.join(map(text_of, row)) + "\n" for row in frame.iter_rows())


def text_of(value: object) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def refuse(
    path: Path | str,
    frame: pl.DataFrame,
    pattern: str,
    what: str,
    *,
    remedy: str = "Write JSON lines or Parquet.",
) -> None:
    for column in ("query_id", "document_id", "query-id", "corpus-id"):
        if column not in frame.columns:
            continue
        bad = frame[column].filter(frame[column].str.contains(pattern))
        if len(bad):
            raise FormatError(path, None, f"the id {excerpt(bad[0])} is empty or contains {what}", remedy)


def delimitable(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame of a pool itself, when its ids fit into a TSV without quoting; FormatError otherwise."""
    remedy = "A pool is written as TSV, which cannot hold it; change the id in the run."
    refuse("the pool", frame, r"[\t\n\r\x00]", "a tab, a line end or a NUL", remedy=remedy)
    return frame


def shortest_decimals(numbers: pl.Series) -> pl.Series:
    """Floats as Python writes them, the shortest that read back; Polars does so for ordinary sizes."""
    sizes = numbers.abs()
    if ((sizes >= 1e-4) & (sizes < 1e16)).all():
        return numbers
    distinct = numbers.unique().drop_nulls()
    texts = [repr(number) for number in distinct.to_list()]
    return numbers.replace_strict(distinct, pl.Series(texts, dtype=pl.String), default=None)
