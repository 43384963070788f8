"""What is read out of a model's answer, what it costs at the most, and what the journal keeps of it."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.prelabels.client import (
    Dialect,
    Endpoint,
    ModelError,
    NotTakenError,
    PassingError,
    StopError,
    UnanswerableError,
    answer_of,
    read_problem,
)
from labeling.prelabels.costs import Budget, Prices, most_input_tokens, parse_prices, price_table
from labeling.prelabels.journal import Journal, read_journal
from labeling.prelabels.model_answers import MalformedAnswerError, Reading, TokenChoice, read_answer
from labeling.prelabels.work import QuestionOutcome, VersionedPair
from tests.bounded import run_bounded


@pytest.mark.parametrize(
    ("content", "relevant", "score"),
    [
        ('{"reasoning": "so", "relevant": true, "confidence": 0.8}', True, 0.8),
        ('{"relevant": false, "confidence": 0.9}', False, 0.1),
        ('```json\n{"relevant": "Yes"}\n```', True, None),
        ('I think: {"relevant": "not relevant", "confidence": 7} as it says nothing.', False, None),
        ('{"relevant": 1} {"relevant": 0}', True, None),
    ],
)
def test_a_clear_object_is_read_wherever_it_stands(content: str, relevant: bool, score: float | None) -> None:
    reading = read_answer("binary", content)
    assert reading.relevant is relevant
    assert reading.score == (None if score is None else pytest.approx(score))


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("binary", ""),
        ("binary", "It is relevant."),
        ("binary", '{"relevant": "perhaps"}'),
        ("binary", '{"relevant": tru'),
        ("binary", "[true]"),
        ("binary", '{"grade": 3}'),
        ("graded", '{"grade": 4}'),
        ("graded", '{"grade": true}'),
        ("graded", '{"grade": 1.5}'),
        ("graded", "{" * 5000),
    ],
)
def test_anything_else_is_malformed_and_says_how_it_begins(prompt: str, content: str) -> None:
    with pytest.raises(MalformedAnswerError) as refused:
        read_answer(prompt, content)
    assert len(str(refused.value)) < 250


def tokens(*texts: str, choices: dict[str, float], place: int) -> list[TokenChoice]:
    told = [(text, math.log(chance)) for text, chance in choices.items()]
    return [TokenChoice(text, told if n == place else [(text, 0.0)]) for n, text in enumerate(texts)]


def test_the_probability_is_that_of_the_word_that_decided_among_both() -> None:
    # Words that mean the same are added up, others left out: 0.6 + 0.1 against 0.2.
    choices = {" true": 0.6, "True": 0.1, " false": 0.2, " maybe": 0.1}
    told = tokens('{"relevant":', " true", "}", choices=choices, place=1)
    reading = read_answer("binary", '{"relevant": true}', told)
    assert (reading.score, reading.score_source) == (pytest.approx(0.7 / 0.9), "probability")
    # One token may hold the quotation mark and the word.
    told = tokens('{"relevant": ', '"yes', '"}', choices={'"yes': 0.75, '"no': 0.25}, place=1)
    assert read_answer("binary", '{"relevant": "yes"}', told).score == pytest.approx(0.75)


def test_grades_have_their_mean_and_without_probabilities_themselves() -> None:
    told = tokens('{"grade": ', "2", "}", choices={"2": 0.5, "3": 0.3, "0": 0.2}, place=1)
    reading = read_answer("graded", '{"grade": 2}', told)
    assert (reading.grade, reading.relevant) == (2, None)
    assert reading.score == pytest.approx((2 * 0.5 + 3 * 0.3) / 3)
    assert read_answer("graded", '{"grade": "2"}') == Reading("", None, 2, 2 / 3, "grade")


def test_tokens_that_the_server_took_off_the_answer_or_split_within_a_character_are_no_hindrance() -> None:
    # As llama.cpp does: the content is what stands in the fence, the tokens hold the fence as well.
    told = tokens(
        "```", "json\n", '{"relevant":', " true", "}", "\n```", "", choices={" true": 0.75}, place=3
    )
    assert read_answer("binary", '{"relevant": true}', told).score == pytest.approx(1)
    # As the public interface does: both halves of “é” have a name of their own for a text.
    half = [TokenChoice("bytes:\\xc3", [], b"\xc3"), TokenChoice("bytes:\\xa9", [], b"\xa9")]
    rest = tokens('", "grade": ', "2", "}", choices={"2": 0.5, "3": 0.5}, place=1)
    told = [TokenChoice('{"reasoning": "', []), *half, *rest]
    assert read_answer("graded", '{"reasoning": "é", "grade": 2}', told).score == pytest.approx(2.5 / 3)


def test_probabilities_that_do_not_belong_to_the_answer_are_not_believed() -> None:
    other = tokens('{"relevant":', " true", " }", choices={" true": 1.0}, place=1)
    assert read_answer("binary", '{"relevant": true}', other).score is None
    unsure = tokens('{"relevant":', " true", "}", choices={" true": 0.3, " x": 0.7}, place=1)
    assert read_answer("binary", '{"relevant": true}', unsure).score is None


# Costs.


def test_prices_are_those_of_a_million_tokens() -> None:
    table = price_table(["small=0.15/0.60", "org/large = 3/15"])
    assert table["small"].cost(2_000_000, 500_000) == Decimal("0.60")
    assert table["org/large"] == Prices(Decimal(3), Decimal(15))


@pytest.mark.parametrize("written", ["", "1", "a/b", "1/2/3", "-1/2", "nan/1", "1/inf"])
def test_what_is_no_price_is_told(written: str) -> None:
    with pytest.raises(ValueError, match=r"such as 0\.15/0\.60"):
        parse_prices(written)


@given(
    cap=st.decimals(0, 10, places=3),
    requests=st.lists(st.tuples(st.decimals(0, 3, places=3), st.floats(0, 1)), max_size=30),
)
def test_a_cap_is_never_passed_however_requests_come_back(
    cap: Decimal, requests: list[tuple[Decimal, float]]
) -> None:
    budget = Budget(cap)
    waiting: list[tuple[Decimal, Decimal]] = []
    for at_most, share in requests:
        if budget.reserve(at_most):
            waiting.append((at_most, (at_most * Decimal(share)).quantize(Decimal("0.001"))))
        elif waiting:
            budget.settle(*waiting.pop(0))
        assert budget.spent + budget.set_aside <= cap
    for one in waiting:
        budget.settle(*one)
    assert budget.set_aside == 0
    assert budget.spent <= cap


def test_no_text_has_more_tokens_than_bytes() -> None:
    assert most_input_tokens(["né", "€"]) >= 3 + 3


# What a server says.


def test_what_a_server_does_not_take_is_dropped_once() -> None:
    dialect = Dialect()
    for said, left in (
        ("logprobs is not supported", ("logprobs", "top_logprobs")),
        ("Unknown parameter: 'seed'.", ("logprobs", "seed", "top_logprobs")),
    ):
        dialect = dialect.without(said) or dialect
        assert dialect.left_out == left
    assert dialect.without("seed") is None
    assert dialect.without("The request makes no sense.") is None
    assert Dialect.from_dict(dialect.to_dict()) == dialect
    assert [(dialect.without("max_tokens") or dialect).limit] == ["max_completion_tokens"]


def said(status: int, body: Any, dialect: Dialect | None = None) -> ModelError:
    """What is made of an answer with an error's status."""
    endpoint = Endpoint("http://host/v1", "small", dialect or Dialect(), key="my-own-key-77")
    return read_problem(status, body, endpoint)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        # llama.cpp, newer and older
        (
            400,
            {"error": {"code": 400, "type": "exceed_context_size_error", "message": "request (9031 tokens)"}},
        ),
        (500, {"error": {"code": 500, "type": "server_error", "message": "Context size has been exceeded."}}),
        # vLLM
        (
            400,
            {
                "message": "'max_tokens' or 'max_completion_tokens' is too large: 300. This model's maximum "
                "context length is 2048 tokens and your request has 1900 input tokens.",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            },
        ),
        (400, {"message": "max_tokens must be at least 1, got -186.", "code": 400}),
        # the public interface, and llama-cpp-python
        (400, {"error": {"message": "Please reduce the length.", "code": "context_length_exceeded"}}),
        (413, "<html>Request Entity Too Large</html>"),
    ],
)
def test_a_text_that_is_too_long_fails_its_pair_alone_whatever_the_server(status: int, body: Any) -> None:
    told = said(status, body)
    assert isinstance(told, UnanswerableError)
    assert told.reason == "too_long"


