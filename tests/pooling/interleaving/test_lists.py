"""Interleaved lists: exact laws by enumeration, fairness to rankers, and the same list from the same seed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from pooling.interleaving.lists import (
    Choose,
    InterleavedList,
    chooser,
    credited_places,
    optimized,
    optimized_law,
    pairwise_preference,
    preference_scores,
    seed_of,
    team_draft,
)
from tests.testdata import DATA, needs_data

Maker = Callable[[list[list[str]], int, Choose], InterleavedList]


class UnchosenError(Exception):
    """A choice that the path does not hold yet, with the number of options."""


def law(make: Maker, lists: list[list[str]], k: int) -> dict[InterleavedList, Fraction]:
    """Every list that can be made, with its exact probability: each choice is followed to its end."""
    found: dict[InterleavedList, Fraction] = {}

    def follow(path: list[int], chance: Fraction) -> None:
        steps: Iterator[int] = iter(path)

        def choose(options: int) -> int:
            for step in steps:
                return step
            raise UnchosenError(options)

        try:
            made = make(lists, k, choose)
        except UnchosenError as asked:
            options = asked.args[0]
            for one in range(options):
                follow([*path, one], chance / options)
        else:
            found[made] = found.get(made, Fraction(0)) + chance

    follow([], Fraction(1))
    return found


@st.composite
def two_lists(draw: st.DrawFn) -> list[list[str]]:
    documents = "abcdef"
    return [draw(st.lists(st.sampled_from(documents), unique=True, min_size=1, max_size=4)) for _ in range(2)]


@given(two_lists(), st.integers(1, 4))
def test_team_draft_favours_nobody_whatever_place_is_clicked(lists: list[list[str]], k: int) -> None:
    found = law(team_draft, lists, k)
    assert sum(found.values()) == 1
    for place in range(k):
        fair = [
            chance * Fraction(int(one.credits[0][place] - one.credits[1][place]))
            for one, chance in found.items()
            if one.first <= place < one.end and place < len(one.ranking)
        ]
        assert sum(fair) == 0


@given(two_lists())
def test_optimized_lists_favour_nobody_whatever_place_is_clicked(lists: list[list[str]]) -> None:
    k = min(map(len, lists))
    try:
        found = optimized_law(lists, k)
    except ValueError:
        return
    assert sum(chance for _, chance in found) == pytest.approx(1)
    for cutoff in range(1, k + 1):
        sums = [
            sum(chance * sum(one.credits[ranker][:cutoff]) for one, chance in found) for ranker in range(2)
        ]
        assert sums[0] == pytest.approx(sums[1])


@given(st.permutations("abc"), st.permutations("abc"))
def test_preferences_favour_nobody_whatever_place_is_clicked(one: list[str], other: list[str]) -> None:
    lists = [list(one), list(other)]
    found = law(pairwise_preference, lists, 3)
    for clicked in itertools.chain(([at] for at in range(3)), ([0, 1], [1, 2])):
        scores = [
            sum(
                float(chance) * preference_scores(lists, made.ranking, clicked)[ranker]
                for made, chance in found.items()
            )
            for ranker in range(2)
        ]
        assert scores[0] == pytest.approx(scores[1], abs=1e-9)


def test_places_that_say_nothing_are_not_credited() -> None:
    assert credited_places(["abcd", "abdc"], 4) == (2, 4)
    assert credited_places(["abcd", "ba"], 4) == (0, 2)
    assert credited_places(["ab", "ab"], 4) == (2, 2)


def test_the_same_seed_makes_the_same_list() -> None:
    lists = [list("abcdefgh"), list("hgfedcba")]
    for make in (team_draft, optimized, pairwise_preference):
        made = [make(lists, 8, chooser(seed_of("october", "night bus", "u7"))) for _ in range(2)]
        assert made[0] == made[1]
        assert len(set(made[0].ranking)) == 8
    assert len({team_draft(lists, 8, chooser(seed)).ranking for seed in range(20)}) > 1


def test_long_lists_are_drafted() -> None:
    lists = [[f"a{at}" for at in range(12)], [f"b{at}" for at in range(12)]]
    assert optimized(lists, 12, chooser(3)) == team_draft(lists, 12, chooser(3))


FOLDER = DATA / "living/interleaving"


def teams(made: InterleavedList) -> tuple[frozenset[str], ...]:
    """Who picked which documents."""
    picks = ([bool(credit) for credit in credits] for credits in made.credits)
    return tuple(frozenset(itertools.compress(made.ranking, picked)) for picked in picks)


@needs_data
def test_the_exact_laws_of_team_draft() -> None:
    for case, rows in json.loads((FOLDER / "team_draft.exact.json").read_text()).items():
        lists, k = json.loads(case)
        expected = {
            (tuple(row["ranking"]), tuple(frozenset(team) for team in row["teams"])): Fraction(row["p"])
            for row in rows
        }
        found = {(one.ranking, teams(one)): chance for one, chance in law(team_draft, lists, k).items()}
        assert found == expected


@needs_data
def test_the_probabilities_of_the_reference_programme() -> None:
    for case, rows in json.loads((FOLDER / "optimized.json").read_text()).items():
        lists = json.loads(case)
        found = {one.ranking: (chance, one) for one, chance in optimized_law(lists, len(rows[0]["ranking"]))}
        assert {ranking: chance for ranking, (chance, _) in found.items()} == pytest.approx(
            {tuple(row["ranking"]): row["p"] for row in rows}
        )
        for row in rows:
            made = found[tuple(row["ranking"])][1]
            for ranker, credits in row["credits"].items():
                ours = {
                    str(one): credit
                    for one, credit in zip(made.ranking, made.credits[int(ranker)], strict=True)
                }
                assert ours == pytest.approx(credits)


@needs_data
def test_the_scores_of_pairwise_preference() -> None:
    case = json.loads((FOLDER / "pairwise_preference.json").read_text())
    for clicked, expected in case["scores"].items():
        scores = preference_scores(case["rankings"], case["shown"], json.loads(clicked))
        assert scores == pytest.approx([expected[str(ranker)] for ranker in range(len(scores))])


def test_queries_that_a_run_does_not_answer_are_left_out_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\n")
    (tmp_path / "b.run").write_text("q1 Q0 d2 1 2 t\n")
    paths = [str(tmp_path / name) for name in ("a.run", "b.run")]
    call_command("interleave", *paths, "--output", str(tmp_path / "served.jsonl"))
    assert "Left out: 1 query of 2 that a run does not answer, such as “q2”." in capsys.readouterr().err
