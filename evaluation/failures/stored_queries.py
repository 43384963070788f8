"""A report's queries for a run, filtered, sorted and paged as columns; those of a page are described."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Annotated

from django.db.models import Q

from evaluation.failures.missed_documents import Missed, MissedOfQuery, missed_documents
from evaluation.failures.stored_breakdown import (
    grouping_of,
    labelled_queries,
    metadata_of,
    stored_queries,
    value_rows,
)
from evaluation.models import Report
from evaluation.report_store.files import (
    check_measure,
    check_runs,
    relevant_counts,
    run_names,
    scan_per_query,
    scan_relevant,
)
from pooling.formats.cells import guarded_frame
from pooling.formats.query_facts import tags_of, weight_in
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Query
from pooling.tables.natural import natural_key


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
    """The `count` worst scored queries, none perfect, by Recall@k, missed, id; two database queries."""
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


# What a table is ordered by: columns, and whether each falls; queries that do not count come last.
SORTS: dict[str, tuple[tuple[str, bool], ...]] = {
    "worst": (("value", False), ("missed", True)),
    "best": (("value", True), ("missed", False)),
    "missed": (("missed", True), ("value", False)),
    "relevant": (("relevant", True), ("value", False)),
    "weight": (("weight", True), ("value", False)),
    "query": (),
}
ROW_CHOICES = ("all", "missed", "zero", "unscored")
PER_PAGE = 50
# Columns by which a table can be sorted from either end.
SORTED_BY = {
    "query": "query_id",
    **{name: name for name in ("value", "missed", "relevant", "found", "weight")},
}


@dataclass(frozen=True)
class QuerySelection:
    """Queries of a report by run, measure and K (None: the whole run).

    by, group: those of a group of a breakdown; ungrouped: those in none of its groups. search: words, each in
    the query's text or its id. show: one of ROW_CHOICES; sort: one of SORTS, or a column of SORTED_BY after a
    plus or a minus.
    """

    run: str
    measure: str = "recall"
    k: int | None = None
    by: str | None = None
    group: str | None = None
    ungrouped: bool = False
    search: str = ""
    show: str = "all"
    sort: str = "worst"


@dataclass(frozen=True)
class QueryRow:
    """One query of a run."""

    query_id: str
    text: str
    tags: Sequence[str]
    weight: float | None
    value: Annotated[float | None, "Null: the query does not count."]
    relevant: int
    found: int
    missed: Annotated[MissedOfQuery, int, {"source": "missed.count"}]
    answered: Annotated[bool, "Whether the run has the query at all."]

    @property
    def missed_documents(self) -> Annotated[Sequence[Missed], "The first ten."]:
        """Those that are shown."""
        return self.missed.shown


def depth_of(report: Report, k: int | None) -> int:
    """The K at which documents are found or missed: over the whole run, the deepest of the report."""
    return int(report.options["k"][-1] if k is None else k)


def query_table(report: Report, selection: QuerySelection) -> pl.DataFrame:
    """The queries asked for, in order: query_id, value (null: does not count), relevant, found, missed, and
    weight where it is sorted by.

    `InputError` names what the report does not have.
    """
    check_runs(report, [selection.run])
    check_measure(report, selection.measure, selection.k)
    order = _order(selection.sort)
    if selection.show not in ROW_CHOICES:
        raise InputError(
            f"There is no show {selection.show}; choose one of {', '.join(ROW_CHOICES)}.", field="show"
        )
    counts = relevant_counts(report, selection.run, depth_of(report, selection.k))
    values = (
        value_rows(report, selection.measure, selection.k, [selection.run])
        .select("query_id", "value")
        .collect()
    )
    table = values.join(counts, on="query_id", how="left", maintain_order="left").with_columns(
        pl.col("relevant", "found").fill_null(0).cast(pl.Int64)
    )
    table = table.with_columns(missed=pl.col("relevant") - pl.col("found"))
    table = _searched(report, _grouped(report, table, selection), selection)
    if any(column == "weight" for column, _ in order):
        table = table.with_columns(_weights(report, table))
    # q2 before q10, as in every table.
    natural = pl.Series("natural", [natural_key(query) for query in table["query_id"]], dtype=pl.String)
    keys = [("natural" if column == "query_id" else column, falls) for column, falls in order]
    columns, falling = zip(*(*keys, ("natural", False), ("query_id", False)), strict=True)
    table = table.with_columns(natural).filter(_row_filter(selection.show))
    return table.sort(columns, descending=falling, nulls_last=True).drop("natural")


def _order(sort: str) -> tuple[tuple[str, bool], ...]:
    if sort[:1] in ("+", "-") and sort[1:] in SORTED_BY:
        return ((SORTED_BY[sort[1:]], sort[0] == "-"),)
    if sort not in SORTS:
        raise InputError(f"There is no sort {sort}; choose one of {', '.join(SORTS)}.", field="sort")
    return SORTS[sort]


def query_rows(report: Report, selection: QuerySelection, table: pl.DataFrame) -> list[QueryRow]:
    """Some rows of the table with text, tags, weight and the first documents missed; two database queries."""
    ids = table["query_id"].to_list()
    missed = missed_documents(report, selection.run, depth_of(report, selection.k), ids)
    rows = stored_queries(report, ids).values_list("external_id", "text", "metadata")
    facts = {id: (text, metadata) for id, text, metadata in rows}
    absent = set(report.result["queries"]["missing_ids"].get(selection.run, ()))
    described = []
    for row in table.iter_rows(named=True):
        text, metadata = facts.get(row["query_id"], ("", {}))
        described.append(
            QueryRow(
                query_id=row["query_id"],
                text=text,
                tags=tags_of(metadata),
                weight=weight_in(metadata),
                value=row["value"],
                relevant=row["relevant"],
                found=row["found"],
                missed=missed[row["query_id"]],
                answered=row["query_id"] not in absent,
            )
        )
    return described


def missed_csv(report: Report, selection: QuerySelection) -> IO[bytes]:
    """Every document missed in the queries asked for: query_id, document_id, relevance, rank in the run, how
    many other runs have it in their first K, and which (separated by blanks)."""
    names, k = run_names(report), depth_of(report, selection.k)
    table = query_table(report, selection).select("query_id").with_row_index("order")
    own = pl.col(f"rank_{names.index(selection.run)}")
    finders = [
        pl.when(pl.col(f"rank_{number}") <= k).then(pl.lit(name))
        for number, name in enumerate(names)
        if name != selection.run
    ]
    finder_list = (
        pl.concat_list(finders).list.drop_nulls() if finders else pl.lit([], dtype=pl.List(pl.String))
    )
    missed = (
        scan_relevant(report)
        .filter(own.is_null() | (own > k))
        .join(table.lazy(), on="query_id", how="inner")
        .sort("order", pl.col("relevance") * -1, own, "document_id", nulls_last=True)
        .select("query_id", "document_id", "relevance", own.alias("rank"), finder_list.alias("by"))
        .with_columns(found_by_runs=pl.col("by").list.len(), found_by=pl.col("by").list.join(" "))
        .drop("by")
    )
    file = tempfile.NamedTemporaryFile(suffix=".csv")  # noqa: SIM115  the response closes it
    guarded_frame(missed).sink_csv(file.name)
    return file


def _grouped(report: Report, table: pl.DataFrame, selection: QuerySelection) -> pl.DataFrame:
    if not selection.by or (selection.group is None and not selection.ungrouped):
        return table
    ids = labelled_queries(report)
    grouping = grouping_of(report, selection.by, ids, metadata_of(report, ids))
    group = grouping.group(None if selection.ungrouped else selection.group)
    if group is None and not selection.ungrouped:
        raise InputError(f"There is no group {selection.group} by {grouping.title}.", field="group")
    wanted = group.query_ids if group else ()
    return table.filter(pl.col("query_id").is_in(list(wanted)))


def _searched(report: Report, table: pl.DataFrame, selection: QuerySelection) -> pl.DataFrame:
    if not selection.search:
        return table
    queries = Query.objects.filter(collection_id=report.collection_id)
    for word in selection.search.split():
        queries = queries.filter(Q(text__icontains=word) | Q(external_id__icontains=word))
    wanted = list(queries.order_by().values_list("external_id", flat=True))
    return table.filter(pl.col("query_id").is_in(wanted))


def _weights(report: Report, table: pl.DataFrame) -> pl.Series:
    ids = table["query_id"].to_list()
    metadata = metadata_of(report, ids)
    weights = [weight_in(metadata.get(query, {})) for query in ids]
    return pl.Series("weight", weights, dtype=pl.Float64)


def _row_filter(show: str) -> pl.Expr:
    return {
        "all": pl.lit(True),
        "missed": pl.col("missed") > 0,
        "zero": pl.col("value") == 0,
        "unscored": pl.col("value").is_null(),
    }[show]
