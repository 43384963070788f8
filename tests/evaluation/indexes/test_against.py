"""Recall of approximate runs against an exact one: by hand, by its properties, and as a command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from evaluation.indexes.recall import AgainstExact, percentile, recall_against
from evaluation.indexes.tables import against_line
from evaluation.scoring.conventions import Conventions
from pooling.ranking.chunks import Chunks

# q1: b and c tie for places 2 and 3. q2 has two documents only.
EXACT = {"q1": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}, "q2": {"x": 2.0, "y": 1.0}}


def against(run: dict[str, dict[str, float]], k: list[int], **options: Any) -> AgainstExact:
    return recall_against(EXACT, {"hnsw": run}, k, **options)


def test_a_pair_counts_where_both_runs_have_it_within_k() -> None:
    found = against({"q1": {"a": 9.0, "c": 8.0, "z": 1.0}, "q2": {"y": 1.0, "x": 0.5}}, [1, 2, 3, 10])

    # q1: 1/1, 2/2 (c stands before b, its id is greater), 2/3, 2/4; q2: 0/1, 2/2, 2/2, 2/2
    assert found.runs["hnsw"].values.tolist() == [[1, 1, 2 / 3, 0.5], [0, 1, 1, 1]]
    assert found.figure("hnsw", 10)["mean"] == 0.75
    assert found.figure("hnsw", 10)["micro"] == 4 / 6
    assert found.figure("hnsw", 10)["min"] == 0.5


@pytest.mark.parametrize(
    ("returned", "ties"),
    [
        ({"a": 9.0, "b": 8.0}, {"min": 0.5, "expected": 0.75, "max": 1.0}),  # one of two tied for one place
        ({"b": 9.0, "c": 8.0}, None),  # both: whichever is exact, it is there
        ({"a": 9.0, "z": 8.0}, None),  # none of them
    ],
)
def test_a_tie_of_the_exact_run_across_k_gives_least_expected_and_greatest(
    returned: dict[str, float], ties: dict[str, float] | None
) -> None:
    figure = against({"q1": returned}, [2], queries=["q1"]).figure("hnsw", 2)

    assert figure.get("ties") == ties


def test_a_tie_is_looked_at_beyond_the_deepest_k() -> None:
    exact = {"q": dict.fromkeys("abcde", 1.0)}
    # The run's first two are among five that tie for two places: 0 to 2 of them, 2 · 2/5 expected.
    figure = recall_against(exact, {"r": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}}, [2]).figure("r", 2)

    assert figure["ties"] == {"min": 0.0, "expected": pytest.approx(0.4), "max": 1.0}
    assert figure["mean"] == 0.0  # the exact first two are e and d


def test_a_missing_query_counts_0_or_is_skipped() -> None:
    run = {"q1": {"a": 1.0}}

    assert against(run, [1]).figure("hnsw", 1)["mean"] == 0.5
    skipped = against(run, [1], conventions=Conventions(missing="skip")).figure("hnsw", 1)
    assert (skipped["mean"], skipped["queries"]) == (1.0, 1)


def test_the_line_tells_all_that_the_number_depends_on() -> None:
    found = recall_against(EXACT, {"hnsw": {"q1": {"a#1": 1.0}}}, [1], exact_name="brute", chunks=Chunks("#"))

    assert against_line(found, "hnsw", "recall@1") == (
        "Recall@1 0.500 (too few queries for an interval) · of the first 1 of brute · 2 of 2 queries "
        "(1 missing from the run) · missing = 0 · ties: score, then id ↓ · "
        "best chunk per document (id before the last “#”)"
    )


def test_percentiles_are_values_that_some_query_has() -> None:
    import numpy as np

    values = np.array([0.1, 0.9, *[1.0] * 18])
    assert [percentile(values, p) for p in (1, 5, 6, 50)] == [0.1, 0.1, 0.9, 1.0]


runs = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([0.0, 1.0, 2.0]), min_size=1),
    min_size=1,
)


@given(run=runs)
def test_a_run_against_itself_is_1(run: dict[str, dict[str, float]]) -> None:
    found = recall_against(run, {"same": run}, [1, 2, 5], bootstrap_samples=10)

    assert all(figure["mean"] == 1.0 for figure in found.runs["same"].figures.values())


@given(exact=runs, run=runs)
def test_recall_is_what_two_sets_say_and_lies_between_the_ends_of_its_ties(
    exact: dict[str, dict[str, float]], run: dict[str, dict[str, float]]
) -> None:
    def top(one: dict[str, float], k: int) -> set[str]:
        return set(sorted(one, key=lambda document: (one[document], document), reverse=True)[:k])

    found = recall_against(exact, {"r": run}, [1, 3], queries=["q1", "q2", "q3"], bootstrap_samples=10)
    measured = found.runs["r"]
    for row, query in enumerate(found.query_ids):
        for column, k in enumerate((1, 3)):
            truth = top(exact[query], k)
            assert measured.values[row, column] == len(truth & top(run.get(query, {}), k)) / len(truth)
    assert (measured.least <= measured.values).all()
    assert (measured.values <= measured.most).all()
    assert (measured.least <= measured.expected).all()
    assert (measured.expected <= measured.most).all()


@given(exact=runs, run=runs)
def test_hits_never_fall_with_k(exact: dict[str, dict[str, float]], run: dict[str, dict[str, float]]) -> None:
    hits = recall_against(exact, {"r": run}, [1, 2, 3, 8], queries=exact, bootstrap_samples=10).runs["r"].hits

    assert (hits[:, 1:] >= hits[:, :-1]).all()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "exact.run").write_text("q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\n")
    (tmp_path / "fast.run").write_text("q1 Q0 a 1 3 t\nq1 Q0 x 2 2 t\nq2 Q0 c 1 1 t\n")
    (tmp_path / "slow.run").write_text("q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    (tmp_path / "settings.csv").write_text("run,latency_ms,ef\nfast,0.1,8\nslow,0.4,64\n")
    return tmp_path


def run_command(folder: Path, *arguments: str) -> None:
    runs = [str(folder / name) for name in ("fast.run", "slow.run")]
    call_command("evaluate", *runs, "--against", str(folder / "exact.run"), *arguments)


def test_the_command_prints_the_shape_of_evaluate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_command(folder, "--k", "2", "--format", "json", "--per-query", str(folder / "values.csv"))

    content = json.loads(capsys.readouterr().out)
    assert content["conventions"]["against"] == "exact"
    assert content["queries"]["scored"] == 2
    assert {name: run["recall@2"]["mean"] for name, run in content["runs"].items()} == {
        "fast": 0.75,
        "slow": 1.0,
    }
    assert (folder / "values.csv").read_text().splitlines()[1] == "fast,q1,recall,2,0.5"


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_a_k_longer_than_the_lists_is_said_in_every_format(
    folder: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_command(folder, "--k", "1", "--format", form)
    assert "lists are shorter" not in (enough := capsys.readouterr().out)
    assert "K beyond" not in enough
    run_command(folder, "--k", "1", "2", "10", "--format", form)
    said = " ".join(capsys.readouterr().out.split())
    # q1 has two documents in all three runs, q2 one.
    if form == "csv":
        assert "K beyond the list of exact in 1 and fast in 1 of 2 queries" in said
        assert "K beyond the list of exact in 2 and slow in 2 of 2 queries" in said
        return
    assert (
        "From K = 2 on, lists are shorter than K (at 10: exact in 2, fast in 2, slow in 2 of 2 queries): "
        "recall is then of what exact lists, and a run finds no more than it lists."
    ) in said


@pytest.mark.parametrize(("least", "code"), [("0.75", 0), ("0.76", 1)])
def test_fail_under_holds_against_a_run(
    folder: Path, least: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        run_command(folder, "--fail-under", f"recall@2={least}")
        ended = 0
    except SystemExit as stop:
        ended = int(str(stop.code))
    said = "fast: recall@2 is 0.7500 over 2 queries, below 0.76.\n" if code else ""
    assert (ended, capsys.readouterr().err) == (code, said)


def test_latency_has_its_front_its_answer_and_its_picture(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["--settings", str(folder / "settings.csv"), "--target", "recall@2=0.8"]
    run_command(folder, *told, "--chart", str(folder / "curve.svg"), "--format", "json")

    latency = json.loads(capsys.readouterr().out)["latency"]
    assert latency["front"] == ["fast", "slow"]
    assert latency["target"] == {"at_least": 0.8, "cheapest": "slow", "cheapest_clear": None}
    assert latency["rows"][0]["parameters"] == {"ef": "8"}
    assert (folder / "curve.svg").read_bytes().startswith(b"<svg")
    for form in ("table", "csv", "markdown", "latex"):
        run_command(folder, *told, "--format", form)
        assert "slow" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--compare"], "--compare needs labels, and --against has none"),
        (["--measure", "ndcg"], "--measure needs labels"),
        (["--fail-under", "ndcg@10=0.5"], "only recall at a K is measured, not ndcg@10"),
        (["--target", "recall@2=0.8"], "--target needs the latency of the runs"),
        (["--settings", "settings.csv", "--target", "map=1"], "'map=1' is not a target"),
        (["--settings", "settings.csv", "--chart", "curve.pdf"], "curve.pdf ends in none of .svg, .png"),
        (["--engine", "spark"], "leave --engine out"),
    ],
)
def test_what_makes_no_sense_against_a_run_is_refused(
    folder: Path, arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(CommandError) as error:
        run_command(folder, *arguments)
    assert sentence in str(error.value)
    assert error.value.returncode == 2


def test_labels_beside_an_exact_run_and_settings_without_one_are_refused(folder: Path) -> None:
    qrels, fast, exact = (str(folder / name) for name in ("qrels.txt", "fast.run", "exact.run"))
    with pytest.raises(CommandError, match=r"qrels.txt holds labels; --against EXACT_RUN takes their place"):
        call_command("evaluate", qrels, fast, "--against", exact)
    with pytest.raises(CommandError, match="--settings belongs to --against EXACT_RUN"):
        call_command("evaluate", qrels, fast, "--settings", str(folder / "settings.csv"))
    with pytest.raises(CommandError, match="required: RUN"):
        call_command("evaluate", qrels)
