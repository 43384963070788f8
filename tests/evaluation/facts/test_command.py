"""`evaluate --facts`: with labels of documents and without."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation import evaluate_facts
from pooling.formats.facts.reading import read_facts, read_supports_of

FACTS = (
    '{"query_id": "q1", "fact_id": "a", "text": "Buses run."}\n'
    '{"query_id": "q1", "fact_id": "b", "importance": "okay"}\n'
)
SUPPORTS = '{"fact_id": "a", "document_id": "d2", "verdict": "supports"}\n'


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "facts.jsonl").write_text(FACTS)
    (tmp_path / "supports.jsonl").write_text(SUPPORTS)
    (tmp_path / "diversity.txt").write_text("q1 a d2 1\nq1 b d2 0\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 1\n")
    (tmp_path / "one.run").write_text("q1 Q0 d1 1 9 t\nq1 Q0 d2 2 8 t\n")
    return tmp_path


def ran(folder: Path, *options: str) -> tuple[str, str, int]:
    output, errors = io.StringIO(), io.StringIO()
    named = [
        str(folder / one) if one.partition(".")[2] in ("txt", "jsonl", "run") else one for one in options
    ]
    code = 0
    try:
        call_command("evaluate", *named, stdout=output, stderr=errors)
    except SystemExit as stopped:
        code = int(str(stopped.code))
    return output.getvalue(), errors.getvalue(), code


WITH_SUPPORTS = ("--facts", "facts.jsonl", "--supports", "supports.jsonl")


def test_facts_stand_beside_the_labels_of_documents(files: Path) -> None:
    asked = ("--measure", "recall", "fact_recall", "map_ia", "--k", "1", "2", "--format", "json")
    told = json.loads(ran(files, "qrels.txt", "one.run", *WITH_SUPPORTS, *asked)[0])
    figures = told["runs"]["one"]
    assert (figures["recall@1"]["mean"], figures["fact_recall@1"]["mean"]) == (0.5, 0.0)
    second = figures["fact_recall@2"]
    assert (second["mean"], second["bound_low"], second["bound_high"]) == (0.5, 0.5, 1.0)
    assert figures["map_ia"]["mean"] == 0.5
    counts = told["facts"]["counts"]
    assert (counts["queries"], counts["without_facts"], counts["facts"]) == (1, 0, 2)
    table = ran(files, "qrels.txt", "one.run", *WITH_SUPPORTS, "--k", "2")[0]
    assert "Recall@2" in table
    assert "facts: all, strict" in table
    assert "interval over queries. Bounds: whatever the verdicts" in table
    without_bounds = ran(files, "one.run", *WITH_SUPPORTS, "--measure", "alpha_ndcg", "--k", "2")[0]
    assert "interval over queries." in without_bounds
    assert "Bounds" not in without_bounds


@pytest.mark.parametrize("first", [(), ("diversity.txt",), ("qrels.txt",)])
def test_labels_of_documents_may_be_left_out(files: Path, first: tuple[str, ...]) -> None:
    asked = ("--facts", "diversity.txt", "--measure", "fact_recall@2", "--denominator", "findable")
    told = json.loads(ran(files, *first, "one.run", *asked, "--format", "json")[0])
    assert list(told["runs"]["one"]) == ["fact_recall@2"]
    assert told["runs"]["one"]["fact_recall@2"]["mean"] == 1.0
    assert told["conventions"]["denominator"] == "findable"
    rows = ran(files, *first, "one.run", *asked, "--format", "csv")[0].splitlines()
    assert rows[1].startswith("one,fact_recall,2,1.0")
    metrics = json.loads(ran(files, *first, "one.run", *asked, "--format", "mlflow")[0])
    assert metrics == {"fact_recall_at_2": 1.0}


def test_python_has_the_values_that_the_command_prints(files: Path) -> None:
    printed = json.loads(ran(files, "one.run", *WITH_SUPPORTS, "--k", "1", "2", "--format", "json")[0])
    facts = read_facts(files / "facts.jsonl").facts
    supports, _ = read_supports_of(facts, files / "supports.jsonl")
    keys = [("fact_recall", 1), ("fact_recall", 2)]
    assert evaluate_facts(facts, supports, [files / "one.run"], keys).to_dict() == printed


def test_several_runs_need_no_labels(files: Path) -> None:
    (files / "other.run").write_text("q1 Q0 d2 1 9 t\n")
    asked = ("--facts", "diversity.txt", "--k", "1", "--format", "json")
    told = json.loads(ran(files, "one.run", "other.run", *asked)[0])
    assert {run: figures["fact_recall@1"]["mean"] for run, figures in told["runs"].items()} == {
        "one": 0.0,
        "other": 0.5,
    }


def test_thresholds_hold_for_facts_too(files: Path) -> None:
    asked = ("--facts", "diversity.txt", "--fail-under", "fact_recall@2=0.6")
    _, errors, code = ran(files, "one.run", *asked, "--junit", "gates.txt")
    assert code == 1
    assert "one: fact_recall@2 is 0.5000 over 1 query by the labels at hand, below 0.6." in errors
    assert "fact_recall@2" in (files / "gates.txt").read_text()
    assert ran(files, "one.run", *asked[:-1], "fact_recall@2=0.5")[2] == 0


WRONG = {
    "--partial belongs to --facts": ("qrels.txt", "one.run", "--partial"),
    "fact_recall is measured over facts": ("qrels.txt", "one.run", "--measure", "fact_recall"),
    "fact_recall@5 is measured over facts": ("qrels.txt", "one.run", "--fail-under", "fact_recall@5=1"),
    "recall is measured over documents": ("one.run", "--facts", "diversity.txt", "--measure", "recall"),
    "The facts have no supports": ("one.run", "--facts", "facts.jsonl"),
    "'map_ia@5' is not a measure": ("one.run", "--facts", "diversity.txt", "--measure", "map_ia@5"),
    "--html is about documents": ("one.run", "--facts", "diversity.txt", "--html", "out.html"),
    "RUN. Name one run or more": ("diversity.txt", "--facts", "diversity.txt"),
    "nowhere.txt": ("one.run", "--facts", "nowhere.txt"),
}


@pytest.mark.parametrize("told", WRONG)
def test_wrong_options_are_one_sentence(files: Path, told: str) -> None:
    with pytest.raises(CommandError) as error:
        ran(files, *WRONG[told])
    assert told in str(error.value)


def test_a_run_of_other_queries_is_told(files: Path) -> None:
    (files / "other.run").write_text("q9 Q0 d2 1 9 t\n")
    with pytest.raises(CommandError, match="no query in common with the facts"):
        ran(files, "other.run", "--facts", "diversity.txt")


def test_values_of_every_query_over_facts_are_written(files: Path) -> None:
    values = files / "values.jsonl"
    asked = ("--measure", "fact_recall", "map_ia", "alpha_ndcg@2", "--k", "1", "2")
    assert ran(files, "one.run", *WITH_SUPPORTS, *asked, "--per-query", str(values))[2] == 0
    rows = {(row["measure"], row["k"]): row for row in map(json.loads, values.read_text().splitlines())}
    assert {key: row["value"] for key, row in rows.items()} == {
        ("fact_recall", 1): 0.0,
        ("fact_recall", 2): 0.5,
        ("alpha_ndcg", 2): None,  # too few pairs are judged for its mean, which is not told either
        ("map_ia", None): 0.5,
    }
    assert {(row["run"], row["query_id"]) for row in rows.values()} == {("one", "q1")}
    both = ("--measure", "recall", "fact_recall", "map_ia", "--k", "2")
    ran(files, "qrels.txt", "one.run", *WITH_SUPPORTS, *both, "--per-query", str(values))
    measures = [json.loads(line)["measure"] for line in values.read_text().splitlines()]
    assert measures == ["recall", "judged", "fact_recall", "map_ia"]
    with pytest.raises(CommandError, match="suffix names the format"):
        ran(files, "one.run", *WITH_SUPPORTS, "--per-query", str(files / "values.doc"))
