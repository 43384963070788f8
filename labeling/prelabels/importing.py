"""Pre-labels made elsewhere: matched to the pairs of a queue, stored as a pass, and taken back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from labeling.models import Prelabel, Prelabeler, PrelabelFailure, PrelabelJob, Queue, Verdict
from labeling.prelabels.options import DEFAULT_THRESHOLD, hash_of
from labeling.prelabels.work import sha256_of_texts
from pooling.formats.errors import FormatError, excerpt
from pooling.formats.judgments.prelabels import (
    HIGHEST_GRADE,
    PRELABEL_FORMATS,
    PrelabelRecord,
    read_prelabels,
)
from pooling.formats.judgments.records import sentence_on_passed
from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.interface.results import PAGE_ONLY, Imported, Progress
from pooling.logs.drawing import query_key
from pooling.models import Collection
from pooling.people.activity_log import record_action
from pooling.storage.imports import Showing, importer
from pooling.storage.storing import disk_errors_named, tell_the_planner

MOST_NAMED = 5
#: Of each format the usual threshold and the largest; of clicks, how many of 100 who look at a document.
THRESHOLDS = {
    "soundings": (DEFAULT_THRESHOLD, HIGHEST_GRADE),
    "umbrela": (DEFAULT_THRESHOLD, HIGHEST_GRADE),
    "clicks": (50, 99),
}
BATCH = 2000


@dataclass(frozen=True)
class PrelabelChoices:
    """Choices for reading a file of pre-labels.

    model: what to call it, instead of the file's name for it. threshold: from where on it is relevant, where
    only a grade or a share of clicks says it, see THRESHOLDS; None is the usual one.
    """

    format: str = "soundings"
    model: str = ""
    threshold: int | None = None

    def checked_threshold(self) -> int:
        """The threshold; `InputError` for one out of range, and for a format that there is not."""
        if self.format not in PRELABEL_FORMATS:
            problem = f"There is no format “{self.format}”. Choose one of {', '.join(PRELABEL_FORMATS)}."
            raise InputError(problem, field="format")
        usual, most = THRESHOLDS[self.format]
        least = usual if self.threshold is None else self.threshold
        if not 1 <= least <= most:
            raise InputError(f"The threshold is 1 to {most}, not {least}.", field="threshold")
        return least


class Target(NamedTuple):
    query: int
    document: int
    version: int
    text_hash: str


@dataclass
class Matches:
    """The pairs of a queue by what records name them with: ids, texts, or the `query_key` of the query and
    the document's id; and the records that are left out, by reason. threshold: of clicks, a share."""

    threshold: float
    pairs: dict[tuple[str, str, str], set[Target]] = field(default_factory=lambda: defaultdict(set))
    keys: set[str] = field(default_factory=set)
    passed: Counter[str] = field(default_factory=Counter)
    strangers: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    ambiguous: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)

    def find(self, record: PrelabelRecord) -> Target | None:
        """The pair of a record, or None with a note of why there is none."""
        if record.passed:
            self.passed[record.passed] += 1
            return None
        query, on_line = excerpt(record.query, 40), f"on line {record.line}"
        name = f"{query} × {excerpt(record.document, 40)} {on_line}"
        names = ("id", record.query, record.document)
        if record.by_text:
            names = ("text", _plain(record.query), _plain(record.document))
        if record.by_key:
            names = ("key", query_key(record.query), record.document)
            if names[1] not in self.keys:
                self.strangers.setdefault(names[1], f"{query} {on_line}")
                return None
        targets = self.pairs.get(names, set())
        if len(targets) != 1:
            (self.ambiguous if targets else self.unknown).append(name)
            return None
        if record.limits and record.limits[0] < self.threshold <= record.limits[1]:
            self.undecided.append(name)
            return None
        return next(iter(targets))

    def notes(self) -> list[str]:
        """A sentence for each reason to leave records out, with MOST_NAMED names at most."""
        left_out = (
            ("query", "whose text no query of this queue has", list(self.strangers.values())),
            ("pair", "that this queue does not have", self.unknown),
            ("pair", "whose texts several pairs of this queue have", self.ambiguous),
            ("pair", f"whose interval reaches across {self.threshold:g}", self.undecided),
        )
        sentences = [
            f"Left out: {counted(len(names), noun)} {why} ({', '.join(names[:MOST_NAMED])}"
            + (", …)." if len(names) > MOST_NAMED else ").")
            for noun, why, names in left_out
            if names
        ]
        return [*([sentence_on_passed(self.passed)] if self.passed else []), *sentences]


