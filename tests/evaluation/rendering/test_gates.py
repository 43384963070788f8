"""Thresholds for continuous integration, and figures under the names of other programs."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from django.core.management import CommandError, call_command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    Path("qrels.txt").write_text("q1 0 a 1\nq1 0 b 1\nq2 0 c 1\nq3 0 d 0\n")
    Path("bm25.run").write_text("q1 Q0 a 1 3 t\nq1 Q0 x 2 2 t\nq2 Q0 y 1 1 t\n")
    Path("dense|\x01.run").write_text("q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\n")
    return tmp_path


def evaluate(*arguments: str, runs: tuple[str, ...] = ("bm25.run", "dense|\x01.run")) -> int:
    try:
        call_command("evaluate", "qrels.txt", *runs, *arguments)
    except SystemExit as ended:
        return int(str(ended.code))
    return 0


def refusal(*arguments: str) -> str:
    with pytest.raises(CommandError) as error:
        evaluate(*arguments)
    assert error.value.returncode == 2
    assert "\n" not in str(error.value)
    return str(error.value)


def test_junit_has_a_suite_for_each_run_and_a_test_for_each_threshold(folder: Path) -> None:
    code = evaluate("--fail-under", "recall@10=0.5", "--fail-under", "map=0.1", "--junit", "junit.xml")
    root = Xml.parse("junit.xml").getroot()
    bm25, dense = root

    assert code == 1
    assert dict(root.items()) == {"name": "soundings", "tests": "4", "failures": "1"}
    assert [(suite.get("name"), suite.get("failures")) for suite in root] == [("bm25", "1"), ("dense|�", "0")]
    assert [case.get("name") for case in bm25] == ["recall@10 >= 0.5", "map >= 0.1"]
    failed, passed = bm25
    assert (
        failed[0].get("message")
        == "bm25: recall@10 is 0.2500 over 2 queries by the labels at hand, below 0.5."
    )
    assert passed[0].text == "bm25: map is 0.2500 over 2 queries by the labels at hand, at least 0.1."
    assert not dense.findall(".//failure")


def test_a_job_summary_is_appended_where_github_looks_for_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    Path("summary.md").write_text("# Before\n")
    evaluate("--fail-under", "recall@10=0.5", "--job-summary")
    evaluate("--job-summary", "other.md")
    text = Path("summary.md").read_text()

    assert text.startswith("# Before\n## Retrieval: 1 threshold missed\n\n| run | measure |")
    assert "| bm25 | recall@10 | 0.5 | 0.2500 | below |" in text
    assert r"| dense\|" in text
    assert "Means by the labels at hand: no audit corrects them." in text
    assert "Recall@10" in text
    assert Path("other.md").read_text().startswith("## Retrieval\n\n**")


def test_complete_labels_are_what_thresholds_rest_on_where_they_are_declared(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate("--complete", "--fail-under", "recall@10=0.5", "--format", "json")
    said = capsys.readouterr()

    assert json.loads(said.out)["thresholds"]["recall@10"]["basis"] == "complete"
    assert "bm25: recall@10 is 0.2500 over 2 queries by complete labels, below 0.5." in said.err


def test_approximate_runs_have_both_files_too(folder: Path) -> None:
    files = ["--junit", "a.xml", "--job-summary", "a.md"]
    call_command(
        "evaluate", "bm25.run", "--against", "dense|\x01.run", "--fail-under", "recall@1=0.1", *files
    )

    assert Xml.parse("a.xml").getroot().get("tests") == "1"
    assert Path("a.md").read_text().startswith("## Retrieval: every threshold reached\n")


def test_what_could_not_be_written_is_said_first(folder: Path) -> None:
    assert refusal("--junit", "a.xml").startswith("--junit writes a test for each threshold")
    assert "no folder" in refusal("--junit", "none/a.xml", "--fail-under", "map=0")
    assert refusal("--job-summary") == "--job-summary needs a FILE where GITHUB_STEP_SUMMARY is not set."
    assert refusal("--per-query", "values.trec") == (
        "values.trec: the output of trec_eval has no column for runs, and there are 2. "
        "Evaluate one run, or write CSV, TSV, JSON or Parquet."
    )


def test_values_by_query_are_written_as_trec_eval_prints_them(folder: Path) -> None:
    measures = ["--k", "2", "--measure", "recall", "map", "precision"]
    evaluate(*measures, "--per-query", "values.trec", runs=("bm25.run",))

    lines = Path("values.trec").read_text().splitlines(keepends=True)
    assert "".join(line for line in lines if not line.startswith("judged_2 ")) == (
        "recall_2              \tq1\t0.5000\n"
        "map                   \tq1\t0.5000\n"
        "P_2                   \tq1\t0.5000\n"
        "recall_2              \tq2\t0.0000\n"
        "map                   \tq2\t0.0000\n"
        "P_2                   \tq2\t0.0000\n"
        "recall_2              \tall\t0.2500\n"
        "map                   \tall\t0.2500\n"
        "P_2                   \tall\t0.2500\n"
    )


def test_metrics_have_names_that_mlflow_takes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate("--k", "2", "--measure", "recall", "map", "--format", "mlflow", runs=("bm25.run",))
    one = json.loads(capsys.readouterr().out)
    evaluate("--k", "2", "--measure", "recall", "--format", "mlflow")
    several = json.loads(capsys.readouterr().out)

    assert one == {"recall_at_2": 0.25, "map": 0.25, "judged_at_2": 0.25}
    assert several["bm25/recall_at_2"] == 0.25
    assert several["dense__/recall_at_2"] == 1.0
