"""Which queries count, under which convention, and how that is said."""

from pathlib import Path

import polars as pl
import pytest

from evaluation import Conventions, evaluate

# q1 is found, q2 has no relevant label, q3 is missing from the run,
# q4 has only a pooled pair, q9 has no labels.
QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 0}, "q3": {"a": 1}, "q4": {"a": -1}}
RUN = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"a": 1.0}, "q4": {"a": 1.0}, "q9": {"a": 1.0}}


@pytest.mark.parametrize(
    ("zero_relevant", "missing", "mean", "queries"),
    [
        ("exclude", "zero", 0.5 / 2, 2),  # q1 and q3
        ("exclude", "skip", 0.5 / 1, 1),  # q1
        ("zero", "zero", 0.5 / 4, 4),  # q1 q2 q3 q4
        ("zero", "skip", 0.5 / 3, 3),  # q1 q2 q4
    ],
)
def test_the_mean_is_over_the_queries_that_the_conventions_count(
    zero_relevant: str, missing: str, mean: float, queries: int
) -> None:
    conventions = Conventions(zero_relevant=zero_relevant, missing=missing)  # type: ignore[arg-type]

    figure = evaluate(QRELS, {"run": RUN}, k=2, conventions=conventions).figure("run", "recall", 2)

    assert figure["mean"] == pytest.approx(mean)
    assert figure["queries"] == queries


def test_queries_that_do_not_count_are_counted_and_listed() -> None:
    queries = evaluate(QRELS, {"run": RUN}, k=2).to_dict()["queries"]

    assert queries == {
        "labelled": 4,
        "scored": 2,
        "without_relevant": 2,
        "missing": {"run": 1},
        "unknown": {"run": 1},
        "without_relevant_ids": ["q2", "q4"],
        "missing_ids": {"run": ["q3"]},
    }


def test_an_undefined_value_is_null_and_not_zero() -> None:
    result = evaluate({"q": {"a": 0}}, {"run": {"q": {"a": 1.0}}}, k=1)

    assert result.to_dict()["runs"]["run"]["recall@1"]["mean"] is None
    assert result.per_query()["value"].isna().all()


def test_the_line_says_what_the_number_depends_on() -> None:
    result = evaluate(QRELS, {"run": RUN}, k=2, bootstrap_samples=200)

    assert result.convention_line("run", "recall", 2) == (
        "Recall@2 0.250 (too few queries for an interval) · 2 of 4 queries "
        "(2 without a relevant label, 1 missing from the run) · "
        "missing = 0 · rel ≥ 1 · ties: score, then id ↓ · judged@2 50.0 %"
    )


@pytest.mark.parametrize(
    ("preset", "zero_relevant", "missing", "scores"),
    [
        ("trec_eval", "zero", "skip", "float64"),
        ("trec_eval-c", "zero", "zero", "float64"),
        ("trec_eval-9", "zero", "skip", "float32"),
    ],
)
def test_presets(preset: str, zero_relevant: str, missing: str, scores: str) -> None:
    conventions = Conventions.preset(preset)

    assert (conventions.zero_relevant, conventions.missing, conventions.scores) == (
        zero_relevant,
        missing,
        scores,
    )


def test_a_named_convention_wins_over_the_preset() -> None:
    assert Conventions.preset("trec_eval-9", missing="zero") == Conventions(
        zero_relevant="zero", missing="zero", scores="float32"
    )


@pytest.mark.parametrize(
    "wrong", [{"ties": "random"}, {"missing": "drop"}, {"min_relevance": 0}, {"scores": "float16"}]
)
def test_an_unknown_convention_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Conventions(**wrong)  # type: ignore[arg-type]


def test_labels_below_0_are_pooled_or_judged_as_one_says_and_they_are_told() -> None:
    labels, run = {"q": {"a": 1, "b": -1}}, {"r": {"q": {"b": 2.0, "a": 1.0}}}
    pooled = evaluate(labels, run, k=2)
    judged = evaluate(labels, run, k=2, conventions=Conventions(negative="judged"))
    assert [one.figure("r", "judged", 2)["mean"] for one in (pooled, judged)] == [0.5, 1.0]
    (note,) = pooled.notes
    assert note.startswith("Labels below 0 (1) count as pooled, not judged; --negative judged counts them")
    assert "rel < 0 judged" in judged.convention_line("r", "recall", 2)
    assert "negative" not in pooled.conventions.to_dict()
    assert judged.conventions.to_dict()["negative"] == "judged"


def test_a_query_that_is_a_document_is_noticed_and_left_out_if_one_says_so(tmp_path: Path) -> None:
    (tmp_path / "r.run").write_text("q Q0 q 1 3 t\nq Q0 a 2 2 t\n")
    kept = evaluate({"q": {"a": 1}}, [tmp_path / "r.run"], k=1)
    dropped = evaluate(
        {"q": {"a": 1}}, [tmp_path / "r.run"], k=1, conventions=Conventions(drop_query_document=True)
    )
    assert [one.figure("r", "recall", 1)["mean"] for one in (kept, dropped)] == [0.0, 1.0]
    assert (
        "such as “q”, and they count. --drop-query-document leaves them out, as BEIR does." in kept.notes[0]
    )
    rows = pl.DataFrame({"qid": ["q", "q"], "docno": ["q", "a"], "score": [3.0, 2.0]})
    rows.write_csv(tmp_path / "r.csv")
    rows.write_ndjson(tmp_path / "r.jsonl")
    rows.write_parquet(tmp_path / "r.parquet")
    (tmp_path / "r.tsv").write_text("q q 3\nq a 2\n")
    files = [[tmp_path / f"r.{suffix}"] for suffix in ("csv", "jsonl", "parquet", "tsv")]
    for run in (*files, {"r": rows}, {"r": {"q": {"q": 3.0, "a": 2.0}}}):
        assert kept.notes[0] in evaluate({"q": {"a": 1}}, run, k=1).notes, run
    assert dropped.notes == ("Run r: left out 1 document with the id of the query.",)
    assert "without the query's own document" in dropped.convention_line("r", "recall", 1)
