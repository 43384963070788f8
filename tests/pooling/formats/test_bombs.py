"""Small files that would fill the memory are refused in a sentence before they do."""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import fastparquet
import pandas as pd
import polars as pl
import pytest

from pooling.formats import FormatError, read_qrels, read_run
from tests.bounded import run_bounded
from tests.pooling import bombs

MEGABYTE = 2**20
#: What a bomb may take beyond what a small file takes. Unbounded, each of them takes a gigabyte or more.
MARGIN = 400 * MEGABYTE
READING_OF_A_RUN = """
from pooling.formats import FormatError, read_run
try:
    result = read_run(arguments[0], max_bytes=4_000_000_000).frame.height
except FormatError as error:
    result = str(error)
"""
IMPORT_OF_DOCUMENTS = """
import django
django.setup()
from pooling.formats import FormatError, iterate_documents
from pooling.texts.importing import _checked_row, _weighed_batches
try:
    records = iterate_documents(arguments[0], max_bytes=4_000_000_000)
    for batch in _weighed_batches(records):
        rows = [_checked_row(record, "file") for record in batch]
    result = len(rows)
except ValueError as error:
    result = str(error)
"""


@cache
def memory_of_a_small_file(script: str) -> int:
    """Measured once, whatever file it is compared with."""
    with TemporaryDirectory() as folder:
        if script == IMPORT_OF_DOCUMENTS:
            path = bombs.write(Path(folder), "small.jsonl", b'{"_id": "d1", "text": "text"}\n')
        else:
            path = Path(folder) / "small.parquet"
            pl.DataFrame({"qid": ["q1"], "docid": ["d1"], "score": [1.0]}).write_parquet(path)
        result, peak = run_bounded(script, str(path))
    assert result == 1
    return peak


def refused(folder: Path, script: str, name: str, content: bytes) -> str:
    """What the error says of a file, which took little memory."""
    assert len(content) < 8 * MEGABYTE
    path = bombs.write(folder, name, content)
    said, peak = run_bounded(script, str(path), seconds=120)
    taken = peak - memory_of_a_small_file(script)
    assert taken < MARGIN, f"{taken / MEGABYTE:.0f} MB"
    return str(said)


@pytest.mark.slow
@pytest.mark.parametrize("name", bombs.RUNS)
def test_a_run_that_would_fill_the_memory_is_refused_before_it_does(tmp_path: Path, name: str) -> None:
    content, problem = bombs.RUNS[name]
    said = refused(tmp_path, READING_OF_A_RUN, name, content())
    assert said.startswith(name)
    assert problem in said
    assert said.endswith(".")


@pytest.mark.slow
@pytest.mark.parametrize("name", bombs.DOCUMENTS)
def test_texts_that_would_fill_the_memory_are_refused_before_they_do(tmp_path: Path, name: str) -> None:
    content, problem = bombs.DOCUMENTS[name]
    assert problem in refused(tmp_path, IMPORT_OF_DOCUMENTS, name, content())


@pytest.mark.parametrize("name", ["a.run", "a.csv", "a.json", "a.jsonl"])
@pytest.mark.parametrize(
    ("beginning", "packer"),
    [(b"\x28\xb5\x2f\xfd", "zstd"), (b"x\x01\x01\xc2\x80=\x7f", "zlib"), (b"PK\x03\x04", "ZIP")],
)
def test_what_another_packer_made_is_never_unpacked(
    tmp_path: Path, name: str, beginning: bytes, packer: str
) -> None:
    path = bombs.write(tmp_path, name, beginning + b"query_id,document_id,score\nq1,d1,1\n")
    with pytest.raises(
        FormatError, match=f"the file is compressed with {packer}. Decompress it, or compress it with gzip"
    ):
        read_run(path)


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "zstd", "gzip", "lz4", "brotli"])
def test_parquet_as_others_write_it_is_read(tmp_path: Path, compression: str) -> None:
    frame = pl.DataFrame(
        {
            "query_id": [f"q{number // 100}" for number in range(1_000)],
            "document_id": [f"document-{number % 100}" for number in range(1_000)],
            "relevance": [number % 2 for number in range(1_000)],
            "words": [["a", "b"]] * 1_000,
        }
    )
    ours, theirs = tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    frame.write_parquet(ours, compression=compression, row_group_size=300)  # type: ignore[arg-type]
    plain = pd.DataFrame(frame.drop("words").to_dict(as_series=False))
    fastparquet.write(str(theirs), plain, compression="GZIP", row_group_offsets=[0, 400])
    rows = frame.drop("words").rows()
    assert read_qrels(ours).frame.rows() == rows
    assert read_qrels(theirs).frame.rows() == rows


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_a_parquet_file_with_any_byte_changed_is_read_or_refused(tmp_path: Path, step: int) -> None:
    path = tmp_path / "run.parquet"
    pl.DataFrame({"qid": ["q1", "q1"], "docid": ["d1", "d2"], "score": [2.0, 1.0]}).write_parquet(path)
    content = path.read_bytes()
    for place in range(0, len(content), step):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        with contextlib.suppress(FormatError):
            assert read_run(path).frame.height <= 2
