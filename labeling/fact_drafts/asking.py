"""Asking a model for facts: what is sent, within which budget, and how the answer is read. No database."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from string import Template
from typing import Any, Final, NamedTuple

from labeling.language_models.answers import MalformedAnswerError, object_in, storable
from labeling.language_models.client import (
    Asking,
    Dialect,
    ModelClient,
    NotTakenError,
    PassingError,
    UnanswerableError,
)
from labeling.language_models.prompting import Messages, unused_word
from labeling.prelabels.costs import Budget, Prices, most_input_tokens

#: Documents in one request; facts of one query at most.
WINDOW, MOST_FACTS = 10, 30
MOST_WORDS, MOST_CHARACTERS = 25, 6_000
TRIES, WAIT_SECONDS = 3, 2.0
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "importance": {"type": "string", "enum": ["vital", "okay"]},
                },
                "required": ["text", "importance"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}


class DraftedFact(NamedTuple):
    """A proposal: one line of text, vital or okay."""

    text: str
    importance: str


@dataclass(frozen=True)
class FactPrompt:
    """The two halves of the template, the collection's question and guidelines filled in."""

    task: str
    turn: Template

    def messages(
        self, query: str, narrative: str, known: Sequence[str], documents: Sequence[str]
    ) -> Messages:
        """What is sent for a window of documents; no text can leave its place, see `unused_word`."""
        listed = "\n".join(f"- {one}" for one in known) or "(none)"
        texts = "\n\n---\n\n".join(text[:MOST_CHARACTERS] for text in documents)
        told = self.turn.substitute(
            boundary=unused_word(query, narrative, listed, texts),
            query=query,
            narrative=narrative or "(none)",
            known=listed,
            documents=texts,
            most=MOST_FACTS - len(known),
        )
        return [{"role": "system", "content": self.task}, {"role": "user", "content": told}]


@dataclass
class Drafting:
    """A pass over queries: what it asks with, and what it has cost."""

    client: ModelClient
    asking: Asking
    prompt: FactPrompt
    prices: Prices | None
    budget: Budget
    dialect: Dialect = field(default_factory=Dialect)
    requests: int = 0

    async def facts_of(
        self, query: str, narrative: str, known: Sequence[str], documents: Sequence[str]
    ) -> list[DraftedFact] | None:
        """New facts of a query, window by window, each told what is known already; None where the budget does
        not reach. `ModelError` where the model does not answer.
        """
        texts, found = list(known), []
        for start in range(0, len(documents), WINDOW):
            if len(texts) >= MOST_FACTS:
                break
            messages = self.prompt.messages(query, narrative, texts, documents[start : start + WINDOW])
            content = await self._asked(messages)
            if content is None:
                return None
            for fact in read_facts(content):
                if len(texts) < MOST_FACTS and _folded(fact.text) not in map(_folded, texts):
                    texts.append(fact.text)
                    found.append(fact)
        return found

    async def _asked(self, messages: Messages) -> str | None:
        at_most = self._most_cost(messages)
        if not self.budget.reserve(at_most):
            return None
        spent = at_most  # what is not known to be free may be paid
        try:
            for trial in range(TRIES):
                self.requests += 1
                try:
                    answer = await self.client.ask(self.asking, messages, self.dialect)
                except NotTakenError as error:
                    self.dialect = error.dialect
                except PassingError as error:
                    if trial == TRIES - 1:
                        raise
                    await asyncio.sleep(min(error.wait or WAIT_SECONDS, 30))
                else:
                    spent = self._cost(answer.input_tokens, answer.output_tokens, at_most)
                    return answer.content
        finally:
            self.budget.settle(at_most, spent)
        raise UnanswerableError("malformed", "The server takes none of the forms of a request.")

    def _most_cost(self, messages: Messages) -> Decimal:
        if self.prices is None:
            return Decimal(0)
        given = most_input_tokens([one["content"] for one in messages])
        return self.prices.cost(given, self.asking.max_tokens)

    def _cost(self, given: int | None, answered: int | None, at_most: Decimal) -> Decimal:
        if self.prices is None or given is None or answered is None:
            return at_most
        return self.prices.cost(given, answered)


def read_facts(content: str) -> list[DraftedFact]:
    """The facts of an answer; those that are no text or too long for a fact are left out.
    `MalformedAnswerError` where there is no list of facts.
    """
    told = object_in(content).get("facts")
    if not isinstance(told, list):
        raise MalformedAnswerError("The answer has no list of facts.")
    found = []
    for one in told:
        text = one.get("text") if isinstance(one, dict) else None
        if not isinstance(text, str):
            continue
        text = " ".join(storable(text).split())
        if text and len(text.split()) <= MOST_WORDS:
            importance = "okay" if one.get("importance") == "okay" else "vital"
            found.append(DraftedFact(text, importance))
    return found


def _folded(text: str) -> str:
    return " ".join(text.lower().strip(". ").split())
