"""Diagnosis in the rows of runs and pools: JSON objects. Loads nothing heavy."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict


class Depths(TypedDict):
    """The number of documents of a query: the least, the median and the greatest of a run."""

    least: float
    median: float
    greatest: float


class StoredPreflight(TypedDict):
    """A run next to a set of queries; lists hold the first 20 ids bytewise, notes are for people.

    ties_across_k: cutoff -> the queries whose documents at ranks k and k + 1 score equally, so that the rule
    for ties decides. unjudged_at_k: cutoff -> the share of the top k without a judgment; None without qrels.
    """

    rows: int
    queries: int
    queries_in_common: int
    missing_queries: int
    missing_query_ids: list[str]
    unknown_queries: int
    unknown_query_ids: list[str]
    depths: Depths
    ties_across_k: dict[str, int]
    unjudged_at_k: dict[str, float] | None
    notes: list[str]


class Sizes(TypedDict):
    """Numbers of pairs by query; `bins` are [from, to, queries], ten at most."""

    least: int
    median: float
    mean: float
    most: int
    bins: list[list[int]]


class Thin(TypedDict):
    """Queries with fewer than `below` pairs: how many, and the thinnest as [query id, pairs]. below: a whole
    number; pools that were built earlier have exactly half the median."""

    below: float
    count: int
    queries: list[list[Any]]


class Diagnosis(TypedDict):
    """A pool before anything is judged; by run means by its name."""

    runs: list[str]
    size_by_depth: Annotated[list[int], "From depth 1 on."]
    overlap: Annotated[
        list[list[float]], "Share of the row's top that the column's run has too, in the order of `runs`."
    ]
    contributed: Annotated[dict[str, int], "By run: pairs down to the depth that it found."]
    unique_finds: Annotated[dict[str, int], "By run: pairs down to the depth that it alone found."]
    families: Annotated[list[list[str]], "Groups of runs that are nearly the same list."]
    sizes: Annotated[Sizes, "Pairs per query: least, median, mean, most, bins."]
    thin: Annotated[Thin, "Queries with fewer than half the median of pairs down to the depth."]
    audit: Annotated[int, "Pairs of the audit sample."]


class NewPairs(TypedDict):
    """Additions of a later version of a pool: counts of pairs and queries, and its new runs."""

    pairs: int
    chosen: int
    queries: int
    audit: int
    runs: list[str]


class PoolDiagnostics(Diagnosis):
    left_out_queries: Annotated[dict[str, int], "By run: queries that the collection does not have."]
    new: NotRequired[Annotated[NewPairs, "Of a version of a pool that extends another."]]


class PairsByRank(TypedDict):
    """From rank 1 on: the pairs that each rank brought, those with a label, and the relevant ones."""

    pairs: list[int]
    labelled: list[int]
    relevant: list[int]


class LabelFinds(TypedDict):
    """The labels of a pool so far.

    `relevant_alone`: relevant pairs that one run alone found, by its name. `dry_depth`: the last rank whose
    neighbourhood still brought relevant pairs, None without a label.
    """

    labelled: int
    relevant: int
    relevant_alone: dict[str, int]
    dry_depth: int | None
    by_rank: PairsByRank
