"""One draw carries the estimate, what other pools chose is known: all draws of a small case, as fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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


def totals(found: AuditSample) -> dict[str, Fraction]:
    """Σ y/π of each query, with π from the counts of the remainder."""
    sure = found.sample.filter(pl.col("relevant") & (pl.col("inclusion_probability") == 1))["query_id"]
    certain = Counter(sure.to_list())
    return {
        # A remainder that was drawn whole is certain by its probability too.
        row["query_id"]: Fraction(certain[row["query_id"]])
        + (0 if drawn in (0, rest) else Fraction(rest * row["relevant"], drawn))
        for row in found.strata.to_dicts()
        for rest, drawn in [(row["remainder"], row["sampled"])]
    }


def campaigns(
    frame: str, pooled: int, budget: int, drawn: int, others: str, relevant: str
) -> tuple[dict[str, int], AuditSample]:
    """A pool of the first documents of a frame, where only drawn ones have a row beyond it: a query for every
    order of its audit, and how many orders are alike; another pool chose `others`, and all that anybody chose
    is judged."""
    orders: Counter[tuple[int, str]] = Counter()
    for order in permutations(range(len(frame))):
        reached, sample = walk(np.array(order), budget, drawn, pooled)
        orders[reached, "".join(sorted(frame[number] for number in sample))] += 1
    rows, labels, pairs = [], [], []
    for number, (reached, audit) in enumerate(orders):
        query, judged = f"q{number}", {*frame[:reached], *audit, *others}
        rows += [
            (
                query,
                name,
                1,
                int(name not in audit),
                name in audit,
                1.0 if at < reached else 0.5 if name in audit else None,
            )
            for at, name in enumerate(frame)
            if at < pooled or name in audit
        ]
        labels += [(query, name, name in relevant) for name in sorted(judged)]
        pairs += [(query, name) for name in others]
    pair = dict.fromkeys(PAIR, pl.String)
    design = pl.DataFrame(rows, schema=dict(list(SCHEMA.items())[:6]), orient="row").with_columns(
        known=pl.lit(False),
        cannot_judge=pl.lit(False),
        frame_size=pl.lit(len(frame), dtype=pl.Int64),
        is_beyond=~pl.col("document_id").is_in(list(frame[:pooled])),
    )
    judged_pairs = pl.DataFrame(labels, schema={**pair, "relevant": pl.Boolean}, orient="row")
    inside = judged_pairs.select(PAIR).with_columns(is_inside=pl.col("document_id").is_in(list(frame)))
    chosen = pl.DataFrame(pairs, schema=pair, orient="row")
    counts = {f"q{number}": count for number, count in enumerate(orders.values())}
    return counts, audit_sample(*with_others(design, judged_pairs, chosen, inside))


@pytest.mark.parametrize("relevant", ["c", "adez", "bcf", "abcdef", "z"])
@pytest.mark.parametrize("others", ["", "ce", "bf", "abcdef", "cz"])
def test_over_all_draws_the_estimate_is_what_the_frame_and_the_labels_hold(
    others: str, relevant: str
) -> None:
    """Six documents in the frame, two of them in the pool, three drawn; z is in another pool alone."""
    counts, found = campaigns("abcdef", 2, 4, 3, others, relevant)

    there, estimated = set(relevant) & {*"abcdef", *others}, totals(found)
    assert estimated.keys() == counts.keys()
    assert sum(count * estimated[query] for query, count in counts.items()) == len(there) * sum(
        counts.values()
    )


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


def test_a_draw_may_be_one_of_more_than_a_floating_point_number_holds() -> None:
    """600 drawn from a frame of 5,000, of which another pool chose one."""
    names = "".join(map(chr, range(0x4E00, 0x4E00 + 600)))
    design = pool_of(names, reached="", audit=names, order=names).with_columns(
        frame_size=pl.lit(5_000, dtype=pl.Int64), is_beyond=pl.lit(False)
    )

    found = audit_sample(*with_others(design, labels_of(names[:1], names[1:]), pairs_of(names[:1]), NOWHERE))

    (row,) = found.strata.to_dicts()
    assert (row["certain"], row["remainder"], row["sampled"]) == (1, 4_999, 599)


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
