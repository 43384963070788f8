"""The forms in which an evaluation is printed."""

import csv
import io
import json
from pathlib import Path

import pytest

from evaluation import Evaluation, evaluate
from evaluation.rendering.formats import FORMATS, render
from evaluation.rendering.per_query import WRITERS, write_frame

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}, "q3": {"d": 0}}
RUNS = {"bm25_1": {"q1": {"a": 2.0, "x": 1.0, "b": 1.0}, "q2": {"c": 1.0}}, "50%|x": {"q1": {"b": 1.0}}}


@pytest.fixture(scope="module")
def result() -> Evaluation:
    return evaluate(QRELS, RUNS, k=(1, 2, 10), bootstrap_samples=200)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv"])
def test_every_form_carries_the_conventions_of_every_run(result: Evaluation, form: str) -> None:
    assert render(result, form).count("of 3 queries (1 without a relevant label") >= len(RUNS)


def test_the_table_has_a_line_per_run_and_cutoff(result: Evaluation) -> None:
    lines = render(result, "table").splitlines()

    assert lines[0].split()[:5] == ["run", "K", "Recall", "micro", "bounds"]
    assert [line.split()[:2] for line in lines[1:7]] == [
        [run, k] for run in RUNS for k in ("1", "2", "10")
    ]  # fmt: skip


def test_measures_over_the_whole_run_have_a_line_of_their_own() -> None:
    mixed = evaluate(QRELS, RUNS, 2, ["map", "recall"], bootstrap_samples=200)

    header, cut, whole, *_ = render(mixed, "table").splitlines()
    (row,) = [row for row in csv.DictReader(io.StringIO(render(mixed, "csv"))) if row["measure"] == "map"][:1]

    assert header.split()[:4] == ["run", "K", "MAP", "Recall"]
    assert cut.split()[:3] == ["bm25_1", "2", "0.750"]
    assert whole.split()[:3] == ["bm25_1", "all", f"{(5 / 6 + 1) / 2:.3f}"]
    assert row["k"] == ""
    assert row["line"].startswith("MAP 0.917 (too few queries for an interval)")
    assert "MAP 0.917" in render(mixed, "latex")
    assert mixed.summary()["k"].isna().tolist() == [True, False, False] * 2
    assert mixed.per_query()["k"].isna().sum() == 6


def test_a_tie_across_a_cutoff_is_shown(result: Evaluation) -> None:
    assert "ties min exp max" in render(result, "table")
    assert "0.750 0.875 1.000" in render(result, "table")


def test_the_screen_shows_the_same_cells(result: Evaluation) -> None:
    screen = render(result, "table", terminal=True)

    assert "bm25_1" in screen
    assert "Recall" in screen


def test_json_is_the_object_of_the_evaluation(result: Evaluation) -> None:
    assert json.loads(render(result, "json")) == result.to_dict()


def test_csv_has_every_figure_in_full_precision(result: Evaluation) -> None:
    rows = list(csv.DictReader(io.StringIO(render(result, "csv"))))

    assert len(rows) == len(RUNS) * 5 * 3
    assert float(rows[0]["mean"]) == result.figure("bm25_1", "recall", 1)["mean"]
    assert rows[0]["line"].startswith("Recall@1 ")


def test_names_cannot_break_out_of_markdown_or_latex(result: Evaluation) -> None:
    assert r"| 50%\|x | 1 |" in render(result, "markdown")
    assert r"50\%|x & 1 &" in render(result, "latex")
    assert r"bm25\_1 & 1 &" in render(result, "latex")


def test_an_unknown_form_is_refused(result: Evaluation) -> None:
    with pytest.raises(ValueError, match="choose one of table, json"):
        render(result, "html")


def test_an_undefined_number_is_a_dash() -> None:
    result = evaluate({"q": {"a": 0}}, {"run": {"q": {"a": 1.0}}}, k=1)

    assert all(
        "–" in render(result, form) or "--" in render(result, form)
        for form in FORMATS
        if form in ("table", "latex")
    )


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that takes no file")
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_that_cannot_be_written_is_named_as_it_was_given(suffix: str) -> None:
    evaluation = evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}})
    with pytest.raises(OSError, match="No such file") as refused:
        write_frame(evaluation.per_query_frame(), Path(f"/proc/values{suffix}"))
    assert refused.value.filename == f"/proc/values{suffix}"
