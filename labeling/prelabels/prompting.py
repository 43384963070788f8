"""Prompts of pre-labels: versioned template files, filled in so that no text of a pair can leave its place.

`templates/prompts/NAME-VERSION.txt` holds the description of the task, a line `===`, and what the
model sees of a pair. A version is never changed: an improved prompt is a file with the next number.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, TypedDict

from pooling.interface.problems import InputError
from pooling.models import Collection

TURN = "\n===\n"
BINARY, GRADED = "binary", "graded"
HIGHEST_GRADE = 3
NONE_GIVEN = "(none)"
CUT = " […]"
BOUNDARY_BYTES = 8
# Why first: what a model wrote is what its next word rests on.
_REASONING = {"type": "string", "description": "One or two short sentences that name what decides."}


class AnswerSchema(TypedDict):
    type: str
    properties: Mapping[str, Mapping[str, Any]]
    required: list[str]
    additionalProperties: bool


_ANSWERS: dict[str, dict[str, Any]] = {
    BINARY: {
        "reasoning": _REASONING,
        "relevant": {"type": "boolean"},
        "confidence": {"type": "number", "description": "How sure you are, from 0 to 1."},
    },
    GRADED: {"reasoning": _REASONING, "grade": {"type": "integer", "enum": list(range(HIGHEST_GRADE + 1))}},
}

Messages = list[dict[str, str]]


@dataclass(frozen=True)
class Prompt:
    """A prompt with a collection's words; hash: SHA-256 of both, equal where pairs were asked alike."""

    name: str
    version: int
    hash: str
    task: str
    pair: Template

    def messages(self, query: str, narrative: str, title: str, text: str) -> Messages:
        """Messages for a pair, whose texts end at a word drawn for this request, which they cannot hold."""
        document = f"{title}\n\n{text}" if title else text
        boundary = unused_word(query, narrative, document)
        content = self.pair.substitute(
            boundary=boundary, query=query, narrative=narrative or NONE_GIVEN, document=document
        )
        return [{"role": "system", "content": self.task}, {"role": "user", "content": content}]

    @property
    def schema(self) -> AnswerSchema:
        """The JSON schema of an answer, in the strict form: nothing more and nothing less."""
        properties = _ANSWERS[self.name]
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }


def prompt_for(collection: Collection, name: str, folder: Path, version: int | None = None) -> Prompt:
    """The newest version of a prompt, or the one that is named; `InputError` where there is none."""
    version = version or latest_version(name, folder)
    path = folder / f"{name}-{version}.txt"
    if name not in _ANSWERS or not path.exists():
        which = f"prompt “{name}” of version {version}" if version else f"prompt “{name}”"
        raise InputError(
            f"No {which}. The prompts are {' and '.join(_ANSWERS)}.",
            fields={"prompt": f"Choose one of {', '.join(_ANSWERS)}."},
        )
    written = path.read_text(encoding="utf-8")
    task, _, pair = written.partition(TURN)
    guidelines = collection.guidelines.strip() or NONE_GIVEN
    given = {"question": collection.question, "guidelines": guidelines}
    everything = json.dumps([written, given], sort_keys=True)
    return Prompt(
        name=name,
        version=version,
        hash=hashlib.sha256(everything.encode()).hexdigest(),
        task=Template(task).substitute(given),
        pair=Template(pair.strip()),
    )


def latest_version(name: str, folder: Path) -> int:
    """The highest number among the files of a prompt; 0 where there is none."""
    pattern = re.compile(rf"{re.escape(name)}-(\d+)\.txt")
    versions = [int(match[1]) for path in folder.glob("*.txt") if (match := pattern.fullmatch(path.name))]
    return max(versions, default=0)


def cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[:characters].rstrip() + CUT


def unused_word(*texts: str) -> str:
    while any((word := secrets.token_hex(BOUNDARY_BYTES)) in text for text in texts):
        pass
    return word
