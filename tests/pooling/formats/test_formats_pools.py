"""A pool's file read back: what its columns say, and one sentence for each thing wrong with it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import soundings
from pooling.formats import FormatError
from pooling.formats.pools import read_pool

HEADER = "query_id\tdocument_id\tposition\tin_audit\tinclusion_probability\n"


def write(folder: Path, text: str, name: str = "pool.tsv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_every_pair_comes_with_its_probability_or_none(tmp_path: Path) -> None:
    found = read_pool(write(tmp_path, f"{HEADER}q1\ta\t1\t0\t1.0\nq1\tb\t2\t1\t0.25\nq1\tc\t3\t0\t\n"))

    rows = [("q1", "a", False, 1.0), ("q1", "b", True, 0.25), ("q1", "c", False, None)]
    assert found.select("query_id", "document_id", "in_audit", "inclusion_probability").rows() == rows
    assert found["version"].to_list() == [1, 1, 1]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_a_pool_that_a_data_frame_wrote_is_read(tmp_path: Path, suffix: str) -> None:
    runs = {"a": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}, "b": {"q1": {"d4": 2.0, "d2": 1.0}}}
    pooled = soundings.pool(runs, depth=3, budget=2, audit_share=0.5).drop("runs", "ranks")
    # First a pair that was not chosen, which has no probability.
    pooled = pooled.sort("inclusion_probability", nulls_last=False)
    path = tmp_path / f"pool.{suffix}"
    {"csv": pooled.write_csv, "parquet": pooled.write_parquet, "jsonl": pooled.write_ndjson}[suffix](path)
    columns = ("query_id", "document_id", "in_audit", "inclusion_probability")
    assert read_pool(path).select(columns).rows() == pooled.select(columns).rows()
    qrels = {"q1": dict.fromkeys(pooled["document_id"], 1)}
    by_frame, by_path = (soundings.evaluate(qrels, runs, k=[3], pool=pool) for pool in (pooled, path))
    assert by_path.notes == by_frame.notes
    found, wanted = by_path.estimates(), by_frame.estimates()
    assert found is not None
    assert wanted is not None
    assert found["runs"] == wanted["runs"]


def test_a_packed_pool_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pool.tsv.gz"
    path.write_bytes(gzip.compress(f"{HEADER}q1\ta\t1\t0\t1.0\n".encode()))

    assert read_pool(path).height == 1


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "the file is empty"),
        (HEADER, 1, "nothing but a header"),
        ("query_id\tdocument_id\tin_audit\nq\ta\t0\n", 1, "no column inclusion_probability among"),
        (f"{HEADER}q1\ta\t1\t0\n", 2, "4 fields where the header has 5"),
        (f"{HEADER}q1\ta\t1\tno\t1.0\n", 2, "in_audit is 'no'"),
        (f"{HEADER}q1\ta\t1\t0\t1.5\n", 2, "the inclusion probability is '1.5'"),
        (f"{HEADER}q1\ta\t1\t0\tnan\n", 2, "the inclusion probability is 'nan'"),
        (f"{HEADER}q1\ta\t1\t0\t\n\tb\t2\t0\t\n", 3, "the query id is empty"),
        (f"{HEADER}q1\ta\t1\t0\t\nq1\ta\t2\t0\t\n", 3, "appears again (first on line 2)"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, line: int | None, words: str) -> None:
    with pytest.raises(FormatError) as error:
        read_pool(write(tmp_path, text))
    assert words in str(error.value)
    assert "pool.tsv" + (f", line {line}:" if line else ":") in str(error.value)
