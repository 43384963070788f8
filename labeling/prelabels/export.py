"""Pre-labels as a separate file, which says in every row that no person said it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypedDict

from django.utils.text import slugify

from labeling.models import Prelabel, Prelabeler, Queue, Verdict
from labeling.models.prelabels import PrelabelQuerySet
from pooling.formats.registry import line_writers
from pooling.interface.problems import InputError

FORMATS = (*line_writers(), "trec")


def source_of(prelabeler: Prelabeler) -> str:
    """Kind, model, prompt and the beginning of its hash, without blanks."""
    parts = ["llm", prelabeler.model]
    if prelabeler.prompt:
        parts += [f"{prelabeler.prompt}-v{prelabeler.prompt_version}", prelabeler.prompt_hash[:8]]
    return re.sub(r"\s+", "_", ":".join(parts))


def export_prelabels(queue: Queue, prelabeler: Prelabeler, format: str = "csv") -> bytes:
    """The pre-labels of a queue's pairs in the order of their ids, bytewise, in UTF-8; without those of
    deleted queries and documents.

    In `trec`, the second of the four columns is the source; trec_eval does not read it. `InputError` for
    another format, for none to write, and in `trec` for an id with a blank.
    """
    if format not in FORMATS:
        problem = f"There is no format “{format}”. Choose one of {', '.join(FORMATS)}."
        raise InputError(problem, field="format")
    rows = list(_rows(queue, prelabeler))
    if not rows:
        raise InputError(f"There are no pre-labels of {prelabeler} in “{queue.name}”.", missing=True)
    if format == "trec":
        return "".join(map(_trec_line, rows)).encode()
    return "".join(line_writers()[format](COLUMNS, rows)).encode()


def prelabels_file_name(queue: Queue, prelabeler: Prelabeler, format: str) -> str:
    suffix = ".qrels" if format == "trec" else f".{format}"
    words = slugify(f"{queue.collection.slug}-{queue.name}-{prelabeler.model}-{prelabeler.prompt}")
    return (words[:120] or f"prelabels-{prelabeler.pk}") + ".prelabels" + suffix


def prelabeler_named(queue: Queue, model: str, prompt: str | None = None) -> Prelabeler:
    return newest_named(Prelabel.objects.in_queue(queue), model, prompt, queue.name)


def newest_named(prelabels: PrelabelQuerySet, model: str, prompt: str | None, where: str) -> Prelabeler:
    """The newest prelabeler of a model and prompt among pre-labels; `InputError` names `where`, for none."""
    rows = prelabels.filter(prelabeler__model=model)
    if prompt is not None:
        rows = rows.filter(prelabeler__prompt=prompt)
    newest = Prelabeler.objects.filter(pk__in=rows.values("prelabeler")).first()
    if newest is None:
        name = f"“{model}”" + (f" with the prompt “{prompt}”" if prompt else "")
        raise InputError(f"There are no pre-labels by {name} in “{where}”.", missing=True)
    return newest


class PrelabelRow(TypedDict):
    """A pre-label as it is exported; `relevance` is 1 or 0, `source` names model and prompt."""

    query_id: str
    document_id: str
    relevance: int
    source: str
    score: float | None
    grade: int | None


COLUMNS = tuple(PrelabelRow.__annotations__)


def _rows(queue: Queue, prelabeler: Prelabeler) -> Iterator[PrelabelRow]:
    source = source_of(prelabeler)
    prelabels = Prelabel.objects.filter(prelabeler=prelabeler).current().in_queue(queue)
    fields = ("query__external_id", "document__external_id", "verdict", "score", "grade")
    rows = list(prelabels.values_list(*fields).iterator())
    rows.sort(key=lambda row: (row[0].encode(), row[1].encode()))
    for query, document, verdict, score, grade in rows:
        yield {
            "query_id": query,
            "document_id": document,
            "relevance": int(verdict == Verdict.RELEVANT),
            "source": source,
            "score": score,
            "grade": grade,
        }


def _trec_line(row: PrelabelRow) -> str:
    query, document = row["query_id"], row["document_id"]
    for identifier in (query, document):
        if any(letter in identifier for letter in " \t\r\n"):
            raise InputError(
                f"The id “{identifier}” contains a blank, which TREC files do not allow. Choose csv."
            )
    return f"{query} {row['source']} {document} {row['relevance']}\n"
