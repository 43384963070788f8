"""What a ranker loses of what stage 1 hands on, and what it never got."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from evaluation import evaluate
from evaluation.failures.stage_ceiling import ceiling_bounds, ceilings
from evaluation.measures.hajek import Design
from evaluation.scoring.conventions import Conventions
from tests.testdata import DATA, needs_data

LABELS = {"q1": {"a": 2, "b": 1, "c": 1, "x": 0}, "q2": {"a": 1}}
STAGE1 = {"bm25": {"q1": ["x", "a", "b", "y"], "q2": ["z", "a"]}}
RANKER = {"ranker": {"q1": ["y", "b", "d", "a"], "q2": ["a"]}}


def test_what_is_relevant_is_found_or_lost_or_missed() -> None:
    found = ceilings(evaluate(LABELS, RANKER, k=[1, 2]), STAGE1, [3])
    one = found.runs["ranker"][3]
    # q1: stage 1 hands on x, a, b; the ranker shows b, a. q2: a, z.
    first, second = one.by_k[1].recall, one.by_k[2].recall
    assert first["found"] == pytest.approx((1 / 3 + 1) / 2)
    assert first["lost"] == pytest.approx((1 / 3 + 0) / 2)
    assert first["missed"] == second["missed"] == pytest.approx((1 / 3 + 0) / 2)
    assert second["found"] == second["ceiling"] == pytest.approx((2 / 3 + 1) / 2)
    assert second["best"] == pytest.approx((2 / 3 + 1) / 2)
    gain = one.by_k[2].ndcg
    discounted = 1 / np.log2(3)
    assert gain["found"] == pytest.approx(((1 + 2 * discounted) / (2 + discounted) + 1) / 2)
    assert gain["found"] + gain["lost"] + gain["missed"] == pytest.approx(1)
    assert one.elsewhere == 1  # y is the ranker's first; stage 1 has it fourth


def test_queries_that_stage_1_lacks_count_0_or_are_left_out() -> None:
    stage1 = {"bm25": {"q1": ["a", "b", "c"]}}
    counted = ceilings(evaluate(LABELS, RANKER, k=3), stage1, [3])
    assert (counted.queries, counted.runs["ranker"][3].by_k[3].recall["ceiling"]) == (2, 0.5)
    skipping = Conventions(missing="skip")
    skipped = ceilings(evaluate(LABELS, RANKER, k=3, conventions=skipping), stage1, [3])
    assert (skipped.queries, skipped.runs["ranker"][3].by_k[3].recall["ceiling"]) == (1, 1.0)


def test_the_means_are_weighted_as_those_of_the_evaluation() -> None:
    result = evaluate(LABELS, RANKER, k=[1, 2])
    # q1 counts three times as much as q2; what is outside the draw has no weight.
    for weights, found, queries in (([3.0, 1.0], (3 / 3 + 1) / 4, 2), ([0.0, 1.0], 1.0, 1)):
        design = Design(np.array(weights), np.ones(2), np.zeros(2, dtype=np.int64))
        made = ceilings(replace(result, design=design), STAGE1, [3])
        at = made.runs["ranker"][3].by_k[1]
        assert (made.queries, made.is_weighted) == (queries, True)
        assert at.recall["found"] == pytest.approx(found)
        assert at.recall["found"] + at.recall["lost"] + at.recall["missed"] == pytest.approx(1)


@given(st.integers(1, 4), st.integers(1, 4), st.data(), st.integers(0, 3), st.integers(0, 3))
def test_bounds_are_those_of_every_labeling(
    k: int, relevant: int, data: st.DataObject, inside: int, outside: int
) -> None:
    handed = data.draw(st.integers(0, relevant))
    every = [
        min(k, handed + sum(inner)) / (relevant + sum(inner) + sum(outer))
        for inner in itertools.product((0, 1), repeat=inside)
        for outer in itertools.product((0, 1), repeat=outside)
    ]
    counts = [np.array([number]) for number in (relevant, handed, inside, outside)]
    low, high = ceiling_bounds(k, counts[0], counts[1], inside=counts[2], outside=counts[3])
    assert (low[0], high[0]) == pytest.approx((min(every), max(every)))


@pytest.mark.parametrize("pool", [None, [("q1", "z"), ("q1", "e"), ("q2", "y")]])
def test_where_stage_1_hands_on_k_documents_the_bounds_are_those_of_its_recall(pool: Any) -> None:
    given = None if pool is None else pl.DataFrame(pool, schema=["query_id", "document_id"], orient="row")
    # Documents that a third run alone has in its first K belong to the pool at K, and those beyond it do not.
    runs = {**RANKER, **STAGE1, "third": {"q1": ["h", "a", "b", "i"], "q2": ["j"]}}
    result = evaluate(LABELS, runs, k=[1, 2, 3], pool=given)
    found = ceilings(result, STAGE1, [1, 2, 3]).runs
    for k in (1, 2, 3):
        bounds = result.figure("bm25", "recall", k)["bounds"]
        for ranker in ("ranker", "third"):
            at = found[ranker][k].by_k[k].recall
            assert [at["low"], at["high"]] == pytest.approx(bounds)


@needs_data
def test_the_reference_figures_of_dl19() -> None:
    folder = DATA / "dl19"
    expected = json.loads((DATA / "living/ceiling/dl19.expected.json").read_text())["figures"]
    conventions = Conventions(min_relevance=2)
    result = evaluate(
        folder / "qrels.txt", [folder / "runs/repllama.run"], k=[5, 10], conventions=conventions
    )
    seen = 0
    for stage1 in ("bm25", "splade-pp-ed"):
        for k1, one in ceilings(result, [folder / f"runs/{stage1}.run"]).runs["repllama"].items():
            for k, at in one.by_k.items():
                ours = {
                    "recall": at.recall["found"],
                    "ceiling": at.recall["ceiling"],
                    "best possible": at.recall["best"],
                    "missed by stage 1": at.recall["missed"],
                    "lost by the ranker": at.recall["lost"],
                    "ndcg": at.ndcg["found"],
                    "ndcg ceiling": at.ndcg["ceiling"],
                }
                theirs = {name: expected[f"{stage1} {k1}"][f"{name}@{k}"] for name in ours}
                assert ours == pytest.approx(theirs, abs=1e-12)
                seen += 1
    assert seen == 16


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 1\nq1 0 x 0\n")
    (tmp_path / "ranker.run").write_text("q1 Q0 x 1 9 t\nq1 Q0 a 2 8 t\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 a 1 9 t\nq1 Q0 x 2 8 t\nq1 Q0 b 3 7 t\n")
    return tmp_path


def ran(folder: Path, *options: object) -> str:
    output = io.StringIO()
    paths = [str(folder / name) for name in ("qrels.txt", "ranker.run")]
    call_command("evaluate", *paths, "--k", "1", *map(str, options), stdout=output, stderr=io.StringIO())
    return output.getvalue()


def test_the_command_has_them_by_run_and_k1(files: Path) -> None:
    asked = ("--stage1", files / "bm25.run", "--k1", 2, 3)
    told = json.loads(ran(files, *asked, "--format", "json"))["ceilings"]["ranker"]
    assert {k1: one["recall@1"]["missed"] for k1, one in told.items()} == {"2": 0.5, "3": 0.0}
    assert told["2"]["recall"] == told["2"]["recall@1"]
    assert told["2"]["ndcg"]["ceiling"] == 1.0
    table = ran(files, *asked)
    assert "Ceilings of rankers over bm25" in table
    assert "the three add up to 1" in table


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--k1", 5), "--k1 belongs to --stage1 RUN"),
        (("--stage1", "bm25.run", "--k1", 0), "K is 0"),
        (("--stage1", "nowhere.run"), "nowhere.run"),
        (("--stage1", "bm25.run", "--format", "csv"), "Ceilings of rankers over bm25 have no place in CSV"),
        (("--stage1", "bm25.run", "--format", "mlflow"), "have no place in MLflow"),
    ],
)
def test_wrong_options_are_one_sentence(files: Path, options: tuple[object, ...], told: str) -> None:
    named = [files / str(one) if str(one).endswith(".run") else one for one in options]
    with pytest.raises(CommandError, match=told):
        ran(files, *named)
