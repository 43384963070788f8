"""What pre-labels are worth: tables by hand, and statsmodels and scikit-learn as references."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import brier_score_loss, cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from labeling.consensus.agreement import Figure
from labeling.consensus.clustered import NEVER_DIFFERED, ONE_QUERY, ONE_SIDED, share_over_queries
from labeling.consensus.shares import Share, difference_of, share_of
from labeling.exposure.anchoring import anchoring
from labeling.quality.worth_figures import (
    Best,
    Compared,
    best_of,
    calibration_of,
    kappa_of,
    quality,
    quality_by_group,
)


def compared(both: int, model_only: int, person_only: int, neither: int, **also: object) -> Compared:
    cells = ((1, 1, both), (0, 1, model_only), (1, 0, person_only), (0, 0, neither))
    rows = [(label, verdict) for label, verdict, count in cells for _ in range(count)]
    return Compared.of([row[0] for row in rows], [row[1] for row in rows], **also)  # type: ignore[arg-type]


TABLE = compared(20, 10, 15, 95)


def test_every_figure_of_a_table() -> None:
    found = quality(TABLE)
    assert found.confusion == type(found.confusion)(20, 10, 15, 95)
    values = [found.agreement, found.prevalence, found.called, found.precision, found.recall, found.elusion]
    assert [one.value for one in values] == pytest.approx(
        [115 / 140, 35 / 140, 30 / 140, 20 / 30, 20 / 35, 15 / 110]
    )
    assert (found.missed.value, found.missed.count, found.missed.labels) == (pytest.approx(15 / 35), 15, 35)
    # p_e = (30 · 35 + 110 · 105) / 140², p_o = 115/140.
    chance = (30 * 35 + 110 * 105) / 140**2
    assert found.kappa.value == pytest.approx((115 / 140 - chance) / (1 - chance))
    phi = (20 * 95 - 10 * 15) / math.sqrt(30 * 110 * 35 * 105)
    assert found.correlation.value == pytest.approx(phi)
    assert found.saved.value == pytest.approx(phi**2)
    assert found.gain.value == pytest.approx(1 / (1 - phi**2))
    assert found.verdict is not None
    assert found.verdict.startswith(
        "On 140 blind labels of 140 queries this model saves about 25 % of an audit"
    )
    assert found.verdict.endswith("; used as labels, it would miss 43 % of the relevant documents.")


def test_with_a_label_from_each_query_kappa_is_that_of_statsmodels_and_scikit_learn() -> None:
    theirs, ours = cohens_kappa(np.array([[20, 15], [10, 95]])), kappa_of(TABLE)
    assert ours.value == pytest.approx(cohen_kappa_score(TABLE.relevant, TABLE.verdict))
    assert (ours.value, ours.low, ours.high) == pytest.approx(
        (theirs.kappa, theirs.kappa_low, theirs.kappa_upp), abs=0.03
    )


def test_with_a_label_from_each_query_shares_are_those_of_statsmodels() -> None:
    found = quality(TABLE)
    for one, count, labels, method in (
        (found.precision, 20, 30, "wilson"),
        (found.missed, 15, 35, "wilson"),
        (found.elusion, 15, 110, "beta"),
    ):
        alone = share_of(np.arange(labels) < count, exact=method == "beta")
        assert (alone.low, alone.high) == pytest.approx(proportion_confint(count, labels, method=method))
        # Student's t on as many queries is a little wider.
        assert (one.low, one.high) == pytest.approx((alone.low, alone.high), abs=0.02)
        assert (one.high or 0) - (one.low or 0) > (alone.high or 0) - (alone.low or 0)
    assert [found.missed.method, found.elusion.method] == ["Wilson", "Clopper–Pearson"]


def test_the_interval_of_the_correlation_is_fishers_where_its_assumptions_hold() -> None:
    """The jackknife on the scale of Fisher's z gives 1/√n for normal values."""
    from labeling.consensus.clustered import correlation_over_queries

    rng = np.random.default_rng(1)
    score, noise = rng.normal(size=(2, 20_000))
    label = score + noise > 0
    found = correlation_over_queries(label, score, np.ones(20_000), query=np.arange(20_000))
    theirs = stats.pearsonr(label, score).confidence_interval()
    assert found.value == pytest.approx(stats.pearsonr(label, score).statistic)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.003)


