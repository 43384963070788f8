"""A key goes into the head of a request and nowhere else, whatever a server says back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.prelabels.client import (
    MOST_DETAIL,
    Dialect,
    Endpoint,
    ModelClient,
    ModelError,
    PassingError,
    UnanswerableError,
)
from labeling.prelabels.model_answers import read_answer

# Looks like no key of a known kind, so that it is found by what it is.
KEY = "plain-words-7781"
CLIENT = ModelClient("http://host/v1", KEY, timeout=1)


def told(status: int, body: Any, **options: Any) -> ModelError:
    return CLIENT.problem(status, body, "small", Dialect(), **options)


# What servers put into an error, with the key anywhere in it.
WORDS = st.lists(
    st.sampled_from([KEY, "\0", " ", "\n", "Bearer ", "no seed", "context length", "x" * 299]), max_size=4
)
TEXTS = WORDS.map("".join)
MEMBERS = st.dictionaries(
    st.sampled_from(["message", "detail", "code", "param", "type"]),
    st.one_of(TEXTS, st.none(), st.integers(), st.lists(TEXTS, max_size=2)),
)
BODIES = st.one_of(
    TEXTS, st.none(), MEMBERS, st.builds(lambda told: {"error": told}, st.one_of(TEXTS, MEMBERS))
)


@given(status=st.sampled_from([302, 400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503]), body=BODIES)
def test_no_error_holds_the_key_however_a_server_writes_it(status: int, body: Any) -> None:
    error = told(status, body)
    assert KEY not in f"{error!r} {error} {vars(error)}"
    assert len(error.detail) < MOST_DETAIL + 200


def test_a_key_that_was_cut_by_blanks_or_by_the_end_of_the_sentence_is_not_told_in_part() -> None:
    cut = told(400, {"error": {"message": "x" * (MOST_DETAIL - 8) + " " + KEY}})
    parted = told(400, {"error": {"message": f"Wrong: {KEY[:4]}\0{KEY[4:]}"}})
    assert KEY[:6] not in cut.detail + parted.detail


@pytest.mark.parametrize("name", ["content", "refusal"])
def test_an_answer_that_says_the_key_back_is_kept_without_it(name: str) -> None:
    said = json.dumps({"reasoning": f"Authorization: {KEY}", "relevant": True})
    answer = CLIENT.answer_of({"choices": [{"message": {name: said}}]})
    assert KEY not in repr(answer)
    assert "Authorization" in getattr(answer, name)
    if name == "content":
        reading = read_answer("binary", answer.content)
        assert (reading.relevant, KEY in reading.reasoning) == (True, False)


@pytest.mark.parametrize("key", [None, "", "true", "none"])
def test_a_key_that_is_no_secret_changes_no_answer(key: str | None) -> None:
    said = '{"relevant": true, "confidence": none}'
    answer = ModelClient("http://host/v1", key, timeout=1).answer_of(
        {"choices": [{"message": {"content": said}}]}
    )
    assert answer.content == said


def test_nothing_that_may_be_logged_writes_the_key_of_its_own_accord() -> None:
    endpoint = Endpoint("http://host/v1", "small", Dialect(), key=KEY)
    assert KEY not in f"{endpoint!r} {CLIENT!r}"


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        (None, None),
        ("", None),
        ("3", 3),
        ("0.5", 0.5),
        ("-7", 0),  # the past
        ("nan", 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),  # the past, as a date
        ("Wed, 99 Oct 2015", None),
        ("soon", None),
    ],
)
def test_how_long_a_server_wants_to_be_left_alone(retry_after: str | None, seconds: float | None) -> None:
    error = told(429, {}, retry_after=retry_after)
    assert isinstance(error, PassingError)
    assert error.wait == seconds


@pytest.mark.parametrize(
    ("status", "code", "kind", "is_paid"),
    [
        (429, "rate_limit_exceeded", PassingError, False),  # nothing was asked of the model
        (408, "", PassingError, False),
        (413, "", UnanswerableError, False),
        (400, "content_filter", UnanswerableError, False),
        (500, "", PassingError, False),
    ],
)
def test_an_error_with_a_status_costs_nothing(
    status: int, code: str, kind: type[ModelError], is_paid: bool
) -> None:
    error = told(status, {"error": {"message": "No.", "code": code}})
    assert type(error) is kind
    assert getattr(error, "may_be_paid") is is_paid  # noqa: B009 - of both kinds
