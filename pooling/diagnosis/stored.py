"""What the rows of runs and pools keep of their diagnosis: JSON objects. Loads nothing heavy."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Depths(TypedDict):
    """The number of documents of a query: the least, the median and the greatest of a run."""

    least: float
    median: float
    greatest: float


class StoredPreflight(TypedDict):
    """A `Preflight` as a run's row keeps it: the same keys, with cutoffs as text."""

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
    """How many pairs the queries have; `bins` are [from, to, queries], ten at most."""

    least: int
    median: float
    mean: float
    most: int
    bins: list[list[int]]


class Thin(TypedDict):
    """Queries with fewer than `below` pairs: how many, and the thinnest as [query id, pairs]."""

    below: float
    count: int
    queries: list[list[str | int]]


class Diagnosis(TypedDict):
    """What a pool tells before anything is judged.

    By name of the run: `contributed` (pairs it found) and `unique_finds` (pairs that it alone found).
    `size_by_depth`: pairs at depth 1, 2, …. `families`: groups of two or more runs that are nearly the same
    list. `overlap[i][j]`: share of run i's top that run j has too. `audit`: pairs in the audit sample.
    """

    runs: list[str]
    size_by_depth: list[int]
    overlap: list[list[float]]
    contributed: dict[str, int]
    unique_finds: dict[str, int]
    families: list[list[str]]
    sizes: Sizes
    thin: Thin
    audit: int


class NewPairs(TypedDict):
    """What a later version of a pool has more: counts of pairs and queries, and its new runs."""

    pairs: int
    chosen: int
    queries: int
    audit: int
    runs: list[str]


class PoolDiagnostics(Diagnosis):
    """What a pool's row keeps: its diagnosis, queries of each run that the collection does not have, and of a
    later version what is new.
    """

    left_out_queries: dict[str, int]
    new: NotRequired[NewPairs]


class PairsByRank(TypedDict):
    """From rank 1 on: the pairs that each rank brought, those with a label, and the relevant ones."""

    pairs: list[int]
    labelled: list[int]
    relevant: list[int]


class LabelFinds(TypedDict):
    """What the labels so far tell of a pool.

    `relevant_alone`: relevant pairs that one run alone found, by its name. `dry_depth`: the last rank whose
    neighbourhood still brought relevant pairs, None without a label.
    """

    labelled: int
    relevant: int
    relevant_alone: dict[str, int]
    dry_depth: int | None
    by_rank: PairsByRank
