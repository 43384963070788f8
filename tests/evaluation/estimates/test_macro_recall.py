"""The mean recall over queries from an audit: its parts by hand and against SciPy, its intervals by draws."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import optimize, special, stats

from benchmarks.bench_prediction_powered import at_least, audited, world
from evaluation.estimates.macro_recall import (
    AWAITED,
    FEW_QUERIES,
    FEW_RELEVANT,
    RIDGE,
    RIDGE_OF_MEAN,
    SPREAD,
    VARIANCE,
    VARIANCES,
    MacroRecall,
    chances,
    macro_recalls,
    skewed,
)
from evaluation.estimates.sample import PAIR, AuditSample
from evaluation.measures.hajek import Design, weighted_means
from tests.evaluation.estimates.test_audit_sample import labels_of, pool_of

COLUMNS = {"query_id": pl.String, "document_id": pl.String, "relevant": pl.Boolean}


def sample_of(*kinds: tuple[list[str], str, str], queries: int = 12) -> AuditSample:
    """Each query has the documents of one kind in turn (certain relevant ones first): drawn, as (document,
    label) marks like "e+f-", of a rest with the letters left over."""
    rows, rest = [], []
    for number in range(queries):
        certain, drawn, left = kinds[number % len(kinds)]
        query = f"q{number:02}"
        rows += [(query, mark[0], mark[1] == "+", 1.0) for mark in certain]
        marks = [drawn[at : at + 2] for at in range(0, len(drawn), 2)]
        share = len(marks) / (len(marks) + len(left)) if marks else 1.0
        rows += [(query, mark[0], mark[1] == "+", share) for mark in marks]
        rest += [(query, name) for name in left]
    schema = {**COLUMNS, "inclusion_probability": pl.Float64}
    sample = pl.DataFrame(rows, schema=schema, orient="row").with_columns(
        draw=pl.lit(1), cannot_judge=pl.lit(False), awaited=pl.lit(False)
    )
    return AuditSample(
        sample, pl.DataFrame(rest, schema=dict.fromkeys(PAIR, pl.String), orient="row"), pl.DataFrame()
    )


def found_a(audit: AuditSample, design: Design | None = None) -> MacroRecall:
    """Of a run that has the document a of each query and nothing else."""
    pairs = pl.concat([audit.sample.select(PAIR), audit.unsampled])
    is_a = pl.col("document_id") == "a"
    ranks = pairs.select(*PAIR, rank_0=pl.when(is_a).then(pl.lit(1, dtype=pl.UInt32)))
    design_of = None if design is None else lambda _ids: design
    (one,) = macro_recalls(audit, ranks.filter(is_a), [(0, 1)], design_of=design_of)
    return one


def test_where_every_pair_has_a_label_it_is_the_mean_with_students_interval() -> None:
    # Half of the queries have a alone, the others a and b.
    found = found_a(sample_of((["a+"], "", ""), (["a+", "b+"], "", "")))
    reach = stats.t.ppf(0.975, 11) * np.std([1, 0.5] * 6, ddof=1) / 12**0.5

    assert (found.value, found.queries, found.why) == (0.75, 12, "")
    assert (found.low, found.high) == pytest.approx((0.75 - reach, 0.75 + reach))


def test_nothing_in_every_query_promises_nothing_of_others() -> None:
    found = found_a(sample_of((["a-", "b+"], "", "")))

    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 12)), "Clopper and Pearson, of 12"


def test_a_stratum_of_a_draw_that_is_all_alike_promises_nothing_of_its_others() -> None:
    stratum = np.arange(24) % 2
    design = Design(np.ones(24), np.full(24, 0.1), stratum)
    found = found_a(sample_of((["a+"], "", ""), (["a-", "b+"], "", ""), queries=24), design)
    means = weighted_means((stratum == 0).astype(float)[:, None], design)

    assert found.value == 0.5
    assert [found.low, found.high] == pytest.approx([float(one[0]) for one in means.limits(0.95)])
    assert found.low < 0.4 < 0.6 < found.high


def test_what_the_audit_draws_in_some_queries_counts_in_all() -> None:
    # Two drawn of four: e in half of the queries and in the others nothing, so of each document one in four.
    found = found_a(sample_of((["a+"], "e+f-", "gh"), (["a+"], "e-f-", "gh"), queries=40))

    # By itself half of the queries looks complete: (1/3 + 1) / 2. In truth each has 1 to 3 of four more.
    assert found.value is not None
    assert found.value < 0.6
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high


def test_queries_alike_have_the_ratio_of_what_is_expected() -> None:
    # One of two drawn of four is relevant everywhere: the chance is a half, and 1 / (1 + 4 · ½) = 1/3.
    found = found_a(sample_of((["a+"], "e+f-", "gh")))

    assert found.value == pytest.approx(1 / 3, abs=2e-3)


def test_queries_alike_are_no_surer_than_the_draw() -> None:
    # Of each query's total of 3, two drawn of four vary by 4² · ½ / 2 · 2 · (½ · 1/3)² = 2/9.
    found = found_a(sample_of((["a+"], "e+f-", "gh")))
    reach = stats.t.ppf(0.975, 11) * (2 / 9 / 3**2 / 12) ** 0.5

    assert found.low is not None
    assert found.high is not None
    assert found.low <= 1 / 3 - reach
    assert found.high == pytest.approx(skewed([1 / 3], reach)[1], abs=2e-3)


def test_few_queries_or_relevant_documents_say_nothing_of_a_mean() -> None:
    few = found_a(sample_of((["a+"], "e+f-", "gh"), queries=9))
    none = found_a(sample_of((["a+"], "e-f-", "gh")))

    assert (few.value, few.low, few.why) == (None, None, FEW_QUERIES)
    assert (none.value, none.high, none.why) == (None, None, FEW_RELEVANT)


def test_queries_without_a_relevant_label_are_not_counted() -> None:
    assert found_a(sample_of((["a+"], "", ""), (["b-"], "", ""), queries=24)).queries == 12


def test_while_labels_are_awaited_there_is_a_span_and_no_value() -> None:
    # In the first query a waits: it may be the one relevant document, found, or not relevant.
    whole = sample_of((["a+", "b+"], "", ""))
    first = (pl.col("query_id") == "q00") & (pl.col("document_id") == "a")
    waits = whole.sample.with_columns(pl.col("relevant") & ~first, awaited=first)
    found = found_a(AuditSample(waits, whole.unsampled, whole.strata))

    assert (found.value, found.why) == (None, AWAITED)
    low, high = found.low, found.high
    assert low is not None
    assert high is not None
    assert low < 11 * 0.5 / 12
    assert high >= 0.5


def test_the_chances_are_the_mean_over_the_intercepts_that_labels_allow() -> None:
    draw = np.random.default_rng(4)
    query = np.repeat(np.arange(8), 15)
    features = np.column_stack([np.ones(120), draw.normal(size=(120, 2))])
    label = (draw.random(120) < special.expit(features @ [-1.0, 1.0, -0.5])).astype(float)
    is_drawn = draw.random(120) < 0.5
    points = np.linspace(-8, 8, 401)

    def joint(beta: np.ndarray, variance: float) -> np.ndarray:
        """(8, points): of labels and intercept, summed over the points."""
        odds = (features @ beta)[is_drawn, None] + points * np.sqrt(variance)
        logs = -np.logaddexp(0, np.where(label[is_drawn, None] == 1, -odds, odds))
        sums = np.array([logs[query[is_drawn] == one].sum(axis=0) for one in range(8)])
        return np.exp(sums) * stats.norm.pdf(points) * 0.04

    def loss(beta: np.ndarray, variance: float) -> float:
        ridge = np.array([RIDGE_OF_MEAN, RIDGE, RIDGE])
        prior = (np.log(variance / VARIANCE) / SPREAD) ** 2
        return float(((ridge * beta**2).sum() + prior) / 2 - np.log(joint(beta, variance).sum(axis=1)).sum())

    fits = [optimize.minimize(loss, np.zeros(3), args=(one,)) for one in VARIANCES]
    fit, variance = min(zip(fits, VARIANCES, strict=True), key=lambda one: one[0].fun)
    weights = joint(fit.x, variance) / joint(fit.x, variance).sum(axis=1, keepdims=True)
    odds = (features @ fit.x)[:, None] + points * np.sqrt(variance)
    by_scipy = (weights[query] * special.expit(odds)).sum(axis=1)
    assert chances(features, query, label, is_drawn, queries=8) == pytest.approx(by_scipy, abs=1e-4)


@pytest.mark.parametrize(("mean", "reach"), [(0.15, 0.03), (0.3, 0.05), (0.05, 0.01)])
def test_small_shares_reach_up_as_far_as_in_log_odds_and_large_ones_down(mean: float, reach: float) -> None:
    low, high = skewed([mean], reach)
    assert low == pytest.approx(mean - reach)
    in_odds = special.expit(special.logit(mean) + reach / (mean * (1 - mean)))
    assert mean + reach < high == pytest.approx(in_odds, abs=reach / 50)
    assert skewed([1 - mean], reach) == pytest.approx((1 - high, 1 - low))
    low, high = skewed([mean, mean - 0.02, mean + 0.02], reach)
    assert low == pytest.approx(mean - 0.02 - reach)
    assert high == pytest.approx(skewed([mean + 0.02], reach)[1])
    assert skewed([0.001], 0.05)[1] < 0.001 + 0.05 * 1.5


@pytest.mark.parametrize(("others", "least", "most"), [([2] * 20, 0.2, 0.55), ([0, 8] * 10, 0.7, 0.8)])
def test_labels_of_a_query_say_more_of_it_where_queries_differ(
    others: list[int], least: float, most: float
) -> None:
    """Ten documents drawn of each query; eight of the last one's are relevant."""
    label = np.concatenate([np.arange(10) < one for one in [*others, 8]]).astype(float)
    query = np.repeat(np.arange(21), 10)
    chance = chances(np.ones((210, 1)), query, label, np.ones(210, dtype=bool), queries=21)
    assert least < chance[-1] < most