@dataclass(frozen=True)
class PrelabelsImported(Imported):
    """Result of an import of pre-labels."""

    pass_id: Annotated[
        int, "Withdraw this pass to take the import back; null in a preview.", {"allow_null": True}
    ]
    model: str
    rows: Annotated[int, "Pre-labels that it brought."]
    failed: Annotated[int, "Answers that could not be read."]
    notes: list[str]
    prelabeler: Annotated[str, PAGE_ONLY]

    def __str__(self) -> str:
        failed = f", {counted(self.failed, 'answer')} not readable" if self.failed else ""
        return f"{counted(self.rows, 'pre-label')} of {self.prelabeler}{failed}"


def import_prelabels(
    queue: Queue,
    path: Path,
    choices: PrelabelChoices | None = None,
    *,
    user: User | None = None,
    file_name: str | None = None,
) -> PrelabelsImported:
    """Store what a model said elsewhere of pairs of a queue, as a finished pass of that model.

    Answers that could not be read are failures, never labels. `InputError` for several models in one file,
    for a pair twice, for none that the queue has, and where this model has pre-labels of these pairs already.
    """
    choices = choices or PrelabelChoices()
    place = file_name or Path(path).name
    threshold = choices.checked_threshold()
    read = read_prelabels(path, choices.format, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES)
    matches = _matches(queue, threshold)
    records: dict[Target, PrelabelRecord] = {}
    way: tuple[str, tuple[str, int, str]] | None = None
    for record in read:
        origin = (choices.model.strip() or record.model, record.prompt)
        way = way or origin
        if origin != way:
            problem = f"the model is {excerpt(record.model)} here and {excerpt(way[0])} before"
            raise FormatError(place, record.line, problem, "Import a file for each model and prompt.")
        target = matches.find(record)
        if target is None:
            continue
        if target in records:
            problem = f"the pair of line {records[target].line} again"
            raise FormatError(place, record.line, problem, "Give every pair once.")
        records[target] = record
    if not records or way is None:
        raise InputError(f"{place}: no pair of this file is in “{queue.name}”. {' '.join(matches.notes())}")
    with disk_errors_named(), transaction.atomic():
        prelabeler = _prelabeler(queue, way, choices, user)
        job = _store(queue, prelabeler, records, place=place, threshold=threshold, user=user)
    page = reverse("prelabels", args=[queue.pk])
    counts = (job.pk, prelabeler.model, job.answered_count, job.failed_count)
    return PrelabelsImported(*counts, matches.notes(), str(prelabeler), page=page)


def withdraw_prelabels(job: PrelabelJob, *, by: User | None = None) -> int:
    """Take an import of pre-labels back; how many these were. `InputError` while the model is used."""
    prelabeler = job.prelabeler
    if not prelabeler.is_from_file:
        raise InputError("This pass asked a model; only imported pre-labels are taken back.", conflict=True)
    queues = Queue.objects.filter(prelabeler=prelabeler) | Queue.objects.filter(selection__prior=prelabeler)
    if used := queues.first():
        raise InputError(
            f"Queue “{used.name}” uses the pre-labels of {prelabeler}. Change that first.", conflict=True
        )
    with transaction.atomic():
        gone, _ = Prelabel.objects.filter(job=job).delete()
        PrelabelFailure.objects.filter(job=job).delete()
        record_action(job.queue.collection, by, "import of pre-labels taken back", prelabeler, prelabels=gone)
        job.delete()
    return gone


def _matches(queue: Queue, threshold: int) -> Matches:
    """Everything that a record may mean; title and text are matched with and without the title."""
    matches = Matches(threshold / 100)
    items = queue.items.filter(repeats=None, query__deleted_at=None, document__deleted_at=None).order_by("pk")
    fields = (
        *("query", "document", "document__version", "query__external_id", "document__external_id"),
        *("query__text", "document__title", "document__text"),
    )
    for query, document, version, query_id, document_id, query_text, title, text in items.values_list(
        *fields
    ).iterator(chunk_size=BATCH):
        target = Target(query, document, version, sha256_of_texts(title, text or ""))
        key = query_key(query_text)
        matches.keys.add(key)
        matches.pairs["id", query_id, document_id].add(target)
        matches.pairs["key", key, " ".join(document_id.split())].add(target)
        for passage in {_plain(text or ""), _plain(f"{title} {text or ''}")} - {""}:
            matches.pairs["text", _plain(query_text), passage].add(target)
    return matches


def _plain(text: str) -> str:
    """A text as texts are compared: how it is broken into lines does not matter."""
    return " ".join(text.split())


