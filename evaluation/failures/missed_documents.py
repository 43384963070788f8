"""Relevant documents that a run missed: where they came, who found them, and what they say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from django.db.models.functions import Substr

from evaluation.models import Report
from evaluation.report_store.files import relevant_of, run_names
from pooling.interface.results import PAGE_ONLY
from pooling.models import Document
from pooling.pools.serializers import Finder

MOST_DOCUMENTS = 10
MOST_CHARACTERS = 1500


@dataclass(frozen=True)
class Missed:
    """A relevant document outside the run's first K."""

    document_id: str
    title: str
    # Its beginning, and whether it was imported.
    text: Annotated[str, PAGE_ONLY]
    has_text: Annotated[bool, PAGE_ONLY]
    relevance: int
    rank: Annotated[int | None, "Where it came; null: not retrieved."]
    found_by: Annotated[Sequence[Finder], "The others that have it there."]


@dataclass(frozen=True)
class MissedOfQuery:
    """The first of the documents missed, and how many are missed in all."""

    shown: Sequence[Missed]
    count: int

    @property
    def more(self) -> int:
        return self.count - len(self.shown)


@dataclass(frozen=True)
class Text:
    """`text` is the beginning, None where the document has none."""

    title: str
    text: str | None


def missed_documents(report: Report, run: str, k: int, query_ids: Sequence[str]) -> dict[str, MissedOfQuery]:
    """Query -> relevant documents outside a run's first k, by label, then place; one database query."""
    missed_of = dict.fromkeys(query_ids, MissedOfQuery((), 0))
    parts = relevant_of(report, query_ids).partition_by("query_id", as_dict=True)
    missed = {str(key[0]): _missed_rows(report, run, k, rows.to_dicts()) for key, rows in parts.items()}
    first_ids = {row.document_id for rows in missed.values() for row in rows[:MOST_DOCUMENTS]}
    texts = texts_of(report, first_ids)
    for query, rows in missed.items():
        missed_of[query] = MissedOfQuery([_missed(row, texts) for row in rows[:MOST_DOCUMENTS]], len(rows))
    return missed_of


def texts_of(report: Report, document_ids: Iterable[str]) -> dict[str, Text]:
    """Title and the beginning of the text of each document that the collection knows."""
    documents = Document.objects.filter(
        collection_id=report.collection_id, external_id__in=list(document_ids)
    )
    rows = documents.annotate(start=Substr("text", 1, MOST_CHARACTERS + 1))
    return {
        id: Text(title, _cut(text)) for id, title, text in rows.values_list("external_id", "title", "start")
    }


def finders_of(
    row: Mapping[str, Any], names: Sequence[str], k: int, leave_out: Iterable[str]
) -> list[Finder]:
    """Other runs with a document in their first k, best rank first; row: of `report_files.relevant_of`."""
    out = set(leave_out)
    ranks = [(name, row[f"rank_{index}"]) for index, name in enumerate(names) if name not in out]
    finders: list[Finder] = [{"run": name, "rank": rank} for name, rank in ranks if rank and rank <= k]
    return sorted(finders, key=lambda one: one["rank"])


class _MissedRow(NamedTuple):
    document_id: str
    relevance: int
    rank: int | None
    found_by: list[Finder]


def _missed_rows(report: Report, run: str, k: int, rows: Sequence[Mapping[str, Any]]) -> list[_MissedRow]:
    names = run_names(report)
    own = f"rank_{names.index(run)}"
    missed = [row for row in rows if row[own] is None or row[own] > k]
    missed.sort(key=lambda row: (-row["relevance"], row[own] is None, row[own] or 0, row["document_id"]))
    return [
        _MissedRow(row["document_id"], row["relevance"], row[own], finders_of(row, names, k, [run]))
        for row in missed
    ]


def _missed(row: _MissedRow, texts: Mapping[str, Text]) -> Missed:
    text = texts.get(row.document_id, Text("", None))
    return Missed(title=text.title, text=text.text or "", has_text=text.text is not None, **row._asdict())


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]} …"
