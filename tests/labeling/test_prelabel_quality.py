"""What pre-labels are worth: tables by hand, and statsmodels and scikit-learn as references."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import brier_score_loss, cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from labeling.anchoring import anchoring
from labeling.prelabel_quality import (
    ONE_SIDED,
    Compared,
    calibration_of,
    cost_of,
    kappa_of,
    quality,
    quality_by_group,
)
from labeling.shares import Share, difference_of, share_of


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
    assert found.verdict == (
        "On 140 blind labels this model saves about 25 % of judgments; as labels it would miss 43 % of the "
        "relevant documents."
    )


def test_kappa_and_its_interval_are_those_of_statsmodels_and_scikit_learn() -> None:
    theirs, ours = cohens_kappa(np.array([[20, 15], [10, 95]])), kappa_of(TABLE)
    assert ours.value == pytest.approx(cohen_kappa_score(TABLE.relevant, TABLE.verdict))
    assert (ours.value, ours.low, ours.high) == pytest.approx(
        (theirs.kappa, theirs.kappa_low, theirs.kappa_upp)
    )


def test_intervals_of_shares_are_those_of_statsmodels() -> None:
    found = quality(TABLE)
    for one, count, labels, method in (
        (found.precision, 20, 30, "wilson"),
        (found.missed, 15, 35, "wilson"),
        (found.elusion, 15, 110, "beta"),
    ):
        assert (one.low, one.high) == pytest.approx(proportion_confint(count, labels, method=method))
    assert [found.missed.method, found.elusion.method] == ["Wilson", "Clopper–Pearson"]


def test_the_interval_of_the_correlation_is_fishers_where_its_assumptions_hold() -> None:
    """A linearised standard error on the scale of Fisher's z is 1/√n for normal values."""
    from labeling.prelabel_quality import correlation_of

    rng = np.random.default_rng(1)
    label, noise = rng.normal(size=20_000), rng.normal(size=20_000)
    score = stats.norm.cdf(label)
    pairs = Compared(label, label > 0, (label + noise), np.ones(20_000))  # type: ignore[arg-type]
    found = correlation_of(pairs)
    theirs = stats.pearsonr(label, label + noise).confidence_interval()
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.002)
    assert len(score) == 20_000


def test_below_fifty_labels_there_is_no_verdict_and_a_reason() -> None:
    found = quality(compared(10, 5, 5, 29))
    assert (found.verdict, found.why) == (None, "49 blind labels so far; the verdict comes at 50.")
    assert quality(compared(10, 5, 5, 30)).verdict is not None


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
    assert "it is not shown that this model saves any judgments (at most " in found.verdict
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
    pairs = Compared.of([1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1.0, 0.95, 0.9, 0.05, 0.1])
    found = calibration_of(pairs)
    assert [(one.low, one.high, one.relevant.count, one.relevant.labels) for one in found.bins] == [
        (0.0, 0.1, 0, 1),
        (0.1, 0.2, 0, 1),
        (0.9, 1.0, 2, 3),
    ]
    assert found.bins[2].score == pytest.approx(0.95)
    # 1 · 0.05 + 1 · 0.1 + 3 · |0.95 - 2/3|, over 5.
    assert found.error == pytest.approx((0.15 + 3 * (0.95 - 2 / 3)) / 5)
    assert found.brier == pytest.approx(brier_score_loss(pairs.relevant, pairs.score))


def test_labels_weigh_by_their_inclusion_probability() -> None:
    """Positives judged whole, negatives by a tenth: the share that is missed is that of all pairs."""
    weights = [1.0] * 20 + [1.0] * 10 + [10.0] * 2 + [10.0] * 48
    found = quality(compared(20, 10, 2, 48, weight=weights))
    assert found.missed.value == pytest.approx(20 / 40)
    assert found.elusion.value == pytest.approx(2 / 50)
    assert (found.elusion.low, found.elusion.high) == pytest.approx(proportion_confint(2, 50, method="beta"))
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


def test_what_a_label_saved_costs() -> None:
    found = quality(TABLE)
    paid = cost_of(found, spent=20.0, pairs=10_000, labels=1_000)
    assert paid.per_pair == pytest.approx(0.002)
    assert paid.labels_saved == pytest.approx(1_000 * (found.saved.value or 0))
    assert paid.per_label_saved == pytest.approx(20 / (1_000 * (found.saved.value or 0)))
    assert cost_of(quality(compared(1, 1, 1, 1)), spent=1.0, pairs=4, labels=9).per_label_saved is None
    assert "saves nothing" in cost_of(quality(compared(0, 40, 20, 0)), spent=1.0, pairs=4, labels=9).why


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


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(0, 1), st.floats(0.1, 20)), max_size=80))
def test_figures_stay_where_they_belong(rows: list[tuple[bool, bool, float, float]]) -> None:
    found = quality(Compared.of(*([row[at] for row in rows] for at in range(4))))
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
        if figure.value is not None:
            assert figure.low is not None
            assert figure.high is not None
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
    assert "that can be chance (-11 to +22 points)." in (same.verdict or "")


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
