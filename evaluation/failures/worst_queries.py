from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.failures.missed_documents import Missed, missed_documents
from evaluation.models import Report
from evaluation.report_store.files import relevant_counts, scan_per_query
from pooling.heavy import pl
from pooling.models import Query


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
    values = scan_per_query(report).filter(
        (pl.col("run") == run) & (pl.col("measure") == "recall") & (pl.col("k") == k)
    )
    scored = values.select("query_id", recall="value").drop_nulls().collect()
    table = scored.join(relevant_counts(report, run, k), on="query_id")
    missed = (pl.col("relevant") - pl.col("found")).alias("missed")
    order = table.with_columns(missed).filter(pl.col("missed") > 0)
    worst = order.sort("recall", "missed", "query_id", descending=[False, True, False]).head(count)
    ids = worst["query_id"].to_list()
    queries = Query.objects.filter(collection_id=report.collection_id, external_id__in=ids)
    texts = dict(queries.values_list("external_id", "text"))
    missed_of = missed_documents(report, run, k, ids)
    return [
        WorstQuery(
            query_id=row["query_id"],
            text=texts.get(row["query_id"], ""),
            recall=row["recall"],
            relevant=row["relevant"],
            found=row["found"],
            missed=missed_of[row["query_id"]].shown,
            more=missed_of[row["query_id"]].more,
        )
        for row in worst.iter_rows(named=True)
    ]
