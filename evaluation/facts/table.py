"""All facts and supports of an evaluation as arrays, query by query, and where a run has their documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from evaluation.facts.query import QueryFacts, Retrieved
from pooling.formats.facts.records import FactRecord
from pooling.heavy import Floats, Integers, np, pl

_PAIR = ["query", "document_id"]
#: Supports that are joined at a time: millions of them would be copied with all their ids.
AT_ONCE = 200_000


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

    def vital(self) -> FactTable:
        kept = [[place for place, one in enumerate(some) if one.importance == "vital"] for some in self.facts]
        return replace(
            self,
            facts=[[some[place] for place in places] for some, places in zip(self.facts, kept, strict=True)],
            queries=[
                # The same object where all are vital: what it has computed stays.
                one if len(places) == one.fact_count else QueryFacts(one.weights[:, places], one.irrelevant)
                for one, places in zip(self.queries, kept, strict=True)
            ],
        )

    @cached_property
    def document_ids(self) -> pl.Series:
        """The ids of all queries' documents, by query and row."""
        return self.documents.sort("query", "row")["document_id"]

    @cached_property
    def starts(self) -> Integers:
        """(Q,) where in `document_ids` those of each query begin."""
        return np.cumsum([0, *(len(one.weights) for one in self.queries)])[:-1]

    @cached_property
    def fact_frame(self) -> pl.DataFrame:
        """query_id, fact_id, text, importance, group, findable (whether any judged document supports it),
        judged (whether any document was judged for it): a row for each fact."""
        names = ("fact_id", "text", "importance", "group")
        columns = {name: [getattr(fact, name) for some in self.facts for fact in some] for name in names}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)).with_columns(
            findable=np.concatenate([one.findable(partial=False) for one in self.queries]),
            judged=np.concatenate([one.is_judged.any(axis=0) for one in self.queries]),
        )
        queries = pl.Series("query_id", self.query_ids, dtype=pl.String).gather(self.fact_queries)
        return frame.select(queries, pl.all())

    @cached_property
    def fact_queries(self) -> Integers:
        """(F,) the number of each fact's query."""
        return np.repeat(np.arange(len(self.facts)), [len(some) for some in self.facts])

    @property
    def fact_total(self) -> int:
        return sum(map(len, self.facts))


def fact_table(
    facts: Iterable[FactRecord],
    supports: pl.DataFrame,
    *,
    importance: str = "all",
    queries: Collection[str] | None = None,
    labels: pl.DataFrame | None = None,
) -> FactTable:
    """The facts of this importance (`all`, `vital`) and these queries; one without them keeps its place.
    supports: query_id, fact_id, document_id, weight (null for what was pooled and not judged). labels:
    query_id, document_id, relevance; a document of relevance 0 supports nothing."""
    by_query: dict[str, list[FactRecord]] = {}
    for fact in facts:
        if queries is None or fact.query_id in queries:
            kept = by_query.setdefault(fact.query_id, [])
            if importance in ("all", fact.importance):
                kept.append(fact)
    ids = sorted(by_query)
    listed = [by_query[query] for query in ids]
    numbers = pl.DataFrame(
        {"query_id": ids, "query": range(len(ids))}, schema={"query_id": pl.String, "query": pl.Int64}
    )
    pairs = ["query_id", "document_id"]
    not_relevant = supports.select(pairs).head(0)
    if labels is not None:
        not_relevant = labels.filter(pl.col("relevance") == 0).select(pairs)
    not_relevant = not_relevant.join(numbers, on="query_id").select(_PAIR)
    documents = (
        pl.concat([*(_numbered_pairs(some, numbers) for some in supports.iter_slices(AT_ONCE)), not_relevant])
        .unique()
        .sort("query", "document_id", descending=[False, True])  # bytewise, as ndeval orders equal gains
        .with_columns(row=pl.int_range(pl.len()).over("query"))
    )
    marked = documents.join(not_relevant.unique().with_columns(is_marked=True), on=_PAIR, how="left")
    irrelevant = marked.sort("query", "row")["is_marked"].fill_null(False).to_numpy()
    columns = pl.DataFrame(
        [
            (number, fact.fact_id, column)
            for number, some in enumerate(listed)
            for column, fact in enumerate(some)
        ],
        schema={"query": pl.Int64, "fact_id": pl.String, "column": pl.Int64},
        orient="row",
    )
    heights = np.bincount(documents["query"].to_numpy(), minlength=len(ids))
    widths = np.array([len(some) for some in listed], dtype=np.int64)
    first = np.concatenate(([0], np.cumsum(heights * widths)))
    weights = np.full(int(first[-1]), np.nan)
    for some in supports.iter_slices(AT_ONCE):
        judged = some.filter(pl.col("weight").is_not_null()).join(numbers, on="query_id")
        judged = judged.join(columns, on=["query", "fact_id"]).join(documents, on=_PAIR)
        query = judged["query"].to_numpy()
        place = first[query] + judged["row"].to_numpy() * widths[query] + judged["column"].to_numpy()
        weights[place] = judged["weight"].to_numpy()
    top = np.concatenate(([0], np.cumsum(heights)))
    weighed = [
        QueryFacts(
            weights[first[one] : first[one + 1]].reshape(int(heights[one]), int(widths[one])),
            irrelevant[top[one] : top[one + 1]],
        )
        for one in range(len(ids))
    ]
    return FactTable(ids, listed, weighed, documents)


