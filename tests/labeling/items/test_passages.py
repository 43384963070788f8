"""Which words are highlighted, which passage comes first, and that cutting a text loses nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.items.passages import best_passage, marked_parts, term_marks
from pooling.texts.word_forms import WordForms, stem
from tests.bounded import run_bounded


def marked_words(query: str, text: str) -> list[str]:
    return [text[start:end] for start, end in term_marks(query, text)]


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("night bus", "Buses run all night; a bus at Night.", ["Buses", "night", "bus", "Night"]),
        ("ferry", "Ferries and the ferry's deck", ["Ferries", "ferry's"]),
        ("judging pages", "The judge judged a page", ["judge", "judged", "page"]),
        ("what is the virus", "What the viruses are: a virus", ["viruses", "virus"]),  # stop words left out
        ("running", "He runs. A run is running.", ["runs", "run", "running"]),
        ("cafe", "Le Café, les cafés, cafe\u0301", ["Café", "cafés", "cafe\u0301"]),
        ("COVID-19", "covid, 19 and covid_19", ["covid", "19"]),
        ("opera", "they operate", []),
        ("bus", "business as usual", []),
        ("", "anything", []),
        ("?!", "anything?!", []),
    ],
)
def test_words_of_the_query_are_marked_and_others_are_not(query: str, text: str, marked: list[str]) -> None:
    assert marked_words(query, text) == marked


def test_a_query_of_stop_words_keeps_them() -> None:
    assert WordForms().looked_for("to be or not to be") == {"to", "be", "or", "not"}


def test_marks_count_characters_also_beyond_the_basic_plane() -> None:
    assert term_marks("bus", "🚌🚌 bus") == [(3, 6)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("umbrella", "umbrellas"),
        ("ferry", "ferries"),
        ("box", "boxes"),
        ("hope", "hoping"),
        ("stop", "stopped"),
    ],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@given(st.text(max_size=40), st.text(max_size=200))
def test_the_parts_are_the_whole_text(query: str, text: str) -> None:
    parts = marked_parts(text, term_marks(query, text))
    assert "".join(part.text for part in parts) == text


def test_markup_in_a_text_is_only_text() -> None:
    parts = marked_parts("<b>bus</b>", term_marks("bus", "<b>bus</b>"))
    assert [(part.text, part.marked) for part in parts] == [("<b>", False), ("bus", True), ("</b>", False)]


FILLER = "Here is a sentence that says little. "


def passage(query: str, text: str) -> str:
    span = best_passage(text, term_marks(query, text))
    return text if span is None else text[slice(*span)]


def test_a_text_that_is_short_enough_is_shown_whole() -> None:
    assert best_passage("The night bus runs. " * 90, [(4, 9)]) is None


@pytest.mark.parametrize("before", [0, 10, 40, 100])
def test_the_passage_has_whole_sentences_around_the_words(before: int) -> None:
    text = FILLER * before + "The night bus leaves at one. " + FILLER * (100 - before)
    found = passage("night bus", text)
    assert "The night bus leaves at one." in found
    assert found.startswith(("Here", "The"))
    assert found.endswith(".")
    assert 110 <= len(found.split()) <= 210


def test_different_words_count_more_than_one_word_again() -> None:
    text = FILLER * 40 + "A bus, a bus, a bus. " + FILLER * 40 + "A bus at night. " + FILLER * 40
    assert "A bus at night." in passage("night bus", text)


def test_a_word_that_is_rare_in_the_text_counts_more() -> None:
    text = "The bus and the square. " * 60 + FILLER * 40 + "A ferry crosses. " + FILLER * 40
    assert "ferry" in passage("bus ferry", text)


def test_without_a_word_of_the_query_it_is_the_beginning() -> None:
    assert best_passage(FILLER * 100, [])[0] == 0  # type: ignore[index]


@pytest.mark.parametrize(
    "text", ["x" * 5_000, "字" * 5_000, "一句话。" * 1_000, "no end " * 1_000, "\n" * 4_000]
)
def test_a_text_without_sentences_or_spaces_has_a_passage_too(text: str) -> None:
    start, end = best_passage(text, []) or (0, 0)
    assert start == 0
    assert end <= 1_200


@settings(max_examples=20, deadline=None)
@given(st.text(st.sampled_from("ab .!\n\U0001f68c"), min_size=1801, max_size=4000))
def test_a_passage_is_a_span_of_the_text(text: str) -> None:
    start, end = best_passage(text, term_marks("a b", text)) or (0, 0)
    assert 0 <= start <= end <= len(text)


# What is quadratic takes minutes for each of them.
QUARTER = 250_000
PASSAGE_OF = """
from labeling.items.passages import best_passage, term_marks
from tests.bounded import run_bounded
pieces, length = arguments
texts = [piece * (length // len(piece)) for piece in pieces]
result = [best_passage(text, term_marks("bus ab cd", text)) for text in texts]
"""


def test_a_quarter_of_a_megabyte_of_anything_is_passed_through_once() -> None:
    pieces = [
        ".",
        " ",
        "\n",
        "`",
        ". ",
        ".)",
        " \n",
        "'",
        "a",
        "ab. cd. ",
        "a" + "\u0301\u0323" * (QUARTER // 2 - 1),
    ]
    found, _ = run_bounded(PASSAGE_OF, pieces, QUARTER)
    assert len(found) == len(pieces)
    assert all(0 <= end - start <= 2_000 for start, end in found)


def test_a_word_that_nobody_would_type_is_not_marked() -> None:
    assert term_marks("x" * 101, "x" * 101) == []
    assert term_marks("x" * 100, "x" * 100) == [(0, 100)]
