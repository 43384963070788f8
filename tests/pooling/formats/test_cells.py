"""Cells that a program for tables would calculate with: guarded in every table, and read back as written."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.formats import read_qrels
from pooling.formats.cells import guarded, guarded_frame, table_text, unguarded
from pooling.formats.writing import write_qrels

ROOT = Path(__file__).resolve().parents[3]
FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-1+1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "＋1",
    "－1",
    "＠1",
]
HARMLESS = ["plain", "", "-0.5", "+3", "-1e-05", "1=1", " =1", "’tis"]
TEXTS = st.text() | st.text(alphabet="'=+-@\t\r\n1,.\"e＝ ")


@pytest.mark.parametrize("text", FORMULAS)
def test_what_would_be_calculated_is_marked(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_would_not_be_is_left_alone(text: str) -> None:
    assert guarded(text) == text


@given(TEXTS)
def test_what_was_written_is_read(text: str) -> None:
    assert unguarded(str(guarded(text))) == text


@given(st.lists(TEXTS, min_size=1))
def test_a_frame_is_guarded_as_its_cells_are(texts: list[str]) -> None:
    frame = pl.DataFrame({"=text": texts, "number": range(len(texts))})
    cells = guarded_frame(frame)
    assert cells.columns == ["'=text", "number"]
    assert cells["'=text"].to_list() == [guarded(text) for text in texts]
    assert guarded_frame(frame.lazy()).collect().equals(cells)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1))
def test_no_cell_leaves_its_place(rows: list[tuple[str, str]]) -> None:
    text = table_text(["first", "=second"], rows)
    read = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert read == [["first", "'=second"], *([str(guarded(cell)) for cell in row] for row in rows)]


@given(st.lists(TEXTS, min_size=1))
def test_no_cell_of_a_frame_leaves_its_place(texts: list[str]) -> None:
    written = guarded_frame(pl.DataFrame({"text": texts, "other": texts})).write_csv()
    read = list(csv.reader(io.StringIO(written, newline=""), strict=True))
    assert [row[0] for row in read[1:]] == [guarded(text) for text in texts]


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "trec"])
def test_labels_with_odd_ids_come_back_as_they_were(tmp_path: Path, suffix: str) -> None:
    ids = ["=q1", "'q2", "''q3", "-4", "@q5", "q6"]
    frame = pl.DataFrame({"query_id": ids, "document_id": ids[::-1], "relevance": [0, 1] * 3})
    path = tmp_path / f"labels.{suffix}"
    write_qrels(frame, path, format=suffix.partition(".")[0])
    read = read_qrels(path).frame
    pairs = ["query_id", "document_id", "relevance"]
    assert sorted(read.select(pairs).rows()) == sorted(frame.rows())
    marked = b"'=q1" in path.read_bytes()
    assert marked is (suffix == "csv")


def test_every_table_is_written_with_its_cells_guarded() -> None:
    # streaming writes pools, which are for machines; programs guards cells as their reader does;
    # a run's rows are only hashed; what is stored goes to the database as it is.
    allowed = {
        "pooling/formats/cells.py",
        "pooling/merging/streaming.py",
        "pooling/runs/stored.py",
        "pooling/storage/storing.py",
        "labeling/qrels/registry.py",
    }
    writers = re.compile(
        r"csv\.writer|DictWriter|\.to_csv\(|\.to_excel\(|write_csv\(|sink_csv\(|write_excel\("
    )
    careless = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for package in ("soundings", "pooling", "labeling", "evaluation")
        for path in (ROOT / package).rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if writers.search(line) and "guarded_frame(" not in line
        if str(path.relative_to(ROOT)) not in allowed
    ]
    assert careless == []
