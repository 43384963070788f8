"""A pool told in figures: by run, by query, by depth, and by what the labels say."""

from __future__ import annotations

import json

import polars as pl

from pooling.merging.merging import build_pool
from pooling.merging.summary import as_text, diagnose, diagnose_labels, thin_among
from tests.pooling.merging.test_families import qrels_of
from tests.pooling.merging.test_merging import run_of

RUNS = {
    "alpha": run_of(q1="abcdefgh", q2="x", q3="mnop"),
    "beta": run_of(q1="badcfehg"),
    "copy": run_of(q1="abcdefgh", q2="x", q3="mnop"),
}
POOLED = build_pool(RUNS, depth=8)


def test_runs_are_told_by_finds_lone_finds_and_family() -> None:
    told = diagnose(RUNS, POOLED, 8)
    assert told["contributed"] == {"alpha": 13, "beta": 8, "copy": 13}
    assert told["unique_finds"] == {"alpha": 0, "beta": 0, "copy": 0}
    assert told["families"] == [["alpha", "copy"]]
    assert json.loads(json.dumps(told)) == told


def test_queries_below_half_the_median_are_thin() -> None:
    thin = diagnose(RUNS, POOLED, 8)["thin"]
    # Eight, one and four pairs: the median is four.
    assert thin == {"below": 2, "count": 1, "queries": [["q2", 1]]}
    # A count of pairs is whole: below half of 4.5 there are at most 2.
    sizes = pl.DataFrame({"query_id": ["q1", "q2", "q3", "q4"], "len": [2, 3, 6, 8]})
    assert thin_among(sizes) == {"below": 3, "count": 1, "queries": [["q1", 2]]}


def test_labels_tell_who_finds_alone_and_where_finds_dry_up() -> None:
    runs = {"alpha": run_of(q="abc"), "beta": run_of(q="axy")}
    pooled = build_pool(runs, depth=3)
    told = diagnose_labels(pooled, qrels_of("q", "abx", "c"), list(runs))
    assert told["relevant_alone"] == {"alpha": 1, "beta": 1}
    assert (told["labelled"], told["relevant"], told["dry_depth"]) == (4, 3, 3)
    assert told["by_rank"] == {"pairs": [1, 2, 2], "labelled": [1, 2, 1], "relevant": [1, 2, 0]}
    assert json.loads(json.dumps(told)) == told


def test_the_text_names_each_run_with_its_family_and_the_thin_queries() -> None:
    labels = diagnose_labels(POOLED, qrels_of("q1", "ab"), list(RUNS))
    lines = as_text(diagnose(RUNS, POOLED, 8), labels).splitlines()
    assert lines[0].split() == ["run", "pairs", "alone", "relevant", "alone", "family"]
    assert [line.split() for line in lines[1:4]] == [
        ["alpha", "13", "0", "0", "1"],
        ["beta", "8", "0", "0", "–"],
        ["copy", "13", "0", "0", "1"],
    ]
    assert "Thin queries (fewer than 2 pairs to the depth): 1; q2 (1)." in lines
    assert "Pairs by depth: 4 at 1, 11 at 5, 13 at 7." in lines
    assert lines[-1].startswith("2 pairs have a label, 2 are relevant; finds dry up at rank")


def test_a_pool_without_lone_finds_has_no_lone_relevant_ones() -> None:
    told = diagnose_labels(POOLED.drop("runs").with_columns(runs=pl.lit([0])), qrels_of("q1", "a"), ["alpha"])
    assert told["relevant_alone"] == {"alpha": 0}
