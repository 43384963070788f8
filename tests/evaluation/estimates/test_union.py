"""One draw carries the estimate, what other pools chose is known: all draws of a small case, as fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
import polars as pl
import pytest

from evaluation.estimates.sample import FRAME, PAIR, AuditSample, audit_sample
from evaluation.estimates.union import answered_in_full, with_others
from pooling.ranking.sample import walk
from tests.evaluation.estimates.test_audit_sample import SCHEMA, labels_of, pool_of

NOWHERE = pl.DataFrame(schema={**dict.fromkeys(PAIR, pl.String), "is_inside": pl.Boolean})


def pairs_of(documents: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(
        [("q", name) for name in documents], schema=dict.fromkeys(PAIR, pl.String), orient="row"
    )


def total(found: AuditSample) -> Fraction:
    """Σ y/π, with π from the counts of the remainder."""
    (row,) = found.strata.to_dicts()
    certain = found.sample.filter(pl.col("relevant") & (pl.col("inclusion_probability") == 1)).height
    # A remainder that was drawn whole is certain by its probability too.
    if row["remainder"] in (0, row["sampled"]):
        return Fraction(certain)
    return certain + Fraction(row["remainder"] * row["relevant"], row["sampled"])


def campaigns(
    frame: str, pooled: int, budget: int, drawn: int, others: str, relevant: str
) -> Iterator[tuple[int, AuditSample]]:
    """A pool of the first documents of a frame, where only drawn ones have a row beyond it, for every order
    of its audit, and how many orders are alike; another pool chose `others`, and all that anybody chose is
    judged."""
    orders: Counter[tuple[int, str]] = Counter()
    for order in permutations(range(len(frame))):
        reached, sample = walk(np.array(order), budget, drawn, pooled)
        orders[reached, "".join(sorted(frame[number] for number in sample))] += 1
    for (reached, audit), count in orders.items():
        rows = [
            (
                "q",
                name,
                1,
                int(name not in audit),
                name in audit,
                1.0 if at < reached else 0.5 if name in audit else None,
            )
            for at, name in enumerate(frame)
            if at < pooled or name in audit
        ]
        design = pl.DataFrame(rows, schema=dict(list(SCHEMA.items())[:6]), orient="row").with_columns(
            known=pl.lit(False),
            cannot_judge=pl.lit(False),
            frame_size=pl.lit(len(frame), dtype=pl.Int64),
            is_beyond=~pl.col("document_id").is_in(list(frame[:pooled])),
        )
        judged = {*frame[:reached], *audit, *others}
        labels = labels_of("".join(judged & set(relevant)), "".join(judged - set(relevant)))
        inside = pairs_of(sorted(judged)).with_columns(is_inside=pl.col("document_id").is_in(list(frame)))
        yield count, audit_sample(*with_others(design, labels, pairs_of(others), inside))


@pytest.mark.parametrize("relevant", ["c", "adez", "bcf", "abcdef", "z"])
@pytest.mark.parametrize("others", ["", "ce", "bf", "abcdef", "cz"])
def test_over_all_draws_the_estimate_is_what_the_frame_and_the_labels_hold(
    others: str, relevant: str
) -> None:
    """Six documents in the frame, two of them in the pool, three drawn; z is in another pool alone."""
    found = list(campaigns("abcdef", 2, 4, 3, others, relevant))

    there = set(relevant) & {*"abcdef", *others}
    assert sum(count * total(one) for count, one in found) / sum(count for count, _ in found) == len(there)


def test_a_choice_that_is_half_labelled_takes_nothing_out() -> None:
    """Of two documents that another pool chose, only one that happens to be drawn has its label."""
    chosen = pairs_of("fg").with_columns(choice=pl.lit("other"))

    kept = answered_in_full(chosen, labels_of("g", ""), pairs_of(""))
    whole = answered_in_full(chosen, labels_of("g", ""), pairs_of("f"))

    assert kept.is_empty()
    assert whole["document_id"].to_list() == ["f", "g"]


def test_where_others_would_take_all_that_was_drawn_they_take_nothing() -> None:
    """Of six documents left one is drawn, and others chose three: whichever it is, the query stays."""
    pool = pool_of("abcdefgh", reached="ab", audit="c", order="cabdefgh")
    design = pool.with_columns(pl.lit(None, dtype=kind).alias(name) for name, kind in FRAME.items())

    found = audit_sample(*with_others(design, labels_of("acd", "be"), pairs_of("cde"), NOWHERE))

    assert found.defined == ["q"]
    (row,) = found.strata.to_dicts()
    assert (row["certain"], row["remainder"], row["sampled"], row["unused"]) == (2, 6, 1, 2)


def test_what_may_be_in_the_frame_is_left_out_and_counted() -> None:
    """x has a label and no row: in the frame, outside it, or nobody knows."""
    design = pool_of("abcd", reached="ab", audit="cd", order="cdab").with_columns(
        frame_size=pl.lit(10, dtype=pl.Int64), is_beyond=pl.lit(False)
    )
    labels, x = labels_of("ax", "bcd"), pairs_of("x")
    told = {}
    for known in (True, False, None):
        inside = x.with_columns(is_inside=pl.lit(known, dtype=pl.Boolean))
        for certain in ("", "x"):
            rows, used = with_others(design, labels, pairs_of(certain), inside)
            found = audit_sample(rows, used)
            told[known, certain] = (int(found.sample["relevant"].sum()), int(found.strata["remainder"].sum()))

    assert told == {
        (True, ""): (1, 8),
        (True, "x"): (2, 7),
        (False, ""): (2, 8),
        (False, "x"): (2, 8),
        (None, ""): (1, 8),
        (None, "x"): (1, 8),
    }
