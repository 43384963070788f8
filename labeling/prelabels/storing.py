"""The one writer of pre-labels and of failures: in batches, with the counts and costs of their pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NotRequired, TypedDict

from django.db import transaction
from django.utils import timezone

from labeling.models import Prelabel, PrelabelFailure, PrelabelJob, Verdict
from labeling.prelabels.model_answers import Reading
from labeling.prelabels.options import DEFAULT_THRESHOLD
from labeling.prelabels.work import QuestionOutcome
from pooling.storage.storing import plain_rows, upsert_rows

BATCH = 200
PAIR = ("prelabeler", "query", "document")
FIELDS = (
    *(*PAIR, "verdict", "score", "score_source", "grade", "reasoning", "text_hash", "document_version"),
    *("answer_key", "input_tokens", "output_tokens", "cost", "job", "created_at"),
)
CHANGED_BY_FAILURE = ("reason", "detail", "attempts", "cost", "document_version", "job", "failed_at")


def store_outcomes(
    job: PrelabelJob, outcomes: Sequence[QuestionOutcome], *, offset: int | None = None, **facts: Any
) -> str:
    """Store what came of questions, with what the pass counts, in one transaction; returns what admins ask.

    `offset` is how far the journal is in the database then, `facts` are other fields of the pass. The counts
    of `job` follow. A pair that has an answer is no failure any more.
    """
    now = timezone.now()
    answered = [outcome for outcome in outcomes if outcome.reading]
    failed = [outcome for outcome in outcomes if not outcome.reading]
    counts = _counts(job, outcomes)
    if offset is not None:
        counts["journal_offset"] = offset
    prelabels = _prelabels(job, answered, now)
    rows = plain_rows(FIELDS, prelabels)
    with transaction.atomic():
        # Two passes of one prelabeler never run at a time, so no pair is locked by another.
        this = PrelabelJob.objects.filter(pk=job.pk)
        this.update(seen_at=now, **counts, **facts)
        upsert_rows(Prelabel, FIELDS, rows, unique=PAIR)
        _end_failures(job, prelabels)
        _store_failures(job, failed, now)
        command = this.values_list("asked", flat=True).get()
    for name, value in {**counts, **facts}.items():
        setattr(job, name, value)
    return command


class _Counts(TypedDict):
    answered_count: int
    cached_count: int
    failed_count: int
    input_tokens: int
    output_tokens: int
    cost: Decimal
    uncertain_cost: Decimal
    answer_seconds: float
    journal_offset: NotRequired[int]


def _counts(job: PrelabelJob, outcomes: Sequence[QuestionOutcome]) -> _Counts:
    def pairs(chosen: Iterable[QuestionOutcome]) -> int:
        return sum(len(outcome.pairs) for outcome in chosen)

    answers = [outcome for outcome in outcomes if outcome.reading and not outcome.is_known]
    return {
        # A question that several pairs share is answered for one of them, and known for the others.
        "answered_count": job.answered_count + len(answers),
        "cached_count": job.cached_count + pairs(o for o in outcomes if o.reading) - len(answers),
        "failed_count": job.failed_count + pairs(o for o in outcomes if not o.reading),
        "input_tokens": job.input_tokens + sum(outcome.input_tokens for outcome in outcomes),
        "output_tokens": job.output_tokens + sum(outcome.output_tokens for outcome in outcomes),
        "cost": job.cost + sum((outcome.cost for outcome in outcomes), Decimal(0)),
        "uncertain_cost": job.uncertain_cost + sum((outcome.uncertain for outcome in outcomes), Decimal(0)),
        "answer_seconds": job.answer_seconds + sum(outcome.seconds for outcome in answers),
    }


def _prelabels(job: PrelabelJob, outcomes: Sequence[QuestionOutcome], now: datetime) -> list[Prelabel]:
    threshold = job.prelabeler.options.get("threshold", DEFAULT_THRESHOLD)
    prelabels = [
        Prelabel(
            prelabeler_id=job.prelabeler_id,
            query_id=pair.query,
            document_id=pair.document,
            verdict=Verdict.RELEVANT if _is_relevant(outcome.reading, threshold) else Verdict.NOT_RELEVANT,
            score=outcome.reading.score,
            score_source=outcome.reading.score_source,
            grade=outcome.reading.grade,
            reasoning=outcome.reading.reasoning,
            text_hash=outcome.text_hash,
            document_version=pair.version,
            answer_key=outcome.key,
            input_tokens=0 if place else outcome.input_tokens,
            output_tokens=0 if place else outcome.output_tokens,
            cost=Decimal(0) if place else outcome.cost,
            job=job,
            created_at=now,
        )
        for outcome in outcomes
        if outcome.reading
        for place, pair in enumerate(outcome.pairs)
    ]
    return sorted(prelabels, key=_pair)


def _end_failures(job: PrelabelJob, prelabels: Sequence[Prelabel]) -> None:
    answered = set(map(_pair, prelabels))
    failures = _failures(job, {document for _, document in answered}) if answered else []
    over = [failure.pk for failure in failures if _pair(failure) in answered]
    if over:
        PrelabelFailure.objects.filter(pk__in=over).delete()


def _store_failures(job: PrelabelJob, outcomes: Sequence[QuestionOutcome], now: datetime) -> None:
    documents = {pair.document for outcome in outcomes for pair in outcome.pairs}
    earlier = {_pair(failure): failure for failure in _failures(job, documents)} if documents else {}
    rows = []
    for outcome in outcomes:
        for place, pair in enumerate(outcome.pairs):
            before = earlier.get((pair.query, pair.document))
            rows.append(
                PrelabelFailure(
                    prelabeler_id=job.prelabeler_id,
                    query_id=pair.query,
                    document_id=pair.document,
                    reason=outcome.reason,
                    detail=outcome.detail,
                    attempts=outcome.attempts + (before.attempts if before else 0),
                    cost=(Decimal(0) if place else outcome.cost) + (before.cost if before else 0),
                    document_version=pair.version,
                    job=job,
                    failed_at=now,
                )
            )
    rows.sort(key=lambda row: (row.query_id, row.document_id))
    PrelabelFailure.objects.bulk_create(
        rows, batch_size=BATCH, update_conflicts=True, unique_fields=PAIR, update_fields=CHANGED_BY_FAILURE
    )


def _failures(job: PrelabelJob, documents: set[int]) -> list[PrelabelFailure]:
    return list(PrelabelFailure.objects.filter(prelabeler=job.prelabeler_id, document__in=documents))


def _pair(row: Prelabel | PrelabelFailure) -> tuple[int, int]:
    return row.query_id, row.document_id


def _is_relevant(reading: Reading, threshold: int) -> bool:
    return reading.grade >= threshold if reading.grade is not None else bool(reading.relevant)
