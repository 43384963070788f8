"""Estimates with a model's help: by hand, against least squares, at their limits, and by the hundred."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_prediction_powered import COVERAGE, at_least, campaign, truths, within, world
from evaluation.estimates.from_audit import LABELS, QUERIES_AND_LABELS, Places
from evaluation.estimates.intervals import (
    EXACT_BOUND,
    GAMMA,
    POWERED,
    LabelInterval,
    interval_of_micro_recall,
    interval_of_total,
)
from evaluation.estimates.powered import (
    OWN_MODEL,
    figure,
    powered_estimates,
    powered_macro_precision,
    powered_relevant_estimate,
)
from evaluation.estimates.prediction_powered import (
    CONSTANT,
    DISAGREES,
    FEW_LABELS,
    FEW_RELEVANT,
    NOT_NARROWER,
    UNLIKE,
    Powered,
    Predicted,
    powered_hits,
    powered_micro_recall,
    powered_precision,
    powered_total,
    tuned,
)
from evaluation.estimates.sample import AuditSample

#: Of 60 drawn of 120: how many have this label and this verdict of the model.
TABLE = {(1, 1): 12, (1, 0): 3, (0, 1): 5, (0, 0): 40}


def drawn(table: dict[tuple[int, int], int], foreseen: int = 20, *, certain: int = 0) -> Predicted:
    """One query whose rest is drawn by half; of what was not drawn the model calls `foreseen` relevant."""
    cells = [cell for cell, count in table.items() for _ in range(count)]
    half = len(cells)
    names = [f"s{number:03}" for number in range(half)]
    sure = [f"c{number:03}" for number in range(certain)]
    others = [f"u{number:03}" for number in range(half)]
    sample = pl.DataFrame(
        {
            "query_id": ["q"] * (half + certain),
            "document_id": sure + names,
            "relevant": [True] * certain + [bool(label) for label, _ in cells],
            "inclusion_probability": [1.0] * certain + [0.5] * half,
        }
    )
    verdicts = [float(verdict) for _, verdict in cells] + [float(at < foreseen) for at in range(half)]
    predictions = pl.DataFrame(
        {"query_id": ["q"] * (2 * half), "document_id": names + others, "prediction": verdicts}
    )
    unsampled = pl.DataFrame({"query_id": ["q"] * half, "document_id": others})
    return Predicted.of(sample, unsampled, predictions)


def top(*names: str) -> pl.DataFrame:
    schema = {"query_id": pl.String, "document_id": pl.String}
    return pl.DataFrame([("q", name) for name in names], schema=schema, orient="row")


def test_the_weight_is_the_slope_of_labels_on_predictions_drawn_in_by_its_own_variance() -> None:
    given_ = drawn(TABLE)
    labels, verdicts = given_.arrays.relevant, given_.guess
    slope, level = np.polyfit(verdicts, labels, 1)
    residual, spread = labels - level - slope * verdicts, verdicts - verdicts.mean()
    variance = (spread**2 * residual**2).sum() / (spread**2).sum() ** 2

    found = tuned(given_, labels, verdicts)

    # Cov = 12/60 - 15/60 · 17/60, Var = 17/60 · 43/60.
    assert slope == pytest.approx((12 / 60 - 15 * 17 / 3600) / (17 * 43 / 3600))
    assert found.variance == pytest.approx(variance)
    assert found.weight == pytest.approx(slope * (1 - variance / slope**2))


def test_the_total_is_the_labels_and_what_the_predictions_say_of_those_not_drawn() -> None:
    found = powered_total(drawn(TABLE))
    # 15 relevant at ½ are 30; the model calls 17 + 20 relevant of all, twice 17 by the sample: 3 λ more.
    assert found.human.value == pytest.approx(30)
    assert found.powered.value == pytest.approx(30 + 3 * found.weight)
    assert found.powered.method == POWERED
    assert 0.55 < found.weight < 0.64
    assert 0.1 < found.narrower < 0.6


def test_a_perfect_model_narrows_and_still_leaves_room_for_what_it_might_have_missed() -> None:
    found = powered_total(drawn({(1, 1): 15, (0, 0): 45}, foreseen=15))
    assert (found.weight, found.powered.value) == (1.0, 30.0)
    assert found.narrower > 0.5
    assert (found.powered.low or 0) < 30 < (found.powered.high or 0)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({(1, 0): 15, (0, 1): 45}, DISAGREES),
        ({(1, 0): 15, (0, 0): 45}, CONSTANT),
        ({(1, 1): 15, (0, 0): 34}, FEW_LABELS),
        ({(1, 1): 4, (0, 0): 56}, FEW_RELEVANT),
    ],
)
def test_where_the_model_is_not_believed_the_human_estimate_stands_exactly(
    table: dict[tuple[int, int], int], why: str
) -> None:
    given_, run = drawn(table, foreseen=0, certain=3), top("c000", "s000", "s001", "u000")
    pairs = [
        (powered_total(given_), interval_of_total(given_.sample)),
        (powered_micro_recall(given_, run), interval_of_micro_recall(given_.sample, run)),
    ]
    for found, human in pairs:
        assert found == Powered(human, human, 0.0, why)
    assert pairs[0][1].method == (EXACT_BOUND if why == FEW_RELEVANT else GAMMA)


def test_what_is_certain_needs_no_prediction() -> None:
    without, beside = powered_total(drawn(TABLE)), powered_total(drawn(TABLE, certain=7))
    assert beside.weight == pytest.approx(without.weight)
    assert beside.powered.value == pytest.approx((without.powered.value or 0) + 7)


def test_a_pair_without_a_prediction_counts_as_the_mean() -> None:
    given_ = drawn(TABLE)
    told = given_.unsampled.select("query_id", "document_id", prediction=pl.lit(0.25)).head(30)
    found = Predicted.of(given_.sample, given_.unsampled, told)
    assert found.share == 30 / 120
    assert not found.guess.any()
    assert not found.unsampled["guess"].to_numpy().any()


@pytest.mark.parametrize("drawn_alone", [True, False])
def test_a_model_that_was_asked_by_the_draw_is_not_believed(drawn_alone: bool) -> None:
    """As by a queue of fixed order, which holds what was drawn: its scores say nothing of other documents."""
    given_ = drawn(TABLE)
    told = given_.arrays.pairs.with_columns(
        prediction=pl.Series([1.0] * 12 + [0.0] * 3 + [1.0] * 5 + [0.0] * 40)
    )
    rest = given_.unsampled.select("query_id", "document_id", prediction=pl.int_range(pl.len()) / 60)
    unlike = told if drawn_alone else pl.concat([told.head(30), rest])
    found = Predicted.of(given_.sample, given_.unsampled, unlike)
    human = interval_of_total(given_.sample)
    assert powered_total(found) == Powered(human, human, 0.0, UNLIKE)
    # Nine of ten, on either side, are what a model may fail at.
    failed = pl.concat([told, rest.tail(54)])
    assert powered_total(Predicted.of(given_.sample, given_.unsampled, failed)).narrower > 0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"prediction": [1.5]}, "outside the range 0 to 1"),
        ({"prediction": [float("nan")]}, "outside the range 0 to 1"),
        ({"prediction": [0.5, 0.5]}, "two predictions"),
        ({"score": [0.5]}, "no column prediction"),
    ],
)
def test_predictions_that_cannot_be_are_refused(rows: dict[str, list[float]], message: str) -> None:
    count = len(next(iter(rows.values())))
    frame = pl.DataFrame({"query_id": ["q"] * count, "document_id": ["s000"] * count, **rows})
    with pytest.raises(ValueError, match=message):
        Predicted.of(drawn(TABLE).sample, top("u000"), frame)


def test_precision_divides_by_the_places_and_exceeds_nothing_that_is_possible() -> None:
    # Everything in the run's top is drawn: weighted it would be 24 of 12, yet 12 is all there can be.
    run = top(*[f"s{number:03}" for number in range(12)])
    assert powered_hits(drawn(TABLE), run).human.value == 12
    found = powered_precision(drawn(TABLE), run, 12)
    assert (found.human.value, found.human.high) == (1.0, 1.0)
    assert found.powered.value == 1.0


def test_recall_with_a_models_help_is_the_ratio_of_what_is_found_and_missed() -> None:
    given_ = drawn(TABLE)
    run = top(
        *[f"s{number:03}" for number in (*range(10), *range(20, 40))], *[f"u{at:03}" for at in range(15)]
    )
    found = powered_micro_recall(given_, run)
    inside, whole = given_.within(run), given_.within(None)
    assert 0 < found.weight <= 1
    ratio = inside.estimate(found.weight) / (
        inside.estimate(found.weight) + whole.without(inside).estimate(found.weight)
    )
    assert found.powered.value == pytest.approx(ratio)
    assert found.narrower > 0


def test_strata_across_queries_are_those_of_the_draw() -> None:
    """Labels that differ between queries spread nothing where the draw did not know of queries."""
    sample = pl.DataFrame(
        {
            "query_id": ["a", "a", "b", "b"],
            "document_id": ["1", "2", "1", "2"],
            "relevant": [True, True, False, False],
            "inclusion_probability": [0.5] * 4,
        }
    )
    by_query = interval_of_total(sample)
    across = Predicted.of(sample.with_columns(stratum=pl.lit("low")), top(), _no_predictions())
    assert by_query.value == powered_total(across).human.value
    labels = across.arrays.relevant
    assert (Predicted.of(sample, top(), _no_predictions()).arrays.variance(labels)) == 0
    # N²(1 - f) s²/n with N = 8, f = ½, n = 4 and s² = ⅓.
    assert across.arrays.variance(labels) == pytest.approx(64 * 0.5 / 3 / 4)


def _no_predictions() -> pl.DataFrame:
    return pl.DataFrame(schema={"query_id": pl.String, "document_id": pl.String, "prediction": pl.Float64})


@given(
    st.lists(st.tuples(st.booleans(), st.floats(0, 1), st.booleans()), min_size=60, max_size=90),
    st.lists(st.floats(0, 1), min_size=5, max_size=60),
)
def test_whatever_the_model_says_the_estimate_stays_possible_and_no_wider(
    rows: list[tuple[bool, float, bool]], others: list[float]
) -> None:
    names, rest = [f"s{at}" for at in range(len(rows))], [f"u{at}" for at in range(len(others))]
    sample = pl.DataFrame(
        {
            "query_id": ["q"] * len(rows),
            "document_id": names,
            "relevant": [label for label, _, _ in rows],
            "inclusion_probability": [len(rows) / (len(rows) + len(others))] * len(rows),
        }
    )
    guesses = [guess for _, guess, _ in rows] + others
    predictions = top(*names, *rest).with_columns(prediction=pl.Series(guesses, dtype=pl.Float64))
    given_ = Predicted.of(sample, top(*rest), predictions)
    run = top(*[name for name, (_, _, inside) in zip(names, rows, strict=True) if inside], *rest[::2])
    seen = int(sample["relevant"].sum())
    for found, most in (
        (powered_total(given_), seen + len(rest)),
        (powered_hits(given_, run), seen + len(rest)),
        (powered_micro_recall(given_, run), 1),
    ):
        assert 0 <= found.weight <= 1
        one = found.powered
        if found.weight:
            assert one.value is not None
            assert one.low is not None
            assert one.high is not None
            assert 0 <= one.low <= one.value + 1e-9
            assert one.value <= one.high + 1e-9
            assert one.high <= most + 1e-9
            assert found.narrower > 0
        else:
            assert one == found.human


@pytest.mark.parametrize("model", ["good", "near perfect", "useless", "adverse"])
def test_intervals_hold_the_truth_whatever_the_model_is_worth(model: str) -> None:
    """Sixty campaigns; a thousand, and more models, are in `benchmarks/bench_prediction_powered.py`."""
    one = world(3)
    known, told = truths(one), [campaign(one, model, 5, seed, macro=False) for seed in range(60)]
    for what in ("relevant", "precision", "recall"):
        held = float(np.mean([within(found[what], known[what]) for found in told]))
        assert held >= at_least(COVERAGE, len(told)), what
        narrower = float(np.mean([found[what].narrower for found in told]))
        assert (narrower > 0.15) if model in ("good", "near perfect") else (narrower < 0.02)


def test_a_report_has_the_human_figure_beside_the_powered_one() -> None:
    given_ = drawn(TABLE)
    sample = given_.sample.with_columns(
        cannot_judge=pl.col("document_id") == "s059", awaited=False, relevant=pl.col("relevant")
    )
    strata = pl.DataFrame({"query_id": ["q"], "defined": [True]})
    audit = AuditSample(sample, given_.unsampled.select("query_id", "document_id"), strata)
    pairs = pl.concat([sample.select("query_id", "document_id"), audit.unsampled])
    ranks = pairs.with_columns(rank_0=pl.int_range(1, pl.len() + 1, dtype=pl.Int64))
    predictions = pairs.with_columns(prediction=pl.lit(0.0)).with_columns(
        prediction=pl.Series(
            [float(verdict) for (_, verdict), n in TABLE.items() for _ in range(n)] + [0.0] * 60
        )
    )

    found = powered_estimates(audit, Places(ranks, ("run",)), predictions, [80], samples=50)["run"]

    assert list(found) == ["recall@80", "precision@80"]
    recall = found["recall@80"]["micro"]
    assert recall["human"]["covers"] == recall["powered"]["covers"] == "labels"
    assert recall["human"]["value_if_relevant"] == pytest.approx(recall["human"]["value"])
    mean = found["recall@80"]["macro"]
    assert (mean["human"]["value"], mean["powered"]["high"], mean["why"]) == (None, None, OWN_MODEL)
    total = powered_relevant_estimate(audit, predictions)
    assert total["human"]["value_if_relevant"] == total["human"]["value"] + 2
    assert (total["predicted"], total["why"]) == (1.0, "")
    assert total["powered"]["high"] - total["powered"]["low"] < total["human"]["high"] - total["human"]["low"]


def test_with_a_model_too_there_is_no_value_while_labels_are_awaited() -> None:
    given_ = drawn(TABLE, certain=4)
    sample = given_.sample.with_columns(cannot_judge=False, awaited=pl.col("document_id") == "c003")
    strata = pl.DataFrame({"query_id": ["q"], "defined": [True]})
    rest = given_.unsampled.select("query_id", "document_id")
    audit = AuditSample(sample.with_columns(pl.col("relevant") & ~pl.col("awaited")), rest, strata)
    verdicts = [float(verdict) for (_, verdict), n in TABLE.items() for _ in range(n)]
    pairs = sample.filter(pl.col("inclusion_probability") < 1).select("query_id", "document_id")
    predictions = pairs.with_columns(prediction=pl.Series(verdicts))
    others = rest.with_columns(prediction=pl.Series([1.0] * 20 + [0.0] * 40))
    told = powered_relevant_estimate(audit, pl.concat([predictions, others]))

    assert told["weight"] > 0
    for one in (told["human"], told["powered"]):
        assert (one["value"], one["method"]) == (None, "span of what waits")
    assert told["powered"]["high"] - told["powered"]["low"] < told["human"]["high"] - told["human"]["low"]


def test_two_narrow_intervals_far_apart_are_not_taken_for_a_narrow_one() -> None:
    def found(human: tuple[float, float], powered: tuple[float, float], weight: float = 0.5) -> Powered:
        both = (LabelInterval(sum(ends) / 2, *ends, GAMMA, 9) for ends in (human, powered))
        return Powered(*both, weight, "" if weight else DISAGREES)

    # By people 10 to 22, with the model 8 to 22, though each of its two is narrower: 8 against 10.
    apart = [found((10, 20), (8, 16)), found((12, 22), (14, 22))]
    told = figure(apart, LABELS)
    assert (told["powered"], told["weight"], told["narrower"]) == (told["human"], 0, 0)
    assert told["why"] == NOT_NARROWER
    assert figure(apart, QUERIES_AND_LABELS)["powered"]["low"] == 8
    # 11 to 20 against 10 to 22.
    assert figure([found((10, 20), (11, 19)), found((12, 22), (13, 20))], LABELS)["narrower"] == 0.25
    # Believed at one extreme alone: not believed.
    doubted = figure([found((10, 20), (11, 19)), found((12, 22), (12, 22), 0)], LABELS)
    assert (doubted["powered"], doubted["why"]) == (doubted["human"], DISAGREES)


def test_estimate_and_what_is_saved_are_those_of_ppi_python() -> None:
    """Its intervals are normal and those of an endless population; the value and what it saves are ours."""
    ppi = pytest.importorskip("ppi_py", reason="Install ppi-python to compare with its estimates.")
    rng, size, labelled = np.random.default_rng(5), 20_000, 400
    truth = rng.random(size) < 0.25
    verdict = np.where(truth, rng.random(size) < 0.7, rng.random(size) < 0.12) * 1.0
    pairs = pl.DataFrame({"query_id": ["q"] * size, "document_id": [f"d{at}" for at in range(size)]})
    sample = pairs.head(labelled).with_columns(
        relevant=pl.Series(truth[:labelled]), inclusion_probability=pl.lit(labelled / size)
    )
    predictions = pairs.with_columns(prediction=pl.Series(verdict))
    ours = powered_total(Predicted.of(sample, pairs.tail(-labelled), predictions))
    both = truth[:labelled] * 1.0, verdict[:labelled]
    theirs = ppi.ppi_mean_pointestimate(*both, verdict, lam=ours.weight)
    low, high = (float(end[0]) for end in ppi.ppi_mean_ci(*both, verdict, alpha=0.05))
    alone = 2 * 1.96 * np.std(both[0]) / labelled**0.5
    assert ours.powered.value == pytest.approx(float(theirs[0]) * size)
    assert ours.narrower == pytest.approx(1 - (high - low) / alone, abs=0.02)


def test_means_over_queries_divide_each_query_by_its_own() -> None:
    """Two queries alike: the mean over queries is the estimate of either."""
    one = drawn(TABLE)
    told = pl.concat(
        [
            one.arrays.pairs.with_columns(prediction=pl.Series(one.guess)),
            one.unsampled.rename({"guess": "prediction"}),
        ]
    ).with_columns(pl.col("prediction") - pl.col("prediction").min())
    sample, rest, predictions = (
        pl.concat([frame.with_columns(query_id=pl.lit(name)) for name in ("p", "q")])
        for frame in (one.sample, one.unsampled, told)
    )
    both = Predicted.of(sample, rest, predictions)
    run = pl.concat(
        [sample.select("query_id", "document_id")[::3], rest.select("query_id", "document_id")[::3]]
    )
    micro, macro = powered_precision(both, run, 160), powered_macro_precision(both, run, k=80, samples=50)
    assert macro.weight == micro.weight > 0
    assert macro.powered.value == pytest.approx(micro.powered.value)
    assert macro.powered.low == pytest.approx(macro.powered.high)
