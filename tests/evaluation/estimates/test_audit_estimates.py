"""What an audit says of runs, by a table small enough for pencil and paper (the example of the guide)."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from evaluation.estimates.from_audit import (
    Places,
    difference_estimate,
    missing_by_query,
    more_labels,
    proposal,
    recall_estimates,
    relevant_estimate,
    within_pool,
)
from evaluation.estimates.sample import AuditSample, audit_sample
from tests.evaluation.estimates.test_audit_sample import labels_of, pool_of

# Two queries with ten documents each: a to d were reached; the audit drew e and f of the six others.
LETTERS = "abcdefghij"
ORDER = "efghijabcd"


def example(*, second: str = "abe", cannot_judge: str = "") -> AuditSample:
    pools = [
        pool_of(LETTERS, reached="abcd", audit="ef", order=ORDER, query=query, cannot_judge=unanswered)
        for query, unanswered in (("q1", ""), ("q2", cannot_judge))
    ]
    others = "".join(set("abcdef") - set(second) - set(cannot_judge))
    return audit_sample(
        pl.concat(pools), pl.concat([labels_of("ab", "cdef", "q1"), labels_of(second, others, "q2")])
    )


# The greedy run has what was reached in its first four, the other finds e.
PLACES = Places(
    pl.DataFrame(
        [
            (query, name, at + 1, "abecghfdij".index(name) + 1)
            for query in ("q1", "q2")
            for at, name in enumerate(LETTERS)
        ],
        schema={"query_id": pl.String, "document_id": pl.String, "rank_0": pl.UInt32, "rank_1": pl.UInt32},
        orient="row",
    ),
    ("greedy", "other"),
)


def test_the_estimate_counts_what_the_audit_stands_for() -> None:
    found = recall_estimates(example(), PLACES, [3])

    # Relevant: 4 certain, and e for three documents: 7. The labels alone say 4 of 5 for greedy.
    assert relevant_estimate(example())["value"] == pytest.approx(7)
    assert found["greedy"]["recall@3"]["micro"]["value"] == pytest.approx(4 / 7)
    assert found["other"]["recall@3"]["micro"]["value"] == pytest.approx(7 / 7)
    assert found["greedy"]["recall@3"]["micro"]["covers"] == "labels"
    # Two queries and one relevant audit document say nothing of a mean over queries.
    macro = found["greedy"]["recall@3"]["macro"]
    assert (macro["value"], macro["low"], macro["queries"]) == (None, None, 2)
    assert macro["why"] == "fewer than 5 relevant documents in the audit"
    assert macro["covers"] == "queries and labels"


def test_few_relevant_audit_documents_take_the_exact_bound_on_what_is_missing() -> None:
    found = relevant_estimate(example())

    assert found["method"] == "exact bound"
    assert found["seen"] == 5
    # A third drawn, one relevant: P(Binomial(M, 1/3) ≤ 1) > 5 % up to M = 12; 1 + 8 are possible.
    assert found["at_most_unseen"] == 8
    # At least what was seen, and no more than that with all eight that nobody looked at.
    assert (found["low"], found["high"]) == (5, 13)


def test_the_exact_bound_of_each_query_is_hypergeometric() -> None:
    rows = {row["query_id"]: row for row in missing_by_query(example())}

    # q1: none of 2 drawn of 6; with M = 4 the chance of that is C(2,2)/C(6,2) = 1/15 > 5 %.
    assert rows["q1"]["at_most_unseen"] == 4
    # q2: one of 2 drawn; with M = 5 every draw has at least one, and one alone has 5/15.
    counts = {"remainder": 6, "sampled": 2, "relevant": 1, "awaited": 0, "at_most_unseen": 4}
    assert rows["q2"] == {"query_id": "q2", **counts}


def test_the_draws_of_a_query_share_the_error_of_its_bound() -> None:
    pools = [
        pool_of(letters, reached="", audit=letters[:2], order=letters, draw=draw)
        for draw, letters in ((1, "abcdef"), (2, "uvwxyz"))
    ]
    (row,) = missing_by_query(audit_sample(pl.concat(pools), labels_of("", "abuv")))

    # None of 2 drawn of 6: with M = 4 the chance of that is 1/15 > 2.5 % and > 5 %, for each of two draws.
    assert (row["remainder"], row["sampled"], row["at_most_unseen"]) == (12, 4, 8)
    (row,) = missing_by_query(audit_sample(pl.concat(pools), labels_of("", "abuv")), confidence=0.9)
    # 10 % alone would rule M = 4 out, half of it does not.
    assert row["at_most_unseen"] == 8


def test_the_difference_of_two_runs_has_its_own_interval() -> None:
    audit = example()
    found = difference_estimate(audit, within_pool(audit, PLACES), ("greedy", "other"), 3)

    assert found["value"] == pytest.approx(4 / 7 - 1)
    assert found["low"] <= found["value"] <= found["high"]
    assert found["method"] == "exact bound"


def test_what_nobody_could_judge_spans_the_extremes() -> None:
    audit = example(second="ab", cannot_judge="e")
    found = recall_estimates(audit, PLACES, [3])["greedy"]["recall@3"]["micro"]

    # e not relevant: 4 of 4. e relevant: 4 of 7.
    assert (found["value"], found["value_if_relevant"]) == (pytest.approx(1), pytest.approx(4 / 7))
    assert found["low"] < 4 / 7
    assert found["high"] == pytest.approx(1)


def test_what_is_awaited_takes_the_value_away_and_spans_what_recall_can_be() -> None:
    # In q2 nobody has labelled b, which greedy has in its first three, and c and d, of which it has c.
    pools = [pool_of(LETTERS, reached="abcd", audit="ef", order=ORDER, query=query) for query in ("q1", "q2")]
    labels = pl.concat([labels_of("ab", "cdef", "q1"), labels_of("a", "ef", "q2")])
    audit = audit_sample(pl.concat(pools), labels)
    total, recall = relevant_estimate(audit), recall_estimates(audit, PLACES, [3])["greedy"]["recall@3"]
    gap = difference_estimate(audit, within_pool(audit, PLACES), ("greedy", "other"), 3)

    assert [told["value"] for told in (total, recall["micro"], gap)] == [None, None, None]
    assert total["method"] == recall["micro"]["method"] == "span of what waits"
    # 3 relevant were seen. Of 12 not reached 4 were drawn, none relevant: (2/3)^M > 2.5 % up to M = 9, and
    # > 5 % up to 7, beside the three that are awaited.
    assert (total["seen"], total["low"], total["high"]) == (3, 3, 3 + 3 + 8)
    assert total["at_most_unseen"] == 3 + 7
    # At least 3 of 3 + d + 9 missing, at most all of those that it has.
    assert recall["micro"]["low"] == pytest.approx(3 / 13)
    assert recall["micro"]["high"] == 1
    (first, second) = missing_by_query(audit)
    assert (first["query_id"], first["awaited"], first["at_most_unseen"]) == ("q2", 3, 3 + 4)
    assert (second["query_id"], second["awaited"], second["at_most_unseen"]) == ("q1", 0, 4)


def test_a_pool_that_is_judged_whole_leaves_nothing_uncertain() -> None:
    audit = audit_sample(pool_of("abc", reached="abc", audit="", order="abc"), labels_of("ab", "c"))
    found = relevant_estimate(audit)

    assert (found["value"], found["low"], found["high"], found["method"]) == (2, 2, 2, "complete")
    assert found["at_most_unseen"] == 0


def test_a_pool_without_an_audit_is_told_what_one_would_show() -> None:
    # 10 % of 20 judged documents are 2; the remainder is then 100 - 18 = 82.
    found = proposal([(20, 100)])

    assert (found["documents"], found["remainder"], found["each"]) == (2, 82, 41)
    # P(Binomial(M, 2/82) = 0) > 5 % up to M = 121: no more than the 80 that were not drawn can be relevant.
    assert found["at_most"] == 80


def test_more_labels_narrow_the_interval_with_their_root() -> None:
    # 0.05 ± 0.10: four times the labels.
    wide = {"value": 0.05, "low": -0.05, "high": 0.15, "method": "gamma limits"}

    assert more_labels(wide, sampled=100, left=1000) == 300
    assert more_labels(wide, sampled=100, left=50) == 50
    assert more_labels({**wide, "value": 0.0}, sampled=100, left=1000) is None
    assert more_labels({**wide, "method": "exact bound"}, sampled=100, left=1000) is None


def test_for_one_of_many_pairs_more_labels_are_wanted() -> None:
    # With ten pairs a normal interval reaches 2.807 / 1.960 as far: 4 · 2.051 times the labels.
    wide = {"value": 0.05, "low": -0.05, "high": 0.15, "method": "gamma limits"}

    assert more_labels(wide, sampled=100, left=1000, pairs=10) == 721


def test_where_the_extremes_of_what_nobody_could_judge_differ_in_sign_nothing_is_beyond_chance() -> None:
    # e of q2, which only the other run has, is relevant or not: greedy's c makes it +1 or -2 of them.
    audit = example(second="abc", cannot_judge="e")
    found = difference_estimate(audit, within_pool(audit, PLACES), ("greedy", "other"), 3)

    assert found["value"] > 0 > found["value_if_relevant"]
    assert found["p_value"] == 1


def test_the_example_of_the_guide_has_these_numbers() -> None:
    audit = example()
    runs = {run: found["recall@3"] for run, found in recall_estimates(audit, PLACES, [3]).items()}
    gap = difference_estimate(audit, within_pool(audit, PLACES), ("greedy", "other"), 3)
    total = relevant_estimate(audit)
    micro = runs["greedy"]["micro"]
    said = [
        f"{total['value']:.0f} relevant documents",
        f"4 / {total['value']:.0f} = {micro['value']:.3f} [{micro['low']:.3f}, {micro['high']:.3f}]",
        f"at most {total['at_most_unseen']} relevant documents",
        f"{gap['value']:.3f} [{gap['low']:.3f}, {gap['high']:.3f}]".replace("-", "−"),
    ]
    guide = (Path(__file__).parents[3] / "templates/docs/recall.md").read_text(encoding="utf-8")
    assert [words for words in said if words not in guide] == []
