"""Single judgments as a file: a row for each event, so that what was revised or undone is there as well.

A file of labels says what people agreed on; this one says who said what, when, of which text, and whether a
pre-label had been seen. It is read a batch at a time and never held whole. It holds which verdicts answered
gold questions, but no answers to these.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict

from django.db.models import Exists, Max, OuterRef, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.utils.crypto import salted_hmac
from django.utils.text import slugify

from labeling.models import Judgment, JudgmentEvent, PrelabelSight, Queue
from labeling.models.words import SAME_PAIR, THERE
from pooling.formats.registry import line_writers
from pooling.interface.problems import InputError
from pooling.models import Collection

FORMATS = line_writers()
BATCH = 2000


class JudgmentRow(TypedDict):
    """An event of a collection, as COLUMNS.

    `state` is of verdicts alone: `stands`, `replaced` by a later one, `undone`, or `repeat` (the same person
    again, which never stands). `counts`: whether labels count it now; not what answers a gold question, nor
    what a quarantine `is_set_aside`. `prelabel_verdict` is as it was shown, `time` in ISO format.
    """

    event: int
    queue: str
    query_id: str
    document_id: str
    document_version: int | None
    annotator: str
    kind: str
    verdict: str
    reason: str
    note: str
    state: str
    undoes: int | None
    repeats: int | None
    counts: bool
    is_set_aside: bool
    is_extra: bool
    is_adjudication: bool
    is_gold: bool
    time: str
    active_ms: int | None
    shown: str
    prelabel_seen: str
    prelabel_model: str | None
    prelabel_prompt: str | None
    prelabel_prompt_version: int | None
    prelabel_prompt_hash: str | None
    prelabel_verdict: str | None
    evidence_start: int | None
    evidence_end: int | None
    evidence_sha256: str
    highlight: str


COLUMNS = tuple(JudgmentRow.__annotations__)
# Where a column is read from, if that is not called the same.
SOURCES = {
    "event": "pk",
    "queue": "queue__name",
    "query_id": "query__external_id",
    "document_id": "document__external_id",
    "annotator": "annotator__username",
    "is_extra": "extra",
    "is_gold": "gold_id",
    "time": "created_at",
    "prelabel_model": "prelabeler__model",
    "prelabel_prompt": "prelabeler__prompt",
    "prelabel_prompt_version": "prelabeler__prompt_version",
    "prelabel_prompt_hash": "prelabeler__prompt_hash",
    "evidence_start": "span_start",
    "evidence_end": "span_end",
    "evidence_sha256": "span_sha256",
}
FIELDS = {name: SOURCES.get(name, name) for name in COLUMNS if name != "state"}
MORE = ("annotator_id", "annotator__imported_annotator__name", "said_at", "origin", "stands", "is_undone")


def judgment_rows(
    collection: Collection, queue: Queue | None = None, *, anonymous: bool = False
) -> Iterator[JudgmentRow]:
    """The events of a collection, or of one queue of it, in the order in which they were stored.

    Those of deleted queries, documents and imports are left out, and come back when these are restored. What
    was imported has the time and the names of where it was said. `anonymous` names people by
    `pseudonym`. What is stored after the first row was read is left out. One statement for each batch.
    """
    events = _events(collection, queue)
    newest = events.aggregate(newest=Max("pk"))["newest"] or 0
    events = events.filter(pk__lte=newest).annotate(**_looked_up()).order_by("pk")
    fields = (*FIELDS.values(), *MORE)
    taken: Container[str] | None = None
    last = 0
    while batch := list(events.filter(pk__gt=last).values(*fields)[:BATCH]):
        for values in batch:
            name, elsewhere = values["annotator__username"], values["annotator__imported_annotator__name"]
            if elsewhere:
                taken = _names_taken(collection) if taken is None else taken
                name = name if elsewhere in taken else elsewhere
            yield _row(values, pseudonym(collection, values["annotator_id"]) if anonymous else name)
        last = batch[-1]["pk"]


def _events(collection: Collection, queue: Queue | None) -> QuerySet[JudgmentEvent]:
    events = JudgmentEvent.objects.filter(collection=collection, brought_by__deleted_at=None, **THERE)
    return events.filter(queue=queue) if queue else events


def export_judgments(
    collection: Collection, format: str = "csv", queue: Queue | None = None, *, anonymous: bool = False
) -> Iterator[bytes]:
    """`judgment_rows` as pieces of a file of FORMATS, in UTF-8; `InputError` at once for another format, and
    where there is no row.

    In tables a text that begins like a formula, or with ', has one ' before it (`pooling.formats.cells`).
    """
    if format not in FORMATS:
        problem = f"There is no format “{format}”. Choose one of {', '.join(FORMATS)}."
        raise InputError(problem, field="format")
    if not _events(collection, queue).exists():
        name = queue.name if queue else collection.slug
        raise InputError(f"There are no judgments of pairs in “{name}”, so the file would be empty.")
    rows = judgment_rows(collection, queue, anonymous=anonymous)
    return _in_pieces(FORMATS[format](COLUMNS, rows))


def format_of(path: Path) -> str:
    """The format that a file's name asks for; `InputError` for a suffix that is none of them."""
    name = path.name.lower().removesuffix(".gz")
    format = name.rpartition(".")[2] if "." in name else ""
    if format not in FORMATS:
        suffixes = ", ".join(f".{one}" for one in FORMATS)
        raise InputError(f"{path}: the suffix says the format, and is one of {suffixes}, also with .gz.")
    return format


