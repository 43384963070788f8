"""Budget and audit sample: what is spent, what is random, and that estimates from it are right on average."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.ranking.sample import audit_order, choose, spread_budget, walk


def pool_of(*sizes: int) -> pl.DataFrame:
    rows = [(f"q{query}", f"d{number:02}") for query, size in enumerate(sizes) for number in range(size)]
    return pl.DataFrame(rows, schema=["query_id", "document_id"], orient="row")


def chosen(*sizes: int, budget: int | None, audit_share: float, seed: int = 0) -> pl.DataFrame:
    frame = pool_of(*sizes)
    return frame.with_columns(choose(frame, budget=budget, audit_share=audit_share, seed=seed))


@pytest.mark.parametrize(
    ("sizes", "budget", "shares"),
    [
        ([10, 10, 10], 9, [3, 3, 3]),
        ([10, 10, 10], 11, [4, 4, 3]),  # the remainder goes to the first queries
        ([2, 10, 10], 12, [2, 5, 5]),  # what a small query cannot use goes to the others
        ([1, 3, 10], 100, [1, 3, 10]),
        ([10, 10, 10], 2, [1, 1, 0]),
        ([], 5, []),
    ],
)
def test_the_budget_is_spread_equally(sizes: list[int], budget: int, shares: list[int]) -> None:
    assert spread_budget(np.array(sizes, dtype=np.int64), budget).tolist() == shares


def test_without_a_budget_everything_is_judged() -> None:
    everything = chosen(5, 3, budget=None, audit_share=0.4)
    assert everything["inclusion_probability"].to_list() == [1.0] * 8
    assert everything.group_by("query_id", maintain_order=True).agg(pl.col("in_audit").sum()).rows() == [
        ("q0", 2),
        ("q1", 2),
    ]


def test_without_an_audit_the_first_of_the_order_are_judged() -> None:
    greedy = chosen(4, budget=2, audit_share=0.0)
    assert greedy["inclusion_probability"].to_list() == [1.0, 1.0, None, None]


@given(
    st.lists(st.integers(1, 15), min_size=1, max_size=4),
    st.integers(1, 40),
    st.sampled_from([0.1, 0.3, 0.5, 1.0]),
    st.integers(0, 5),
)
def test_the_budget_is_spent_to_the_last_pair_and_remainders_keep_an_audit_document(
    sizes: list[int], budget: int, audit_share: float, seed: int
) -> None:
    pool = chosen(*sizes, budget=budget, audit_share=audit_share, seed=seed)
    assert pool["inclusion_probability"].is_not_null().sum() == min(budget, sum(sizes))
    shares = spread_budget(np.array(sizes, dtype=np.int64), budget)
    for (_, query), share in zip(pool.group_by("query_id", maintain_order=True), shares, strict=True):
        probability = query["inclusion_probability"]
        reached = (probability == 1.0).fill_null(False).to_list()
        walked = reached.index(False) if False in reached else len(reached)
        left = query[walked:]
        if share and left.height:
            assert left["in_audit"].any()
            expected = left["in_audit"].sum() / left.height
            assert (
                left.filter("in_audit")["inclusion_probability"].to_list()
                == [expected] * left["in_audit"].sum()
            )
            assert (
                left.filter(~pl.col("in_audit"))["inclusion_probability"].null_count()
                == left.height - left["in_audit"].sum()
            )


@pytest.mark.parametrize(
    ("pool", "budget", "size"), [(5, 3, 1), (5, 4, 2), (6, 3, 2), (6, 5, 1), (4, 1, 1), (6, 6, 2)]
)
def test_the_weighted_total_is_right_on_average_over_all_audit_orders(
    pool: int, budget: int, size: int
) -> None:
    """Exact: over every order of a small pool, Σ relevant / π has the true number as its mean."""
    relevant = [1, 0, 1, 1, 0, 1][:pool]
    total, orders = Fraction(0), 0
    for order in permutations(range(pool)):
        reached, audit = walk(np.array(order), budget, size)
        left = [document for document in audit.tolist() if document >= reached]
        assert reached + len(left) == budget
        total += sum(relevant[:reached])
        if left:
            total += Fraction(sum(relevant[document] for document in left) * (pool - reached), len(left))
        else:
            assert reached == pool
        orders += 1
    assert total / orders == sum(relevant)


def test_the_walk_stops_when_the_budget_is_spent_and_does_not_look_ahead() -> None:
    # Audit: documents 1 and 2. Document 0 costs the third unit; 1 and 2 are not walked on to.
    reached, audit = walk(np.array([1, 2, 0, 3, 4]), budget=3, size=2)
    assert (reached, audit.tolist()) == (1, [1, 2])


def test_an_audit_that_is_used_up_is_given_the_last_unit() -> None:
    # Audit: document 0. After 0 and 1 one unit is left: it goes to 4, the next of the audit order, not to 2.
    reached, audit = walk(np.array([0, 1, 4, 3, 2]), budget=3, size=1)
    assert (reached, audit.tolist()) == (2, [0, 4])


def test_the_audit_order_is_the_same_everywhere_and_always() -> None:
    documents = pl.Series([f"d{number}" for number in range(6)])
    assert audit_order("q1", documents, seed=7).tolist() == EXPECTED_ORDER


EXPECTED_ORDER = [1, 0, 3, 2, 5, 4]


@given(st.lists(st.text(max_size=4), min_size=1, max_size=12, unique=True), st.randoms())
def test_the_audit_order_depends_on_the_set_of_documents_alone(documents: list[str], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = random.sample(documents, len(documents))
    one = [documents[row] for row in audit_order("q", pl.Series(documents), seed=1)]
    other = [shuffled[row] for row in audit_order("q", pl.Series(shuffled), seed=1)]
    assert one == other
    assert sorted(one) == sorted(documents)


def test_seeds_and_queries_draw_different_audits() -> None:
    documents = pl.Series([f"d{number}" for number in range(30)])
    drawn = {tuple(audit_order(query, documents, seed)) for query in ("a", "b") for seed in (-1, 0, 1)}
    assert len(drawn) == 6


def test_every_document_is_drawn_equally_often() -> None:
    documents = pl.Series([f"d{number}" for number in range(5)])
    first = np.bincount([audit_order("q", documents, seed)[0] for seed in range(2000)], minlength=5)
    assert first.min() > 330  # 400 expected, standard error 18
    assert first.max() < 470