@pytest.mark.parametrize(
    ("status", "body", "dialect"),
    [
        # llama-cpp-python calls what it does not take an error of its own.
        (
            500,
            {"error": {"message": "logprobs is not supported for models created with logits_all=False"}},
            Dialect(left_out=("logprobs", "top_logprobs")),
        ),
        (
            500,
            {"error": {"message": "[{'loc': ('body', 'response_format', 'type'), 'input': 'json_schema'}]"}},
            Dialect("json_object"),
        ),
        # FastAPI
        (422, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs"}]}, Dialect(left_out=("seed",))),
        # a sentence alone
        (400, "temperature is fixed for this model", Dialect(left_out=("temperature",))),
    ],
)
def test_what_a_server_does_not_take_is_found_however_it_says_so(
    status: int, body: Any, dialect: Dialect
) -> None:
    told = said(status, body)
    assert isinstance(told, NotTakenError)
    assert told.dialect == dialect


def test_a_server_in_trouble_is_told_from_one_that_is_away() -> None:
    away = said(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    page = said(502, "<html><h1>Bad Gateway</h1></html>")
    trouble = said(500, {"error": {"message": "CUDA error"}})
    told = [(one.is_away, one.detail) for one in (away, page, trouble) if isinstance(one, PassingError)]
    assert told == [(True, "503: Loading model"), (True, "502"), (False, "500: CUDA error")]


def test_a_sentence_about_a_refused_key_does_not_hold_the_key() -> None:
    told = said(401, {"error": {"message": "Incorrect key provided: my-own-key-77 (sk-abcd…)"}})
    assert isinstance(told, StopError)
    assert "my-own-key-77" not in told.detail
    assert "sk-abcd" not in told.detail
    assert told.detail.startswith("http://host/v1 does not accept the key")


# The journal.


def test_a_journal_tells_what_is_not_stored_and_what_was_never_answered(tmp_path: Path) -> None:
    path = tmp_path / "1.jsonl"
    journal = Journal(path)
    first = QuestionOutcome(
        "a", "h", [VersionedPair(1, 2, 1)], Reading("so", True, None, 0.9, "confidence"), cost=Decimal("0.1")
    )
    second = QuestionOutcome(
        "b", "h", [VersionedPair(1, 3, 1)], reason="truncated", detail="x", uncertain=Decimal("0.2")
    )
    journal.sent("a", Decimal(1))
    journal.outcome(first)
    stored = journal.offset
    for key in ("b", "b", "c", "d"):
        journal.sent(key, Decimal(2))
    journal.came_back("d")
    journal.outcome(second)
    journal.close(remove=False)
    with path.open("ab") as file:
        file.write(b'{"outcome": {"ke')  # the process died here
    left = read_journal(path, stored)
    assert left.outcomes == [second]
    assert left.uncertain == 2  # of c
    assert left.offset == path.stat().st_size
    assert read_journal(path, 0).outcomes == [first, second]
    again = Journal(path)
    again.recovered()
    again.close(remove=False)
    assert read_journal(path, 0).uncertain == 0


@pytest.mark.parametrize(
    "content",
    [
        '{"relevant": ' + "[" * 900 + "]" * 900 + "}",
        '{"reasoning": ' + "[" * 900 + "]" * 900 + ', "relevant": "perhaps"}',
        '{"relevant": {"relevant": true}}',
        "half \ud83d a character",
    ],
    ids=["deep verdict", "deep reason", "object", "half a character"],
)
def test_what_no_database_keeps_and_nobody_can_write_is_malformed(content: str) -> None:
    with pytest.raises(MalformedAnswerError) as caught:
        read_answer("binary", content)
    str(caught.value).encode()


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": ["a"]}},
        {"message": {"content": 5}},
        {"message": {"refusal": {}, "content": "x", "finish_reason": 1}, "finish_reason": 1},
        {"message": {}, "logprobs": {"content": [{"token": "a", "bytes": 10**12}]}},
        {"message": {}, "logprobs": {"content": [{"token": "a", "bytes": [256]}]}},
        {"message": {}, "logprobs": {"content": [{"token": 1}]}},
        {
            "message": {},
            "logprobs": {"content": [{"token": "a", "top_logprobs": [{"token": "a", "logprob": None}]}]},
        },
    ],
)
def test_a_completion_of_another_shape_is_none(choice: dict[str, Any]) -> None:
    with pytest.raises(UnanswerableError, match="did not return a chat completion"):
        answer_of({"choices": [choice]})


@pytest.mark.parametrize("count", [-1, 10**9, 1.5, True, "7", [7]])
def test_a_count_of_tokens_is_a_whole_number_of_a_possible_size(count: Any) -> None:
    completion = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": count}}
    with pytest.raises(UnanswerableError, match="reported an invalid token count") as caught:
        answer_of(completion)
    assert caught.value.may_be_paid


READING_OF = """
from labeling.prelabels.model_answers import MalformedAnswerError, read_answer
beginning, piece = arguments
try:
    result = read_answer("binary", beginning + piece * (1_000_000 // len(piece))).relevant
except MalformedAnswerError as error:
    result = str(error)
"""


@pytest.mark.parametrize("beginning", ["", "```", "```json", '{"relevant": true, "reasoning": "'])
@pytest.mark.parametrize("piece", [".", " ", "`", "``` ", "\n", "{", "[", '"relevant"'])
def test_a_megabyte_of_anything_is_read_once(beginning: str, piece: str) -> None:
    said, _ = run_bounded(READING_OF, beginning, piece)
    assert said.startswith("No JSON object in: ")
    assert len(said) < 200