def test_labels_of_one_query_that_say_the_same_count_once() -> None:
    """Every label five times over, the copies in the query of the first: no interval is narrower."""
    rng = np.random.default_rng(3)
    label, score = rng.random(60) < 0.4, rng.random(60)
    verdict = np.where(rng.random(60) < 0.75, label, ~label)
    once = quality(Compared.of(label, verdict, score=score))
    copied = [np.repeat(one, 5) for one in (label, verdict, score, np.arange(60))]
    often = quality(Compared.of(*copied[:3], query=copied[3]))
    apart = quality(Compared.of(*copied[:3]))
    for name in ("kappa", "missed", "elusion", "saved"):
        first, clustered, taken_alone = (getattr(one, name) for one in (once, often, apart))
        assert (clustered.value, clustered.low, clustered.high) == pytest.approx(
            (first.value, first.low, first.high)
        )
        assert taken_alone.high - taken_alone.low < 0.6 * (first.high - first.low)


def test_the_jackknife_over_queries_is_the_one_by_hand() -> None:
    rng = np.random.default_rng(5)
    label, query = rng.random(80) < 0.5, np.arange(80) % 10
    verdict, weight = np.where(rng.random(80) < 0.5 + query / 20, label, ~label), rng.uniform(1, 4, 80)
    kappas = [
        cohen_kappa_score(label[kept], verdict[kept], sample_weight=weight[kept])
        for kept in (query != one for one in range(10))
    ]
    z = np.arctanh(kappas)
    error = math.sqrt(9 / 10 * ((z - z.mean()) ** 2).sum())
    middle = math.atanh(cohen_kappa_score(label, verdict, sample_weight=weight))
    found = kappa_of(Compared.of(label, verdict, weight=weight, query=query))
    reach = stats.t.ppf(0.975, 8) * error
    assert (found.low, found.high) == pytest.approx((math.tanh(middle - reach), math.tanh(middle + reach)))


@pytest.mark.parametrize(("labels", "queries"), [(49, 49), (100, 7)])
def test_below_fifty_labels_or_eight_queries_there_is_no_verdict_and_a_reason(
    labels: int, queries: int
) -> None:
    def of(labels: int, queries: int) -> Compared:
        rows = np.arange(labels)
        return Compared.of(rows % 3 == 0, (rows % 3 == 0) ^ (rows % 5 == 0), query=rows % queries)

    found = quality(of(labels, queries))
    assert found.verdict is None
    assert found.why == (
        f"{labels} blind labels of {queries} queries so far; the verdict comes at 50 of 8 queries."
    )
    assert quality(of(max(labels, 50), max(queries, 8))).verdict is not None


def test_below_eight_queries_no_figure_is_told() -> None:
    rows = np.arange(140)
    pairs = Compared(TABLE.relevant, TABLE.verdict, TABLE.score, TABLE.weight, rows % 7)
    found = quality(pairs)
    for name in ("kappa", "missed", "elusion", "saved", "precision", "agreement", "gain"):
        one = getattr(found, name)
        assert (one.value, one.low, one.high) == (None, None, None)
        assert one.why == "labels of 7 queries so far; it takes 8"
    assert found.calibration.bins == ()
    assert found.confusion.both == 20


def test_a_share_speaks_of_the_queries_that_it_is_taken_from() -> None:
    """Of ten queries seven have a relevant label: what is missed is not told, elusion is."""
    rows = np.arange(100)
    query = rows % 10
    relevant = (query < 7) & (rows < 50)
    found = quality(Compared.of(relevant, relevant & (rows >= 10), query=query))
    assert (found.missed.value, found.missed.why) == (None, "labels of 7 queries so far; it takes 8")
    assert found.elusion.value is not None
    assert found.verdict is None
    assert "relevant labels of 7 queries so far" in found.why


