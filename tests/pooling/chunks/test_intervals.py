"""Ranges of characters do what sets of whole numbers do."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pooling.chunks.intervals import Range, Ranges, difference, intersection, is_within, length, union
from pooling.chunks.maps import read_map

ranges = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)).map(lambda one: (one[0], sum(one))))


def characters(some: Ranges) -> set[int]:
    return {place for start, end in some for place in range(start, end)}


@given(ranges)
def test_a_union_is_the_fewest_rising_ranges_with_the_same_characters(some: list[Range]) -> None:
    joined = union(some)
    assert characters(joined) == characters(some)
    assert all(start < end for start, end in joined)
    assert all(one[1] < other[0] for one, other in pairwise(joined))
    assert length(joined) == len(characters(some))


@given(ranges, ranges)
def test_common_and_remaining_characters_are_those_of_sets(some: list[Range], others: list[Range]) -> None:
    one, other = union(some), union(others)
    for made, wanted in (
        (intersection(one, other), characters(one) & characters(other)),
        (difference(one, other), characters(one) - characters(other)),
    ):
        assert characters(made) == wanted
        assert union(made) == made


@given(ranges, st.tuples(st.integers(0, 30), st.integers(1, 12)))
def test_a_range_is_within_a_set_that_has_all_its_characters(some: list[Range], one: Range) -> None:
    inner = (one[0], sum(one))
    assert is_within(inner, union(some)) == (characters([inner]) <= characters(some))


@given(ranges, ranges.filter(bool))
def test_a_map_has_the_chunks_that_share_a_character(chunks: list[Range], asked: list[Range]) -> None:
    rows = [
        {"chunk_id": str(number), "document_id": "d", "start": start, "end": end}
        for number, (start, end) in enumerate([(0, 1), *chunks])
        if start < end
    ]
    chunk_map = read_map(rows)
    for start, end in asked:
        wanted = {
            str(row["chunk_id"])
            for row in rows
            if characters([(start, end)]) & set(range(int(str(row["start"])), int(str(row["end"]))))
        }
        assert {place.chunk_id for place in chunk_map.overlapping("d", start, end)} == wanted
