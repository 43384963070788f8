"""Words of many languages: which are the same, which say nothing, and which a collection calls synonyms."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.items.passages import strongest_sentence, term_marks
from pooling.interface.languages import LANGUAGES
from pooling.texts.word_forms import WordForms, forms_of, stem


def marked(language: str, query: str, text: str, synonyms: str = "") -> list[str]:
    return [text[start:end] for start, end in term_marks(query, text, forms_of(language, synonyms))]


@pytest.mark.parametrize(
    ("language", "query", "text", "found"),
    [
        ("de", "Häuser der Stadt", "Das Haus in der Stadt", ["Haus", "Stadt"]),
        ("es", "horarios de los trenes", "El horario del tren", ["horario", "tren"]),
        ("fr", "les chevaux", "Le cheval, les chevaux", ["cheval", "chevaux"]),
        ("ru", "ночные автобусы", "Ночной автобус", ["Ночной", "автобус"]),
        ("hi", "बस का समय", "बसें और समय", ["बसें", "समय"]),
        ("uk", "нічний автобус", "Нічний автобус", ["Нічний", "автобус"]),  # no algorithm: whole words
        ("ja", "夜間バス", "夜間のバス時刻", ["夜間", "バス"]),
        ("zh", "夜班公交", "公交夜班时刻", ["公交夜班"]),
        ("ja", "これはですか", "これはです", []),  # grammar alone
        ("tr", "istanbul ışık", "İSTANBUL’da IŞIK", ["İSTANBUL’da", "IŞIK"]),
        ("en", "istanbul", "İstanbul", ["İstanbul"]),
        ("de", "Dampfschiff", "Dampf\u00adschiffe", ["Dampf\u00adschiffe"]),
        ("en", "night bus", "Ｎｉｇｈｔ buses", ["Ｎｉｇｈｔ", "buses"]),
        ("fr", "bus", "Le ｂｕｓ", ["ｂｕｓ"]),
        ("ko", "버스 정류장", "버스가 정류장에서 나이", ["버스가", "정류장에서"]),
    ],
)
def test_forms_of_a_word_are_found_in_its_language(
    language: str, query: str, text: str, found: list[str]
) -> None:
    assert marked(language, query, text) == found


def test_accents_tell_words_apart_where_the_language_says_so() -> None:
    assert marked("es", "año", "año ano") == ["año"]
    assert marked("en", "cafe", "Café") == ["Café"]


def test_synonyms_are_found_for_each_other_in_all_their_forms() -> None:
    groups = "tram, streetcar, trolley\nfare, ticket"
    assert marked("en", "trams", "Two streetcars, one ticket", groups) == ["streetcars"]
    assert marked("en", "ticket", "Fares on the tram", groups) == ["Fares"]


@pytest.mark.parametrize("synonyms", ["", "\n\n", ",,,", "alone", " , alone , "])
def test_a_group_of_one_word_changes_nothing(synonyms: str) -> None:
    assert forms_of("en", synonyms) == WordForms("en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_stems_and_stop_words(language: str) -> None:
    assert stem("abc", language)
    WordForms(language).looked_for("abc")


def test_threads_do_not_share_a_stemmer() -> None:
    words = [f"häuser{number}" for number in range(2000)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda word: stem(word, "de"), words)) == [stem(word, "de") for word in words]


@given(st.sampled_from(sorted(LANGUAGES)), st.text(max_size=30), st.text(max_size=120))
def test_marks_are_ascending_spans_of_the_text(language: str, query: str, text: str) -> None:
    marks = term_marks(query, text, WordForms(language))
    ends = [place for mark in marks for place in mark]
    assert ends == sorted(ends)
    assert all(0 <= start < end <= len(text) for start, end in marks)


def strongest(query: str, text: str) -> str:
    span = strongest_sentence(query, text, term_marks(query, text))
    return "" if span is None else text[slice(*span)]


def test_the_strongest_sentence_has_most_of_the_rare_words() -> None:
    text = "The bus is red. A bus, a bus. The night bus runs hourly. Buses stop."
    assert strongest("night bus hourly", text) == "The night bus runs hourly."


def test_of_equally_strong_sentences_it_is_the_first_and_without_a_word_none() -> None:
    assert strongest("bus", "A bus here. A bus there.") == "A bus here."
    assert strongest("ferry", "A bus here. A bus there.") == ""


def test_one_word_of_several_is_no_sign() -> None:
    assert strongest("night bus", "A bus here. A ferry there.") == ""
