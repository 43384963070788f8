"""Small pools made by chance, for the tests of strategies and replay."""

from __future__ import annotations

import random

import polars as pl

from pooling.merging.merging import merge_runs, with_score_sums
from pooling.strategies import Candidates, candidates_of, candidates_of_query

SCHEMA = {"query_id": pl.String, "document_id": pl.String, "score": pl.Float64}


def runs_of(**queries: list[str]) -> dict[str, pl.DataFrame]:
    """`runs_of(q=["abc", "cad"])`: two runs, by query one string of documents for each."""
    count = max(map(len, queries.values()))
    rows: list[list[tuple[str, str, float]]] = [[] for _ in range(count)]
    for query, lists in queries.items():
        for run, documents in enumerate(lists):
            rows[run] += [(query, document, -float(rank)) for rank, document in enumerate(documents)]
    return {f"run{run}": pl.DataFrame(some, schema=SCHEMA, orient="row") for run, some in enumerate(rows)}


def random_runs(
    seed: int, *, queries: int = 2, runs: int = 4, documents: int = 12
) -> dict[str, pl.DataFrame]:
    """Runs over one-letter documents, with lists of unequal length."""
    chance = random.Random(seed)
    letters = [chr(97 + number) for number in range(documents)]
    return runs_of(
        **{
            f"q{query}": [
                "".join(chance.sample(letters, chance.randint(2, documents - 2))) for _ in range(runs)
            ]
            for query in range(queries)
        }
    )


def pool_of(runs: dict[str, pl.DataFrame], depth: int = 100) -> dict[str, Candidates]:
    """Candidates with everything that a strategy may want."""
    merged = with_score_sums(merge_runs(runs, depth=depth), runs, depth=depth)
    return candidates_of(merged, runs=len(runs))


def random_pool(seed: int, **sizes: int) -> dict[str, Candidates]:
    return pool_of(random_runs(seed, **sizes))


def query_of(*lists: str, name: str = "q", depth: int = 100) -> Candidates:
    """The candidates of one query, from one string of documents for each run; no frame is made."""
    found: dict[str, list[tuple[int, int]]] = {}
    for run, documents in enumerate(lists):
        for rank, document in enumerate(documents[:depth], start=1):
            found.setdefault(document, []).append((run, rank))
    finds = [
        (document, sum(1 / (60 + rank) for rank in sorted(rank for _, rank in places)), places)
        for document, places in found.items()
    ]
    deepest = max(len(documents[:depth]) for documents in lists)
    return candidates_of_query(name, finds, runs=len(lists), depth=deepest)
