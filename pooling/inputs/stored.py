"""Folders as BEIR and Hugging Face lay them out, and files of ranx in LZ4: what no format of one file is."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from pooling.formats import read_qrels
from pooling.formats.errors import FormatError, excerpt
from pooling.formats.registry import formats_by_suffix, source_of
from pooling.formats.sources import Source, without_gz
from pooling.heavy import pl
from pooling.inputs.given import RUN

#: Folders that hold labels, and stems of files that do, in the order in which they are looked for.
_FOLDERS = ("qrels", "default", "data", "")
_LZ4 = b"\x04\x22\x4d\x18"
_SPLITS = ("test", "validation", "dev", "train")
# CBOR as ranx writes it (RFC 8949): lists of numbers by query, and nothing else that CBOR has. Its tags make
# decimals and fractions of a few kilobytes, which take minutes to compute; here none is.
_WHOLE, _NEGATIVE, _TEXT, _MAP, _OTHER = 0, 1, 3, 5, 7
#: What follows the first byte: of lengths and whole numbers, and of floating-point numbers.
_LENGTHS, _FLOATS = {24: ">B", 25: ">H", 26: ">I", 27: ">Q"}, {25: ">e", 26: ">f", 27: ">d"}


def read_unusual(path: Path | str, kind: str, notes: list[str]) -> Any:
    """Its rows: a frame, or the dict of ranx."""
    path = Path(path)
    if path.is_dir():
        return _of_folder(path, kind, notes)
    return _of_lz4(path)


def _of_lz4(path: Path) -> Mapping[str, Mapping[str, float]]:
    try:
        import lz4.frame  # noqa: F401
    except ImportError:
        remedy = "Install ranx, which brings it, or save it as JSON: run.save('run.json')."
        raise FormatError(path.name, None, "LZ4 files of ranx need lz4", remedy) from None
    try:
        source = source_of(path, None, None)
        content = _unpacked(source, path)
        # Some versions of ranx compress twice.
        return numbers_by_query(_unpacked(source, BytesIO(content)) if content.startswith(_LZ4) else content)
    except FormatError:
        raise
    except (RuntimeError, EOFError, ValueError) as error:
        raise FormatError(path.name, None, "not an LZ4 file of ranx", "Save it again.") from error
    except OSError as error:
        problem = f"the file cannot be opened ({(error.strerror or str(error)).lower()})"
        raise FormatError(path.name, None, problem, "Check its name.") from error


def _unpacked(source: Source, packed: Path | BytesIO) -> bytes:
    """Bytes out of LZ4; FormatError for more than such a file may hold."""
    import lz4.frame

    with lz4.frame.open(packed, mode="rb") as file:
        content: bytes = file.read(source.unpacked_bound + 1)
    if len(content) > source.unpacked_bound:
        raise source.unpacks_too_far("Save it as JSON: run.save('run.json').")
    return content


def _of_folder(path: Path, kind: str, notes: list[str]) -> pl.DataFrame:
    if (path / "dataset_dict.json").is_file():
        splits = {one.name: [one] for one in sorted(path.iterdir()) if one.is_dir()}
        return _arrow(_chosen(path, splits, notes)[0])
    if (path / "state.json").is_file():
        return _arrow(path)
    if kind == RUN:
        raise FormatError(path.name or str(path), None, "this is a folder", "Give the files in it.")
    for name in _FOLDERS:
        splits = _splits_in(path / name, only_qrels=not name)
        if splits:
            files = _chosen(path, splits, notes)
            frames = []
            for file in files:
                read = read_qrels(file)
                notes += [f"{path.name}/{file.relative_to(path)}: {note}" for note in read.notes]
                frames.append(read.frame)
            return pl.concat(frames)
    wanted = "qrels/test.tsv, as BEIR has it, or Parquet files in qrels, default or data"
    raise FormatError(path.name, None, f"this folder has no {wanted}", "Give the file with the labels.")


def _splits_in(folder: Path, *, only_qrels: bool) -> dict[str, list[Path]]:
    """Split -> its files, which Hugging Face numbers: test-00000-of-00002.parquet."""
    splits: dict[str, list[Path]] = {}
    suffixes = formats_by_suffix()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        name = Path(without_gz(path.name))
        if path.is_file() and (name.suffix.lower() in suffixes) and (name.stem == "qrels" or not only_qrels):
            splits.setdefault(name.stem.partition("-0")[0], []).append(path)
    return splits


def _chosen(folder: Path, splits: Mapping[str, list[Path]], notes: list[str]) -> list[Path]:
    """The files of the only split, or of the one that is meant for measuring, with a note."""
    if len(splits) == 1:
        return next(iter(splits.values()))
    name = next((one for one in _SPLITS if one in splits), None)
    if name is None:
        listed = excerpt(", ".join(sorted(splits)), 80)
        raise FormatError(folder.name, None, f"this folder has {listed}", "Give one of these files.")
    others = ", ".join(sorted(splits.keys() - {name}))
    notes.append(f"{folder.name}: the labels are those of {name}; there are {others} too.")
    return splits[name]


def _arrow(folder: Path) -> pl.DataFrame:
    """Rows that `save_to_disk` of Hugging Face wrote."""
    files = sorted(folder.glob("*.arrow"))
    if not files:
        raise FormatError(folder.name, None, "this folder has no .arrow files", "Save the data set again.")
    try:
        return pl.concat([pl.read_ipc_stream(file) for file in files])
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FormatError(folder.name, None, "its .arrow files cannot be read", "Save it again.") from error


def numbers_by_query(content: bytes) -> dict[str, dict[str, float]]:
    """Query -> document -> number; `ValueError` for anything else."""
    try:
        lists = _Reader(content).lists()
    except (IndexError, struct.error) as error:
        raise ValueError("it is cut off") from error
    return lists


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def lists(self) -> dict[str, dict[str, float]]:
        scores = {}
        for _ in range(self._size(_MAP)):
            query = self._text()
            scores[query] = {self._text(): self._number() for _ in range(self._size(_MAP))}
        if self._at != len(self._content):
            raise ValueError("something follows the lists")
        return scores

    def _head(self) -> tuple[int, int]:
        """The kind of the next value, and what else its first byte says."""
        first = self._content[self._at]
        self._at += 1
        return first >> 5, first & 31

    def _unpacked(self, form: str) -> float:
        value: float = struct.unpack_from(form, self._content, self._at)[0]
        self._at += struct.calcsize(form)
        return value

    def _length(self, head: int) -> int:
        if head < 24:
            return head
        if head not in _LENGTHS:
            raise ValueError("a length that is not told")
        return int(self._unpacked(_LENGTHS[head]))

    def _size(self, expected: int) -> int:
        kind, head = self._head()
        if kind != expected:
            raise ValueError("not what ranx writes")
        return self._length(head)

    def _text(self) -> str:
        end = self._size(_TEXT) + self._at
        if end > len(self._content):
            raise ValueError("it is cut off")
        text, self._at = self._content[self._at : end].decode(), end
        return text

    def _number(self) -> float:
        kind, head = self._head()
        if kind == _OTHER and head in _FLOATS:
            return self._unpacked(_FLOATS[head])
        if kind not in (_WHOLE, _NEGATIVE):
            raise ValueError("not a number")
        return self._length(head) if kind == _WHOLE else -1 - self._length(head)
