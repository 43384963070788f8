"""Ids and numbers cut out of bytes are those that a careful reading gives."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.formats.bytes.decimals import decimals
from pooling.formats.bytes.ids import Ids, Index, any_twice, codes_of, first_rows, same_ids
from pooling.formats.bytes.lines import IrregularError, Lines

ID = st.text(st.sampled_from("ab\0é\U0001f600") | st.characters(exclude_categories=["Cs"]), max_size=20)


def ids_of(texts: list[str]) -> Ids:
    return Ids.of(pl.Series(texts, dtype=pl.String))


def cut(numbers: list[str]) -> np.ndarray | None:
    """The numbers as a column of a text."""
    length = np.array([len(number) for number in numbers])
    return decimals(codes_of(" ".join(numbers).encode()), np.cumsum(length + 1) - length - 1, length)


@given(st.lists(st.integers(0, 40) | st.integers(0, 3).map(lambda n: n << 62), max_size=20))
def test_a_key_that_is_there_again_is_found_however_many_share_its_slot(keys: list[int]) -> None:
    assert any_twice(np.array(keys, dtype=np.uint64)) == (len(set(keys)) < len(keys))


@given(st.lists(st.tuples(ID, ID), min_size=1, max_size=12))
def test_ids_compare_as_their_bytes_do(pairs: list[tuple[str, str]]) -> None:
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    expected = [(one.encode() > other.encode()) - (one.encode() < other.encode()) for one, other in pairs]

    assert ids_of(left).compare(ids_of(right)).tolist() == expected
    assert [left[row] for row in ids_of(left).rank()] == sorted(left, key=str.encode)
    assert first_rows(ids_of(left)).tolist() == [
        0,
        *(row for row, (one, other) in enumerate(pairwise(left), 1) if one != other),
    ]


def test_ids_come_back_as_text() -> None:
    texts = ["", "short", "é" * 9, "exactly8", "a much longer id than one word"]
    column = ids_of(texts)

    assert column.to_list() == texts
    assert Ids(column.codes, column.start, column.length).series().to_list() == texts
    assert Ids.join([column, column[np.array([1, 3])]]).to_list() == [*texts, "short", "exactly8"]


@given(st.lists(ID, max_size=12), st.lists(ID, max_size=12))
def test_the_same_ids_are_found_on_both_sides(left: list[str], right: list[str]) -> None:
    rows, others = same_ids(ids_of(left), Index(ids_of(right).keys), ids_of(right))

    assert sorted(zip(rows.tolist(), others.tolist(), strict=True)) == [
        (row, other) for row, one in enumerate(left) for other, text in enumerate(right) if one == text
    ]


def test_no_key_is_lost_where_many_share_a_slot() -> None:
    # The upper bits choose the slot: these keys are all in one, and two of them are equal.
    keys = np.array([5, 7, 5, 9], dtype=np.uint64)

    rows, found = Index(keys).find(np.array([9, 6, 5], dtype=np.uint64))

    assert sorted(zip(rows.tolist(), found.tolist(), strict=True)) == [(0, 3), (2, 0), (2, 2)]


def test_ids_of_one_key_are_told_apart() -> None:
    column = ids_of(["a", "a\0", "b"])  # zeros add nothing to a key

    assert column.keys[0] == column.keys[1]
    rows, others = same_ids(column, Index(column.keys), column)
    assert sorted(zip(rows.tolist(), others.tolist(), strict=True)) == [(0, 0), (1, 1), (2, 2)]


PLAIN = st.from_regex(r"-?[0-9]{1,7}(\.[0-9]{1,8})?", fullmatch=True)


@given(st.lists(PLAIN, min_size=1, max_size=8))
def test_numbers_are_what_reading_each_alone_gives(numbers: list[str]) -> None:
    found = cut(numbers)

    assert found is not None
    assert found.tobytes() == np.array([float(number) for number in numbers]).tobytes()


OTHERWISE = "nan inf 1e3 +1 1. .5 - --1 1-2 1.2.3 1:2 0x1 12345678 1.123456789 1.2e5 1_0 high -.5"


@pytest.mark.parametrize("number", OTHERWISE.split())
def test_a_number_written_otherwise_leaves_all_to_another_reader(number: str) -> None:
    assert cut(["1.5", number]) is None


@pytest.mark.parametrize("text", ["a b\n\nc d\n", "a b\nc\n", "a  b\n", " a b\n", "a\tb\n", "#a b\n", "a b"])
def test_lines_of_another_shape_are_refused(text: str) -> None:
    codes = codes_of(text.encode())
    with pytest.raises(IrregularError):
        Lines(codes, 0, len(text), fields=2, separator=b" ")
