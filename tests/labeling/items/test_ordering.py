"""The stored order: stretches, openings, near-duplicates, second opinions."""

from __future__ import annotations

import itertools
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from labeling.items.ordering import (
    LONGEST_BLOCK,
    OPENING,
    STRETCH_KEYS,
    Candidate,
    fingerprint,
    order_keys,
    stretch_of,
)


def candidates(queries: int, documents: int) -> list[Candidate]:
    return [
        Candidate(f"q{query}", f"d{place}", place)
        for query in range(queries)
        for place in range(1, documents + 1)
    ]


def in_order(pairs: list[Candidate], seed: int = 1, opinion: int = 1) -> list[Candidate]:
    keys = order_keys(pairs, seed, opinion=opinion)
    return [pairs[index] for index in sorted(range(len(pairs)), key=keys.__getitem__)]


def stretches(pairs: list[Candidate], seed: int = 1) -> list[list[Candidate]]:
    found = defaultdict(list)
    for key, pair in sorted(zip(order_keys(pairs, seed), pairs, strict=True)):
        found[stretch_of(key)].append(pair)
    return [found[number] for number in sorted(found)]


def test_a_stretch_is_20_to_40_documents_of_one_query() -> None:
    found = stretches(candidates(queries=5, documents=130))
    assert {len({pair.query for pair in stretch}) for stretch in found} == {1}
    assert {len(stretch) for stretch in found} <= set(range(20, 41))


def test_every_query_has_its_first_stretch_before_any_has_its_second() -> None:
    found = stretches(candidates(queries=5, documents=60))
    assert sorted(stretch[0].query for stretch in found[:5]) == ["q0", "q1", "q2", "q3", "q4"]
    assert sorted(stretch[0].query for stretch in found[5:]) == ["q0", "q1", "q2", "q3", "q4"]


def test_a_stretch_begins_with_both_ends_of_the_pool_s_order() -> None:
    for seed in range(20):
        opening = [pair.position for pair in in_order(candidates(1, 40), seed)[:OPENING]]
        likely = [position for position in opening if position <= 3]
        unlikely = [position for position in opening if position >= 38]
        assert len(likely) in (2, 3)
        assert len(unlikely) == OPENING - len(likely)


def test_an_opening_gives_no_pattern_away() -> None:
    patterns = {
        tuple(pair.position <= 20 for pair in in_order(candidates(1, 40), seed)[:OPENING])
        for seed in range(60)
    }
    assert len(patterns) > 10


def test_near_duplicates_stand_next_to_each_other() -> None:
    pairs = [
        Candidate("q", f"d{number}", number, fingerprint("Title", f"Text {number % 10}"))
        for number in range(40)
    ]
    texts = [pair.text for pair in in_order(pairs)]
    assert sum(1 for before, after in itertools.pairwise(texts) if before != after) == 9


def test_white_space_and_case_make_no_other_text() -> None:
    assert fingerprint("Night Bus", "Runs\n all  night") == fingerprint("night bus", "runs all night ")
    assert fingerprint("Night Bus", "Runs all day") != fingerprint("Night Bus", "Runs all night")


def test_white_space_beyond_ascii_makes_no_other_text() -> None:
    assert fingerprint("Night Bus", "Runs\u00a0all\u2028night") == fingerprint("night bus", "runs all night")
    assert fingerprint("Stra\u00dfe", "\u00dcber \x1f all") == fingerprint("strasse", "\u00fcber\u3000all")


def test_documents_without_text_are_no_duplicates_of_each_other() -> None:
    assert fingerprint("", " \n") == b""
    assert len(stretches([Candidate("q", f"d{number}", number, b"") for number in range(100)])) == 3


def test_the_second_opinion_comes_in_another_order() -> None:
    pairs = candidates(queries=4, documents=50)
    first, second = in_order(pairs), in_order(pairs, opinion=2)
    assert sorted(first) == sorted(second)
    same = sum(1 for one, other in zip(first, second, strict=True) if one == other)
    assert same < 10


def test_the_order_hangs_on_ids_and_seed_alone() -> None:
    pairs = candidates(queries=4, documents=50)
    assert in_order(pairs) == in_order(pairs[::-1])
    assert in_order(pairs, seed=1) != in_order(pairs, seed=2)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=200), st.integers())
def test_keys_are_distinct_and_a_stretch_fits_its_keys(drawn: list[tuple[int, int]], seed: int) -> None:
    pairs = [
        Candidate(f"q{query}", f"d{number}", number, bytes([text]) if text else b"")
        for number, (query, text) in enumerate(drawn)
    ]
    keys = order_keys(pairs, seed)
    assert len(set(keys)) == len(pairs)
    assert all(key >= STRETCH_KEYS for key in keys)
    by_stretch = defaultdict(set)
    for key, pair in zip(keys, pairs, strict=True):
        by_stretch[stretch_of(key)].add(pair.query)
    assert all(len(queries) == 1 for queries in by_stretch.values())
    assert LONGEST_BLOCK + 40 < STRETCH_KEYS
