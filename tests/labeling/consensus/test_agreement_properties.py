"""Agreement on any verdicts: what renaming, turning and copying them does, and tables from the literature."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.consensus.agreement import Agreement, Figure, agreement
from tests.labeling.consensus.test_agreement import figures, frame, two

Rows = list[dict[str, bool]]

PEOPLE = ("ada", "ben", "cleo", "dan")
COEFFICIENTS = ("cohen", "fleiss", "krippendorff", "gwet")
#: Who said relevant of each pair; the first two pairs are both judged by two.
votes: Any = st.lists(
    st.dictionaries(st.sampled_from(PEOPLE), st.booleans(), min_size=1, max_size=4), max_size=12
).map(lambda rows: [{"ada": True, "ben": True}, {"ada": True, "ben": False}, *rows])


def values(found: Agreement) -> dict[str, float | None]:
    shown = (field.name for field in fields(found))
    return {name: one.value for name in shown if isinstance(one := getattr(found, name), Figure)}


@settings(max_examples=6)
@given(rows=votes, chance=st.randoms(use_true_random=False))
def test_names_and_the_order_of_verdicts_are_no_part_of_agreement(rows: Rows, chance: Any) -> None:
    verdicts = frame(rows)
    names = dict(zip(PEOPLE, chance.sample(["zoe", "Max", "ben", "é"], 4), strict=True))
    other = verdicts[chance.sample(range(verdicts.height), verdicts.height)].with_columns(
        pl.col("annotator").replace(names), pl.col("document_id") + "x"
    )

    found = values(agreement(other, least=1))

    assert found == pytest.approx(values(agreement(verdicts, least=1)), nan_ok=True)


@settings(max_examples=6)
@given(rows=votes)
def test_turning_every_verdict_exchanges_the_agreement_on_relevant_and_on_not(rows: Rows) -> None:
    before = figures(rows)
    after = figures([{who: not said for who, said in row.items()} for row in rows])

    expected = values(before) | {"positive": before.negative.value, "negative": before.positive.value}
    assert values(after) == pytest.approx(expected)
    assert before.prevalence is not None
    assert after.prevalence == pytest.approx(1 - before.prevalence)


@settings(max_examples=6)
@given(rows=votes)
def test_more_of_the_same_pairs_changes_no_share_and_only_alpha_minds_their_number(rows: Rows) -> None:
    once, often = figures(rows), figures(rows * 3)

    assert often.pairs == 3 * once.pairs
    same = [name for name in values(once) if name != "krippendorff"]
    assert {name: values(often)[name] for name in same} == pytest.approx(
        {name: values(once)[name] for name in same}
    )
    # Alpha's chance is that of drawing without replacement from the verdicts there are, N - 1 of N.
    n = once.verdicts
    (small, large) = (1 - (found.krippendorff.value or 0) for found in (once, often))
    assert large / (3 * n - 1) == pytest.approx(small / (3 * n - 3))


@settings(max_examples=6)
@given(rows=votes)
def test_every_figure_stays_where_it_can_be_and_within_its_interval(rows: Rows) -> None:
    found = figures(rows)

    for name, value in values(found).items():
        one = getattr(found, name)
        least = -1 if name in COEFFICIENTS else 0
        if value is not None:
            assert least - 1e-9 <= value <= 1 + 1e-9, name
            if one.low is not None:
                assert least - 1e-9 <= one.low <= one.high <= 1 + 1e-9, name


@settings(max_examples=5)
@given(said=st.lists(st.booleans(), min_size=1, max_size=8), people=st.integers(2, 4))
def test_people_who_never_differ_agree_wholly_by_every_coefficient(said: list[bool], people: int) -> None:
    found = figures([dict.fromkeys(PEOPLE[:people], one) for one in [True, False, *said]])

    assert values(found) == pytest.approx(dict.fromkeys(values(found), 1.0))


# Both relevant, only the first, only the second, neither.
@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        # Gwet, Computing inter-rater reliability (2008): 118, 5, 2 and 0 of 125 subjects. Nearly all are of
        # one kind: p_o = 118/125; kappa's chance is (123 · 120 + 2 · 5) / 125², more than was observed.
        ((118, 5, 2, 0), "raw", 118 / 125),
        ((118, 5, 2, 0), "cohen", -0.0234),
        # AC1's chance is 2 · (243/250) · (7/250) = .0544.
        ((118, 5, 2, 0), "gwet", 0.9408),
        # Krippendorff, Computing Krippendorff's alpha-reliability (2011), A: ten units, two observers.
        ((1, 1, 3, 5), "krippendorff", 0.095),
        # Cicchetti and Feinstein (1990): one marginal even, one not. Raw .85 in both tables.
        ((40, 9, 6, 45), "cohen", 0.70),
        ((80, 10, 5, 5), "cohen", 0.32),
        # Everybody contradicts the other: nothing agrees, and chance would have made a half.
        ((0, 10, 10, 0), "cohen", -1.0),
        ((0, 10, 10, 0), "positive", 0.0),
        # 1 - 39 · 20 / (20 · 20): a little above -1, for what a unit holds is not drawn again.
        ((0, 10, 10, 0), "krippendorff", -0.95),
        # One never says relevant: chance explains all of it.
        ((0, 8, 0, 32), "cohen", 0.0),
        ((0, 8, 0, 32), "negative", 64 / 72),
    ],
)
def test_tables_of_two_from_the_literature_and_by_hand(
    table: tuple[int, ...], name: str, value: float
) -> None:
    assert values(figures(two(*table)))[name] == pytest.approx(value, abs=5e-4 if name != "cohen" else 5e-3)


def test_three_people_by_hand() -> None:
    # Four pairs: 3, 2, 1 and 0 of three said relevant. Pairs of people that agree: 3, 1, 1, 3 of 3.
    rows = [dict(zip(PEOPLE, [at < yes for at in range(3)], strict=False)) for yes in (3, 2, 1, 0)]
    found = values(figures(rows))

    raw = (3 + 1 + 1 + 3) / 12
    assert found["raw"] == pytest.approx(raw)
    # Another of the two others said so too: of the 6 who said relevant, 3 · 2 + 2 · 1 of 12.
    assert found["positive"] == found["negative"] == pytest.approx((3 * 2 + 2 * 1) / (6 * 2))
    # Half of the verdicts are relevant, and so chance makes a half, for Fleiss as for Gwet.
    assert found["fleiss"] == found["gwet"] == pytest.approx((raw - 0.5) / 0.5)
    # Alpha: 1 - 11 · (2 · 1 / 2 + 1 · 2 / 2) / (6 · 6).
    assert found["krippendorff"] == pytest.approx(1 - 11 * 2 / 36)
    # Ada and Ben: 2 both, 1 only Ada, 1 neither: (3/4 - 1/2) / (1/2). Ada and Cleo: 1, 2, 0 and 1:
    # (1/2 - 3/8) / (5/8). Ben and Cleo: 1, 1, 0 and 2: (3/4 - 1/2) / (1/2). Each two share four pairs.
    assert found["cohen"] == pytest.approx((0.5 + 0.2 + 0.5) / 3)


def test_fleiss_takes_the_pairs_with_the_commonest_number_of_verdicts() -> None:
    twice, thrice = two(4, 1, 1, 4), [{"ada": True, "ben": False, "cleo": True}] * 3

    mixed = figures([*twice, *thrice])

    assert mixed.fleiss == figures(twice).fleiss
    assert mixed.raw.value == pytest.approx((8 * 1 + 2 * 0 + 3 * 1 / 3) / 13)


def test_people_with_little_in_common_are_left_out_of_cohens_kappa() -> None:
    # Ben and Cleo share 50 pairs, Ben and Dan 29, on which they contradict each other throughout; chance
    # would have had them agree on 2 · 15 · 14 / 29² = 420/841.
    apart = [{"ben": at % 2 == 0, "dan": at % 2 == 1} for at in range(29)]
    both = [*two(20, 5, 10, 15), *apart]

    assert figures(both, least=30).cohen.value == pytest.approx(0.4)
    assert figures(both, least=29).cohen.value == pytest.approx((0.4 * 50 - 420 / 421 * 29) / 79)


def test_a_seed_gives_one_interval_and_another_seed_another() -> None:
    verdicts = frame(two(20, 5, 10, 15))
    first, again, other = (agreement(verdicts, seed=seed) for seed in (1, 1, 2))

    assert first == again
    assert values(first) == values(other)
    for name in COEFFICIENTS:
        assert getattr(first, name).low != getattr(other, name).low
