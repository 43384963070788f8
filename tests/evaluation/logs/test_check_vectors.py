"""`check_vectors`: documents embedded twice, by vectors whose figures are known."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from evaluation.logs.reembedding import check_vectors
from tests.bounded import run_bounded

READING = """
from pathlib import Path
from evaluation.logs.vectors import read_vectors
try:
    result = len(read_vectors(Path(arguments[0]), Path(arguments[0])))
except ValueError as error:
    result = str(error)
"""

# Four directions, 0°, 20°, 90° and 110°: each has one near neighbour.
OLD = np.array([[np.cos(angle), np.sin(angle)] for angle in np.radians([0, 20, 90, 110])])


def ran(*options: object) -> str:
    output = io.StringIO()
    call_command("check_vectors", *map(str, options), stdout=output)
    return output.getvalue()


def saved(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def test_vectors_that_only_changed_their_length_are_the_same() -> None:
    found = check_vectors(OLD, OLD * 3)
    assert (found["mean_cosine"], found["low_cosine"]) == pytest.approx((1, 1))
    assert (found["below"], found["neighbours"], found["self_first"]) == (0, 1, 1)


def test_two_documents_that_changed_places_are_seen_by_hand() -> None:
    found = check_vectors(OLD, OLD[[2, 1, 0, 3]])
    assert found["mean_cosine"] == pytest.approx(0.5)
    assert found["below"] == 0.5
    assert found["self_first"] == 0.5


def test_other_dimensions_leave_the_neighbours() -> None:
    found = check_vectors(OLD, np.hstack([OLD, np.zeros((4, 3))]))
    assert np.isnan(found["mean_cosine"])
    assert found["neighbours"] == 1


def test_files_are_joined_by_their_ids(tmp_path: Path) -> None:
    old = saved(tmp_path / "old.npz", vectors=OLD, ids=["a", "b", "c", "d"])
    new = saved(tmp_path / "new.npz", vectors=OLD[::-1], ids=["d", "c", "b", "e"])
    found = json.loads(ran(old, new, "--format", "json"))
    assert (found["documents"], found["only_old"], found["only_new"]) == (3, 1, 1)
    assert found["mean_cosine"] == pytest.approx(1)
    assert "100.0 % of 3 documents find themselves first." in ran(old, new)
    other = saved(tmp_path / "other.npz", vectors=np.hstack([OLD, OLD]), ids=["a", "b", "c", "d"])
    assert json.loads(ran(old, other, "--format", "json"))["mean_cosine"] is None
    assert "cannot be compared one by one" in ran(old, other)


WRONG: dict[str, dict[str, Any]] = {
    "it has no ids": {"vectors": OLD},
    "it shares 0 documents": {"vectors": OLD, "ids": ["w", "x", "y", "z"]},
    "not one for each vector": {"vectors": OLD, "ids": ["a", "a", "b", "c"]},
    "fewer than two vectors": {"vectors": OLD[:1], "ids": ["a"]},
    r"the array ids holds Python objects. Save ids with \.astype\(str\)": {
        "vectors": OLD,
        "ids": np.array(["a", "b", "c", "d"], dtype=object),
    },
    "the array vectors holds Python objects": {"vectors": OLD.astype(object), "ids": ["a", "b", "c", "d"]},
    r"no table of numbers \(4, float64\)": {"vectors": OLD[:, 0], "ids": ["a", "b", "c", "d"]},
    r"2 of 4 vectors hold a NaN or an infinite value, first in rows 0, 2 \(from 0\)": {
        "vectors": np.where(OLD[2, 1] == OLD, np.nan, OLD),
        "ids": ["a", "b", "c", "d"],
    },
    "2 of 4 vectors are zero, so they have no direction, first in rows 0, 3": {
        "vectors": OLD * np.array([[0], [1], [1], [0]]),
        "ids": ["a", "b", "c", "d"],
    },
}


@pytest.mark.parametrize("problem", WRONG)
def test_files_that_do_not_fit_are_refused(problem: str, tmp_path: Path) -> None:
    old = saved(tmp_path / "old.npz", vectors=OLD, ids=["a", "b", "c", "d"])
    with pytest.raises(CommandError, match=problem):
        ran(old, saved(tmp_path / "new.npz", **WRONG[problem]))


def test_rows_without_ids_must_be_as_many(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"3 vectors, old\.npz has 4"):
        ran(saved(tmp_path / "old.npz", vectors=OLD), saved(tmp_path / "new.npz", vectors=OLD[:3]))


def test_arrays_that_would_fill_the_memory_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, vectors=np.zeros((3_000, 1_000)))
    assert path.stat().st_size < 50_000
    with pytest.raises(CommandError, match="unpack to more than 16,777,216"):
        ran(path, path)


@pytest.mark.slow
@pytest.mark.parametrize("of", ["vectors", "ids"])
def test_arrays_that_take_no_bytes_take_no_memory(tmp_path: Path, of: str) -> None:
    """Their header says how many there are, and each is empty."""
    path, many = tmp_path / "bomb.npz", 100_000_000
    header = {"descr": "<U0", "fortran_order": False, "shape": (many,)}
    with ZipFile(path, "w") as archive:
        with archive.open("vectors.npy", "w") as file:
            np.save(file, np.empty((many, 0)) if of == "vectors" else OLD)
        with archive.open("ids.npy" if of == "ids" else "others.npy", "w") as file:
            np.save(file, OLD) if of == "vectors" else np.lib.format.write_array_header_1_0(file, header)
    said, peak = run_bounded(READING, str(path))
    assert ("no table of numbers" if of == "vectors" else "unpack to more than") in said
    assert peak < 400 * 2**20
