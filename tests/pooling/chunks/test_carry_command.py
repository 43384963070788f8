"""`carry_labels`: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from pooling.formats.qrels import read_qrels

HEADER = "chunk_id\tdocument_id\tstart\tend\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "old.tsv").write_text(HEADER + "a\td\t0\t100\nb\td\t100\t200\nc\td\t200\t300\n")
    (tmp_path / "new.tsv").write_text(HEADER + "m\td\t0\t150\nn\td\t150\t300\no\td\t110\t190\n")
    (tmp_path / "old.qrels").write_text("q 0 a 1\nq 0 b 2\nq 0 c 0\n")
    (tmp_path / "spans.jsonl").write_text('{"query_id": "q", "document_id": "d", "start": 120, "end": 130}\n')
    return tmp_path


def ran(folder: Path, *options: str) -> tuple[str, str]:
    output, errors = io.StringIO(), io.StringIO()
    named = [one if one.startswith("--") else str(folder / one) for one in options]
    call_command("carry_labels", *named, stdout=output, stderr=errors)
    return output.getvalue(), errors.getvalue()


BETWEEN = ("old.qrels", "--from", "old.tsv", "--to", "new.tsv")


def test_each_label_has_its_rule_and_people_get_the_rest(files: Path) -> None:
    options = ("--spans", "spans.jsonl", "--output", "new.qrels", "--review", "review.tsv")
    output, errors = ran(files, *BETWEEN, *options)
    frame = read_qrels(files / "new.qrels").frame
    assert frame.rows() == [("q", "m", 2), ("q", "o", 2)]
    told = [json.loads(line) for line in (files / "new.qrels.rules.jsonl").read_text().splitlines()]
    assert [(one["chunk_id"], one["rule"], one["overlap"]) for one in told] == [
        ("m", "evidence", 0.3333),
        ("o", "evidence", 1.0),
    ]
    assert told[0]["from"] == [{"chunk_id": "b", "relevance": 2}]
    header, row = (line.split("\t") for line in (files / "review.tsv").read_text().splitlines())
    assert dict(zip(header, row, strict=True)) == {
        "query_id": "q",
        "chunk_id": "n",
        "document_id": "d",
        "start": "150",
        "end": "300",
        "overlap": "0.3333",
        "relevance": "2",
        "from_chunks": "b (2)",
        "why": "part of a relevant chunk, without its excerpt",
    }
    assert "2 labels carried: 2 by evidence." in output
    assert "Of 2 relevant labels, 2 are carried, 0 lead to proposals alone, and 0 nowhere." in output
    assert "review.tsv: 1 proposal to judge." in output
    assert errors == ""


def test_without_a_review_file_the_command_says_what_is_lost(files: Path) -> None:
    output, errors = ran(files, *BETWEEN, "--output", "new.jsonl")
    assert "1 label carried: 1 as they contain a relevant chunk." in output
    assert "2 proposals to judge not written; name --review REVIEW.tsv to keep them." in errors
    assert read_qrels(files / "new.jsonl").frame.rows() == [("q", "m", 1)]


def test_what_does_not_meet_is_counted_with_an_example(files: Path) -> None:
    (files / "old.tsv").write_text(HEADER + "a\td\t0\t100\nb\te\t0\t100\n")
    (files / "spans.jsonl").write_text(
        '{"query_id": "q", "document_id": "d", "start": 10, "end": 20}\n'
        '{"query_id": "q", "document_id": "d", "start": 290, "end": 310}\n'
        '{"query_id": "q", "document_id": "f", "start": 1, "end": 2}\n'
    )
    (files / "old.qrels").write_text("q 0 a 1\nq 0 b 2\nq 0 c 0\nq 0 x -1\n")
    errors = ran(files, *BETWEEN, "--spans", "spans.jsonl", "--output", "new.qrels")[1]
    for sentence in (
        "1 of 3 excerpts in spans.jsonl is in no chunk of new.tsv, such as 'f' 1–2;",
        "1 of 3 excerpts in spans.jsonl has characters in no chunk of new.tsv, such as 'd' 290–310;",
        "1 pair with a relevance below 0 left out: not judged.",
        "1 of 3 labels left out, of chunks that are not in old.tsv, such as 'c' of query 'q'.",
        "1 document with 1 label not in new.tsv, such as 'e'.",
        "2 excerpts are not in chunks labelled relevant, such as 'd' 290–310 of query 'q'; they carry",
    ):
        assert sentence in errors


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("old.tsv", "", "old.tsv: the file is empty"),
        ("old.tsv", "chunk_id\tdocument_id\na\td\n", "line 2: no start among the fields"),
        ("old.tsv", HEADER + "a\td\t9\t9\n", "line 2: it starts at 9 and ends at 9"),
        ("old.tsv", HEADER + "a\td\t-1\t9\n", "line 2: start is '-1'. Write a whole number"),
        ("old.tsv", HEADER + "a\td\t0\t9.5\n", "line 2: end is '9.5'"),
        (
            "old.tsv",
            HEADER + "a\td\t0\t9\na\td\t9\t12\n",
            r"line 3: chunk 'a' appears again \(first on line 2",
        ),
        ("old.tsv", HEADER + "z\td\t0\t9\n", "No label is of a chunk of old.tsv. 0 of the 3 chunks"),
        ("new.tsv", HEADER + "z\te\t0\t9\n", "so nothing was written. Documents are “e” here and “d” there"),
        ("new.tsv", HEADER + "z\td\t0\t9\n", "1 proposal must be judged, so nothing was written"),
        ("spans.jsonl", '{"query_id": "q", "document_id": "d", "start": 1}\n', "line 1: no end among"),
        (
            "spans.jsonl",
            '{"query_id": "q", "document_id": "e", "start": 1, "end": 2}\n',
            "No excerpt of spans.jsonl is in a chunk of new.tsv, such as 'e' 1–2; documents",
        ),
    ],
)
def test_wrong_input_is_one_sentence_and_writes_nothing(
    files: Path, name: str, content: str, sentence: str
) -> None:
    (files / name).write_text(content)
    spans = ("--spans", "spans.jsonl") if name == "spans.jsonl" else ()
    with pytest.raises(CommandError, match=sentence):
        ran(files, *BETWEEN, *spans, "--output", "new.qrels")
    assert not list(files.glob("new.qrels*"))


def test_files_that_cannot_be_written_are_refused_before_the_work(files: Path) -> None:
    with pytest.raises(CommandError, match="--output and --review are one file"):
        ran(files, *BETWEEN, "--output", "new.qrels", "--review", "new.qrels")
    for name in ("old.qrels", "old.tsv", "new.tsv"):
        with pytest.raises(CommandError, match=f"{name} is read, so it is not written over"):
            ran(files, *BETWEEN, "--output", name)
    with pytest.raises(CommandError, match="There is no folder"):
        ran(files, *BETWEEN, "--output", "new.qrels", "--review", "none/review.tsv")
    assert not list(files.glob("new.qrels*"))


def test_review_alone_is_written_where_no_rule_carries_a_label(files: Path) -> None:
    (files / "new.tsv").write_text(HEADER + "z\td\t0\t9\n")
    errors = ran(files, *BETWEEN, "--output", "new.qrels", "--review", "review.tsv")[1]
    assert "No rule carries a label, so" in errors
    assert not (files / "new.qrels").exists()
    assert len((files / "review.tsv").read_text().splitlines()) == 2
