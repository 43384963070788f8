"""Agreement between annotators: tables worked by hand, and the figures of other packages."""

from __future__ import annotations

import krippendorff
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from labeling.consensus.agreement import PAIR, TOO_FEW, UNANIMOUS, Agreement, agreement


def frame(rows: list[dict[str, bool]]) -> pl.DataFrame:
    """One dict for each pair: who said relevant (True) or not (False)."""
    long = [("q", f"d{at:03}", who, said) for at, row in enumerate(rows) for who, said in row.items()]
    schema = {**dict.fromkeys([*PAIR, "annotator"], pl.String), "relevant": pl.Boolean}
    return pl.DataFrame(long, schema=schema, orient="row")


def figures(rows: list[dict[str, bool]], least: int = 1) -> Agreement:
    return agreement(frame(rows), least=least)


def two(both: int, first: int, second: int, neither: int) -> list[dict[str, bool]]:
    """Ben and Cleo on as many pairs: both relevant, only Ben, only Cleo, neither."""
    counts = {(True, True): both, (True, False): first, (False, True): second, (False, False): neither}
    return [{"ben": ben, "cleo": cleo} for (ben, cleo), many in counts.items() for _ in range(many)]


def test_two_people_by_hand() -> None:
    # 20 both, 5 only Ben, 10 only Cleo, 15 neither: p_o = .7, p_e = .5 · .6 + .5 · .4 = .5
    found = figures(two(20, 5, 10, 15))
    assert found.pairs == 50
    assert found.raw.value == pytest.approx(0.7)
    assert found.cohen.value == pytest.approx(0.4)
    assert found.positive.value == pytest.approx(40 / 55)
    assert found.negative.value == pytest.approx(30 / 45)
    assert found.prevalence == pytest.approx(0.55)
    # Scott's way of chance for Fleiss: p_e = .55² + .45² = .505
    assert found.fleiss.value == pytest.approx((0.7 - 0.505) / (1 - 0.505))
    # AC1: p_e = 2 · .55 · .45
    assert found.gwet.value == pytest.approx((0.7 - 0.495) / (1 - 0.495))
    # Alpha: 1 - 99 · 15 / (55 · 45)
    assert found.krippendorff.value == pytest.approx(1 - 99 * 15 / (55 * 45))


def test_an_interval_holds_its_value_and_narrows_with_more_pairs() -> None:
    few, many = figures(two(20, 5, 10, 15)).raw, figures(two(400, 100, 200, 300)).raw
    assert few.low < few.value < few.high  # type: ignore[operator]
    # Binomial: ± 1.96 · √(.7 · .3 / 50)
    assert few.high - few.low == pytest.approx(2 * 1.96 * (0.7 * 0.3 / 50) ** 0.5, abs=0.03)  # type: ignore[operator]
    assert many.high - many.low < (few.high - few.low) / 3  # type: ignore[operator]


def test_unanimous_verdicts_are_said_to_be_so() -> None:
    found = figures([{"ben": False, "cleo": False}] * 40)
    assert found.raw.value == 1
    for figure in (found.cohen, found.fleiss, found.krippendorff, found.positive):
        assert (figure.value, figure.why) == (None, UNANIMOUS)


def test_few_shared_pairs_are_hidden() -> None:
    found = figures(two(10, 5, 5, 9), least=30)
    assert found.pairs == 29
    assert (found.raw.value, found.raw.why) == (None, TOO_FEW)
    assert figures(two(10, 5, 5, 10), least=30).raw.value == pytest.approx(2 / 3)


def test_pairs_of_one_verdict_do_not_count_and_none_at_all_is_said() -> None:
    found = figures([{"ben": True}] * 50)
    assert (found.pairs, found.prevalence, found.raw.value) == (0, None, None)
    assert "no pair" in found.raw.why
    alone = [{"ben": True}] * 50
    assert figures(two(20, 5, 10, 15) + alone).raw == figures(two(20, 5, 10, 15)).raw


votes = st.lists(
    st.dictionaries(st.sampled_from(["ada", "ben", "cleo", "dan"]), st.booleans(), min_size=1, max_size=4),
    min_size=2,
    max_size=30,
)


@given(votes)
def test_alpha_equals_krippendorffs_package(rows: list[dict[str, bool]]) -> None:
    people = ["ada", "ben", "cleo", "dan"]
    table = [[float(row[who]) if who in row else np.nan for row in rows] for who in people]
    shared = [row for row in rows if len(row) >= 2]
    said = {value for row in shared for value in row.values()}
    ours = figures(rows).krippendorff.value
    if len(said) < 2:
        assert ours is None
    else:
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
        assert ours == pytest.approx(expected)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.integers(1, 20))
def test_cohens_kappa_equals_scikit_learns(both: int, first: int, second: int, neither: int) -> None:
    rows = two(both, first, second, neither)
    ours = figures(rows).cohen.value
    if both + first + second == 0:
        assert ours is None
    else:
        theirs = cohen_kappa_score([row["ben"] for row in rows], [row["cleo"] for row in rows])
        assert ours == pytest.approx(theirs)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_fleiss_kappa_equals_statsmodels(rows: list[tuple[bool, bool, bool]]) -> None:
    ours = figures([dict(zip(("ada", "ben", "cleo"), row, strict=True)) for row in rows]).fleiss.value
    table = np.array([[sum(row), 3 - sum(row)] for row in rows])
    if 0 in table.sum(axis=0):
        assert ours is None
    else:
        assert ours == pytest.approx(fleiss_kappa(table))


def test_cohens_kappa_of_three_is_the_mean_over_twos_by_what_they_share() -> None:
    # Ben and Cleo: kappa .4 on 50 pairs; Ben and Dan agree on 25 others: kappa 1.
    others = [{"ben": at < 10, "dan": at < 10} for at in range(25)]
    assert figures(two(20, 5, 10, 15) + others).cohen.value == pytest.approx((0.4 * 50 + 1 * 25) / 75)
