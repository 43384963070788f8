"""Where a run fails: its queries with the lowest recall, and the relevant documents it missed there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models.functions import Substr

from evaluation.models import Report
from evaluation.report_files import relevant_counts, relevant_of, run_names, scan_per_query
from pooling.models import Document, Query

if TYPE_CHECKING:
    import polars as pl

MOST_DOCUMENTS = 10
MOST_CHARACTERS = 1500


@dataclass(frozen=True)
class Missed:
    """A relevant document that is not in the run's first K; `rank` is where it came, if at all."""

    document_id: str
    title: str
    text: str
    known: bool
    relevance: int
    rank: int | None
    others: Sequence[tuple[str, int]]


@dataclass(frozen=True)
class WorstQuery:
    """A query with low recall, and the first of what was missed; `more` are missed beyond those."""

    query_id: str
    text: str
    recall: float
    relevant: int
    found: int
    missed: Sequence[Missed]
    more: int


def worst_queries(report: Report, run: str, k: int, count: int) -> list[WorstQuery]:
    """The `count` scored queries of `run` with the lowest Recall@k, none perfect; two database queries.

    Equal values are ordered by the number of missed documents, falling, then by query id.
    """
    import polars as pl

    values = scan_per_query(report).filter(
        (pl.col("run") == run) & (pl.col("measure") == "recall") & (pl.col("k") == k)
    )
    scored = values.select("query_id", recall="value").drop_nulls().collect()
    table = scored.join(relevant_counts(report, run, k), on="query_id")
    missed = (pl.col("relevant") - pl.col("found")).alias("missed")
    order = table.with_columns(missed).filter(pl.col("missed") > 0)
    worst = order.sort("recall", "missed", "query_id", descending=[False, True, False]).head(count)
    return _described(report, run, k, worst)


def _described(report: Report, run: str, k: int, worst: pl.DataFrame) -> list[WorstQuery]:
    ids = worst["query_id"].to_list()
    missed = {query_id: _missed_rows(report, run, k, rows) for query_id, rows in _by_query(report, ids)}
    shown = {row["document_id"] for rows in missed.values() for row in rows[:MOST_DOCUMENTS]}
    texts = dict(_query_texts(report, ids))
    documents = _documents(report, shown)
    return [
        WorstQuery(
            query_id=row["query_id"],
            text=texts.get(row["query_id"], ""),
            recall=row["recall"],
            relevant=row["relevant"],
            found=row["found"],
            missed=[_missed(item, documents) for item in missed[row["query_id"]][:MOST_DOCUMENTS]],
            more=max(0, row["missed"] - MOST_DOCUMENTS),
        )
        for row in worst.iter_rows(named=True)
    ]


def _by_query(report: Report, ids: Sequence[str]) -> Iterable[tuple[str, pl.DataFrame]]:
    parts = relevant_of(report, ids).partition_by("query_id", as_dict=True)
    return ((str(key[0]), rows) for key, rows in parts.items())


def _missed_rows(report: Report, run: str, k: int, rows: pl.DataFrame) -> list[dict[str, Any]]:
    """The relevant documents of one query outside the first k: highest label first, then nearest to k."""
    names = run_names(report)
    own = f"rank_{names.index(run)}"
    found = [row for row in rows.iter_rows(named=True) if row[own] is None or row[own] > k]
    found.sort(key=lambda row: (-row["relevance"], row[own] is None, row[own] or 0, row["document_id"]))
    return [
        {
            "document_id": row["document_id"],
            "relevance": row["relevance"],
            "rank": row[own],
            "others": _found_by(row, names, run, k),
        }
        for row in found
    ]


def _found_by(row: Mapping[str, Any], names: Sequence[str], run: str, k: int) -> list[tuple[str, int]]:
    """The other runs that have the document in their first k, with its rank there, best first."""
    ranks = [(name, row[f"rank_{index}"]) for index, name in enumerate(names) if name != run]
    return sorted(((name, rank) for name, rank in ranks if rank and rank <= k), key=lambda item: item[1])


def _query_texts(report: Report, ids: Sequence[str]) -> Iterable[tuple[str, str]]:
    queries = Query.objects.filter(collection_id=report.collection_id, external_id__in=ids)
    return queries.values_list("external_id", "text")


def _documents(report: Report, ids: Iterable[str]) -> dict[str, tuple[str, str | None]]:
    """Title and the beginning of the text of each document."""
    documents = Document.objects.filter(collection_id=report.collection_id, external_id__in=list(ids))
    rows = documents.annotate(start=Substr("text", 1, MOST_CHARACTERS + 1))
    return {id: (title, text) for id, title, text in rows.values_list("external_id", "title", "start")}


def _missed(row: Mapping[str, Any], documents: Mapping[str, tuple[str, str | None]]) -> Missed:
    title, text = documents.get(row["document_id"], ("", None))
    start = text or ""
    cut = f"{start[:MOST_CHARACTERS]} …" if len(start) > MOST_CHARACTERS else start
    return Missed(title=title, text=cut, known=text is not None, **row)
