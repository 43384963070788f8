"""The rules that make one label of several verdicts."""

from __future__ import annotations

import math

import polars as pl
import pytest

from labeling.consensus.rules import GOLD, NEEDED, RULES, RULES_IN_WORDS, VERDICTS, Ballots, decide

WORDS = {"+": "relevant", "-": "not_relevant", "?": "cannot_judge"}
PEOPLE = ("ada", "ben", "cleo", "dan", "eve")


def ballots(*pairs: str, needed: int = 1, gold: dict[str, str] | None = None) -> Ballots:
    """One word for each pair, a sign for each person in the order of names; a blank is no verdict.

    `gold`: for each person the answers to questions of which the even ones are relevant: + is right.
    """
    said = [
        ("q", f"d{at:02}", who, WORDS[sign])
        for at, word in enumerate(pairs)
        for who, sign in zip(PEOPLE, word, strict=False)
        if sign != " "
    ]
    answers = [
        ("q", f"g{at}", who, (at % 2 == 0) == (sign == "+"), at % 2 == 0)
        for who, word in (gold or {}).items()
        for at, sign in enumerate(word)
    ]
    return Ballots(
        pl.DataFrame(said, schema=VERDICTS, orient="row"),
        pl.DataFrame([("q", f"d{at:02}", needed) for at in range(len(pairs))], schema=NEEDED, orient="row"),
        pl.DataFrame(answers, schema=GOLD, orient="row"),
    )


def outcomes(some: Ballots, rule: str) -> list[tuple[int | None, str]]:
    return decide(some, rule).select("label", "outcome").rows()


@pytest.mark.parametrize(
    ("signs", "needed", "label", "outcome"),
    [
        ("+", 1, 1, "final"),  # one verdict where one is needed
        ("-", 1, 0, "final"),
        ("++-", 3, 1, "final"),
        ("--+", 3, 0, "final"),
        ("++-", 1, 1, "final"),  # extra verdicts vote too
        ("+-", 1, None, "tie"),  # and may undo a majority
        ("+-", 2, None, "tie"),
        ("++", 3, None, "not_final"),  # a majority that a third voice cannot turn still waits for it
        ("+?", 2, None, "not_final"),  # "can't judge" does not vote
        ("?", 1, None, "not_final"),
        ("??", 1, None, "cannot_judge"),
        ("+??", 1, 1, "final"),
        ("+??", 2, None, "cannot_judge"),
    ],
)
def test_the_majority_of_enough_verdicts_is_the_label(
    signs: str, needed: int, label: int | None, outcome: str
) -> None:
    assert outcomes(ballots(signs, needed=needed), "majority") == [(label, outcome)]


def test_unanimous_gives_a_label_only_where_nobody_disagrees() -> None:
    found = outcomes(ballots("++", "+-", "++-", "-?", "+", needed=2), "unanimous")
    assert found == [
        (1, "final"),
        (None, "conflict"),
        (None, "conflict"),
        (None, "not_final"),
        (None, "not_final"),
    ]


def test_weighted_votes_count_by_gold_answers() -> None:
    # Ada: 10 of 10 of each kind; Ben and Cleo: half of each.
    half = "++--" * 5
    some = ballots("+--", "-++", gold={"ada": "+" * 20, "ben": half, "cleo": half})
    assert outcomes(some, "majority") == [(0, "final"), (1, "final")]
    assert outcomes(some, "weighted") == [(1, "final"), (0, "final")]
    # By hand: s = c = 14/15 for Ada, 9/15 for the others.
    leaning = decide(some, "weighted")["leaning"]
    assert leaning[0] == pytest.approx(math.log(14) - 2 * math.log(9 / 6))


def test_without_gold_the_weighted_rule_is_the_majority() -> None:
    some = ballots("+--", "-++", "+-", "?", "++--", needed=2)
    assert outcomes(some, "weighted") == outcomes(some, "majority")


def test_dawid_skene_trusts_who_proves_good() -> None:
    # Three agree on everything; Dan and Eve answer "no" to all, and outvote nobody but where Cleo is away.
    pairs = ["+++--", "-----"] * 20 + ["++ --"]
    found = outcomes(ballots(*pairs, needed=2), "dawid-skene")
    assert found == [(1, "final"), (0, "final")] * 20 + [(1, "final")]
    assert outcomes(ballots(*pairs, needed=2), "majority")[-1] == (None, "tie")


def test_dawid_skene_refuses_what_two_people_cannot_tell() -> None:
    with pytest.raises(ValueError, match="three people"):
        decide(ballots("+-", "++"), "dawid-skene")


@pytest.mark.parametrize("rule", [name for name in RULES if name != "dawid-skene"])
def test_no_votes_make_no_labels(rule: str) -> None:
    decided = decide(ballots(), rule)
    assert decided.schema["label"] == pl.Int32
    assert decided.is_empty()


def test_every_rule_is_told_in_words() -> None:
    assert list(RULES) == list(RULES_IN_WORDS)


def test_an_unknown_rule_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="Choose one of majority"):
        decide(ballots("+"), "coin")