def judgments_file_name(collection: Collection, format: str, queue: Queue | None = None) -> str:
    words = slugify(f"{collection.slug}-{queue.name}" if queue else collection.slug)
    return (words[:120] or f"collection-{collection.pk}") + f".judgments.{format}"


def pseudonym(collection: Collection, annotator: int) -> str:
    """A lasting name for a person in a collection, untraceable without the installation's secret key."""
    digest = salted_hmac("labeling.judgment_export", f"{collection.pk}:{annotator}", algorithm="sha256")
    return f"annotator-{digest.hexdigest()[:12]}"


def _looked_up() -> dict[str, Combinable]:
    standing = Judgment.objects.filter(event=OuterRef("pk"))
    seen = PrelabelSight.objects.filter(
        **SAME_PAIR, annotator=OuterRef("annotator"), prelabeler=OuterRef("prelabeler")
    )
    return {
        "stands": Exists(standing),
        "counts": Exists(standing.counted()),
        "is_set_aside": Exists(standing.filter(quarantine__isnull=False)),
        "is_undone": Exists(JudgmentEvent.objects.filter(undoes=OuterRef("pk"))),
        "prelabel_verdict": Subquery(seen.values("verdict")[:1]),
    }


def _names_taken(collection: Collection) -> set[str]:
    """Names of imported annotators that an account has as well which judged here: files tell these apart."""
    judged = collection.judgment_events.filter(
        annotator__username__in=collection.imported_annotators.values("name")
    )
    return set(judged.order_by().values_list("annotator__username", flat=True).distinct())


def _row(values: Mapping[str, Any], name: str) -> JudgmentRow:
    origin = values["origin"] or {}
    row: Any = {column: values[field] for column, field in FIELDS.items()}
    # What elsewhere has no row here stands in the event.
    row |= {column: origin[column] for column in origin.keys() & FIELDS.keys()}
    row |= {
        "annotator": name,
        "state": _state(values),
        "is_gold": values["gold_id"] is not None or "is_gold" in origin,
        "time": (values["said_at"] or values["created_at"]).isoformat(),
    }
    return {column: row[column] for column in COLUMNS}  # type: ignore[return-value]


def _state(values: Mapping[str, Any]) -> str:
    if values["kind"] != JudgmentEvent.Kind.VERDICT:
        return ""
    if values["is_undone"]:
        return "undone"
    if values["repeats"] is not None:
        return "repeat"
    return "stands" if values["stands"] else "replaced"


def _in_pieces(lines: Iterable[str]) -> Iterator[bytes]:
    piece: list[str] = []
    for line in lines:
        piece.append(line)
        if len(piece) >= BATCH:
            yield "".join(piece).encode()
            piece.clear()
    if piece:
        yield "".join(piece).encode()
