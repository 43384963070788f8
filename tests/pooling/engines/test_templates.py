"""Requests: values are escaped for where they are, so that no query changes the request around it."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.engines.description import checked
from pooling.engines.options import EngineSettings
from pooling.engines.presets import PRESETS
from pooling.engines.sql import checked_statement
from pooling.engines.templates import (
    Question,
    TemplateError,
    checked_address,
    checked_body,
    filled_address,
    filled_body,
    parsed_body,
)
from pooling.interface.problems import InputError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS)
def test_whatever_a_query_holds_it_stays_one_value_of_the_request(text: str) -> None:
    body = parsed_body('{"size": {{k}}, "query": {"match": "about {{query}}"}, "filter": "{{query}}"}')
    sent = json.loads(filled_body(body, Question(text, 7)))
    assert sent == {"size": 7, "query": {"match": f"about {text}"}, "filter": text}


@given(TEXTS)
def test_whatever_a_query_holds_it_stays_one_part_of_the_address(text: str) -> None:
    parts = urlsplit(filled_address("http://host/{{query}}/find?q={{query}}&n={{k}}", Question(text, 7)))
    assert parts.path.count("/") == 2
    assert parse_qs(parts.query, keep_blank_values=True) == {"q": [text], "n": ["7"]}
    assert parts.netloc == "host"


@given(TEXTS)
def test_a_query_within_a_language_within_json_is_a_string_of_both(text: str) -> None:
    body = parsed_body(PRESETS["weaviate"].body)
    sent = json.loads(filled_body(body, Question(text, 7)))["query"]
    start = sent.index("query: ") + len("query: ")
    literal, _ = json.JSONDecoder().raw_decode(sent[start:])
    assert literal == text


def test_what_a_query_says_of_places_is_not_filled_again() -> None:
    assert json.loads(filled_body(parsed_body('["{{query}}"]'), Question("{{k}}", 7))) == ["{{k}}"]


def test_a_vector_is_a_list_of_numbers() -> None:
    body = parsed_body(PRESETS["qdrant-vector"].body)
    assert json.loads(filled_body(body, Question("x", 2, [0.5, 1]))) == {"query": [0.5, 1], "limit": 2}
    with pytest.raises(TemplateError, match="no vector"):
        filled_body(body, Question("x", 2))


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("ftp://host/{{query}}", "https://"),
        ("http://{{query}}/find", "cannot depend on the query"),
        ("http://host:{{k}}/find", "begins with"),
        ("http://ada:secret@host/?q={{query}}", "user name or password"),
        ("http://host/?q={{query}}&api_key=abc", "looks like a key"),
        ("http://host/?q={{vector}}", "has no value in an address"),
        ("http://host/a b?q={{query}}", "a space"),
        ("http://host/?q={{query}}#part", "#"),
        ("http://[host/?q={{query}}", "begins with"),
    ],
)
def test_an_address_that_will_not_do_is_refused_with_the_reason(address: str, problem: str) -> None:
    with pytest.raises(TemplateError, match=problem):
        checked_address(address)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('{"q": "{{query}}"', "not JSON"),
        ('{"q": "everything"}', "no {{query}}"),
        ('{"q": "{{querry}}"}', "has no value in a body"),
        ("[" * 100_000 + "{{query}}", "nested too deeply|not JSON"),
    ],
)
def test_a_body_that_will_not_do_is_refused_with_the_reason(body: str, problem: str) -> None:
    with pytest.raises(TemplateError, match=problem):
        checked_body(body)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_every_preset_is_a_request_that_can_be_saved(preset: object) -> None:
    from pooling.engines.description import checked, preset_named

    settings = checked(preset_named(preset.name))  # type: ignore[attr-defined]
    assert settings.body
    assert settings.score_path


@pytest.mark.parametrize("field", ["address", "body", "statement", "id_path"])
def test_what_is_too_long_is_refused_before_anything_looks_through_it(field: str) -> None:
    with pytest.raises(InputError) as refused:
        checked(EngineSettings(**{field: "{{" + " " * 20_000 + "x"}))
    assert refused.value.fields == {field: "At most 20,000 characters."}


@pytest.mark.parametrize("place", ["{{{query}}}", "{{ {query}}", "{{query}} {{{{k}}}}"])
def test_a_place_within_a_brace_is_refused(place: str) -> None:
    with pytest.raises(TemplateError, match="has no value in a body"):
        checked_body(json.dumps({"q": place}))


def test_blanks_in_a_place_do_not_count() -> None:
    body = parsed_body(checked_body('{"q": "{{ query }}", "size": {{\n k }}}'))
    assert json.loads(filled_body(body, Question("x", 7))) == {"q": "x", "size": 7}
    address = checked_address("https://host/find?q={{query}}&n={{ k }}".replace(" ", ""))
    assert filled_address(address, Question("x", 7)) == "https://host/find?q=x&n=7"


@pytest.mark.parametrize("quoted", ["'{{query}}", '"{{query}}', "/* {{query}}", "$a$ {{query}}"])
def test_a_place_behind_a_quote_without_an_end_is_refused(quoted: str) -> None:
    with pytest.raises(TemplateError, match="within quotes or a comment"):
        checked_statement(f"SELECT id FROM docs WHERE a = {{{{query}}}} LIMIT {{{{k}}}} {quoted}")
