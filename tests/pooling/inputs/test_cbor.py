"""LZ4 files of ranx: numbers by query, and nothing that takes minutes to compute."""

from __future__ import annotations

from pathlib import Path

import pytest

from pooling.inputs.cbor import numbers_by_query
from tests.bounded import run_bounded

EVALUATING = """
import soundings
try:
    result = len(soundings.evaluate({"q": {"d": 1}}, [arguments[0]], k=1).summary())
except ValueError as error:
    result = str(error)
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
@pytest.mark.parametrize("name", OTHERS)
def test_what_ranx_does_not_write_is_refused_at_once(tmp_path: Path, name: str) -> None:
    frame = pytest.importorskip("lz4.frame")
    path = tmp_path / "other.lz4"
    path.write_bytes(frame.compress(OTHERS[name]))
    said, peak = run_bounded(EVALUATING, str(path))
    assert said == "other.lz4: not an LZ4 file of ranx. Save it again."
    assert peak < 600 * 2**20
