"""All facts and supports of an evaluation as arrays, query by query, and where a run has their documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evaluation.facts.query import Floats, Integers, QueryFacts, Retrieved
from pooling.formats.facts.records import FactRecord, SupportRecord

if TYPE_CHECKING:
    import polars as pl

_PAIR = ["query", "document_id"]


@dataclass(frozen=True)
class FactTable:
    """The facts that count, by query.

    query_ids: bytewise. facts: of each query, its records in the order of its columns. queries: of each
    query, what documents are to them. documents: query (its number), document_id, row (in the query).
    """

    query_ids: Sequence[str]
    facts: Sequence[Sequence[FactRecord]]
    queries: Sequence[QueryFacts]
    documents: pl.DataFrame

    @property
    def fact_total(self) -> int:
        """Facts of all queries."""
        return sum(map(len, self.facts))


def fact_table(
    facts: Iterable[FactRecord],
    supports: Iterable[SupportRecord],
    *,
    importance: str = "all",
    queries: Collection[str] | None = None,
) -> FactTable:
    """The facts of this importance (`all`, `vital`) and these queries; one without them keeps its place."""
    by_query: dict[str, list[FactRecord]] = {}
    for fact in facts:
        if queries is None or fact.query_id in queries:
            kept = by_query.setdefault(fact.query_id, [])
            if importance in ("all", fact.importance):
                kept.append(fact)
    ids = sorted(by_query)
    columns = {(query, fact.fact_id): column for query in ids for column, fact in enumerate(by_query[query])}
    rows: dict[str, dict[str, list[tuple[int, float]]]] = {query: {} for query in ids}
    for one in supports:
        if one.query_id not in rows:
            continue
        held = rows[one.query_id].setdefault(one.document_id, [])
        column = columns.get((one.query_id, one.fact_id))
        if column is not None and one.weight is not None:
            held.append((column, one.weight))
    weighed = [_weights(rows[query], len(by_query[query])) for query in ids]
    return FactTable(ids, [by_query[query] for query in ids], weighed, _documents(ids, rows))


def _weights(documents: Mapping[str, Sequence[tuple[int, float]]], fact_count: int) -> QueryFacts:
    weights = np.full((len(documents), fact_count), np.nan)
    for row, document in enumerate(_falling(documents)):
        for column, weight in documents[document]:
            weights[row, column] = weight
    return QueryFacts(weights)


def _falling(documents: Iterable[str]) -> list[str]:
    return sorted(documents, reverse=True)  # code points sort as their bytes in UTF-8 do


def _documents(ids: Sequence[str], rows: Mapping[str, Mapping[str, object]]) -> pl.DataFrame:
    import polars as pl

    found = [
        (number, document, row)
        for number, query in enumerate(ids)
        for row, document in enumerate(_falling(rows[query]))
    ]
    schema = {"query": pl.Int64, "document_id": pl.String, "row": pl.Int64}
    return pl.DataFrame(found, schema=schema, orient="row")


@dataclass(frozen=True)
class RunPlaces:
    """Where one run has the documents of each query. strange: query, document_id, position of those that
    nobody judged for any fact, in the first K alone. depth: (Q,) documents retrieved. unknown: queries of the
    run without a fact.
    """

    places: Sequence[Floats]
    strangers: Sequence[Floats]
    strange: pl.DataFrame
    depth: Integers
    unknown: int

    def retrieved(self, table: FactTable, query: int, cutoffs: Integers) -> Retrieved:
        """One query of it."""
        return Retrieved(table.queries[query], self.places[query], self.strangers[query], cutoffs)


def numbered(table: FactTable, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of queries with facts, with the query's number as `query`."""
    import polars as pl

    numbers = pl.DataFrame(
        {"query_id": list(table.query_ids), "query": np.arange(len(table.query_ids))},
        schema={"query_id": pl.String, "query": pl.Int64},
    )
    return rows.join(numbers, on="query_id")


def run_places(table: FactTable, ordered: pl.DataFrame, deepest: int) -> RunPlaces:
    """ordered: query_id, document_id, position, of all rows of a run; deepest: the largest K."""
    import polars as pl

    rows = numbered(table, ordered).with_columns(pl.col("position").cast(pl.Int64))
    joined = rows.join(table.documents, on=_PAIR, how="left")
    known = joined.filter(pl.col("row").is_not_null())
    strange = joined.filter(pl.col("row").is_null() & (pl.col("position") <= deepest))
    strange = strange.select(*_PAIR, "position").sort("query", "position")
    count = len(table.query_ids)
    sizes = np.array([one.weights.shape[0] for one in table.queries], dtype=np.int64)
    first = np.concatenate(([0], np.cumsum(sizes)))
    places = np.full(int(first[-1]), np.inf)
    query = known["query"].to_numpy()
    places[first[query] + known["row"].to_numpy()] = known["position"].to_numpy()
    bounds = np.searchsorted(strange["query"].to_numpy(), np.arange(count + 1))
    positions = strange["position"].to_numpy().astype(np.float64)
    return RunPlaces(
        [places[first[one] : first[one + 1]] for one in range(count)],
        [positions[bounds[one] : bounds[one + 1]] for one in range(count)],
        strange,
        np.bincount(rows["query"].to_numpy(), minlength=count),
        ordered["query_id"].n_unique() - rows["query"].n_unique(),
    )


def pooled_strangers(table: FactTable, runs: Iterable[RunPlaces], pool: pl.DataFrame | None) -> pl.DataFrame:
    """query, document_id and position of the documents of the pool that nobody judged for any fact: those of
    the pool given, at once, or else those in the first K of a run, from its best place on."""
    import polars as pl

    if pool is not None:
        pairs = numbered(table, pool.select("query_id", "document_id")).select(_PAIR).unique()
        at_once = pl.lit(0, dtype=pl.Int64).alias("position")
        return pairs.join(table.documents, on=_PAIR, how="anti").with_columns(at_once)
    return pl.concat([run.strange for run in runs]).group_by(_PAIR).agg(pl.col("position").min())


def strangers_outside(table: FactTable, pooled: pl.DataFrame, run: RunPlaces, cutoffs: Integers) -> Integers:
    """(Q, C) how many of `pooled` at each K are outside the run's first K."""
    import polars as pl

    own = run.strange.rename({"position": "place"})
    beside = pooled.join(own, on=_PAIR, how="left").with_columns(pl.col("place").fill_null(2**62))
    query, since, place = (beside[name].to_numpy() for name in ("query", "position", "place"))
    count = len(table.query_ids)
    outside = [np.bincount(query[(since <= k) & (place > k)], minlength=count) for k in cutoffs.tolist()]
    return np.stack(outside, axis=1)