def test_who_never_differs_and_what_hangs_on_one_query_has_no_interval() -> None:
    query = np.arange(60) % 10
    label = query < 5
    agreeing = quality(Compared.of(label, label, query=query))
    assert (agreeing.kappa.value, agreeing.kappa.low, agreeing.kappa.why) == (1, None, NEVER_DIFFERED)
    assert agreeing.verdict is None
    alone = quality(Compared.of(query == 3, (query == 3) & (np.arange(60) > 10), query=query))
    assert (alone.kappa.low, alone.kappa.why) == (None, ONE_QUERY)


def test_queries_that_are_alike_by_chance_promise_no_more_than_their_labels() -> None:
    alike, apart = (
        quality(Compared.of(np.tile([1, 1, 0, 0], 20), np.tile([1, 0, 0, 0], 20), query=query))
        for query in (np.arange(80) // 8, np.arange(80))
    )
    assert (alike.kappa.low or 0) < (apart.kappa.low or 0) < (apart.kappa.high or 0) < (alike.kappa.high or 0)


def test_no_hit_in_a_hundred_labels_of_ten_queries_says_what_ten_labels_say() -> None:
    found = share_over_queries(np.zeros(100, dtype=bool), np.ones(100), np.arange(100) % 10, exact=True)
    assert (found.value, found.low) == (0, 0)
    assert found.high is not None
    assert found.high > proportion_confint(0, 10, method="beta")[1]


def test_hits_among_light_labels_alone_do_not_make_heavy_ones_more() -> None:
    """Of 90 certain labels nine are hits, of ten that stand for 100 each none: ten labels say so much."""
    weights = np.array([1.0] * 90 + [100.0] * 10)
    found = share_of(np.arange(100) < 9, weights, exact=True)
    assert found.value == pytest.approx(9 / 1090)
    assert (found.high or 0) > 0.2


def test_the_best_of_many_models_is_told_with_what_the_choice_does_to_its_figure() -> None:
    rng = np.random.default_rng(7)
    label, query = rng.random(200) < 0.4, np.arange(200) % 20
    models = {
        key: Compared.of(label, np.where(rng.random(200) < right, label, ~label), query=query)
        for key, right in enumerate((0.7, 0.72, 0.85, 0.6))
    }
    best = best_of(models)
    assert best is not None
    assert (best.key, best.compared) == (2, 4)
    alone = quality(models[2]).saved
    assert best.saved.value == alone.value
    assert (best.saved.low or 0) < (alone.low or 0) < (alone.high or 0) < (best.saved.high or 0)
    assert best.sentence("small").startswith("Of 4 models compared on these labels, small saves most: ")
    assert "may save nothing, and at most 9 %" in Best(1, 2, Figure(0.02, 0.0, 0.09)).sentence("small")
    # One model, or one beside others with too few labels, is not chosen among many.
    assert best_of({2: models[2]}) is None
    assert best_of({2: models[2], 3: Compared.of([True, False], [True, True])}) is None


@pytest.mark.parametrize(
    ("cells", "part"),
    [
        ((0, 20, 0, 40), "None of 60 blind labels is relevant"),
        ((20, 40, 0, 0), "All 60 blind labels, or all scores of the model, are the same."),
    ],
)
def test_where_a_figure_is_undefined_the_reason_says_so(cells: tuple[int, int, int, int], part: str) -> None:
    found = quality(compared(*cells))
    assert found.verdict is None
    assert part in found.why


@pytest.mark.parametrize("cells", [(20, 40, 0, 0), (0, 0, 20, 40), (20, 0, 40, 0), (60, 0, 0, 0)])
def test_who_says_the_same_of_every_pair_has_no_kappa(cells: tuple[int, int, int, int]) -> None:
    kappa = quality(compared(*cells)).kappa
    assert (kappa.value, kappa.why) == (None, ONE_SIDED)


def test_a_model_that_may_be_chance_is_not_said_to_save() -> None:
    found = quality(compared(5, 15, 10, 30))
    assert found.verdict is not None
    assert "there is no evidence that this model saves any of an audit's labels (at most " in found.verdict
    assert "miss 67 %" in found.verdict


def test_a_model_that_is_turned_round_saves_nothing() -> None:
    found = quality(compared(0, 40, 20, 0))
    assert (found.correlation.value, found.saved.value, found.gain.value) == (-1.0, 0.0, 1.0)


def test_scores_too_timid_for_a_weight_of_one_save_what_one_can() -> None:
    """Labels are 0 and 1, scores 0.4 and 0.6: at λ = 1 the variance left is that of ±0.4."""
    pairs = compared(30, 0, 0, 30, score=[0.6] * 30 + [0.4] * 30)
    assert quality(pairs).correlation.value == pytest.approx(1)
    assert quality(pairs).saved.value == pytest.approx(1 - 0.4**2 / 0.5**2)


def test_calibration_counts_each_score_in_its_bin() -> None:
    pairs = Compared.of([1, 1, 0, *[0] * 6], [1, 1, 0, *[0] * 6], score=[1.0, 0.95, 0.9, *[0.05] * 5, 0.1])
    found = calibration_of(pairs)
    assert [(one.low, one.high, one.relevant.count, one.relevant.labels) for one in found.bins] == [
        (0.0, 0.1, 0, 5),
        (0.1, 0.2, 0, 1),
        (0.9, 1.0, 2, 3),
    ]
    assert found.bins[2].score == pytest.approx(0.95)
    # No bin has labels of eight queries.
    assert [(one.relevant.value, one.relevant.low) for one in found.bins][2] == (pytest.approx(2 / 3), None)
    # 5 · 0.05 + 1 · 0.1 + 3 · |0.95 - 2/3|, over 9.
    assert found.error == pytest.approx((0.35 + 3 * (0.95 - 2 / 3)) / 9)
    assert found.brier == pytest.approx(brier_score_loss(pairs.relevant, pairs.score))


def test_labels_weigh_by_their_inclusion_probability() -> None:
    """Positives judged whole, negatives by a tenth: the share that is missed is that of all pairs."""
    weights = [1.0] * 20 + [1.0] * 10 + [10.0] * 2 + [10.0] * 48
    found = quality(compared(20, 10, 2, 48, weight=weights))
    assert found.missed.value == pytest.approx(20 / 40)
    assert found.elusion.value == pytest.approx(2 / 50)
    assert (found.elusion.low, found.elusion.high) == pytest.approx(
        proportion_confint(2, 50, method="beta"), abs=0.01
    )
    assert (found.missed.high or 0) - (found.missed.low or 0) > 0.4  # two heavy labels say little
    assert found.prevalence.value == pytest.approx(40 / 530)


def test_doubling_every_weight_changes_nothing() -> None:
    once, twice = (quality(compared(20, 10, 15, 95, weight=[w] * 140)) for w in (1.0, 2.0))
    assert once.kappa.low == pytest.approx(twice.kappa.low)
    assert once.missed == twice.missed
    assert once.correlation.high == pytest.approx(twice.correlation.high)


def test_groups_are_measured_apart() -> None:
    groups = [["short"] if row < 30 else ["long", "bus"] for row in range(140)]
    found = quality_by_group(TABLE, groups)
    assert list(found) == ["bus", "long", "short"]
    assert (found["short"].precision.count, found["short"].precision.labels) == (20, 30)
    assert found["short"].elusion == Share(None, None, None, 0, 0, "Clopper–Pearson")
    assert found["long"].confusion == found["bus"].confusion
    with pytest.raises(ValueError, match="There are 140 pairs, and groups for 1"):
        quality_by_group(TABLE, [["short"]])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"score": [1.2]}, "outside the range 0 to 1"),
        ({"score": [0.1, 0.2]}, "equally many"),
        ({"weight": [0.0]}, "not a number above 0"),
        ({"weight": [math.inf]}, "not a number above 0"),
    ],
)
def test_values_that_cannot_be_are_refused(values: dict[str, list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Compared.of([True], [True], **values)  # type: ignore[arg-type]


@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.floats(0, 1), st.floats(0.1, 20), st.integers(0, 15)),
        max_size=80,
    )
)
def test_figures_stay_where_they_belong(rows: list[tuple[bool, bool, float, float, int]]) -> None:
    found = quality(
        Compared.of(
            *([row[at] for row in rows] for at in range(3)),
            weight=[row[3] for row in rows],
            query=[row[4] for row in rows],
        )
    )
    for share in (found.agreement, found.precision, found.recall, found.missed, found.elusion):
        if share.value is not None:
            assert share.low is not None
            assert share.high is not None
            assert 0 <= share.low <= share.value <= share.high <= 1
    for figure, least, most in (
        (found.kappa, -1, 1),
        (found.correlation, -1, 1),
        (found.saved, 0, 1),
        (found.gain, 1, math.inf),
    ):
        assert (figure.low is None) == bool(figure.why) == (figure.high is None)
        if figure.value is not None and figure.low is not None and figure.high is not None:
            assert least <= figure.low <= figure.value + 1e-9
            assert figure.value <= figure.high + 1e-9 <= most + 2e-9
    assert (found.verdict is None) == bool(found.why)