def _prelabeler(
    queue: Queue, way: tuple[str, tuple[str, int, str]], choices: PrelabelChoices, user: User | None
) -> Prelabeler:
    model, (prompt, version, hash) = way
    options: dict[str, Any] = {"format": choices.format}
    if choices.format != "soundings":
        options["threshold"] = choices.checked_threshold()
    prelabeler, _ = Prelabeler.objects.get_or_create(
        {"options": options, "prompt_version": version, "created_by": user},
        collection=queue.collection,
        source=Prelabeler.Source.CLICKS if choices.format == "clicks" else Prelabeler.Source.IMPORTED,
        model=model,
        base_url="",
        prompt=prompt,
        prompt_hash=hash,
        options_hash=hash_of(options),
    )
    return prelabeler


def _store(
    queue: Queue,
    prelabeler: Prelabeler,
    records: dict[Target, PrelabelRecord],
    *,
    place: str,
    threshold: int,
    user: User | None,
) -> PrelabelJob:
    _refuse_second_answers(prelabeler, records, place)
    now = timezone.now()
    failed = sum(record.failed for record in records.values())
    job = PrelabelJob.objects.create(
        queue=queue,
        prelabeler=prelabeler,
        state=PrelabelJob.State.DONE,
        detail=f"Imported from {place}.",
        pair_count=len(records),
        answered_count=len(records) - failed,
        failed_count=failed,
        created_by=user,
        started_at=now,
        finished_at=now,
    )
    mine: dict[str, Any] = {"prelabeler": prelabeler, "job": job}
    Prelabel.objects.bulk_create(
        (
            Prelabel(
                **mine,
                query_id=target.query,
                document_id=target.document,
                verdict=Verdict.RELEVANT if _is_relevant(record, threshold) else Verdict.NOT_RELEVANT,
                score=_score(record),
                score_source=_score_source(record),
                grade=record.grade,
                reasoning=record.reasoning,
                text_hash=target.text_hash,
                document_version=target.version,
                answer_key="",
                created_at=now,
            )
            for target, record in records.items()
            if not record.failed
        ),
        batch_size=BATCH,
    )
    tell_the_planner(Prelabel, len(records))
    PrelabelFailure.objects.bulk_create(
        (
            PrelabelFailure(
                **mine,
                query_id=target.query,
                document_id=target.document,
                reason=PrelabelFailure.Reason.MALFORMED,
                detail="The file says that the answer was not understood.",
                document_version=target.version,
                failed_at=now,
            )
            for target, record in records.items()
            if record.failed
        ),
        batch_size=BATCH,
    )
    facts = {"queue": queue.name, "prelabels": job.answered_count, "failed": failed}
    record_action(queue.collection, user, "pre-labels imported", prelabeler, **facts)
    return job


def _refuse_second_answers(prelabeler: Prelabeler, targets: Iterable[Target], place: str) -> None:
    pairs = {(target.query, target.document) for target in targets}
    queries = {query for query, _ in pairs}
    answers = Prelabel.objects.filter(prelabeler=prelabeler, query__in=queries).values_list(
        "query", "document"
    )
    failed = PrelabelFailure.objects.filter(prelabeler=prelabeler, query__in=queries).order_by()
    both = pairs & {*answers, *failed.values_list("query", "document")}
    if both:
        raise InputError(
            f"{place}: {prelabeler} has pre-labels of {counted(len(both), 'pair')} of this file already. "
            "Take that import back first, or give the model another name.",
            conflict=True,
        )


def _is_relevant(record: PrelabelRecord, threshold: int) -> bool:
    if record.limits is not None:
        return record.limits[0] >= threshold / 100
    return record.relevant if record.relevant is not None else (record.grade or 0) >= threshold


def _score(record: PrelabelRecord) -> float | None:
    if record.score is None and record.grade is not None:
        return record.grade / HIGHEST_GRADE
    return record.score


def _score_source(record: PrelabelRecord) -> str:
    if record.score is not None:
        return Prelabel.ScoreSource.IMPORTED
    return Prelabel.ScoreSource.NONE if record.grade is None else Prelabel.ScoreSource.GRADE


@importer("prelabels", showing=Showing(lambda collection, path, file_name: ()), title="Importing pre-labels")
def _prelabels(
    collection: Collection,
    path: Path,
    *,
    file_name: str,
    user: User | None,
    progress: Progress,
    queue: int,
    **options: Any,
) -> PrelabelsImported:
    target = Queue.objects.get(collection=collection, pk=queue)
    return import_prelabels(target, path, PrelabelChoices(**options), file_name=file_name, user=user)
