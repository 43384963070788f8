"""What holds for every file format, whichever there are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from pooling.formats import read_qrels, read_run, write_qrels, write_run
from pooling.formats.registry import formats, line_writers, writing

GUIDE = Path(__file__).resolve().parents[3] / "templates/docs/qrels.md"
IDS = {"query_id": ["1", "1", "01"], "document_id": ['"a', "b,c", "a\u00a0b"]}
READABLE = [name for name, format in formats().items() if format.suffixes]


@pytest.mark.parametrize("name", READABLE)
def test_a_run_reads_back_from_every_format(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"file{formats()[name].suffixes[0]}"
    frame = pl.DataFrame({**IDS, "score": [0.1, 1e-300, -3.0]})

    write_run(frame, path, tag="t", format=name)

    assert read_run(path).frame.rows() == frame.rows()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", READABLE)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_labels_read_back_from_every_format(tmp_path: Path, name: str, packed: str) -> None:
    path = tmp_path / f"file{formats()[name].suffixes[0]}{packed}"
    frame = pl.DataFrame({**IDS, "relevance": [1, 0, -1]})

    write_qrels(frame, path, format=name)

    assert read_qrels(path).frame.rows() == frame.rows()


def test_a_suffix_belongs_to_one_format() -> None:
    read = Counter(suffix for format in formats().values() for suffix in format.suffixes)
    written = Counter(format.suffix for format in writing("qrels").values())
    assert [suffix for suffix, count in read.items() if count > 1] == []
    assert [suffix for suffix, count in written.items() if count > 1] == []


@pytest.mark.parametrize("name", writing("qrels"))
def test_the_guide_tells_what_every_format_of_labels_is(name: str) -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in guide.splitlines() if line.startswith("| `")]
    assert any(f"`{name}`" in row for row in rows)


def test_lists_of_formats_begin_with_the_usual_ones() -> None:
    assert list(formats())[:3] == ["trec", "beir", "csv"]
    assert list(line_writers())[:3] == ["csv", "tsv", "jsonl"]
