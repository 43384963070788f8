"""Pairs that a pass has to ask about, with their texts, and the answers that are known already."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from labeling.models import Item, Prelabel, PrelabelFailure, PrelabelJob
from labeling.models.words import SAME_PAIR, THERE
from labeling.prelabels.model_answers import Reading
from labeling.prelabels.options import DEFAULTS, answer_base
from labeling.prelabels.prompting import cut
from pooling.models import Document, Query

CHUNK = 500


class VersionedPair(NamedTuple):
    query: int
    document: int
    version: int


@dataclass
class Question:
    """A question for all pairs with the same texts. key, text_hash: SHA-256 of what the answer hangs on."""

    key: str
    text_hash: str
    query: str
    narrative: str
    title: str
    text: str
    pairs: list[VersionedPair]

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """The texts, as `Prompt.messages` takes them."""
        return self.query, self.narrative, self.title, self.text


@dataclass(frozen=True)
class QuestionOutcome:
    """A reading or why there is none. cost: as reported; uncertain: at most, of unanswered requests."""

    key: str
    text_hash: str
    pairs: Sequence[VersionedPair]
    reading: Reading | None = None
    reason: str = ""
    detail: str = ""
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = Decimal(0)
    uncertain: Decimal = Decimal(0)
    seconds: float = 0.0
    is_known: bool = False


@dataclass
class Chunk:
    """Some of the pairs: what is to be asked, and what is known without."""

    questions: list[Question] = field(default_factory=list)
    outcomes: list[QuestionOutcome] = field(default_factory=list)


def pending_pairs(job: PrelabelJob) -> list[tuple[int, int]]:
    """The pairs of the queue that have no answer of the prelabeler, in an order drawn by the queue's seed.

    So whatever part of them is asked is a random sample. Pairs that failed come again where the pass retries
    them, but never those that failed in this very pass.
    """
    of_pair = {**SAME_PAIR, "prelabeler": job.prelabeler_id}
    answered = Prelabel.objects.filter(**of_pair, document_version=OuterRef("document__version"))
    failed = PrelabelFailure.objects.filter(**of_pair, document_version=OuterRef("document__version"))
    if job.retries_failed:
        failed = failed.filter(job=job.pk)
    rows = (
        Item.objects.filter(queue=job.queue_id, repeats=None, **THERE)
        .exclude(state=Item.State.ASIDE)
        .filter(~Exists(answered), ~Exists(failed.order_by()))
        .order_by("query_id", "document_id")
    )
    pairs = list(rows.values_list("query_id", "document_id").iterator())
    random.Random(job.queue.seed).shuffle(pairs)  # noqa: S311  an order, no secret
    if job.pair_limit is not None:
        del pairs[max(job.pair_limit - job.done_count, 0) :]
    return pairs


def chunks(job: PrelabelJob, pairs: Sequence[tuple[int, int]]) -> Iterator[Chunk]:
    """The pairs with their texts, a few hundred at a time; each chunk is read when it is asked for."""
    base = answer_base(job.prelabeler)
    most = int({**DEFAULTS, **job.prelabeler.options}["max_characters"])
    queries: dict[int, Query] = {}
    for start in range(0, len(pairs), CHUNK):
        some = pairs[start : start + CHUNK]
        missing = {query for query, _ in some} - queries.keys()
        queries |= Query.objects.in_bulk(missing)
        fields = ("title", "text", "version")
        documents = Document.objects.only(*fields).in_bulk({document for _, document in some})
        yield _chunk(job, _questions(some, queries, documents=documents, base=base, most=most))


def _questions(
    pairs: Sequence[tuple[int, int]],
    queries: dict[int, Query],
    *,
    documents: dict[int, Document],
    base: str,
    most: int,
) -> Iterator[Question]:
    for query_key, document_key in pairs:
        query, document = queries.get(query_key), documents.get(document_key)
        if query is None or document is None:  # deleted since the pairs were listed
            continue
        pair = VersionedPair(query_key, document_key, document.version)
        if document.text is None:
            yield Question("", "", query.text, "", "", "", [pair])
            continue
        text_hash = sha256_of_texts(document.title, document.text)
        key = sha256_of_texts(base, query.text, query.narrative, text_hash)
        text = cut(document.text, most)
        yield Question(key, text_hash, query.text, query.narrative, document.title, text, [pair])


def _chunk(job: PrelabelJob, questions: Iterable[Question]) -> Chunk:
    chunk = Chunk()
    by_key: dict[str, Question] = {}
    for question in questions:
        if not question.key:
            reason = PrelabelFailure.Reason.NO_TEXT
            chunk.outcomes.append(QuestionOutcome("", "", question.pairs, reason=reason))
        elif question.key in by_key:
            by_key[question.key].pairs += question.pairs
        else:
            by_key[question.key] = question
    answers = _answers(job, list(by_key))
    for key, question in by_key.items():
        if key in answers:
            pairs = question.pairs
            chunk.outcomes.append(
                QuestionOutcome(key, question.text_hash, pairs, reading=answers[key], is_known=True)
            )
        else:
            chunk.questions.append(question)
    return chunk


def _answers(job: PrelabelJob, keys: list[str]) -> dict[str, Reading]:
    """Answers that pre-labels of the collection have by the same key; a verdict is made of a grade again."""
    rows = Prelabel.objects.filter(
        answer_key__in=keys, prelabeler__collection=job.prelabeler.collection_id
    ).order_by("pk")
    fields = ("answer_key", "reasoning", "verdict", "grade", "score", "score_source")
    return {
        key: Reading(reasoning, verdict == "relevant" if grade is None else None, grade, score, source)
        for key, reasoning, verdict, grade, score, source in rows.values_list(*fields)
    }


def sha256_of_texts(*parts: str) -> str:
    # Lengths before the parts, so that no two lists of parts read the same.
    written = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(written.encode()).hexdigest()