def test_a_query_that_still_awaits_labels_is_waited_for_in_the_mean_too() -> None:
    from evaluation.estimates.from_audit import Places, recall_estimates
    from evaluation.estimates.sample import audit_sample

    pools = [pool_of("abcd", reached="ab", audit="c", order="cdab", query=f"q{n:02}") for n in range(12)]
    labels = [labels_of("ac", "" if n else "b", f"q{n:02}") for n in range(12)]
    audit = audit_sample(pl.concat(pools), pl.concat(labels))
    ranks = audit.sample.select(*PAIR, rank_0=pl.lit(1, dtype=pl.UInt32)).filter(document_id="a")
    macro = recall_estimates(audit, Places(ranks, ("run",)), [1])["run"]["recall@1"]["macro"]

    assert (audit.awaited, macro["value"], macro["why"]) == (11, None, AWAITED)
    assert 0 <= macro["low"] < macro["high"] <= 1


def test_it_holds_where_each_query_by_itself_errs_high() -> None:
    """Sixty audits of three documents a query; a thousand of real pools are in the benchmarks."""
    one = world(3)
    hit = one.pairs.join(one.retrieved.with_columns(hit=True), on=PAIR, how="left", maintain_order="left")
    ranks = one.pairs.with_columns(rank_0=hit["hit"].cast(pl.UInt32)).drop_nulls()
    totals, found = (np.bincount(one.query, one.truth * by) for by in (np.ones(len(one.hit)), one.hit))
    truth = (found / np.maximum(totals, 1))[totals > 0].mean()
    values, naive, held = [], [], []
    for seed in range(60):
        sample, rest = audited(one, 3, np.random.default_rng(seed))
        marks = sample.with_columns(cannot_judge=pl.lit(False), awaited=pl.lit(False))
        (told,) = macro_recalls(AuditSample(marks, rest.select(PAIR), pl.DataFrame()), ranks, [(0, 1)])
        assert told.value is not None
        assert told.low is not None
        assert told.high is not None
        values.append(told.value)
        held.append(told.low <= truth <= told.high)
        weight = pl.col("relevant") / pl.col("inclusion_probability")
        in_top = sample.join(one.retrieved.with_columns(hit=True), on=PAIR, how="left")["hit"].fill_null(
            False
        )
        by_query = (
            sample.with_columns(w=weight, h=weight * in_top).group_by("query_id").agg(pl.col("w", "h").sum())
        )
        naive.append(by_query.filter(pl.col("w") > 0).select((pl.col("h") / pl.col("w")).mean()).item())
    assert np.mean(held) >= at_least(0.92, len(held))
    assert abs(np.mean(values) - truth) < 0.5 * abs(np.mean(naive) - truth)


