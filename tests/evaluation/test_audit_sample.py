"""From a pool and its labels to the sample: what is certain, what was drawn, what waits, counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

from evaluation.audit_sample import POOL, AuditSample, audit_sample
from evaluation.estimates import Remainder, estimated_total

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


def test_a_reached_document_without_a_label_is_back_in_the_remainder() -> None:
    # b is in the audit as well and waits, so that the labelled beginning ends at e.
    found = audit_sample(pool_of(**POOL_OF_EIGHT), labels_of("ae", "h"))

    assert weights(found) == {"a": 1, "e": 1 / 7}


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
