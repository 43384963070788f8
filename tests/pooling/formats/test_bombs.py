"""Small files that would fill the memory are refused in a sentence before they do."""

from __future__ import annotations

import contextlib
from pathlib import Path

import fastparquet
import pandas as pd
import polars as pl
import pytest

from pooling.formats import FormatError, read_qrels, read_run
from tests.bounded import PROCESSOR_SECONDS, run_bounded
from tests.pooling import bombs

MEGABYTE = 2**20
PEAK_OF_MEMORY = Path("/proc/self/clear_refs")
measures_memory = pytest.mark.skipif(
    not PEAK_OF_MEMORY.exists(), reason="Linux alone tells a peak that begins again."
)
#: What a bomb may take. Unbounded, each of them takes a gigabyte or more.
MARGIN = 400 * MEGABYTE
READING_OF_RUNS = """
from pooling.formats import FormatError, read_run
def read(path):
    try:
        return read_run(path, max_bytes=4_000_000_000).frame.height
    except FormatError as error:
        return str(error)
"""
IMPORT_OF_DOCUMENTS = """
import django
django.setup()
from pooling.formats import FormatError, iterate_documents
from pooling.texts.importing import _checked_row, _weighed_batches
def read(path):
    try:
        records = iterate_documents(path, max_bytes=4_000_000_000)
        for batch in _weighed_batches(records):
            rows = [_checked_row(record, "file") for record in batch]
        return len(rows)
    except ValueError as error:
        return str(error)
"""
# Path -> what reading it gave, and the most memory that the process had meanwhile beyond what it had before.
ONE_AFTER_THE_OTHER = """
def memory(kind):
    status = dict(line.split(":") for line in open("/proc/self/status") if line.startswith(kind))
    return 1024 * int(status[kind].split()[0])
result = {}
for path in arguments:
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins again
    before = memory("VmRSS")
    result[path] = read(path), memory("VmHWM") - before
"""


def refusals(folder: Path, script: str, cases: dict[str, bombs.Bomb]) -> dict[str, str]:
    """Name of a file -> what the error says of it. All are read by one process, each with little memory."""
    small = bombs.write(
        folder, "small.jsonl", b'{"_id": "d1", "text": "text", "qid": "q1", "docid": "d1", "score": 1}\n'
    )
    paths = {name: bombs.write(folder, name, content()) for name, (content, _) in cases.items()}
    assert [name for name, path in paths.items() if path.stat().st_size >= 8 * MEGABYTE] == []
    seconds = PROCESSOR_SECONDS * len(paths)
    read, _ = run_bounded(script + ONE_AFTER_THE_OTHER, *map(str, [small, *paths.values()]), seconds=seconds)
    outcomes = {name: read[str(path)] for name, path in paths.items()}
    assert read[str(small)][0] == 1
    assert {name: memory for name, (_, memory) in outcomes.items() if memory >= MARGIN} == {}
    return {name: str(refusal) for name, (refusal, _) in outcomes.items()}


@measures_memory
@pytest.mark.slow
def test_a_run_that_would_fill_the_memory_is_refused_before_it_does(tmp_path: Path) -> None:
    sentences = refusals(tmp_path, READING_OF_RUNS, bombs.RUNS)
    for name, (_, problem) in bombs.RUNS.items():
        assert sentences[name].startswith(name)
        assert problem in sentences[name]
        assert sentences[name].endswith(".")


@measures_memory
@pytest.mark.slow
def test_texts_that_would_fill_the_memory_are_refused_before_they_do(tmp_path: Path) -> None:
    sentences = refusals(tmp_path, IMPORT_OF_DOCUMENTS, bombs.DOCUMENTS)
    for name, (_, problem) in bombs.DOCUMENTS.items():
        assert problem in sentences[name]


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
