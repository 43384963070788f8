"""Ids that do not meet are told with examples, and with what would make them meet."""

from __future__ import annotations

import polars as pl
import pytest

from pooling.ranking.shared_ids import COLLAPSE, Side, offered, sentence_on, shared_fraction

PLAIN = [f"d{number}" for number in range(1, 21)]
CASES = {
    "Ignoring spaces around ids": [f" {one} " for one in PLAIN],
    "Ignoring upper and lower case": [one.upper() for one in PLAIN],
    "Without “msmarco_” before the ids here": [f"msmarco_{one}" for one in PLAIN],
    "Without “.html” after the ids here": [f"{one}.html" for one in PLAIN],
    "With `--collapse-chunks #`": [f"{one}#{number % 3}" for number, one in enumerate(PLAIN)],
    "With `--collapse-chunks -`": [f"{one}-{number % 3}" for number, one in enumerate(PLAIN)],
}
NUMBERS = [str(number) for number in range(1, 21)]


@pytest.mark.parametrize("words", CASES)
def test_what_would_make_ids_meet_is_offered_with_its_share(words: str) -> None:
    offer = offered(pl.Series(CASES[words]), pl.Series(PLAIN), chunks=COLLAPSE)
    assert offer == (words, 1.0)


@pytest.mark.parametrize(
    ("here", "words"),
    [
        ([f"{one}.0" for one in NUMBERS], "Without “.0” at the end"),
        ([one.zfill(7) for one in NUMBERS], "Without zeros at the beginning"),
    ],
)
def test_ids_that_a_table_made_numbers_are_offered_too(here: list[str], words: str) -> None:
    assert offered(pl.Series(here), pl.Series(NUMBERS)) == (words, 1.0)


def test_ids_in_another_unicode_form_are_offered_too() -> None:
    composed = [f"caf\u00e9-{one}" for one in NUMBERS]
    apart = pl.Series([one.replace("\u00e9", "e\u0301") for one in composed])
    assert offered(apart, pl.Series(composed)) == ("In one Unicode form (NFC)", 1.0)


def test_ids_of_the_other_side_may_be_the_longer_ones() -> None:
    offer = offered(pl.Series(PLAIN), pl.Series([f"doc/{one}" for one in PLAIN]))
    assert offer == ("Without “doc/” before the ids there", 1.0)
    offer = offered(pl.Series(PLAIN), pl.Series([f"{one}.txt" for one in PLAIN]))
    assert offer == ("Without “.txt” after the ids there", 1.0)


def test_nothing_is_offered_for_ids_that_have_nothing_to_do_with_each_other() -> None:
    assert offered(pl.Series(["a-1", "b-2", "c-3"]), pl.Series(["x", "y", "z"]), chunks=COLLAPSE) is None
    assert offered(pl.Series([], dtype=pl.String), pl.Series(PLAIN)) is None


def test_the_sentence_counts_distinct_ids_and_names_three_of_each() -> None:
    here = Side("documents of run a", pl.Series(["x1", "x1", "x2", "d1"]))
    there = Side("documents with a label", pl.Series(PLAIN))
    assert shared_fraction(here, there) == 1 / 3
    assert sentence_on(here, there) == (
        "1 of the 3 documents of run a are among the documents with a label: "
        "“x1”, “x2” here, “d1”, “d2”, “d3” there."
    )
    assert sentence_on(Side("queries of run a", pl.Series(["q-7"])), there).startswith(
        "The only one of the queries of run a is not among the documents with a label: “q-7” here"
    )
