"""What people see before they pay for judgments."""

import json

import polars as pl
import pytest

from pooling.merging.diagnostics import overlap, preflight, size_by_depth, unique_finds
from pooling.merging.merging import build_pool
from tests.pooling.merging.test_merging import run_of

RUNS = {"alpha": run_of(q1="abc", q2="x"), "beta": run_of(q1="bad"), "gamma": run_of(q1="abc")}


def test_size_by_depth_grows_to_the_union() -> None:
    assert [entry["pairs"] for entry in size_by_depth(RUNS)] == [3, 3, 5]
    assert size_by_depth(RUNS, depth=2) == [{"depth": 1, "pairs": 3}, {"depth": 2, "pairs": 3}]
    assert size_by_depth(RUNS, depth=4)[-1] == {"depth": 4, "pairs": 5}


def test_overlap_is_the_share_of_the_first_run() -> None:
    matrix = overlap(RUNS, depth=3)
    assert matrix[0] == [1.0, 0.5, 0.75]
    assert matrix[2] == pytest.approx([1.0, 2 / 3, 1.0])


def test_unique_finds_count_what_one_run_alone_found() -> None:
    assert unique_finds(build_pool(RUNS, depth=3)) == [1, 1, 0]
    assert unique_finds(build_pool({"alpha": run_of(q="a")}, depth=1)) == [1]


def test_preflight_holds_a_run_against_its_queries_and_labels() -> None:
    run = pl.DataFrame(
        {
            "query_id": ["q1", "q1", "q1", "q9"],
            "document_id": ["a", "b", "c", "z"],
            "score": [2.0, 1.0, 1.0, 5.0],
        }
    )
    qrels = pl.DataFrame({"query_id": ["q1", "q1"], "document_id": ["a", "b"], "relevance": [1, -1]})
    checks = preflight(run, ["q1", "q2", "q3"], qrels, k=(1, 2, 3))
    assert (checks["rows"], checks["queries"], checks["queries_in_common"]) == (4, 2, 1)
    assert checks["missing_query_ids"] == ["q2", "q3"]
    assert checks["unknown_query_ids"] == ["q9"]
    assert checks["depths"] == {"least": 1.0, "median": 2.0, "greatest": 3.0}
    assert checks["ties_across_k"] == {"1": 0, "2": 1, "3": 0}
    # A negative label is no judgment, so only a counts; c stands before b, for its id is the greater.
    assert checks["unjudged_at_k"] == pytest.approx({"1": 0.0, "2": 0.5, "3": 2 / 3})
    assert checks["notes"] == [
        "2 of the queries are not in the run, such as “q2”.",
        "1 of the run's queries is not known here, such as “q9”.",
    ]
    assert json.loads(json.dumps(checks)) == checks


def test_preflight_without_labels_says_nothing_about_them() -> None:
    assert preflight(run_of(q="ab"), ["q"])["unjudged_at_k"] is None
