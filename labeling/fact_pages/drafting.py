"""Drafting facts of a collection: from its relevant documents, by a model, as proposals."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from string import Template
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from labeling.facts.editing import folded, next_id, next_position
from labeling.models import Fact, FactVersion, ImportedLabel, Judgment, Prelabeler, Verdict
from labeling.prelabels.client import (
    Asking,
    Dialect,
    ModelClient,
    ModelError,
    NotTakenError,
    PassingError,
    StopError,
    UnanswerableError,
)
from labeling.prelabels.costs import Budget, Prices, cost_of, most_cost
from labeling.prelabels.model_answers import MalformedAnswerError, object_in, storable
from labeling.prelabels.options import checked_url, hash_of, key_for, missing_key, site_prices
from labeling.prelabels.prompting import NONE_GIVEN, TURN, Messages, latest_version, unused_word
from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.models import Collection, Document, Query
from pooling.people.activity_log import record_action
from pooling.storage.storing import checked_name
from pooling.texts.importing import lock

# Asking a model for facts: what is sent, within which budget, and how the answer is read. No database.


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
    text: str
    importance: str


@dataclass(frozen=True)
class FactPrompt:
    """The two halves of the template, the collection's question and guidelines filled in."""

    task: str
    turn: Template

    def messages(
        self, query: str, narrative: str, facts: Sequence[str], documents: Sequence[str]
    ) -> Messages:
        """What is sent for a window of documents; no text can leave its place, see `unused_word`."""
        listed = "\n".join(f"- {one}" for one in facts) or "(none)"
        texts = "\n\n---\n\n".join(text[:MOST_CHARACTERS] for text in documents)
        content = self.turn.substitute(
            boundary=unused_word(query, narrative, listed, texts),
            query=query,
            narrative=narrative or "(none)",
            known=listed,
            documents=texts,
            most=MOST_FACTS - len(facts),
        )
        return [{"role": "system", "content": self.task}, {"role": "user", "content": content}]


@dataclass
class Drafting:
    client: ModelClient
    asking: Asking
    prompt: FactPrompt
    prices: Prices | None
    budget: Budget
    dialect: Dialect = field(default_factory=Dialect)
    requests: int = 0

    async def facts_of(
        self, query: str, narrative: str, facts: Sequence[str], documents: Sequence[str]
    ) -> list[DraftedFact] | None:
        """New facts of a query by windows, each knowing the earlier; None past the budget; `ModelError`."""
        texts, drafts = list(facts), []
        for start in range(0, len(documents), WINDOW):
            if len(texts) >= MOST_FACTS:
                break
            messages = self.prompt.messages(query, narrative, texts, documents[start : start + WINDOW])
            content = await self._answer(messages)
            if content is None:
                return None
            for fact in read_facts(content):
                if len(texts) < MOST_FACTS and folded(fact.text) not in map(folded, texts):
                    texts.append(fact.text)
                    drafts.append(fact)
        return drafts

    async def _answer(self, messages: Messages) -> str | None:
        at_most = most_cost(self.prices, messages, self.asking.max_tokens)
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
                    spent = cost_of(self.prices, answer.input_tokens, answer.output_tokens, at_most)
                    return answer.content
        finally:
            self.budget.settle(at_most, spent)
        raise UnanswerableError("malformed", "The server takes none of the forms of a request.")


def read_facts(content: str) -> list[DraftedFact]:
    """The usable facts of an answer, none too long; `MalformedAnswerError` for no list of facts."""
    facts = object_in(content).get("facts")
    if not isinstance(facts, list):
        raise MalformedAnswerError("The answer has no list of facts.")
    drafts = []
    for one in facts:
        text = one.get("text") if isinstance(one, dict) else None
        if not isinstance(text, str):
            continue
        text = " ".join(storable(text).split())
        if text and len(text.split()) <= MOST_WORDS:
            importance = "okay" if one.get("importance") == "okay" else "vital"
            drafts.append(DraftedFact(text, importance))
    return drafts


DRAFTS, MOST_TOKENS = "facts", 2_000
OPTIONS: dict[str, Any] = {"temperature": 0.0, "seed": 1, "max_tokens": MOST_TOKENS}


@dataclass(frozen=True)
class DraftOptions:
    """What is asked. queries: ids; None is every query with a relevant document and fewer facts than there
    may be. budget: cost at most; None is no cap. prices: those of the settings where None."""

    model: str
    base_url: str | None = None
    queries: Sequence[str] | None = None
    budget: Decimal | None = None
    prices: Prices | None = None


@dataclass
class Drafted:
    """What a pass did. failed: query -> why there is no usable answer. left: queries that the budget did not
    reach. cost: by the usage that the server told, or at most. bare: queries without a relevant document to
    draft from. full: with as many facts as there may be."""

    queries: int = 0
    facts: int = 0
    requests: int = 0
    cost: Decimal = Decimal(0)
    failed: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    full: list[str] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        cost = f" for {self.cost:.4f}" if self.cost else ""
        return (
            f"{counted(self.facts, 'proposal')} for {counted(self.queries, 'query')}, with "
            f"{counted(self.requests, 'request')}{cost}."
        )

    @property
    def remarks(self) -> list[str]:
        remarks = [f"{query}: {problem}" for query, problem in self.failed.items()]
        for queries, problem in (
            (self.bare, "have no relevant document with a text to draft from"),
            (self.full, f"have {MOST_FACTS} facts or more already"),
        ):
            if queries:
                remarks.append(f"Queries that {problem}: {len(queries):,}, the first {queries[0]}.")
        if self.left:
            left = counted(len(self.left), "query")
            remarks.append(f"The budget did not reach {left}, from {self.left[0]} on.")
        return remarks


