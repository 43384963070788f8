from __future__ import annotations

from collections.abc import Mapping
from math import inf, prod
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from pooling.formats.errors import FormatError
from pooling.formats.sources import Source, require_file
from pooling.heavy import Floats, np

NAME, IDS = "vectors", "ids"
LEAST = 2
#: More vectors of a side are drawn down to this many.
MOST_VECTORS = 2_000


def read_vectors(log: Path, chosen: Path, most: tuple[float, float] = (inf, inf)) -> tuple[Floats, Floats]:
    """The vectors of both sides, as many dimensions each; FormatError names the file and what is wrong. Of
    more than 2,000 vectors, 2,000 are drawn. most: vectors that the sides can have, the log one for each time
    that a query was asked."""
    (first, _), (second, _) = _read(log), _read(chosen)
    for path, vectors, count in ((log, first, most[0]), (chosen, second, most[1])):
        if len(vectors) > count:
            problem = f"{len(vectors):,} vectors of {count:,.0f} queries"
            raise FormatError(
                path.name, None, problem, "Name the file of the log first, that of the set last."
            )
    first, second = _sample(first), _sample(second)
    if first.shape[1] != second.shape[1]:
        problem = f"vectors of {second.shape[1]:,} dimensions, those of {log.name} have {first.shape[1]:,}"
        raise FormatError(chosen.name, None, problem, "Encode both with one model.")
    return first, second


def read_pairs(old: Path, new: Path) -> tuple[Floats, Floats, tuple[int, int]]:
    """Vectors of the documents in both files, by id or else by row; and how many are in one alone."""
    (first, first_ids), (second, second_ids) = _read(old), _read(new)
    if (first_ids is None) != (second_ids is None):
        raise FormatError(
            (old if first_ids is None else new).name, None, "it has no ids", f"Add an array {IDS}."
        )
    if first_ids is None or second_ids is None:
        if len(first) != len(second):
            problem = f"{len(second):,} vectors, {old.name} has {len(first):,}"
            raise FormatError(new.name, None, problem, f"Add an array {IDS} to both.")
        return first, second, (0, 0)
    place = {id: row for row, id in enumerate(second_ids)}
    both = [(row, place[id]) for row, id in enumerate(first_ids) if id in place]
    if len(both) < LEAST:
        raise FormatError(
            new.name, None, f"it shares {len(both)} documents with {old.name}", "Compare the ids."
        )
    rows, others = ([pair[side] for pair in both] for side in (0, 1))
    return first[rows], second[others], (len(first) - len(both), len(second) - len(both))


def _refuse_bomb(path: Path) -> None:
    """FormatError where the arrays are larger than a file of this size may hold."""
    source = Source(path, path.name)
    with ZipFile(path) as archive:
        parts = archive.infolist()
        if sum(one.file_size for one in parts) > source.unpacked_bound or any(
            _is_of_nothing(archive, one) for one in parts
        ):
            raise source.unpacks_too_far("Write it with numpy.savez.")


def _is_of_nothing(archive: ZipFile, part: ZipInfo) -> bool:
    """Whether an array has more elements than bytes: texts of no length take none, until they are read."""
    with archive.open(part) as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        return bool(prod(read(file)[0]) > part.file_size)


def _sample(vectors: Floats) -> Floats:
    if len(vectors) <= MOST_VECTORS:
        return vectors
    rows = np.random.default_rng(0).permutation(len(vectors))[:MOST_VECTORS]
    return vectors[np.sort(rows)]


def _read(path: Path) -> tuple[Floats, list[str] | None]:
    require_file(path)
    try:
        _refuse_bomb(path)
        with np.load(path, allow_pickle=False) as file:
            names = file.files
            if NAME not in names and len(names) != 1:
                raise FormatError(path.name, None, f"it has {len(names)} arrays", f"Call the vectors {NAME}.")
            name = NAME if NAME in names else names[0]
            vectors = _without_objects(path, file, name)
            ids = _without_objects(path, file, IDS).astype(str).tolist() if IDS in names else None
    except FileNotFoundError:
        raise FormatError(path.name, None, "there is no such file", "Check its name.") from None
    except (OSError, ValueError, BadZipFile, AttributeError, MemoryError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(path.name, None, "it is no .npz file", "Write it with numpy.savez.") from None
    _refuse_no_vectors(path, name, vectors)
    if ids is not None and (len(ids) != len(vectors) or len(set(ids)) < len(ids)):
        raise FormatError(
            path.name, None, "the ids are not one for each vector", "Give each vector another id."
        )
    return vectors.astype(np.float64), ids


def _without_objects(path: Path, file: Mapping[str, Any], name: str) -> Any:
    """An array; FormatError for one of Python objects, which would run code as it is read."""
    try:
        return file[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        remedy = "Save ids with .astype(str)." if name == IDS else "Save vectors with .astype(float)."
        raise FormatError(path.name, None, f"the array {name} holds Python objects", remedy) from None


def _refuse_no_vectors(path: Path, name: str, vectors: Any) -> None:
    # Vectors without dimensions take no bytes, however many a file says to have.
    if vectors.ndim != 2 or not vectors.size or vectors.dtype.kind != "f":
        shape = " × ".join(f"{size:,}" for size in vectors.shape) or "one value"
        problem = f"the array {name} is no table of numbers ({shape}, {vectors.dtype})"
        raise FormatError(path.name, None, problem, "Save an (n, d) array of floats.")
    if len(vectors) < LEAST:
        raise FormatError(path.name, None, "fewer than two vectors", "Give more vectors.")
    wrong = ~np.isfinite(vectors).all(axis=1)
    problem = "hold a NaN or an infinite value"
    if not wrong.any():
        wrong, problem = ~vectors.any(axis=1), "are zero, so they have no direction"
    if wrong.any():
        rows = ", ".join(map(str, np.flatnonzero(wrong)[:3]))
        count = f"{int(wrong.sum()):,} of {len(vectors):,} vectors"
        problem = f"{count} {problem}, first in rows {rows} (from 0)"
        raise FormatError(path.name, None, problem, "Leave these documents out, or embed them again.")
