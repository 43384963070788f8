"""Answers of a model: parsed strictly, then leniently; and the score that its probabilities give."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

MOST_REASONING = 500  # characters that are kept
_FENCE = "```"
_YES = {"true": True, "yes": True, "relevant": True, "1": True}
_NO = {"false": False, "no": False, "not relevant": False, "not_relevant": False, "0": False}
# The value of the key, with the space before it, as it stands in an answer.
_VALUE = {name: re.compile(rf'"{name}"\s*:\s*"?') for name in ("relevant", "grade")}
# Below this, what the listed words leave to others decides more than they do.
LEAST_MASS = 0.5


class MalformedAnswerError(ValueError):
    """The answer cannot be read as what was asked for; the message says how it begins."""


class TokenChoice(NamedTuple):
    """A token of an answer, and how probable it and others were in its place: (text, natural logarithm).

    `spelled` is the token in UTF-8 where the server tells that: a token can be part of a character, and has
    no text then.
    """

    text: str
    choices: Sequence[tuple[str, float]]
    spelled: bytes = b""


@dataclass(frozen=True)
class Reading:
    """A parsed answer. score: in [0, 1]; score_source: a `Prelabel.ScoreSource`; relevant: not of a grade."""

    reasoning: str
    relevant: bool | None
    grade: int | None
    score: float | None
    score_source: str


def read_answer(prompt: str, content: str, tokens: Sequence[TokenChoice] = ()) -> Reading:
    """Read the answer to a prompt, `binary` or `graded`; `MalformedAnswerError` where it says neither.

    The score is the probability of “relevant” among the words that were possible, and for grades their mean
    divided by the highest, where the server tells probabilities; else the model's own confidence, or the
    grade divided by the highest.
    """
    fields = object_in(content)
    text = fields.get("reasoning")
    reasoning = storable(text.strip())[:MOST_REASONING] if isinstance(text, str) else ""
    if prompt == "graded":
        grade = _grade(fields.get("grade"), content)
        mean = _mean_grade(content, tokens)
        score, source = (grade / 3, "grade") if mean is None else (mean / 3, "probability")
        return Reading(reasoning, None, grade, score, source)
    relevant = _truth(fields.get("relevant"), content)
    probability = _probability(content, tokens)
    if probability is not None:
        return Reading(reasoning, relevant, None, probability, "probability")
    confidence = _confidence(fields.get("confidence"))
    if confidence is None:
        return Reading(reasoning, relevant, None, None, "")
    return Reading(reasoning, relevant, None, confidence if relevant else 1 - confidence, "confidence")


def object_in(content: str) -> dict[str, Any]:
    """The first JSON object of a text: all of it, what stands in a code fence, or from its first brace on."""
    for candidate in (content, _fenced(content), content[content.find("{") :]):
        try:
            value, _ = json.JSONDecoder().raw_decode(candidate.strip())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    raise MalformedAnswerError(f"No JSON object in: {_beginning(content)}")


def _fenced(content: str) -> str:
    """The text of the first closed code fence; not by a pattern, which would read a text again and again."""
    _, _, rest = content.partition(_FENCE)
    inside, closing, _ = rest.partition(_FENCE)
    return inside.removeprefix("json") if closing else ""


def _truth(value: Any, content: str) -> bool:
    if isinstance(value, bool):
        return value
    word = _word(value).lower()
    if word in _YES or word in _NO:
        return word in _YES
    raise MalformedAnswerError(f"“relevant” is neither true nor false in: {_beginning(content)}")


def _word(value: Any) -> str:
    """A text or number as a text; what is neither may be nested too deeply to be written."""
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _grade(value: Any, content: str) -> int:
    if not isinstance(value, bool) and _word(value) in {"0", "1", "2", "3", "0.0", "1.0", "2.0", "3.0"}:
        return int(float(value))
    raise MalformedAnswerError(f"“grade” is not 0 to 3 in: {_beginning(content)}")


def _confidence(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def _probability(content: str, tokens: Sequence[TokenChoice]) -> float | None:
    """P(relevant) over P(relevant) + P(not relevant), of the token that decided."""
    masses = _masses(content, tokens, "relevant", {**_YES, **_NO})
    if masses is None:
        return None
    return float(masses.get(True, 0.0) / sum(masses.values()))


def _mean_grade(content: str, tokens: Sequence[TokenChoice]) -> float | None:
    masses = _masses(content, tokens, "grade", {str(grade): grade for grade in range(4)})
    if masses is None:
        return None
    return float(sum(grade * mass for grade, mass in masses.items()) / sum(masses.values()))


def _masses(
    content: str, tokens: Sequence[TokenChoice], name: str, words: dict[str, Any]
) -> dict[Any, float] | None:
    """Probability of each meaning in the place of the value; None where that cannot be told.

    A server may have taken something off the answer that is still among the tokens, such as a code fence.
    """
    place = _VALUE[name].search(content)
    spelled = [token.spelled or _spelled(token.text) for token in tokens]
    start = b"".join(spelled).find(_spelled(content))
    if place is None or start < 0:
        return None
    value_at = start + len(_spelled(content[: place.end()]))
    ends = accumulate(len(written) for written in spelled)
    token = next((token for token, end in zip(tokens, ends, strict=True) if end > value_at), None)
    if token is None:
        return None
    masses: dict[Any, float] = {}
    for text, logarithm in token.choices:
        meaning = words.get(text.strip(' \t\n":').lower())
        if meaning is not None and not math.isnan(logarithm):
            masses[meaning] = masses.get(meaning, 0.0) + math.exp(min(logarithm, 0.0))
    return masses if sum(masses.values()) >= LEAST_MASS else None


def storable(text: str) -> str:
    """The text without what no database keeps: NULs, and halves of characters."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _spelled(text: str) -> bytes:
    # JSON can hold halves of a character.
    return text.encode(errors="surrogatepass")


def _beginning(content: str) -> str:
    text = storable(" ".join(content.split()))
    return f"“{text[:120]}{'…' if len(text) > 120 else ''}”"