def draft_facts(
    collection: Collection,
    options: DraftOptions,
    progress: Progress | None = None,
    *,
    user: User | None = None,
) -> Drafted:
    """Ask a model for facts of queries, from documents that somebody found relevant, and store proposals.

    The model learns of the facts that a query has, rejected ones too, and does not propose them again. What
    was stored stays when a later query fails. `InputError` for what cannot be asked, such as a budget without
    prices.
    """
    url = checked_url(options.base_url)
    prices = options.prices or site_prices(options.model)
    check_drafts(collection, options, user)
    prompt, digest = _prompt(collection)
    chosen = queries_named(collection, options.queries)
    prelabeler, _ = Prelabeler.objects.get_or_create(
        {"options": OPTIONS, "prompt_version": latest_version(DRAFTS, settings.PROMPTS_DIR)},
        collection=collection,
        source=Prelabeler.Source.LANGUAGE_MODEL,
        model=checked_name(options.model, "model"),
        base_url=url,
        prompt=DRAFTS,
        prompt_hash=digest,
        options_hash=hash_of(OPTIONS),
    )
    done, budget = Drafted(), Budget(options.budget)
    # What a query brought stays where the model or the process stops before the line at the end.
    record_action(
        collection, user, "drafting of facts begun", counted(len(chosen), "query"), model=options.model
    )
    for place, query in enumerate(chosen):
        if progress:
            progress(place / len(chosen), f"Query {query.external_id}")
        texts = list(Fact.objects.filter(query=query).values_list("text", flat=True))
        documents = _relevant_texts(query)
        if len(texts) >= MOST_FACTS or not documents:
            (done.full if len(texts) >= MOST_FACTS else done.bare).append(query.external_id)
            continue
        asking = Asking(options.model, SCHEMA, MOST_TOKENS, seed=1, logprobs=False)
        client = ModelClient(url, key_for(collection, url), timeout=settings.LLM_TIMEOUT)
        drafting = Drafting(client, asking, prompt, prices, budget)
        try:
            drafts = asyncio.run(_drafts(drafting, query, texts, documents))
        except StopError as error:
            raise InputError(error.detail) from error
        except (ModelError, MalformedAnswerError) as error:
            done.failed[query.external_id] = str(error)
            drafts = []
        done.requests += drafting.requests
        done.cost = budget.spent
        if drafts is None:
            done.left = [one.external_id for one in chosen[place:]]
            break
        done.queries += 1
        done.facts += _store(query, drafts, prelabeler)
    facts = {"model": options.model, "facts": done.facts, "cost": str(done.cost)}
    record_action(collection, user, "facts drafted", counted(done.queries, "query"), **facts)
    return done


async def _drafts(
    drafting: Drafting, query: Query, facts: Sequence[str], documents: Sequence[str]
) -> list[DraftedFact] | None:
    async with drafting.client:
        return await drafting.facts_of(query.text, query.narrative, facts, documents)


def check_drafts(collection: Collection, options: DraftOptions, user: User | None) -> None:
    """`InputError` for a budget without prices, and for a server whose key the user does not have."""
    if options.budget is not None and not (options.prices or site_prices(options.model)):
        raise InputError("A budget needs prices: name them, or set SOUNDINGS_LLM_PRICES.", field="budget")
    if problem := missing_key(collection, checked_url(options.base_url), user):
        raise InputError(problem, field="base_url")


def _prompt(collection: Collection) -> tuple[FactPrompt, str]:
    """The newest prompt with question and guidelines in it, and the SHA-256 of all that."""
    version = latest_version(DRAFTS, settings.PROMPTS_DIR)
    written = (settings.PROMPTS_DIR / f"{DRAFTS}-{version}.txt").read_text(encoding="utf-8")
    task, _, turn = written.partition(TURN)
    given = {"question": collection.question, "guidelines": collection.guidelines.strip() or NONE_GIVEN}
    digest = hashlib.sha256(json.dumps([written, given], sort_keys=True).encode()).hexdigest()
    return FactPrompt(Template(task).substitute(given), Template(turn.strip())), digest


def queries_named(collection: Collection, names: Sequence[str] | None) -> list[Query]:
    """The queries of these ids, or all; `InputError` for one that is not there."""
    rows = collection.queries.order_by("external_id")
    if names is None:
        return list(rows)
    queries = list(rows.filter(external_id__in=names))
    if missing := set(names) - {query.external_id for query in queries}:
        raise InputError(f"There is no query “{min(missing)}”.", field="queries")
    return queries


def _relevant_texts(query: Query) -> list[str]:
    """Title and text of the documents that somebody, or a file, found relevant to a query."""
    judged = Judgment.objects.counted().filter(query=query, verdict=Verdict.RELEVANT)
    brought = ImportedLabel.objects.filter(query=query, relevance__gt=0)
    keys = {key for rows in (judged, brought) for key in rows.values_list("document", flat=True)}
    rows = Document.objects.filter(pk__in=keys).order_by("external_id")
    texts = rows.exclude(text=None).values_list("title", "text")
    return [f"{title}\n\n{text}".strip() for title, text in texts if text]


def _store(query: Query, drafts: Sequence[DraftedFact], prelabeler: Prelabeler) -> int:
    with transaction.atomic():
        lock(query.collection)
        for one in drafts:
            fact = Fact.objects.create(
                collection_id=query.collection_id,
                query=query,
                external_id=next_id(query.pk),
                text=one.text,
                importance=one.importance,
                position=next_position(query.pk),
                origin=Fact.Origin.DRAFTED,
                prelabeler=prelabeler,
            )
            FactVersion.objects.create(fact=fact, version=1, text=one.text)
    return len(drafts)
