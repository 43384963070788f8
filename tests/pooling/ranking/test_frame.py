"""An audit drawn from a frame deeper than the pool: the draw, its probabilities, and extensions of it."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.merging.choice import Choice
from pooling.merging.extension import extended_pool
from pooling.merging.merging import build_pool
from pooling.ranking.frame import frame_order
from pooling.ranking.sample import walk

PAIR = ["query_id", "document_id"]


def run_of(*documents: str, query: str = "q") -> pl.DataFrame:
    count = len(documents)
    return pl.DataFrame(
        {
            "query_id": [query] * count,
            "document_id": documents,
            "score": [float(count - n) for n in range(count)],
        }
    )


RUNS = {"one": run_of(*"abcdefghij"), "two": run_of(*"badcklmnop")}
TEXT = run_of(*"axyz")


def pooled(**options: Any) -> pl.DataFrame:
    return build_pool(RUNS, **{"depth": 2, "audit_share": 0.5, "reach": 10, "text": TEXT, **options})


def test_the_frame_is_the_union_of_all_lists_down_to_the_reach() -> None:
    assert pooled()["frame_size"].unique().to_list() == [len(set("abcdefghijklmnopxyz"))]
    assert pooled(text=None)["frame_size"].unique().to_list() == [len(set("abcdefghijklmnop"))]
    assert pooled(reach=3, budget=4)["frame_size"].unique().to_list() == [len(set("abcdxy"))]


def test_only_drawn_documents_become_rows_beyond_the_pool() -> None:
    rows = pooled(budget=6, seed=1)
    beyond = rows.filter("is_beyond")

    assert set(rows.filter(~pl.col("is_beyond"))["document_id"]) == {"a", "b"}
    assert beyond["in_audit"].all()
    assert rows["inclusion_probability"].count() == 6
    # a and b are certain; the others drawn share one probability.
    assert set(beyond["inclusion_probability"]) == {4 / 17}


def test_what_the_text_ranking_alone_found_has_no_run_and_no_rank() -> None:
    rows = pooled(audit_share=1.0, budget=19)
    alone = rows.filter(pl.col("document_id").is_in(["x", "y", "z"]))

    assert alone["run_count"].to_list() == [0, 0, 0]
    assert alone["best_rank"].null_count() == 3


def test_without_a_budget_the_pool_is_judged_and_its_share_is_drawn_beyond_it() -> None:
    rows = pooled(audit_share=0.5)

    assert rows.filter(~pl.col("is_beyond"))["inclusion_probability"].to_list() == [1.0, 1.0]
    assert rows.filter("is_beyond").height == 1


@given(seed=st.integers(0, 50), budget=st.integers(1, 19), share=st.sampled_from([0.1, 0.5, 1.0]))
def test_probabilities_add_up_to_the_frame(seed: int, budget: int, share: float) -> None:
    """Each certain document stands for itself and the drawn ones, together, for all others."""
    rows = pooled(seed=seed, budget=budget, audit_share=share)
    chosen = rows["inclusion_probability"].drop_nulls()

    assert len(chosen) == budget
    assert (1 / chosen).sum() == pytest.approx(19)


@pytest.mark.parametrize("truth", ["a", "bf", "adef", "abcdef"])
@pytest.mark.parametrize(("budget", "size"), [(2, 1), (3, 1), (4, 2), (5, 1), (5, 4)])
def test_over_all_draws_the_estimate_from_a_deeper_frame_is_right(truth: str, budget: int, size: int) -> None:
    """Six documents, three of them pooled; every order of the audit, as exact fractions."""
    relevant = [letter in truth for letter in "abcdef"]
    total, draws = Fraction(0), 0
    for order in permutations(range(6)):
        reached, sample = walk(np.array(order), budget, size, pooled=3)
        left = [number for number in sample if number >= reached]
        assert reached + len(left) == budget, "all of the budget is spent, and no more"
        drawn = Fraction(sum(relevant[number] for number in left), len(left))
        total += sum(relevant[:reached]) + (6 - reached) * drawn
        draws += 1

    assert total / draws == sum(relevant)


def test_a_document_keeps_its_place_in_the_order_whatever_else_the_frame_holds() -> None:
    some, more = list("abcdef"), list("abcdefghij")
    order = [more[number] for number in frame_order("q", more, 7)]

    assert [some[number] for number in frame_order("q", some, 7)] == [one for one in order if one in some]


@given(seed=st.integers(0, 50), first=st.integers(2, 8), second=st.integers(8, 12))
def test_an_extension_draws_on_in_the_frame_and_keeps_what_was_drawn(
    seed: int, first: int, second: int
) -> None:
    """The deeper pool takes documents of the old frame for certain; all else is drawn as from the beginning
    of one order."""
    before = pooled(seed=seed, budget=first).with_columns(version=pl.lit(1, dtype=pl.Int64))
    choice = Choice(4, audit_share=0.5, reach=10, seed=seed, budget=second)
    runs = {**RUNS, "three": run_of(*"qrstuvw")}
    after = extended_pool(runs, before, choice, version=2, text=TEXT)

    kept = before.filter("in_audit").select(PAIR)
    assert kept.join(after.filter("in_audit"), on=PAIR, how="anti").is_empty()
    certain = after.filter(pl.col("inclusion_probability") == 1)
    assert before.filter(pl.col("inclusion_probability") == 1).join(certain, on=PAIR, how="anti").is_empty()
    frame = sorted({*"abcdefghijklmnopxyz", *"qrstuvw"})
    order = [frame[number] for number in frame_order("q", frame, seed)]
    rest = [document for document in order if document not in set(certain["document_id"])]
    drawn = after.filter(pl.col("inclusion_probability") < 1)
    assert set(drawn["document_id"]) == set(rest[: drawn.height]), "the audit is the beginning of one order"
    assert set(drawn["inclusion_probability"]) == {drawn.height / len(rest)}
    assert after["inclusion_probability"].count() == first + second


def test_a_query_that_gets_none_of_the_budget_has_no_chance_of_being_judged() -> None:
    runs = {"one": pl.concat([run_of(*"abcd"), run_of(*"abc", query="r")])}
    rows = build_pool(runs, depth=2, reach=4, audit_share=0.5, budget=1)

    assert dict(rows.group_by("query_id").agg(pl.col("inclusion_probability").count()).iter_rows()) == {
        "q": 1,
        "r": 0,
    }


def test_a_frame_no_deeper_than_the_pool_is_the_pool() -> None:
    rows = build_pool({"one": run_of(*"abc")}, depth=3, reach=9, audit_share=0.5)

    assert rows["inclusion_probability"].to_list() == [1.0, 1.0, 1.0]
    assert (rows["frame_size"].to_list(), rows["is_beyond"].any()) == ([3, 3, 3], False)


def test_an_extension_leaves_a_query_without_new_documents_as_it_was() -> None:
    runs = {"one": pl.concat([run_of(*"abcd"), run_of(*"abc", query="r")])}
    before = build_pool(runs, depth=2, reach=4, audit_share=0.5).with_columns(version=pl.lit(1, pl.Int64))
    more = {"two": pl.concat([run_of("a", "z"), run_of("a", "b", query="r")])}
    after = extended_pool({**runs, **more}, before, Choice(2, audit_share=0.5, reach=4), version=2)

    same = ["document_id", "position", "in_audit", "inclusion_probability", "version"]
    of_r = pl.col("query_id") == "r"
    assert after.filter(of_r).select(same).equals(before.filter(of_r).select(same))
    assert after.filter(document_id="z")["inclusion_probability"].to_list() == [1.0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"reach": 1}, "The reach (1) is less than the depth (2). Give a reach of 2 or more."),
        ({"audit_share": 0.0}, "Only an audit draws from beyond the depth."),
        ({"strategy": "sampling", "audit_share": 0.0}, "Sampling draws from the depth of the pool."),
    ],
)
def test_a_reach_that_cannot_be_is_refused(options: dict[str, Any], sentence: str) -> None:
    choice = Choice(2, **{"audit_share": 0.5, "reach": 10, **options})

    assert sentence in choice.problems()["reach"]
