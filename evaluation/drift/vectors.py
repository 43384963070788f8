"""Vectors of queries, from files of NumPy."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from evaluation.drift.features import Floats
from pooling.formats.errors import FormatError

NAME = "vectors"
#: More vectors of a side are drawn down to this many.
MOST_VECTORS = 2_000


def read_vectors(log: Path, chosen: Path) -> tuple[Floats, Floats]:
    """The vectors of both sides, as many dimensions each; FormatError names the file and what is wrong."""
    first, second = _read(log), _read(chosen)
    if first.shape[1] != second.shape[1]:
        problem = f"vectors of {second.shape[1]:,} dimensions, those of {log.name} have {first.shape[1]:,}"
        raise FormatError(chosen.name, None, problem, "Encode both with one model.")
    return first, second


def _read(path: Path) -> Floats:
    try:
        with np.load(path, allow_pickle=False) as file:
            names = file.files
            if NAME not in names and len(names) != 1:
                raise FormatError(path.name, None, f"it has {len(names)} arrays", f"Call the vectors {NAME}.")
            found = file[NAME if NAME in names else names[0]]
    except FileNotFoundError:
        raise FormatError(path.name, None, "there is no such file", "Check its name.") from None
    except (OSError, ValueError, BadZipFile, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(path.name, None, "it is no .npz file", "Write it with numpy.savez.") from None
    if found.ndim != 2 or found.dtype.kind != "f" or not np.isfinite(found).all():
        raise FormatError(
            path.name, None, "the vectors are no table of numbers", "Save an (n, d) array of floats."
        )
    if len(found) < 2:
        raise FormatError(path.name, None, "fewer than two vectors", "Give the vectors of more queries.")
    vectors: Floats = found.astype(np.float64)
    if len(vectors) > MOST_VECTORS:
        rows = np.random.default_rng(0).permutation(len(vectors))[:MOST_VECTORS]
        vectors = vectors[np.sort(rows)]
    return vectors
