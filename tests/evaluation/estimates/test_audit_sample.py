"""From a pool and its labels to the sample: what is certain, what was drawn, what waits, counted by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from evaluation.estimates.from_audit import relevant_estimate
from evaluation.estimates.sample import POOL, AuditSample, audit_sample
from evaluation.estimates.totals import Remainder, estimated_total
from pooling.ranking.sample import walk

SCHEMA = dict(
    zip(
        POOL,
        (pl.String, pl.String, pl.Int64, pl.Int64, pl.Boolean, pl.Float64, pl.Boolean, pl.Boolean),
        strict=True,
    )
)


def pool_of(
    documents: str,
    *,
    reached: str,
    audit: str,
    order: str,
    known: str = "",
    cannot_judge: str = "",
    query: str = "q",
    draw: int = 1,
) -> pl.DataFrame:
    """A query's pool of one-letter documents; `order` is the audit order."""
    rows = [
        (
            *(query, name, draw, order.index(name), name in audit),
            1.0 if name in reached else 0.5 if name in audit else None,
            *(name in known, name in cannot_judge),
        )
        for name in documents
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def labels_of(relevant: str, other: str, query: str = "q") -> pl.DataFrame:
    rows = [(query, name, name in relevant) for name in relevant + other]
    return pl.DataFrame(
        rows,
        schema={"query_id": pl.String, "document_id": pl.String, "relevant": pl.Boolean},
        orient="row",
    )


def weights(found: AuditSample) -> dict[str, float]:
    return dict(found.sample.select("document_id", "inclusion_probability").rows())


# Eight documents: a and b were reached, the audit drew e, b and h, and c, d, f, g were left.
POOL_OF_EIGHT = {"documents": "abcdefgh", "reached": "ab", "audit": "ebh", "order": "ebhcdfga"}


def test_reached_documents_are_certain_and_the_audit_beyond_them_weighs_for_the_remainder() -> None:
    found = audit_sample(pool_of(**POOL_OF_EIGHT), labels_of("ae", "bh"))

    # Two drawn of six documents that were not reached; b was drawn and reached, so that it is certain.
    assert weights(found) == {"a": 1, "b": 1, "e": 2 / 6, "h": 2 / 6}
    assert found.remainders() == [Remainder(size=6, sampled=2, relevant=1)]
    assert found.unsampled["document_id"].to_list() == ["c", "d", "f", "g"]
    assert estimated_total(found.sample).value == pytest.approx(1 + 3)


def test_labels_known_before_the_draw_are_certain_and_leave_the_remainder() -> None:
    found = audit_sample(pool_of(**POOL_OF_EIGHT, known="ec"), labels_of("ace", "bh"))

    # c and e are known: of d, f, g, h one was drawn.
    assert weights(found) == {"a": 1, "b": 1, "c": 1, "e": 1, "h": 1 / 4}
    assert found.remainders() == [Remainder(4, 1, 0)]


def test_a_label_that_was_not_drawn_is_counted_and_not_used() -> None:
    found = audit_sample(pool_of(**POOL_OF_EIGHT), labels_of("aceg", "bh"))

    assert set(weights(found)) == {"a", "b", "e", "h"}
    assert found.strata["unused"].to_list() == [2]


def test_only_the_labelled_beginning_of_the_audit_order_counts() -> None:
    # h comes after b and e; without a label of e nothing was drawn in order, with it only e was.
    nothing = audit_sample(pool_of(**POOL_OF_EIGHT), labels_of("a", "bh"))
    one = audit_sample(pool_of(**POOL_OF_EIGHT), labels_of("ae", "b"))

    assert (nothing.defined, nothing.undefined, nothing.sample.height) == ([], ["q"], 0)
    assert nothing.strata["waiting"].to_list() == [1]
    assert weights(one) == {"a": 1, "b": 1, "e": 1 / 6}


def test_a_reached_document_without_a_label_is_awaited_and_counts_as_both_extremes() -> None:
    # b was reached and waits; that it was drawn as well leaves no gap in the audit of the others.
    found = audit_sample(pool_of(**POOL_OF_EIGHT), labels_of("ae", "h"))

    assert weights(found) == {"a": 1, "b": 1, "e": 2 / 6, "h": 2 / 6}
    assert (found.awaited, found.unanswered) == (1, 0)
    assert found.strata["awaited"].to_list() == [1]
    assert estimated_total(found.as_if(relevant=False)).value == pytest.approx(1 + 3)
    assert estimated_total(found.as_if(relevant=True)).value == pytest.approx(2 + 3)


def test_what_is_awaited_can_be_relevant_in_one_part_and_not_in_the_other() -> None:
    found = audit_sample(pool_of(**POOL_OF_EIGHT, cannot_judge="h"), labels_of("e", ""))
    of_run = labels_of("bh", "").select("query_id", "document_id")

    # a and b are awaited, nobody could judge h: none relevant, all, those of the run alone, all others.
    assert [estimated_total(one).value for one in found.extremes(of_run)] == pytest.approx([3, 8, 7, 4])
    whole = audit_sample(pool_of(**POOL_OF_EIGHT), labels_of("abe", "h"))
    assert len(whole.extremes(of_run)) == 1


def test_a_pool_that_is_to_be_judged_whole_has_no_estimate_without_an_audit_before_it_is() -> None:
    begun, drawn = (
        audit_sample(pool_of("abc", reached="abc", audit=audit, order="abc"), labels_of("a", "b"))
        for audit in ("", "b")
    )

    assert (begun.undefined, drawn.undefined) == (["q"], [])
    assert drawn.awaited == 1


# Fifteen documents in greedy order, relevant where a letter is; three and more are reached.
SOME = "x.xx.x..x...x.x"
QUERIES, CAMPAIGNS = 5, 250


def half_judged(in_order: bool, seed: int) -> tuple[AuditSample, dict[str, int]]:
    """A campaign of which seven in ten of the chosen pairs are labelled, and the truth of each query."""
    draw = np.random.default_rng(seed)
    rows, chosen, truth = [], [], {}
    for number in range(QUERIES):
        query, relevant = f"q{number}", draw.permutation(list(SOME)) == "x"
        truth[query] = int(relevant.sum())
        order = draw.permutation(len(SOME))
        reached, audit = walk(order, 6, 3)
        place = np.argsort(order)
        mine = [(query, f"d{at:02}", bool(one)) for at, one in enumerate(relevant)]
        for at in range(len(SOME)):
            probability = 1.0 if at < reached else 0.5 if at in audit else None
            rows.append((query, f"d{at:02}", 1, place[at], at in audit, probability, False, False))
        taken = [pair for at, pair in enumerate(mine) if at < reached or at in audit]
        chosen += [taken[at] for at in draw.permutation(len(taken))]
    if not in_order:
        chosen = [chosen[at] for at in draw.permutation(len(chosen))]
    labels = pl.DataFrame(chosen[: int(0.7 * len(chosen))], schema=labels_of("", "").schema, orient="row")
    return audit_sample(pl.DataFrame(rows, schema=SCHEMA, orient="row"), labels), truth


@pytest.mark.slow
@pytest.mark.parametrize("in_order", [False, True], ids=["at random", "in queue order"])
def test_half_judged_pools_are_estimated_without_bias_and_their_spans_hold_the_truth(in_order: bool) -> None:
    off, held = [], []
    for seed in range(CAMPAIGNS):
        found, truth = half_judged(in_order, seed)
        awaited = dict(found.strata.filter("defined").select("query_id", "awaited").rows())
        weight = pl.col("relevant") / pl.col("inclusion_probability")
        least, most = (
            dict(found.as_if(relevant=it).group_by("query_id").agg(weight.sum()).rows())
            for it in (False, True)
        )
        off += [least[query] - truth[query] for query in found.defined if not awaited[query]]
        if found.defined:
            told = relevant_estimate(found)
            held.append(told["low"] <= sum(truth[query] for query in found.defined) <= told["high"])
            assert (told["value"] is None) == (found.awaited > 0)
            spans = [most[query] - least[query] for query in found.defined]
            assert spans == pytest.approx([awaited[query] for query in found.defined])
    assert abs(np.mean(off)) <= 3 * np.std(off) / len(off) ** 0.5
    assert len(off) >= 200
    assert np.mean(held) >= 0.95


def test_a_remainder_without_an_audit_is_undefined_and_takes_its_query_out() -> None:
    without = pool_of("abc", reached="a", audit="", order="abc")
    whole = pool_of("ab", reached="ab", audit="", order="ab", query="whole")
    labels = pl.concat([labels_of("a", ""), labels_of("a", "b", "whole")])

    found = audit_sample(pl.concat([without, whole]), labels)

    assert (found.defined, found.undefined) == (["whole"], ["q"])
    assert found.sample["query_id"].unique().to_list() == ["whole"]
    assert found.remainders() == []


def test_what_nobody_could_judge_is_drawn_and_counts_as_both_extremes() -> None:
    found = audit_sample(pool_of(**POOL_OF_EIGHT, cannot_judge="hb"), labels_of("ae", ""))

    assert found.unanswered == 2
    assert estimated_total(found.as_if(relevant=False)).value == pytest.approx(1 + 3)
    assert estimated_total(found.as_if(relevant=True)).value == pytest.approx(2 + 6)
    assert found.remainders(relevant=False) == [Remainder(6, 2, 1)]
    assert found.remainders(relevant=True) == [Remainder(6, 2, 2)]


def test_every_version_of_a_pool_has_its_own_draw() -> None:
    second = pool_of("xyz", reached="", audit="y", order="yxz", draw=2)

    found = audit_sample(pl.concat([pool_of(**POOL_OF_EIGHT), second]), labels_of("ae", "bhy"))
    waiting = audit_sample(pl.concat([pool_of(**POOL_OF_EIGHT), second]), labels_of("ae", "bh"))

    assert weights(found)["y"] == 1 / 3
    assert found.remainders() == [Remainder(6, 2, 1), Remainder(3, 1, 0)]
    assert waiting.undefined == ["q"]


def test_versions_drawn_with_the_same_probability_are_two_strata_all_the_same() -> None:
    first = pool_of("abcdef", reached="", audit="ab", order="abcdef")
    second = pool_of("uvwxyz", reached="", audit="uv", order="uvwxyz", draw=2)

    found = audit_sample(pl.concat([first, second]), labels_of("ab", "uv"))

    # Two of six drawn of each: 6 · 2/2 + 6 · 0/2 relevant. Within neither do the two drawn differ, so N²(1 -
    # f)s²/n is 0 of both; as one stratum of four they would differ, and it were 144 · ⅔ · ⅓ / 4 = 8.
    assert set(weights(found).values()) == {1 / 3}
    assert (estimated_total(found.sample).value, estimated_total(found.sample).standard_error) == (6, 0)
    assert estimated_total(found.sample.drop("draw")).standard_error == pytest.approx(8**0.5)


def test_labels_outside_the_pool_are_certain() -> None:
    found = audit_sample(pool_of(**POOL_OF_EIGHT), labels_of("aez", "bh"))

    assert weights(found)["z"] == 1
    assert estimated_total(found.sample).value == pytest.approx(2 + 3)


def test_documents_drawn_one_by_one_keep_their_own_probability_once_all_have_labels() -> None:
    pool = pool_of("abcd", reached="a", audit="", order="abcd").with_columns(
        inclusion_probability=pl.Series([1.0, 0.5, 0.25, None])
    )
    whole, part = (audit_sample(pool, labels) for labels in (labels_of("ac", "b"), labels_of("ac", "")))

    assert weights(whole) == {"a": 1, "b": 0.5, "c": 0.25}
    assert not whole.simple
    assert part.undefined == ["q"]


def test_a_pool_without_its_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="audit_rank"):
        audit_sample(pool_of(**POOL_OF_EIGHT).drop("audit_rank"), labels_of("a", ""))
