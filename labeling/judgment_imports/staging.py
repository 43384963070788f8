"""A file of judgments in a table of this connection alone: checked, with its queries found, and no lock."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings

from labeling.models import Prelabeler
from pooling.formats.errors import excerpt
from pooling.formats.judgments.records import (
    CANNOT_JUDGE,
    LEAVE_OUT,
    USUAL_VALUES,
    JudgmentRecord,
    Names,
    read_map,
    sentence_on_passed,
    utc_text,
    verdict_of,
)
from pooling.formats.judgments.registry import JUDGMENT_FORMATS, read_judgments
from pooling.formats.sources import Source
from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.storage.staging import Staged
from pooling.storage.storing import check_id, check_text
from pooling.texts.by_text import MOST_NAMED, QueryLookup

USUAL_WORDS = (
    "1, relevant, yes and true are relevant; 0, not relevant, irrelevant, no and false are not; "
    "“cannot judge” is can't judge."
)


@dataclass(frozen=True)
class ImportChoices:
    """Choices for reading a file of judgments.

    map: `VALUE=VERDICT` by commas or lines, instead of the usual values. accounts: people of the file who
    have the user name or email of an annotator or admin of the collection are that person. query_field,
    document_field, question: where the file has what, if not under a usual name.
    """

    format: str = "soundings"
    map: str = ""
    accounts: bool = False
    query_field: str = ""
    document_field: str = ""
    question: str = ""

    @property
    def names(self) -> Names:
        return Names(self.query_field, self.document_field, self.question)

    def values(self) -> dict[str, str]:
        """Meaning of each value; `InputError` for a map that cannot be read."""
        if self.format not in JUDGMENT_FORMATS:
            problem = f"There is no format “{self.format}”. Choose one of {', '.join(JUDGMENT_FORMATS)}."
            raise InputError(problem, field="format")
        pairs = [pair for pair in re.split(r"[,\n]", self.map) if pair.strip()]
        if pairs and not JUDGMENT_FORMATS[self.format].has_values:
            raise InputError("A file of Soundings has verdicts already; leave the map out.", field="map")
        try:
            own = read_map(pairs)
        except ValueError as error:
            raise InputError(f"The map cannot be read: {error}.", field="map") from None
        # What the tool itself calls unrateable stays so under any map.
        return {"cannot judge": "cannot_judge", **own} if own else dict(USUAL_VALUES)


STAGED_JUDGMENT = {
    "seq": "whole",
    "line": "whole",
    "query": "whole",
    "document": "text",
    "name": "whole",
    "person": "whole",
    "queue": "whole",
    "kind": "text",
    "verdict": "text",
    "reason": "text",
    "note": "text",
    "said_at": "text",
    "active_ms": "whole",
    "shown": "text",
    "highlight": "text",
    "document_version": "whole",
    "span_start": "whole",
    "span_end": "whole",
    "span_sha256": "text",
    "prelabel_seen": "text",
    "prelabeler": "whole",
    "is_extra": "flag",
    "is_adjudication": "flag",
    "state": "text",
    "is_aside": "flag",
    "is_gold": "flag",
    "number": "whole",
    "undoes": "whole",
    "repeats": "whole",
    "origin": "json",
    "title": "text",
    "body": "text",
    # Found once everything is read.
    "stood": "text",
    "document_key": "whole",
    "id": "whole",
}
LATER = (None, None, None)
BATCH = 5000
LONGEST_PERSON, MOST_PEOPLE, MOST_QUEUES = 120, 10_000, 1_000
#: An own file has all that these say of a pre-label; the row of a model is looked up, else it is kept as is.
PRELABEL = ("prelabel_model", "prelabel_prompt", "prelabel_prompt_version", "prelabel_prompt_hash")


@dataclass
class Read:
    """A file's people and queues, numbered -1, -2, … in its order, and what was passed over."""

    people: dict[str, int] = field(default_factory=dict)
    queues: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    left_out: int = 0
    by_map: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    remarks: set[str] = field(default_factory=set)
    passed: Counter[str] = field(default_factory=Counter)
    links: bool = False


def _query(queries: QueryLookup, record: JudgmentRecord) -> int | None:
    """The key of a record's query; with a text, that of an id counts where no query has the text."""
    match = queries.with_text(record.query, record.line) if record.by_text else None
    return match[1] if match else queries.by_id.get(record.query)


def stage_file(
    collection: Collection, path: Path, stage: Staged, choices: ImportChoices, *, file_name: str | None = None
) -> Read:
    """Fill the table from a file; `FormatError` or `InputError` for the first thing that is wrong in it."""
    place = file_name or path.name
    values, read = choices.values(), Read()
    source = Source(path, place)
    queries = QueryLookup(collection, place)
    models = _models(collection)
    records = read_judgments(
        path, choices.format, choices.names, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES
    )

    def rows() -> Iterator[tuple[Any, ...]]:
        for record in records:
            if record.passed:
                read.passed[record.passed] += 1
                continue
            verdict = verdict_of(record, values, place) if record.value else ""
            if record.own:
                verdict = record.own["verdict"]
            if verdict == LEAVE_OUT:
                read.by_map += 1
                continue
            query = _query(queries, record)
            if query is None:
                read.left_out += 1
                read.unknown[record.query] = record.line
                if len(read.unknown) > BATCH:
                    read.unknown.popitem()
                continue
            read.rows += 1
            if record.remark:
                read.remarks.add(record.remark)
            yield _row(source, record, verdict, query=query, read=read, models=models)

    waiting = rows()
    while batch := list(islice(waiting, BATCH)):
        stage.add(batch)
    if not read.rows:
        raise InputError(_no_query_here(collection, read, place))
    stage.settle()
    return read


