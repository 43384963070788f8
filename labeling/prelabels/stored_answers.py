"""Answers of a model that were stored in a file: they become pre-labels as those of a pass do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from labeling.models import Prelabeler, PrelabelJob, Queue
from labeling.prelabels.model_answers import MalformedAnswerError, Reading, read_answer
from labeling.prelabels.options import DEFAULTS, hash_of
from labeling.prelabels.prompting import BINARY, prompt_for
from labeling.prelabels.storing import store_outcomes
from labeling.prelabels.work import Question, QuestionOutcome, chunks, pending_pairs
from pooling.formats.records import records_source
from pooling.formats.sources import Source
from pooling.storage.storing import checked_name

Answers = dict[tuple[str, str], Reading]


def store_answers(queue: Queue, path: Path, *, model: str, by: User | None = None) -> PrelabelJob:
    """Store what a file says of the pairs of a queue, as one finished pass of `model`; nothing is asked.

    The records have `query_id`, `document_id`, and `relevant`, `confidence` and `reasoning` as the prompt
    `binary` asks for them. Pairs that the queue does not hold are left out. FormatError for a record without
    an answer.
    """
    file, records = records_source(path, path.name, None)
    answers = {_pair(file, line, record): _reading(file, line, record) for line, record in records}
    prompt = prompt_for(queue.collection, BINARY, settings.PROMPTS_DIR)
    with transaction.atomic():
        prelabeler, _ = Prelabeler.objects.get_or_create(
            {"options": DEFAULTS, "prompt_version": prompt.version, "created_by": by},
            collection=queue.collection,
            model=checked_name(model, "model"),
            base_url="",
            prompt=prompt.name,
            prompt_hash=prompt.hash,
            options_hash=hash_of(DEFAULTS),
        )
        now = timezone.now()
        job = PrelabelJob(queue=queue, prelabeler=prelabeler, state=PrelabelJob.State.RUNNING)
        job.created_by, job.started_at, job.seen_at = by, now, now
        job.currency = settings.LLM_CURRENCY
        job.save()
        outcomes = list(_outcomes(job, answers))
        store_outcomes(
            job,
            outcomes,
            pair_count=len(outcomes),
            finished_at=timezone.now(),
            state=PrelabelJob.State.DONE,
            detail=f"Read from {path.name}.",
        )
    return job


def _outcomes(job: PrelabelJob, answers: Answers) -> Iterator[QuestionOutcome]:
    queries = dict(job.queue.collection.queries.values_list("pk", "external_id"))
    documents = dict(job.queue.collection.documents.values_list("pk", "external_id"))

    def reading_of(question: Question) -> Reading | None:
        pair = question.pairs[0]
        return answers.get((queries[pair.query], documents[pair.document]))

    for chunk in chunks(job, pending_pairs(job)):
        for question in chunk.questions:
            if reading := reading_of(question):
                yield QuestionOutcome(question.key, question.text_hash, question.pairs, reading=reading)


def _pair(file: Source, line: int, record: Mapping[str, Any]) -> tuple[str, str]:
    query, document = record.get("query_id"), record.get("document_id")
    if not isinstance(query, str) or not isinstance(document, str):
        raise file.error(line, "it names no pair", "Give every record query_id and document_id.")
    return query, document


def _reading(file: Source, line: int, record: Mapping[str, Any]) -> Reading:
    try:
        return read_answer(BINARY, json.dumps(record))
    except MalformedAnswerError as error:
        raise file.error(line, str(error), "Give every record relevant, true or false.") from None
