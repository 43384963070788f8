"""Thresholds for continuous integration, and figures under the names of other programs."""

import json
from io import StringIO
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


def test_a_mean_next_to_its_threshold_shows_on_which_side_it_is(folder: Path) -> None:
    Path("qrels.txt").write_text("".join(f"q{one} 0 d{one} 1\n" for one in range(3)))
    Path("bm25.run").write_text("q0 Q0 d0 1 3 t\nq1 Q0 d1 1 3 t\nq2 Q0 x 1 3 t\n")
    wanted = ("--fail-under", "recall@10=0.66668", "--fail-under", "precision@10=0.066666")

    assert evaluate(*wanted, "--junit", "junit.xml", runs=("bm25.run",)) == 1

    ((failed, passed),) = Xml.parse("junit.xml").getroot()
    assert "recall@10 is 0.66667 over" in str(failed[0].get("message"))
    assert "below 0.66668." in str(failed[0].get("message"))
    assert "precision@10 is 0.0667 over" in str(passed[0].text)


def test_a_mean_that_equals_its_threshold_reaches_it(folder: Path) -> None:
    # Three times 7/10 is summed to 2.0999999999999996.
    Path("qrels.txt").write_text("".join(f"q{one} 0 d{at} 1\n" for one in range(3) for at in range(7)))
    rows = (f"q{one} Q0 d{at} {at + 1} {9 - at} t\n" for one in range(3) for at in range(7))
    Path("bm25.run").write_text("".join(rows))
    assert evaluate("--fail-under", "judged@10=0.7", runs=("bm25.run",)) == 0


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


def test_runs_whose_names_mlflow_cannot_tell_apart_keep_their_metrics(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = ("a|b=bm25.run", "a,b=dense|\x01.run", "..=bm25.run", "v:1=bm25.run")
    evaluate("--k", "2", "--measure", "recall", "--format", "mlflow", runs=runs)
    metrics = json.loads(capsys.readouterr().out)

    recalls = {name: value for name, value in metrics.items() if name.endswith("recall_at_2")}
    assert recalls == {
        "a_b/recall_at_2": 0.25,
        "a_b_2/recall_at_2": 1.0,
        "run/recall_at_2": 0.25,
        "v:1/recall_at_2": 0.25,
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ("--fail-under", "recall@10=0.1", "--junit", "qrels.txt"),
        ("--fail-under", "recall@10=0.1", "--junit", "./bm25.run"),
        ("--job-summary", "link.run"),
        ("--per-query", "values.csv", "--queries", "values.csv", "--by", "tag"),
    ],
)
def test_what_is_read_is_not_written_over(folder: Path, arguments: tuple[str, ...]) -> None:
    Path("link.run").symlink_to("bm25.run")
    Path("values.csv").write_text("id,text\nq1,one\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    assert "is read, so it is not written over" in refusal(*arguments)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("form", ["csv", "mlflow"])
def test_an_output_of_figures_alone_has_what_was_left_out_on_stderr(folder: Path, form: str) -> None:
    Path("one.txt").write_text("q1 0 a 1\n")
    errors = StringIO()
    call_command("evaluate", "one.txt", "bm25.run", "--format", form, stdout=StringIO(), stderr=errors)
    assert "ignored 1 query without a label." in errors.getvalue()


def test_a_link_that_leads_in_a_circle_is_no_place_to_write(folder: Path) -> None:
    Path("loop").symlink_to("loop")
    assert "loop" in refusal("--per-query", "loop")


def test_two_outputs_have_two_names(folder: Path) -> None:
    arguments = ("--fail-under", "recall@10=0.1", "--junit", "both", "--job-summary", "./both")

    assert refusal(*arguments) == "--junit and --job-summary are one file; name two."


def test_a_report_says_what_was_left_out_and_how_to_make_it_again(folder: Path) -> None:
    Path("twice.txt").write_text("q1 0 a 1\nq1 0 a 1\nq1 0 b 0\n")
    Path("pool.tsv").write_text(
        "query_id\tdocument_id\tposition\trun_count\tbest_rank\trrf\tin_audit\tinclusion_probability\n"
        "q1\ta\t1\t1\t1\t0.016\t0\t1.0\n"
    )
    files = ["twice.txt", "old=bm25.run", "--pool", "pool.tsv", "--html", "report.html"]
    call_command("evaluate", *files, stdout=StringIO(), stderr=StringIO())
    report = Path("report.html").read_text()

    assert "twice.txt: 1 row repeats a pair with the same relevance and was skipped." in report
    assert "old: ignored 1 query without a label." in report
    assert "soundings evaluate twice.txt old=bm25.run " in report
    assert " --pool pool.tsv" in report


def test_a_report_is_written_of_labels_in_a_folder(folder: Path) -> None:
    Path("beir/qrels").mkdir(parents=True)
    Path("beir/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\n")
    call_command(
        "evaluate", "beir", "bm25.run", "--html", "report.html", stdout=StringIO(), stderr=StringIO()
    )

    assert "beir, 1 run" in Path("report.html").read_text()


def test_a_test_that_is_named_holds_without_a_comparison_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = []
    for test in ("randomisation", "t"):
        evaluate("--k", "2", "--measure", "recall", "--format", "json", "--test", test)
        values.append(json.loads(capsys.readouterr().out)["answer"]["rival"]["p_value"])

    assert values[0] != values[1]