def notes_of(read: Read) -> list[str]:
    notes = sorted(read.remarks) + ([sentence_on_passed(read.passed)] if read.passed else [])
    if read.unknown:
        some = ", ".join(excerpt(name, 40) for name in list(read.unknown)[:MOST_NAMED])
        more = ", …" if len(read.unknown) > MOST_NAMED else ""
        notes.append(
            f"Left out: {counted(read.left_out, 'judgment')} of queries that the collection does not have "
            f"({some}{more})."
        )
    if read.by_map:
        notes.append(f"Left out by the map: {counted(read.by_map, 'judgment')}.")
    return notes


def _no_query_here(collection: Collection, read: Read, place: str) -> str:
    if not read.unknown:
        return f"{place}: the map leaves out every judgment of this file."
    some = ", ".join(excerpt(name, 40) for name in list(read.unknown)[:MOST_NAMED])
    more = ", …" if len(read.unknown) > MOST_NAMED else ""
    problem = f"“{collection.slug}” has none of this file's queries ({some}{more})"
    return f"{place}: {problem}. Import its queries first."


def _models(collection: Collection) -> dict[tuple[Any, ...], int]:
    fields = ("model", "prompt", "prompt_version", "prompt_hash", "pk")
    rows = Prelabeler.objects.filter(collection=collection).order_by("pk").values_list(*fields)
    return {row[:-1]: row[-1] for row in rows}


def _row(
    source: Source,
    record: JudgmentRecord,
    verdict: str,
    *,
    query: int,
    read: Read,
    models: Mapping[tuple[Any, ...], int],
) -> tuple[Any, ...]:
    place = f"{source.display_name}, line {record.line}"
    check_id(record.document, "document", place)
    check_text(place, "document", record.document, record.note, record.title, record.text or "", metadata={})
    own = record.own or {}
    person = _number(source, record.line, read.people, record.annotator, what="annotator")
    if own.get("undoes") or own.get("repeats"):
        read.links = True
    model, origin = _model(own, models)
    if own.get("is_gold"):
        origin["is_gold"] = True
    return (
        *(read.rows - 1, record.line, query, record.document, person, person),
        _number(source, record.line, read.queues, own.get("queue") or "", what="queue"),
        *(own.get("kind", "verdict"), verdict, _reason(record, verdict), record.note),
        utc_text(source, record.line, record.time) if record.time else None,
        record.active_ms,
        *(own.get("shown") or "", own.get("highlight") or "", own.get("document_version")),
        *(own.get("evidence_start"), own.get("evidence_end"), own.get("evidence_sha256") or ""),
        *(own.get("prelabel_seen") or ("before" if record.saw else "never"), model),
        *(bool(own.get("is_extra")), bool(own.get("is_adjudication")), own.get("state") or ""),
        *(bool(own.get("is_set_aside")), bool(own.get("is_gold"))),
        *(own.get("event"), own.get("undoes"), own.get("repeats")),
        json.dumps(origin) if origin else None,
        *(record.title, record.text),
        *LATER,
    )


def _reason(record: JudgmentRecord, verdict: str) -> str:
    """Here nobody says that they cannot judge without saying why."""
    return record.reason or ("other" if verdict == CANNOT_JUDGE and not record.own else "")


def _number(source: Source, line: int, numbers: dict[str, int], name: str, *, what: str) -> int:
    number = numbers.get(name)
    if number is not None:
        return number
    if what == "annotator":
        if not name.strip() or not name.isprintable() or len(name) > LONGEST_PERSON:
            problem = f"the annotator {excerpt(name)} is empty, too long or not printable"
            raise source.error(line, problem, f"Use names of at most {LONGEST_PERSON} characters.")
        check_id(name, "annotator", f"{source.display_name}, line {line}")
    most = MOST_PEOPLE if what == "annotator" else MOST_QUEUES
    if len(numbers) >= most:
        raise source.error(line, f"more than {most:,} {what}s", "Check which column names them.")
    return numbers.setdefault(name, -1 - len(numbers))


def _model(
    own: Mapping[str, Any], models: Mapping[tuple[Any, ...], int]
) -> tuple[int | None, dict[str, object]]:
    """The row of the model whose pre-label was seen, and what has to be kept of it as it is."""
    if not own.get("prelabel_model"):
        return None, {}
    values = [own.get(name) for name in PRELABEL]
    key = models.get((values[0], values[1] or "", values[2] or 0, values[3] or ""))
    origin = {} if key else {name: own[name] for name in PRELABEL if own.get(name) is not None}
    if own.get("prelabel_verdict"):
        origin["prelabel_verdict"] = own["prelabel_verdict"]
    return key, origin
