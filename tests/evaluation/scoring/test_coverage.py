"""Bounds of recall from the documents without a label, against counts by hand."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import Conventions, evaluate
from evaluation.scoring.unsettled import turning_share

QRELS = {"q": {"a": 1, "b": 1, "n": 0}}
ONE = {"q": {"a": 3.0, "x": 2.0, "n": 1.0}}
OTHER = {"q": {"y": 3.0, "b": 2.0, "x": 1.0}}


def pool(*documents: str) -> pl.DataFrame:
    return pl.DataFrame({"query_id": ["q"] * len(documents), "document_id": list(documents)})


@pytest.mark.parametrize(
    ("k", "lower", "upper"),
    [
        # One run: its own first k are the pool, x its only unjudged document.
        (1, 1 / 2, 1 / 2),  # x is no part of it: r=1 R=2 u=0 U=0
        (3, 1 / 2, (1 + 1) / (2 + 1)),  # x inside: r=1 R=2 u=1 U=0
    ],
)
def test_bounds_of_one_run(k: int, lower: float, upper: float) -> None:
    result = evaluate(QRELS, {"one": ONE}, k=(k, 3))

    assert result.figure("one", "recall", k)["bounds"] == pytest.approx([lower, upper])


@pytest.mark.parametrize(
    ("run", "k", "lower", "upper"),
    [
        # Two runs: the union of their first places has y at 1, and x and y at 3.
        ("one", 1, 1 / (2 + 1), 1 / 2),
        ("one", 3, 1 / (2 + 1), 2 / 3),  # x inside, y outside
        ("other", 1, 0 / 2, 1 / 3),  # y inside
        ("other", 3, 1 / 2, 3 / 4),  # both inside
    ],
)
def test_bounds_of_two_runs_know_of_each_other(run: str, k: int, lower: float, upper: float) -> None:
    result = evaluate(QRELS, {"one": ONE, "other": OTHER}, k=(1, 3))

    assert result.figure(run, "recall", k)["bounds"] == pytest.approx([lower, upper])


@pytest.mark.parametrize(
    ("k", "lower", "upper"),
    [
        (1, 1 / (2 + 3), 1 / 2),  # x, v, w outside
        (3, 1 / (2 + 2), 2 / 3),  # x inside, v and w outside
    ],
)
def test_bounds_with_a_given_pool(k: int, lower: float, upper: float) -> None:
    pairs = pool("a", "b", "n", "x", "v", "w")

    assert evaluate(QRELS, {"one": ONE}, k=(1, 3), pool=pairs).figure("one", "recall", k)[
        "bounds"
    ] == pytest.approx([lower, upper])


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_a_pool_in_a_file_gives_the_bounds_of_the_frame(tmp_path: Path, suffix: str) -> None:
    pairs = pool("a", "b", "n", "x", "v", "w")
    path = tmp_path / f"pool.{suffix}"
    match suffix:
        case "csv":
            pairs.with_columns(in_audit=True).write_csv(path)
        case "tsv":
            pairs.write_csv(path, separator="\t")
        case "jsonl":
            pairs.write_ndjson(path)
        case _:
            pairs.write_parquet(path)
    bounds = [
        evaluate(QRELS, {"one": ONE}, k=3, pool=one).figure("one", "recall", 3)["bounds"]
        for one in (pairs, path, str(path))
    ]

    assert bounds[0] == bounds[1] == bounds[2] == pytest.approx([1 / (2 + 2), 2 / 3])
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("query,text\nq,a\n")
    with pytest.raises(ValueError, match="document id"):
        evaluate(QRELS, {"one": ONE}, k=3, pool=wrong)
    other = pl.DataFrame({"query_id": ["z"], "document_id": ["a"]})
    with pytest.raises(ValueError, match="The pool has no query in common with the qrels"):
        evaluate(QRELS, {"one": ONE}, k=3, pool=other)
    assert evaluate(QRELS, {"one": ONE}, k=3, pool=other, queries={"q"}).pool is other


def test_bounds_with_a_given_pool_cover_the_first_k_of_every_run() -> None:
    pairs = pool("a", "b", "n", "w")
    both = evaluate(QRELS, {"one": ONE, "other": OTHER}, k=3, pool=pairs)

    assert both.figure("one", "recall", 3)["bounds"] == pytest.approx([1 / (2 + 2), 2 / 3])  # x in, y, w out


@given(
    tops=st.lists(st.permutations("abcdef"), min_size=1, max_size=3),
    judged=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 1), min_size=1),
    pooled=st.sets(st.sampled_from("abcdefgh"), min_size=1),
    fewer=st.sets(st.sampled_from("abcdefgh")),
)
def test_neither_a_pool_nor_a_smaller_one_narrows_a_bound(
    tops: list[list[str]], judged: dict[str, int], pooled: set[str], fewer: set[str]
) -> None:
    qrels = {"q": {"z": 1, **judged}}
    runs = {f"run{place}": {"q": order} for place, order in enumerate(tops)}
    without = evaluate(qrels, runs, k=(1, 3))
    whole = evaluate(qrels, runs, k=(1, 3), pool=pool(*sorted(pooled)))
    smaller = evaluate(qrels, runs, k=(1, 3), pool=pool(*sorted((pooled & fewer) or {"z"})))
    for run in runs:
        for k in (1, 3):
            none, less, more = (one.figure(run, "recall", k)["bounds"] for one in (without, smaller, whole))
            assert more[0] <= less[0] <= none[0]
            assert none[1] <= less[1] <= more[1]


@pytest.mark.parametrize("runs", [{"one": ONE}, {"one": ONE, "other": OTHER}])
@pytest.mark.parametrize("known", [None, pool("a", "b", "v")])
def test_bounds_at_k_do_not_hang_on_the_other_cutoffs(runs: Any, known: pl.DataFrame | None) -> None:
    qrels = {"q": {**QRELS["q"], "w": -1}}
    for k in (1, 2, 3):
        alone, among = (evaluate(qrels, runs, k=ks, pool=known) for ks in (k, (1, 2, 3)))
        for run in runs:
            assert alone.figure(run, "recall", k) == among.figure(run, "recall", k)


def test_an_unjudged_document_in_the_top_counts_even_outside_the_given_pool() -> None:
    bounds = evaluate(QRELS, {"one": ONE}, k=3, pool=pool("a", "b", "n")).figure("one", "recall", 3)["bounds"]

    assert bounds == pytest.approx([1 / 2, 2 / 3])


def test_a_pair_with_a_negative_relevance_is_pooled_and_not_judged() -> None:
    qrels = {"q": {**QRELS["q"], "v": -1}}

    figures = evaluate(qrels, {"one": ONE}, k=(1, 3))

    assert figures.figure("one", "recall", 1)["bounds"] == pytest.approx([1 / (2 + 1), 1 / 2])
    assert figures.figure("one", "judged", 3)["mean"] == pytest.approx(2 / 3)


def test_every_way_to_label_the_rest_lies_within_the_bounds_and_reaches_them() -> None:
    runs = {"one": ONE, "other": OTHER}
    bounds = evaluate(QRELS, runs, k=3).figure("one", "recall", 3)["bounds"]

    recalls = []
    for x, y in product((0, 1), repeat=2):
        labelled = {"q": {**QRELS["q"], "x": x, "y": y}}
        recalls.append(evaluate(labelled, runs, k=3).figure("one", "recall", 3)["mean"])

    assert [min(recalls), max(recalls)] == pytest.approx(bounds)


def test_bounds_meet_where_everything_is_judged() -> None:
    qrels = {"q": {"a": 1, "x": 0, "n": 0, "b": 1}}

    figure = evaluate(qrels, {"one": ONE}, k=3).figure("one", "recall", 3)

    assert figure["bounds"] == [0.5, 0.5]


def test_what_is_wholly_judged_has_no_interval_and_what_is_wholly_found_has() -> None:
    qrels = {f"q{number}": {"a": 1, "x": 0, "n": 0} for number in range(12)}
    run = {query: {"a": 3.0, "x": 2.0, "n": 1.0} for query in qrels}

    result = evaluate(qrels, {"one": run}, k=3)

    judged, recall = (result.figure("one", name, 3) for name in ("judged", "recall"))
    assert (judged["mean"], judged["low"], judged["high"]) == (1.0, 1.0, 1.0)
    assert (recall["mean"], recall["high"]) == (1.0, 1.0)
    assert recall["low"] == pytest.approx(0.025 ** (1 / 12)), "Clopper and Pearson, of 12"


def test_runs_that_differ_by_rounding_alone_are_level() -> None:
    differences = np.array([0.1, 0.2, -0.3])
    assert 0 < abs(differences.mean()) < 1e-16

    turning = turning_share(lambda share: (differences - share, differences + share), np.full(3, True))

    assert turning == 0.0


def test_bounds_and_mean_are_over_the_same_queries() -> None:
    qrels = {**QRELS, "gone": {"a": 1}}
    conventions = Conventions(missing="skip")

    figure = evaluate(qrels, {"one": ONE}, k=3, conventions=conventions).figure("one", "recall", 3)

    assert figure["mean"] == 0.5
    assert figure["bounds"] == pytest.approx([1 / 2, 2 / 3])


def test_bounds_are_the_same_however_many_queries_are_counted_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queries = ["q3", "q1", "q10", "q2"]
    qrels = {query: {"a": 1, "b": 1, "n": -1} for query in queries}
    runs = {
        "one": {query: {"a": 3.0, f"u{place}": 2.0, "x": 1.0} for place, query in enumerate(queries)},
        "two": {query: {"x": 3.0, f"v{place}": 2.0, "b": 1.0} for place, query in enumerate(queries)},
        "three": {"q2": {"x": 2.0, "u3": 1.0}},
    }
    told: list[tuple[float, str]] = []
    at_once = evaluate(qrels, runs, k=[1, 2, 3]).to_dict()
    monkeypatch.setattr("evaluation.scoring.coverage._PAIRS_AT_ONCE", 1)
    assert evaluate(qrels, runs, k=[1, 2, 3], progress=lambda *sign: told.append(sign)).to_dict() == at_once
    # Each query tells how far the count is, and the shares only rise.
    counting = [share for share, detail in told if detail == "Counting documents without a label."]
    assert len(counting) == len(queries)
    assert [share for share, _ in told] == sorted(share for share, _ in told)


def test_drawing_for_intervals_tells_how_far_it_is() -> None:
    qrels = {f"q{number}": {"a": 1} for number in range(2_000)}
    run = {query: {"a": 1.0} for query in qrels}
    shares: list[float] = []
    evaluate(
        qrels,
        {"run": run},
        k=1,
        bootstrap_samples=5_000,
        progress=lambda share, detail: shares.append(share) if "intervals" in detail else None,
    )
    assert len(set(shares)) > 2
    assert shares == sorted(shares)
    assert 0.5 <= shares[0] <= shares[-1] <= 1
