"""Near-duplicate runs, lone finds, and where finds dry up."""

from __future__ import annotations

import polars as pl
import pytest

from pooling.merging.families import dry_depth, families, lone_relevant, rank_biased_overlap
from pooling.merging.merging import merge_runs
from tests.pooling.pools_at_random import runs_of


def qrels_of(query_id: str, relevant: str, others: str = "") -> pl.DataFrame:
    documents = [*relevant, *others]
    labels = [1] * len(relevant) + [0] * len(others)
    return pl.DataFrame(
        {"query_id": [query_id] * len(documents), "document_id": documents, "relevance": labels},
        schema={"query_id": pl.String, "document_id": pl.String, "relevance": pl.Int32},
    )


def test_overlap_weighs_the_first_ranks_most() -> None:
    overlap = rank_biased_overlap(runs_of(q=["abc", "abc", "bac", "xyz"]), depth=3)
    assert overlap[0, 1] == pytest.approx(1)
    # (0 + .9 · 2/2 + .81 · 3/3) / (1 + .9 + .81)
    assert overlap[0, 2] == pytest.approx(1.71 / 2.71)
    assert overlap[0, 3] == 0


def test_a_query_that_only_one_run_has_counts_as_no_overlap() -> None:
    runs = runs_of(q1=["ab", "ab"])
    runs["run1"] = pl.concat([runs["run1"], runs["run1"].with_columns(query_id=pl.lit("q2"))])
    assert rank_biased_overlap(runs, depth=2)[0, 1] == pytest.approx(0.5)


def test_near_duplicates_are_one_family_and_links_are_followed() -> None:
    runs = runs_of(q=["abcdefghij", "abcdefghji", "zyxwvutsrq", "abcdefhgji"])
    assert families(runs, depth=10) == [["run0", "run1", "run3"], ["run2"]]
    assert len(families(runs, depth=10, near=1.01)) == 4


def test_lone_relevant_counts_what_one_run_alone_found() -> None:
    runs = runs_of(q=["abc", "bd", "be"])
    pooled = merge_runs(runs, depth=3)
    assert lone_relevant(pooled, qrels_of("q", "abe", "cd"), list(runs)) == {"run0": 1, "run1": 0, "run2": 1}


def test_finds_dry_up_after_the_last_rank_that_brought_some() -> None:
    documents = "abcdefghijklmnopqrst"
    pooled = merge_runs(runs_of(q=[documents]), depth=20)
    dried = dry_depth(pooled, qrels_of("q", "abd", documents[4:]))
    # d stands at rank 4, and counts in the windows that end at ranks 4 to 8.
    assert dried.depth == 8
    assert dried.relevant[:5] == [1, 1, 0, 1, 0]
    assert (sum(dried.pairs), sum(dried.labelled)) == (20, 19)
    assert dry_depth(pooled, qrels_of("q", "")).depth is None
    assert dry_depth(pooled, qrels_of("q", "", documents)).depth == 0
