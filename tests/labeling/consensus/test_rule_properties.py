"""What must hold for every rule on any verdicts: both labels are treated alike, and names say nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.consensus.rules import GOLD, NEEDED, RULES, VERDICTS, Ballots, decide

TURNED = {"relevant": "not_relevant", "not_relevant": "relevant", "cannot_judge": "cannot_judge"}
PEOPLE = ("ada", "ben", "cleo", "dan")
#: Who said what of each pair, and how many verdicts it needs.
pairs = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(PEOPLE), st.sampled_from(list(TURNED)), min_size=1), st.integers(1, 3)
    ),
    min_size=1,
    max_size=6,
)
#: The three voices that Dawid and Skene's rule wants.
FIRST = ({"ada": "relevant", "ben": "not_relevant", "cleo": "relevant"}, 1)
#: (who, said relevant, is relevant) of gold questions.
golds = st.lists(st.tuples(st.sampled_from(PEOPLE), st.booleans(), st.booleans()), max_size=8)


def ballots(some: list[Any], gold: list[Any]) -> Ballots:
    said = [("q", f"d{at}", who, verdict) for at, (row, _) in enumerate(some) for who, verdict in row.items()]
    needed = [("q", f"d{at}", count) for at, (_, count) in enumerate(some)]
    answers = [("g", f"g{at}", who, said, answer) for at, (who, said, answer) in enumerate(gold)]
    return Ballots(
        pl.DataFrame(said, schema=VERDICTS, orient="row"),
        pl.DataFrame(needed, schema=NEEDED, orient="row"),
        pl.DataFrame(answers, schema=GOLD, orient="row"),
    )


def changed(some: Ballots, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Ballots:
    return Ballots(change(some.verdicts), some.needed, change(some.gold))


@settings(max_examples=5)
@given(some=pairs, gold=golds)
def test_turning_every_verdict_turns_every_label(some: list[Any], gold: list[Any]) -> None:
    here = ballots([FIRST, *some], gold)
    there = Ballots(
        here.verdicts.with_columns(pl.col("verdict").replace(TURNED)),
        here.needed,
        here.gold.with_columns(~pl.col("relevant"), ~pl.col("answer")),
    )

    for rule in RULES:
        before, after = decide(here, rule), decide(there, rule)
        assert after["outcome"].to_list() == before["outcome"].to_list(), rule
        assert after["label"].to_list() == (1 - before["label"]).to_list(), rule
        leaning = [None if one is None else -one for one in before["leaning"]]
        assert after["leaning"].to_list() == pytest.approx(leaning, abs=1e-6), rule


@settings(max_examples=5)
@given(some=pairs, gold=golds, chance=st.randoms(use_true_random=False))
def test_who_came_first_and_what_people_are_called_says_nothing(
    some: list[Any], gold: list[Any], chance: Any
) -> None:
    here = ballots([FIRST, *some], gold)
    names = dict(zip(PEOPLE, chance.sample(["zoe", "Max", "ben", "é"], 4), strict=True))

    def other(frame: pl.DataFrame) -> pl.DataFrame:
        rows = chance.sample(range(frame.height), frame.height)
        other_names = pl.col("annotator").replace(names)
        return frame.select(pl.all().gather(rows)).with_columns(other_names)

    for rule in RULES:
        before, after = decide(here, rule), decide(changed(here, other), rule)
        assert after.drop("leaning").equals(before.drop("leaning")), rule
        assert after["leaning"].to_list() == pytest.approx(before["leaning"].to_list(), abs=1e-6), rule


@settings(max_examples=5)
@given(some=pairs, gold=golds)
def test_every_pair_that_somebody_judged_has_one_outcome_that_its_counts_allow(
    some: list[Any], gold: list[Any]
) -> None:
    some = [FIRST, *some]
    for rule in RULES:
        rows = decide(ballots(some, gold), rule).sort("document_id").rows(named=True)
        for row, (verdicts, needed) in zip(rows, some, strict=True):
            counts = [list(verdicts.values()).count(kind) for kind in TURNED]
            assert [row[kind] for kind in TURNED] == counts
            enough = counts[0] + counts[1] >= needed
            possible = (
                {"final", "tie", "conflict"} if enough else {"cannot_judge" if counts[2] > 1 else "not_final"}
            )
            assert row["outcome"] in possible
            assert (row["label"] is not None) == (row["outcome"] == "final")
            assert row["outcome"] != "conflict" or rule == "unanimous"


@settings(max_examples=5)
@given(some=pairs, gold=golds)
def test_people_who_all_say_the_same_are_believed_by_every_vote(some: list[Any], gold: list[Any]) -> None:
    here = ballots(some, [])
    unanimous, majority, weighted = (decide(here, rule) for rule in ("unanimous", "majority", "weighted"))

    final = unanimous["outcome"] == "final"
    for voted in (majority, weighted):
        assert voted.filter(final)["label"].to_list() == unanimous.filter(final)["label"].to_list()
    # With no gold every voice weighs ln 4: four right of five.
    assert weighted["leaning"].to_list() == pytest.approx((majority["leaning"] * math.log(4)).to_list())


@settings(max_examples=5)
@given(some=pairs, gold=golds, rule=st.sampled_from(["majority", "unanimous", "weighted"]))
def test_what_is_said_of_other_pairs_moves_no_vote(some: list[Any], gold: list[Any], rule: str) -> None:
    together = decide(ballots(some, gold), rule)

    for at, row in enumerate(some):
        alone = decide(ballots([row], gold), rule)
        assert together.filter(document_id=f"d{at}").drop("document_id").equals(alone.drop("document_id"))


@pytest.mark.parametrize(
    ("answers", "leaning"),
    [
        # No gold: 4 of 5 right both ways, ln(.8 / .2).
        ([], math.log(4)),
        # One relevant question found: sensitivity 5/6, specificity 4/5 as before: ln((5/6) / (1/5)).
        ([(True, True)], math.log(25 / 6)),
        # Missed: 4/6, ln((4/6) / (1/5)).
        ([(False, True)], math.log(10 / 3)),
        # One that is not relevant taken for relevant: specificity 4/6, ln((4/5) / (2/6)).
        ([(True, False)], math.log(12 / 5)),
        # Six of six wrong, three each way: 4/8 both ways says nothing.
        ([(False, True)] * 3 + [(True, False)] * 3, 0.0),
        # Seven each way wrong: 4/12 right both ways, so that "relevant" speaks against: ln((1/3) / (2/3)).
        ([(False, True)] * 7 + [(True, False)] * 7, -math.log(2)),
    ],
)
def test_the_weight_of_one_voice_by_hand(answers: list[tuple[bool, bool]], leaning: float) -> None:
    some = ballots([({"ada": "relevant"}, 1)], [("ada", *answer) for answer in answers])

    (row,) = decide(some, "weighted").rows(named=True)

    assert row["leaning"] == pytest.approx(leaning, abs=1e-12)
    assert row["outcome"] == ("final" if leaning else "tie")


def test_a_pair_that_nobody_said_to_need_more_needs_one_verdict() -> None:
    said = [
        ("q", "d1", "ada", "relevant"),
        ("q", "d2", "ada", "relevant"),
        ("q", "d2", "ben", "not_relevant"),
    ]
    wanted = pl.DataFrame([("q", "d2", 2), ("q", "d9", 1)], schema=NEEDED, orient="row")

    decided = decide(Ballots.of(pl.DataFrame(said, schema=VERDICTS, orient="row"), wanted))

    assert decided.select("document_id", "needed", "outcome").rows() == [("d1", 1, "final"), ("d2", 2, "tie")]


def test_gold_answers_are_held_fixed_and_make_a_pair_of_three_voices() -> None:
    # Two people differ on d0; one was right on the gold questions that three answered, the other wrong.
    gold = [
        ("g", f"g{at}", who, (at % 2 == 0) == (who != "ben"), at % 2 == 0)
        for at in range(6)
        for who in PEOPLE[:3]
    ]
    said = [("q", "d0", "ada", "relevant"), ("q", "d0", "ben", "not_relevant")]
    some = Ballots(
        pl.DataFrame(said, schema=VERDICTS, orient="row"),
        pl.DataFrame([("q", "d0", 2)], schema=NEEDED, orient="row"),
        pl.DataFrame(gold, schema=GOLD, orient="row"),
    )

    assert decide(some, "dawid-skene").select("document_id", "label").rows() == [("d0", 1)]
    assert decide(some, "majority")["outcome"].to_list() == ["tie"]