# Anchoring


def test_differences_are_newcombes() -> None:
    found = difference_of(share_of(np.arange(200) < 144), share_of(np.arange(150) < 84))
    theirs = confint_proportions_2indep(144, 200, 84, 150, method="newcomb", compare="diff")
    assert (found.low, found.high) == pytest.approx(theirs)
    assert found.is_decided


def test_agreement_with_the_model_is_compared_seen_against_blind() -> None:
    model = np.ones(200, dtype=bool)
    found = anchoring(np.arange(200) < 144, model, np.arange(40) < 22, model[:40])
    assert (found.seen.agreeing.value, found.blind.relevant.value) == (0.72, 0.55)
    assert found.relevant.value == pytest.approx(0.17)
    assert found.verdict is not None
    assert "72 % of the pairs, blind on 55 %: 17 points more" in found.verdict
    same = anchoring(np.arange(200) < 120, model, np.arange(40) < 22, model[:40])
    assert "that can be chance (−11 to +22 points)." in (same.verdict or "")


def test_several_verdicts_on_one_pair_count_for_fewer() -> None:
    """Three people who always say the same of a pair are one; where they differ by chance they are three."""
    once = np.arange(40) < 25
    alike = share_of(np.repeat(once, 3), groups=np.repeat(np.arange(40), 3))
    assert (alike.low, alike.high) == pytest.approx((share_of(once).low, share_of(once).high))
    # Each pair has one yes and two noes; three verdicts are never more than three.
    differing = share_of(np.tile([True, False, False], 40), groups=np.repeat(np.arange(40), 3))
    assert differing == share_of(np.tile([True, False, False], 40))
    assert share_of(np.ones(30, dtype=bool), groups=np.repeat(np.arange(10), 3)).low == pytest.approx(
        share_of(np.ones(10, dtype=bool)).low
    )
    model, people = np.ones(120, dtype=bool), np.repeat(once, 3)
    apart = anchoring(people, model, ~people, model)
    pairs = np.repeat(np.arange(40), 3)
    together = anchoring(people, model, ~people, model, seen_pair=pairs, blind_pair=pairs)
    assert apart.agreeing.is_decided
    assert apart.agreeing.value == together.agreeing.value
    assert (together.agreeing.low or 0) < (apart.agreeing.low or 0)


def test_a_small_control_arm_says_nothing_yet() -> None:
    found = anchoring([True] * 100, [True] * 100, [True] * 29, [False] * 29)
    assert (found.verdict, found.agreeing.value) == (None, 1.0)
    assert found.why.startswith("100 judgments with the pre-label seen and 29 blind so far")
    assert anchoring([], [], [], []).agreeing.value is None
    with pytest.raises(ValueError, match="Every judgment needs"):
        anchoring([True], [], [], [])