def test_first_places_of_a_deep_frame_differ_from_the_many_others_by_few_draws() -> None:
    """Uneven queries: three documents certain, ten drawn of seven that a run found and 190 others."""
    draw, values, truths = np.random.default_rng(5), [], []
    place = pl.Series("rank_0", [*range(1, 11), *[None] * 190], dtype=pl.UInt32)
    chance = np.repeat([0.5, 0.3, 0.08], [3, 7, 190])
    for _ in range(40):
        parts = []
        for number in range(40):
            probability = np.full(200, 1.0)
            probability[3:] = np.nan
            probability[3 + draw.choice(197, 10, replace=False)] = 10 / 197
            label = draw.random(200) < chance * draw.choice([0.2, 0.6, 1.8])
            parts.append(
                pl.DataFrame({"document_id": [f"d{at:03}" for at in range(200)]}).with_columns(
                    place, query_id=pl.lit(f"q{number:02}"), relevant=label, inclusion_probability=probability
                )
            )
        pairs = pl.concat(parts).with_columns(pl.col("inclusion_probability").fill_nan(None))
        recalls = pairs.group_by("query_id").agg(
            pl.col("relevant").filter(pl.col("rank_0").is_not_null()).sum() / pl.col("relevant").sum()
        )
        truths.append(recalls["relevant"].drop_nans().mean())
        sample = pairs.drop_nulls("inclusion_probability").with_columns(
            draw=pl.lit(1), cannot_judge=pl.lit(False), awaited=pl.lit(False)
        )
        rest = pairs.filter(pl.col("inclusion_probability").is_null()).select(PAIR)
        ranks = pairs.drop_nulls("rank_0").select(*PAIR, "rank_0")
        (told,) = macro_recalls(AuditSample(sample, rest, pl.DataFrame()), ranks, [(0, 10)])
        values.append(told.value)
    assert np.mean(values) == pytest.approx(np.mean(truths), rel=0.15)