def _numbered_pairs(supports: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """query (its number) and document_id, each pair once."""
    return supports.select("query_id", "document_id").unique().join(numbers, on="query_id").select(_PAIR)


@dataclass(frozen=True)
class RunPlaces:
    """Where one run has the documents of each query. top: query, document_id, position of the first K;
    strange: of these, the ones that nobody judged for any fact. depth: (Q,) documents retrieved. unknown:
    queries of the run without a fact."""

    places: Sequence[Floats]
    strangers: Sequence[Floats]
    top: pl.DataFrame
    strange: pl.DataFrame
    depth: Integers
    unknown: int

    def retrieved(self, table: FactTable, query: int, cutoffs: Integers) -> Retrieved:
        return Retrieved(table.queries[query], self.places[query], self.strangers[query], cutoffs)


def numbered(table: FactTable, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of queries with facts, with the query's number as `query`."""
    numbers = pl.DataFrame(
        {"query_id": list(table.query_ids), "query": np.arange(len(table.query_ids))},
        schema={"query_id": pl.String, "query": pl.Int64},
    )
    return rows.join(numbers, on="query_id")


def run_places(table: FactTable, ordered: pl.DataFrame, deepest: int) -> RunPlaces:
    """ordered: query_id, document_id, position, of all rows of a run; deepest: the largest K."""
    rows = numbered(table, ordered).with_columns(pl.col("position").cast(pl.Int64))
    joined = rows.join(table.documents, on=_PAIR, how="left")
    judged = joined.filter(pl.col("row").is_not_null())
    strange = joined.filter(pl.col("row").is_null() & (pl.col("position") <= deepest))
    strange = strange.select(*_PAIR, "position").sort("query", "position")
    count = len(table.query_ids)
    sizes = np.array([one.weights.shape[0] for one in table.queries], dtype=np.int64)
    first = np.concatenate(([0], np.cumsum(sizes)))
    places = np.full(int(first[-1]), np.inf)
    query = judged["query"].to_numpy()
    places[first[query] + judged["row"].to_numpy()] = judged["position"].to_numpy()
    bounds = np.searchsorted(strange["query"].to_numpy(), np.arange(count + 1))
    positions = strange["position"].to_numpy().astype(np.float64)
    return RunPlaces(
        [places[first[one] : first[one + 1]] for one in range(count)],
        [positions[bounds[one] : bounds[one + 1]] for one in range(count)],
        rows.filter(pl.col("position") <= deepest).select(*_PAIR, "position"),
        strange,
        np.bincount(rows["query"].to_numpy(), minlength=count),
        ordered["query_id"].n_unique() - rows["query"].n_unique(),
    )


def pooled_strangers(table: FactTable, runs: Iterable[RunPlaces], pool: pl.DataFrame | None) -> pl.DataFrame:
    """query, document_id and position of the documents of the pool that nobody judged for any fact: those of
    the pool given, at once, or else those in the first K of a run, from its best place on."""
    if pool is not None:
        pairs = numbered(table, pool.select("query_id", "document_id")).select(_PAIR).unique()
        at_once = pl.lit(0, dtype=pl.Int64).alias("position")
        return pairs.join(table.documents, on=_PAIR, how="anti").with_columns(at_once)
    return pl.concat([run.strange for run in runs]).group_by(_PAIR).agg(pl.col("position").min())


def strangers_outside(table: FactTable, pooled: pl.DataFrame, run: RunPlaces, cutoffs: Integers) -> Integers:
    """(Q, C) how many of `pooled` at each K are outside the run's first K."""
    own = run.strange.rename({"position": "place"})
    beside = pooled.join(own, on=_PAIR, how="left").with_columns(pl.col("place").fill_null(2**62))
    query, since, place = (beside[name].to_numpy() for name in ("query", "position", "place"))
    count = len(table.query_ids)
    outside = [np.bincount(query[(since <= k) & (place > k)], minlength=count) for k in cutoffs.tolist()]
    return np.stack(outside, axis=1)
