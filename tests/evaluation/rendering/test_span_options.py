"""`evaluate --spans --chunk-map`: alone, and beside labels of documents or of chunks."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation import evaluate_spans


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "chunks.tsv").write_text(
        "chunk_id\tdocument_id\tstart\tend\na\td\t0\t100\nb\td\t100\t200\nc\te\t0\t50\n"
    )
    (tmp_path / "spans.jsonl").write_text('{"query_id": "q", "document_id": "d", "start": 50, "end": 150}\n')
    (tmp_path / "one.run").write_text("q Q0 a 1 9 t\nq Q0 c 2 8 t\nq Q0 b 3 7 t\n")
    (tmp_path / "documents.txt").write_text("q 0 d 1\n")
    (tmp_path / "labels.txt").write_text("q 0 a 1\nq 0 b 1\n")
    return tmp_path


def ran(folder: Path, *options: str) -> tuple[str, str, int]:
    output, errors = io.StringIO(), io.StringIO()
    suffixes = ("txt", "jsonl", "run", "tsv")
    named = [str(folder / one) if one.partition(".")[2] in suffixes else one for one in options]
    code = 0
    try:
        call_command("evaluate", *named, stdout=output, stderr=errors)
    except SystemExit as stopped:
        code = int(str(stopped.code))
    return output.getvalue(), errors.getvalue(), code


EXCERPTS = ("--spans", "spans.jsonl", "--chunk-map", "chunks.tsv")
BOTH = ("--measure", "span_recall", "span_precision")


def test_labels_may_be_left_out_and_are_called_unused_where_nothing_asks_for_them(files: Path) -> None:
    asked = (*EXCERPTS, *BOTH, "--k", "1", "3", "--format", "json")
    output, errors, _ = ran(files, "one.run", *asked)
    told = json.loads(output)
    figures = told["runs"]["one"]
    assert {key: figure["mean"] for key, figure in figures.items()} == {
        "span_recall@1": 0.5, "span_recall@3": 1.0, "span_precision@1": 0.5, "span_precision@3": 0.4,
    }  # fmt: skip
    assert {"mean", "low", "high", "queries", "characters", "line"} == set(figures["span_recall@3"])
    assert told["counts"] == {"queries": 1, "excerpts": 1, "characters": 100}
    assert errors == ""
    again, errors, _ = ran(files, "labels.txt", "one.run", *asked)
    assert again == output
    assert "labels.txt: not used, since no measure over documents was asked for." in errors


def test_python_has_the_values_that_the_command_prints(files: Path) -> None:
    printed = json.loads(ran(files, "one.run", *EXCERPTS, *BOTH, "--k", "1", "3", "--format", "json")[0])
    measured = evaluate_spans(files / "spans.jsonl", files / "chunks.tsv", [files / "one.run"], (1, 3))
    assert measured.to_dict() == printed


def test_every_format_has_them(files: Path) -> None:
    asked = ("one.run", *EXCERPTS, "--measure", "span_recall@3", "--format")
    table = ran(files, *asked, "table")[0]
    assert "one  3  1.000        250" in table
    assert "characters of 1 excerpt (100) in chunks by chunks.tsv, each once" in table
    assert "| one | 3 | 1.000 | 250 |" in ran(files, *asked, "markdown")[0]
    assert "Span recall" in ran(files, *asked, "latex")[0]
    rows = ran(files, *asked, "csv")[0].splitlines()
    assert rows[0] == "run,measure,k,mean,low,high,queries,characters,line"
    assert rows[1].startswith('one,span_recall,3,1.0,,,1,250.0,"Span recall@3 1.000')
    assert json.loads(ran(files, *asked, "mlflow")[0]) == {"span_recall_at_3": 1.0}


@pytest.mark.parametrize(
    ("labels", "recall", "convention"),
    [("documents.txt", 1.0, "best chunk per document (by chunks.tsv)"), ("labels.txt", 0.5, "")],
)
def test_next_to_them_chunks_are_measured_as_what_the_labels_are_of(
    files: Path, labels: str, recall: float, convention: str
) -> None:
    asked = (*EXCERPTS, "--k", "1", "--measure", "recall", "span_recall")
    told = json.loads(ran(files, labels, "one.run", *asked, "--format", "json")[0])
    figures = told["runs"]["one"]
    assert (figures["recall@1"]["mean"], figures["span_recall@1"]["mean"]) == (recall, 0.5)
    assert convention in figures["recall@1"]["line"]
    assert told["spans"]["counts"]["excerpts"] == 1
    table = ran(files, labels, "one.run", *asked)[0]
    assert table.index("Recall") < table.index("Excerpts") < table.index("Span recall")
    rows = ran(files, labels, "one.run", *asked, "--format", "csv")[0].splitlines()
    assert [row.split(",")[1] for row in rows] == ["measure", "recall", "judged", "span_recall"]


def test_files_by_query_and_of_html_have_them_too(files: Path) -> None:
    names = [str(files / name) for name in ("queries.csv", "report.html")]
    asked = (*EXCERPTS, "--k", "1", "3", "--measure", "recall", "span_recall@3", "span_precision@1")
    errors = ran(files, "labels.txt", "one.run", *asked, "--per-query", names[0], "--html", names[1])[1]
    assert "excerpts" not in errors
    rows = Path(names[0]).read_text().splitlines()
    assert rows[-2:] == ["one,q,span_recall,3,1.0", "one,q,span_precision,1,0.5"]
    page = Path(names[1]).read_text()
    assert "Excerpts</h2>" in page
    assert "Span recall@3 1.000" in page
    assert "--spans" in page
    assert "estimates need the pool" not in page


def test_the_values_of_every_query_are_written_without_labels_too(files: Path) -> None:
    values, printed = str(files / "queries.csv"), str(files / "queries.trec")
    asked = ("one.run", *EXCERPTS, *BOTH, "--k", "1", "--per-query")
    ran(files, *asked, values)
    assert Path(values).read_text().splitlines()[1:] == [
        "one,q,span_recall,1,0.5",
        "one,q,span_precision,1,0.5",
    ]
    ran(files, *asked, printed)
    assert Path(printed).read_text().splitlines()[0].split() == ["span_recall_1", "q", "0.5000"]
    with pytest.raises(CommandError, match="the suffix names the format"):
        ran(files, *asked, str(files / "queries.txt"))


@pytest.mark.parametrize("labels", [(), ("labels.txt",)])
def test_thresholds_over_excerpts_decide_the_exit_code(files: Path, labels: tuple[str, ...]) -> None:
    junit = str(files / "junit.xml")
    gates = ("--fail-under", "span_recall@1=0.6", "--fail-under", "span_precision@1=0.2")
    measures = ("--measure", "span_recall", *(["recall"] if labels else []))
    _, errors, code = ran(files, *labels, "one.run", *EXCERPTS, *measures, *gates, "--junit", junit)
    assert code == 1
    assert "one: span_recall@1 is 0.5000 over 1 query by the excerpts at hand, below 0.6." in errors
    assert 'tests="2" failures="1"' in Path(junit).read_text()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("one.run", "--spans", "spans.jsonl"), "--spans needs --chunk-map FILE with the columns"),
        (("labels.txt", "one.run", "--measure", "span_recall"), "name them with --spans FILE"),
        (("labels.txt", "one.run", "--fail-under", "span_recall@1=1"), "name them with --spans FILE"),
        (("one.run", *EXCERPTS, "--measure", "recall"), "recall is measured over documents"),
        (("one.run", *EXCERPTS, "--measure", "span_recal"), "There is no measure 'span_recal'"),
        (("one.run", *EXCERPTS, "--measure", "span_recall@0"), "is not a measure over excerpts"),
        (("one.run", *EXCERPTS, "--fail-under", "recall@1=1"), "recall@1 is measured over documents"),
        (("one.run", *EXCERPTS, "--compare"), "--compare is about documents"),
        (("one.run", *EXCERPTS, "--pool", "labels.txt"), "--pool is about documents"),
        (("labels.txt", "one.run", *EXCERPTS, "--collapse-chunks", "#"), "--collapse-chunks has no meaning"),
        (("labels.txt", "one.run", *EXCERPTS, "--weights", "queries"), "--weights has no meaning"),
        (("one.run", *EXCERPTS, "--facts", "labels.txt"), "call evaluate once for each"),
        (("spans.jsonl", *EXCERPTS), "required: RUN"),
    ],
)
def test_what_has_no_meaning_is_refused(files: Path, options: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        ran(files, *options)
