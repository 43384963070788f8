"""LZ4 files of ranx: numbers by query, and nothing that takes minutes to compute."""

from __future__ import annotations

from pathlib import Path

import pytest

from pooling.inputs.stored import numbers_by_query
from tests.bounded import run_bounded

EVALUATING = """
import soundings
def read(path):
    try:
        return len(soundings.evaluate({"q": {"d": 1}}, [path], k=1).summary())
    except ValueError as error:
        return str(error)
result = [read(path) for path in arguments]
"""
QUERY = b"\xa1\x61q"
#: Whole numbers and three kinds of floating-point numbers, as RFC 8949 writes them.
NUMBERS = {
    b"\x05": 5,
    b"\x18\xff": 255,
    b"\x20": -1,
    b"\x39\x01\xf3": -500,
    b"\xf9\x3c\x00": 1,
    b"\xfa\x3f\xc0\x00\x00": 1.5,
    b"\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a": 1.1,
}
LONG = b"\xc2\x5a" + (2_000_000).to_bytes(4) + b"\xff" * 2_000_000
OTHERS = {
    "decimal": QUERY + b"\xc4\x82\x01" + LONG,
    "fraction": QUERY + b"\xa1\x61d\xd8\x1e\x82\x01" + LONG,
    "long number": QUERY + b"\xa1\x61d" + LONG,
    "lists": QUERY + b"\x9a" + (10_000_000).to_bytes(4) + b"\x80" * 10_000_000,
    "cut off": QUERY + b"\xa1\x61d\xfb\x3f",
    "many told": b"\xba" + b"\xff" * 4,
    "long text told": b"\xa1\x7a" + b"\xff" * 4 + b"q",
    "more behind": QUERY + b"\xa0\xa0",
}


@pytest.mark.parametrize("written", NUMBERS)
def test_a_number_is_read_as_it_was_written(written: bytes) -> None:
    assert numbers_by_query(QUERY + b"\xa1\x61d" + written) == {"q": {"d": NUMBERS[written]}}


@pytest.mark.slow
def test_what_ranx_does_not_write_is_refused_at_once(tmp_path: Path) -> None:
    frame = pytest.importorskip("lz4.frame")
    paths = [tmp_path / f"{name}.lz4" for name in OTHERS]
    for path, content in zip(paths, OTHERS.values(), strict=True):
        path.write_bytes(frame.compress(content))
    said, peak = run_bounded(EVALUATING, *map(str, paths))
    assert said == [f"{path.name}: not an LZ4 file of ranx. Save it again." for path in paths]
    assert peak < 600 * 2**20
