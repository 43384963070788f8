"""What an audit by scores says: a table by hand, and properties of the sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_prediction_powered import at_least, truths, world
from benchmarks.bench_strata import campaign, holds, planned
from evaluation.estimates.from_audit import Places
from evaluation.estimates.intervals import EXACT_BOUND, GAMMA, interval_of_micro_recall, interval_of_total
from evaluation.estimates.score_audit import (
    ScoreAudit,
    differences_by_scores,
    relevant_by_scores,
    runs_by_scores,
    score_audit,
)
from evaluation.estimates.totals import SampleArrays

PAIR = ["query_id", "document_id"]
# c1 and c2 had a label at the draw. Of stratum 0 (8 pairs) a0 to a3 were drawn, of stratum 1 (8) b0 to b3.
NAMES = ["c1", "c2", *(f"a{at}" for at in range(8)), *(f"b{at}" for at in range(8))]
RELEVANT = {"c1", "a2", "b0", "b1", "b2", "b3"}


def frame(names: list[str]) -> pl.DataFrame:
    queries = [f"q{NAMES.index(name) % 2}" for name in names]
    return pl.DataFrame({"query_id": queries, "document_id": names}, schema=dict.fromkeys(PAIR, pl.String))


def audited(
    judged: list[str], *, unanswered: list[str] | None = None, relevant: set[str] = RELEVANT
) -> ScoreAudit:
    drawn = [f"{letter}{at}" for letter in "ab" for at in range(4)]
    known = pl.Series([name.startswith("c") for name in NAMES])
    labels = frame(judged).with_columns(relevant=pl.col("document_id").is_in(list(relevant)))
    order = frame(drawn).with_columns(stratum=pl.Series([0] * 4 + [1] * 4), place=pl.Series([1, 2, 3, 4] * 2))
    return score_audit(
        frame(NAMES).with_columns(known=known),
        order,
        [8, 8],
        labels=labels,
        unanswered=frame(unanswered or []),
    )


WHOLE = ["c1", "c2", "a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"]


def test_a_total_is_what_is_certain_and_the_weighted_rest() -> None:
    audit = audited(WHOLE)
    found = relevant_by_scores(audit)
    # 1 certain, 1 of 4 of 8, 4 of 4 of 8.
    assert found["value"] == 1 + 2 + 8
    assert (found["seen"], found["method"], found["relevant_drawn"]) == (6, GAMMA, 5)
    drawn = SampleArrays.of(audit.sample)
    # 8² · ½ · ¼ / 4 = 2; and where all are relevant, as if half of one were not: 8² · ½ · ⅞ · ⅛ / 4.
    assert drawn.variance_of_count(np.ones(10)) == pytest.approx(2 + 0.875)
    assert found["low"] < 11 < found["high"] <= 6 + 8
    assert audit.strata.rows() == [(0, 8, 4, 4, 1, 0, 0), (1, 8, 4, 4, 4, 0, 0)]
    assert (audit.certain, audit.lost, audit.unused, audit.is_complete) == (2, 0, 0, True)


def test_a_stratum_that_is_labelled_in_part_rests_on_the_beginning_of_its_draw() -> None:
    audit = audited([name for name in WHOLE if name not in ("a1", "b3")])
    assert audit.strata.rows() == [(0, 8, 4, 1, 0, 0, 1), (1, 8, 4, 3, 3, 0, 1)]
    # a2 is labelled, and comes after a gap; 3 of 3 of 8.
    assert relevant_by_scores(audit)["value"] == pytest.approx(1 + 8)
    assert audit.is_defined
    assert not audit.is_complete
    assert not audited([name for name in WHOLE if name[0] != "b"]).is_defined


def test_labels_of_pairs_that_were_not_drawn_are_counted_and_not_used() -> None:
    audit = audited([*WHOLE, "a5", "b6"], relevant={*RELEVANT, "a5"})
    assert audit.unused == 2
    assert relevant_by_scores(audit)["value"] == relevant_by_scores(audited(WHOLE))["value"]


def test_without_an_answer_both_extremes_are_spanned() -> None:
    given_up = [name for name in WHOLE if name not in ("c2", "a0")]
    audit = audited(given_up, unanswered=["a0"])
    found = relevant_by_scores(audit)
    # c2 lost its label, a0 nobody could judge: nothing, or one certain and another two.
    assert (audit.lost, audit.strata["cannot_judge"].to_list()) == (1, [1, 0])
    assert (found["value"], found["value_if_relevant"]) == (11, 14)
    assert found["low"] <= relevant_by_scores(audited(WHOLE))["low"]
    assert found["at_most_unseen"] is not None


def test_recall_without_an_answer_spans_what_just_the_run_has_and_what_it_lacks() -> None:
    given_up = [name for name in WHOLE if name not in ("c2", "a0")]
    audit = audited(given_up, unanswered=["a0"])
    pairs = audit.pairs.with_columns(rank_0=pl.lit(1, dtype=pl.UInt32))
    run = Places(pairs.filter(pl.col("document_id") == "a0"), ("run",))
    found = runs_by_scores(audit, run, [1], {"run": 1})["run"]["recall@1"]["micro"]
    top = run.top("run", 1)
    # Recall is largest if a0, which the run has, is relevant and c2 is not; least the other way round.
    ends = [interval_of_micro_recall(one, top) for one in audit.extremes(top)[2:]]
    assert (found["low"], found["high"]) == (ends[1].low, ends[0].high)
    assert (ends[0].high or 0) > (interval_of_micro_recall(audit.extremes()[1], top).high or 0)


def test_few_relevant_documents_leave_the_exact_bound() -> None:
    found = relevant_by_scores(audited(WHOLE, relevant={"c1", "b0"}))
    assert (found["method"], found["low"]) == (EXACT_BOUND, 2)
    # At most one of M drawn, each with one half: (M + 1) / 2^M is 0.035 at 8 and 0.020 at 9; one is certain.
    assert found["high"] == 9
    nothing = relevant_by_scores(audited(WHOLE, relevant=set()))
    assert (nothing["value"], nothing["low"]) == (0, 0)
    assert nothing["high"] > 0


def test_runs_are_measured_on_the_same_sample() -> None:
    ranks = {"first": {"c1": 1, "b0": 2, "a0": 3}, "second": {"b0": 1, "b1": 2, "x": 3}}
    names = [*NAMES, "x"]
    rows = pl.DataFrame({"query_id": [f"q{at % 2}" for at in range(len(names))], "document_id": names})
    for at, by_name in enumerate(ranks.values()):
        rows = rows.with_columns(pl.Series(f"rank_{at}", [by_name.get(name) for name in names], pl.UInt32))
    places, audit = Places(rows, ("first", "second")), audited(WHOLE)
    found = runs_by_scores(audit, places, [3], {"first": 3, "second": 2})
    assert found["first"]["recall@3"]["micro"]["value"] == pytest.approx((1 + 2) / 11)
    # 3 relevant of 3 places for each of two queries; of the second run, the pool does not hold x.
    assert found["first"]["precision@3"]["micro"]["value"] == pytest.approx(3 / 6)
    assert found["second"]["precision@3"]["micro"]["value"] is None
    assert found["second"]["precision@3"]["micro"]["why"].endswith("run's first 3")
    (difference,) = differences_by_scores(audit, places, [3])
    # c1 counts 1, b0 and b1 count 2 each.
    assert difference["value"] == pytest.approx((3 - 4) / 11)
    assert difference["low"] < difference["value"] < difference["high"]


@given(st.data())
def test_weights_sum_to_the_pool_and_limits_hold_what_was_seen(data: st.DataObject) -> None:
    judged = [name for name in WHOLE if name[0] == "c" or data.draw(st.booleans())]
    relevant = {name for name in judged if data.draw(st.booleans())}
    audit = audited(judged, relevant=relevant)
    if not audit.is_defined:
        return
    weights = (1 / audit.sample["inclusion_probability"]).sum()
    assert weights == pytest.approx(len(NAMES))
    found = relevant_by_scores(audit)
    assert found["seen"] <= found["low"] <= found["value"] <= found["high"] + 1e-9
    assert found["high"] <= len(NAMES) - (audit.sample.height - found["seen"])


def test_strata_by_query_keep_the_limits_they_had() -> None:
    rows: dict[str, Any] = {
        "query_id": ["q0"] * 6,
        "document_id": list("abcdef"),
        "relevant": [True] * 6,
        "inclusion_probability": [0.5] * 6,
    }
    by_query = interval_of_total(pl.DataFrame(rows))
    across = interval_of_total(pl.DataFrame({**rows, "stratum": ["0"] * 6}))
    assert by_query.value == across.value == 12
    assert across.low is not None
    assert by_query.low is not None
    assert across.low > by_query.low


@pytest.mark.parametrize("model", ["learned", "adverse"])
def test_scores_that_know_the_certain_labels_or_mislead_bias_nothing(model: str) -> None:
    """`learned` scores come from the labels that were certain at the draw, as a local model's do."""
    one = world(3, queries=20, size=40, greedy=10, k=15)
    audited_world = planned(one, model, 90, 3, strata=3)
    told = [campaign(audited_world, seed) for seed in range(80)]
    for found, truth in (
        ([one.total for one in told], truths(one)["relevant"]),
        ([one.recall for one in told], truths(one)["recall"]),
    ):
        values = np.array([one.value for one in found])
        assert abs(values.mean() - truth) < 3.5 * values.std() / np.sqrt(len(values))
        assert np.mean([holds(one, truth) for one in found]) >= at_least(0.92, len(found))
