"""The one order of a run."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.ranking.ranking import group_queries, order_run, with_positions


def run_of(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=["query_id", "document_id", "score"], orient="row")


TIED = run_of(("q", "b", 1.0), ("q", "a", 1.0), ("q", "c", 1.0), ("q", "top", 2.0)).with_columns(
    rank=pl.Series([3, 1, 2, 4])
)


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("docid", ["top", "c", "b", "a"]),
        ("docid-asc", ["top", "a", "b", "c"]),
        ("file", ["top", "b", "a", "c"]),
        ("rank", ["a", "c", "b", "top"]),
    ],
)
def test_equal_scores_are_settled_as_asked(ties: str, expected: list[str]) -> None:
    assert order_run(TIED, ties=ties)["document_id"].to_list() == expected


def test_ids_compare_bytewise() -> None:
    # In UTF-8: Z < z < é < U+FFFF < U+1F600; in UTF-16 the last two are the other way round.
    ids = ["z", "\U0001f600", "Z", "\uffff", "é"]
    ordered = order_run(run_of(*(("q", name, 1.0) for name in ids)), ties="docid-asc")
    assert ordered["document_id"].to_list() == sorted(ids, key=str.encode)


def test_single_precision_makes_ties_of_near_scores() -> None:
    near = run_of(("q", "a", 30.123456789), ("q", "b", 30.123456788))
    assert order_run(near)["document_id"].to_list() == ["a", "b"]
    assert order_run(near, scores="float32")["document_id"].to_list() == ["b", "a"]
    assert order_run(near, scores="float32")["score"].to_list() == [30.123456788, 30.123456789]


def test_queries_keep_the_order_of_their_first_rows_and_are_numbered_and_cut() -> None:
    scattered = run_of(("z", "a", 1.0), ("b", "a", 5.0), ("z", "b", 2.0), ("b", "c", 6.0), ("z", "c", 0.0))
    ordered = order_run(scattered, depth=2)
    assert ordered.select("query_id", "document_id", "position").rows() == [
        *(("z", "b", 1), ("z", "a", 2)),
        *(("b", "c", 1), ("b", "a", 2)),
    ]


def test_scattered_rows_of_a_query_are_brought_together_in_file_order() -> None:
    # Many rows and few queries: a sort that is not stable, or by the id, would not keep this order.
    generator = np.random.default_rng(7)
    queries = [f"q{number}" for number in generator.integers(0, 9, size=4000)]
    frame = pl.DataFrame({"query_id": queries, "row": np.arange(4000)})

    grouped = group_queries(frame)

    expected = [
        (query, row) for query in dict.fromkeys(queries) for row, of in enumerate(queries) if of == query
    ]
    assert grouped.rows() == expected


def test_a_run_in_order_is_left_as_it_is() -> None:
    ordered = run_of(("q", "b", 2.0), ("q", "c", 1.0), ("q", "a", 1.0), ("p", "x", 9.0))
    assert order_run(ordered).drop("position").equals(ordered)


def test_an_empty_run_stays_empty() -> None:
    empty = run_of(("q", "a", 1.0)).clear()
    assert order_run(empty).columns == ["query_id", "document_id", "score", "position"]


def test_unknown_options_and_missing_ranks_are_refused() -> None:
    with pytest.raises(ValueError, match="known are docid, docid-asc, file, rank"):
        order_run(TIED, ties="random")
    with pytest.raises(ValueError, match="known are float64, float32"):
        order_run(TIED, scores="half")
    with pytest.raises(ValueError, match="column rank"):
        order_run(TIED.drop("rank"), ties="rank")


ROW = st.tuples(st.sampled_from("pq"), st.text(max_size=3), st.sampled_from([0.0, 0.5, 0.5 + 1e-9, -1.0]))


@given(st.lists(ROW, max_size=20, unique_by=lambda row: row[:2]), st.randoms())
def test_the_order_does_not_depend_on_the_order_of_the_rows(
    rows: list[tuple[str, str, float]], random
) -> None:  # type: ignore[no-untyped-def]
    shuffled = random.sample(rows, len(rows))
    for ties in ("docid", "docid-asc"):
        one, other = (
            order_run(run_of(*some), ties=ties).sort("query_id", "position") for some in (rows, shuffled)
        )
        assert one.rows() == other.rows()
    expected = sorted(rows, key=lambda row: (-row[2], [-byte for byte in row[1].encode()] + [1]))
    in_query = [row for row in expected if row[0] == "q"]
    assert order_run(run_of(*rows)).filter(pl.col("query_id") == "q").drop("position").rows() == in_query


def test_a_column_that_is_called_position_is_replaced() -> None:
    run = run_of(("q", "a", 2.0), ("q", "b", 1.0), ("r", "a", 1.0)).with_columns(position=pl.lit(9))

    numbered = with_positions(run, np.array([0, 2]), None)

    assert numbered["position"].to_list() == [1, 2, 1]
