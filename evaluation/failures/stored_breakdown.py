"""A report's values by groups of queries: read from its files, grouped by what the collection says."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db.models import QuerySet

from evaluation.failures.breakdown import (
    THRESHOLD,
    Breakdown,
    Values,
    break_down,
    draws_of,
    limits_of,
    undrawn_limits,
)
from evaluation.failures.query_groups import Grouping, group_queries
from evaluation.measures import Floats, key_of
from evaluation.measures.intervals import Resampling
from evaluation.models import Report
from evaluation.report_store.files import (
    beside,
    check_measure,
    check_runs,
    run_names,
    scan_per_query,
    scan_relevant,
)
from pooling.formats.query_facts import represented_weight
from pooling.heavy import np, pl
from pooling.interface.problems import InputError
from pooling.models import Query

# Fewer are asked for by name, so that a collection of many queries is not read for a report on some.
MOST_NAMED = 1000
# More draws of the bootstrap take longer than a page may.
MOST_DRAWS_AT_ONCE = 10_000_000
# Counts up when kept intervals would come out otherwise.
KEPT = 1


@dataclass(frozen=True)
class QueriesNow:
    """The queries with labels, in the report's order, with what the collection says of each now."""

    ids: Sequence[str]
    metadata: Mapping[str, Mapping[str, Any]]


def queries_now(report: Report) -> QueriesNow:
    ids = labelled_queries(report)
    metadata = metadata_of(report, ids)
    return QueriesNow(ids, {query: metadata[query] for query in ids if query in metadata})


@dataclass(frozen=True)
class BreakdownRequest:
    """A measure at K (None: the whole run) by `tag`, `relevant`, `weight`, `run` or a metadata key."""

    by: str
    measure: str
    k: int | None
    threshold: float | None = None
    runs: Sequence[str] | None = None


def breakdown_of(
    report: Report, request: BreakdownRequest, *, at_once: bool = False, queries: QueriesNow | None = None
) -> Breakdown:
    """The breakdown of a report that is asked for.

    The intervals are the report's own kind, kept once they were made. at_once: where they would take a while,
    all but those over all queries are left out, and the breakdown `waits`. queries: where they were read
    before. `InputError` names what the report does not have.
    """
    check_measure(report, request.measure, request.k)
    check_runs(report, request.runs or ())
    query_facts = queries or queries_now(report)
    grouping = grouping_of(report, request.by, query_facts.ids, query_facts.metadata)
    values = _values(report, request, query_facts)
    limits = _kept_limits(report, values, grouping, at_once=at_once)
    return break_down(
        values,
        grouping,
        resampling_of(report),
        threshold=THRESHOLD if request.threshold is None else request.threshold,
        limits=undrawn_limits(values, grouping, _own_limits(report, values)) if limits is None else limits,
        waits=limits is None,
    )


def grouping_of(
    report: Report, by: str, ids: Sequence[str], metadata: Mapping[str, Mapping[str, Any]]
) -> Grouping:
    """The report's queries by one thing; `InputError` says by what else."""
    try:
        counts = scan_relevant(report).group_by("query_id").agg(pl.len().alias("relevant")).collect()
        return group_queries(by, ids, metadata, dict(counts.iter_rows()))
    except ValueError as error:
        raise InputError(str(error), field="by") from None


def resampling_of(report: Report) -> Resampling:
    made = report.result["conventions"]["interval"]
    return Resampling(made["samples"], made["seed"], made["level"])


def labelled_queries(report: Report) -> list[str]:
    """The ids of the queries with labels, in the report's order."""
    first = (pl.col("run") == run_names(report)[0]) & (pl.col("measure") == "judged")
    rows = scan_per_query(report).filter(first & (pl.col("k") == report.options["k"][0]))
    return list(rows.select("query_id").collect()["query_id"])


def stored_queries(report: Report, ids: Sequence[str]) -> QuerySet[Query]:
    """These queries as the collection has them now, and perhaps others."""
    queries = Query.objects.filter(collection_id=report.collection_id).order_by()
    return queries.filter(external_id__in=ids) if len(ids) <= MOST_NAMED else queries


def metadata_of(report: Report, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """The collection's metadata of these queries, and perhaps of others, now; one database query."""
    return dict(stored_queries(report, ids).values_list("external_id", "metadata"))


def value_rows(report: Report, measure: str, k: int | None, runs: Sequence[str]) -> pl.LazyFrame:
    """run, query_id, value of one measure at one K, in the report's order."""
    at = pl.col("k").is_null() if k is None else pl.col("k") == k
    wanted = pl.col("run").is_in(list(runs)) & (pl.col("measure") == measure) & at
    return scan_per_query(report).filter(wanted).select("run", "query_id", "value")


def _values(report: Report, request: BreakdownRequest, queries: QueriesNow) -> Values:
    runs = request.runs or run_names(report)
    rows = value_rows(report, request.measure, request.k, runs).collect()
    by_run = rows.partition_by("run", as_dict=True)
    # The file has the queries of every run in the same order.
    columns = [by_run[(run,)]["value"].fill_null(np.nan).to_numpy() for run in runs]
    weights = [represented_weight(queries.metadata.get(query, {})) for query in queries.ids]
    return Values(
        request.measure,
        request.k,
        tuple(queries.ids),
        tuple(runs),
        np.stack(columns, axis=1),
        np.array([np.nan if weight is None else weight for weight in weights]),
    )


def _own_limits(report: Report, values: Values) -> Floats:
    """(R, 2) the report's intervals over all its queries."""
    key = key_of(values.measure, values.k)
    figures = [report.result["runs"][run][key] for run in values.runs]
    return np.array([[figure["low"], figure["high"]] for figure in figures], dtype=float)


def _kept_limits(report: Report, values: Values, grouping: Grouping, *, at_once: bool) -> Floats | None:
    """The intervals, made once for these groups and weights: tags and weights may change after a report.

    None where they are still to be made and would take longer than `at_once` allows.
    """
    facts = (KEPT, values.measure, values.k, values.runs, [group.query_ids for group in grouping.groups])
    digest = hashlib.sha256(repr(facts).encode() + values.weights.tobytes()).hexdigest()[:24]
    name = beside(report, f"breakdown-{digest}.npy")
    if default_storage.exists(name):
        with default_storage.open(name, "rb") as file:
            kept: Floats = np.load(io.BytesIO(file.read()))
            return kept
    resampling = resampling_of(report)
    if at_once and draws_of(values, grouping, resampling.samples) > MOST_DRAWS_AT_ONCE:
        return None
    limits = limits_of(values, grouping, resampling, whole=_own_limits(report, values))
    content = io.BytesIO()
    np.save(content, limits)
    default_storage.save(name, ContentFile(content.getvalue()))
    return limits
