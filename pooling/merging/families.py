"""Finds of runs in common and alone: families of near-duplicates, lone finds, and where finds dry up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pooling.heavy import Floats, np, pl
from pooling.ranking.ranking import order_run, query_starts

#: The chance that a reader goes on to the next rank, for rank-biased overlap.
PERSISTENCE = 0.9
#: Runs with at least this average rank-biased overlap belong to one family.
NEAR = 0.9
#: Below this share of relevant documents among the new ones of a rank, finds have dried up.
DRY = 0.05
#: Ranks looked at together, so that one lucky document does not count as a spring.
WINDOW = 5


def rank_biased_overlap(runs: Mapping[str, pl.DataFrame], *, depth: int) -> Floats:
    """Mean over queries of the rank-biased overlap of each two runs, 0 to 1 (Webber, Moffat and Zobel,
    2010).

    Computed to `depth` or the end of the longer list, and divided by what two equal lists would reach
    there. Queries that neither run has say nothing; one that a single run has counts 0.
    """
    tops = [order_run(run, depth=depth) for run in runs.values()]
    shared, queries = np.zeros((len(tops), len(tops))), np.zeros((len(tops), len(tops)))
    lists = [by_query(top) for top in tops]
    for query_id in sorted(set().union(*lists)):
        present = np.array([query_id in ranking for ranking in lists])
        overlap = overlap_of([ranking.get(query_id, []) for ranking in lists])
        shared += overlap
        queries += present[:, None] | present[None, :]
    return shared / np.maximum(queries, 1)


def by_query(top: pl.DataFrame) -> dict[str, list[str]]:
    starts = query_starts(top).tolist()
    documents = top["document_id"].to_list()
    ends = [*starts[1:], top.height]
    return {top["query_id"][start]: documents[start:end] for start, end in zip(starts, ends, strict=True)}


def overlap_of(lists: Sequence[Sequence[str]]) -> Floats:
    """Rank-biased overlap of each two lists of one query."""
    lengths = np.array([len(documents) for documents in lists])
    ranks = np.arange(1, lengths.max() + 1)
    # A document that both lists hold counts at every depth from its worse rank on: tail[worse rank].
    weight = PERSISTENCE ** (ranks - 1.0)
    tail = np.append(np.cumsum((weight / ranks)[::-1])[::-1], 0.0)
    numbers = {document: number for number, document in enumerate(sorted(set().union(*lists)))}
    value = np.zeros((len(lists), len(numbers)))
    for run, documents in enumerate(lists):
        value[run, [numbers[document] for document in documents]] = tail[: len(documents)]
    total = np.array([np.minimum(row, value).sum(axis=1) for row in value])
    shared = (value > 0).astype(np.float64) @ (value > 0).T
    longer = np.maximum(lengths[:, None], lengths[None, :])
    reached = np.cumsum(weight)[np.maximum(longer, 1) - 1]
    # Depths beyond the longer list do not count.
    return np.asarray((total - shared * tail[longer]) / reached)


def families(runs: Mapping[str, pl.DataFrame], *, depth: int, near: float = NEAR) -> list[list[str]]:
    """Groups of runs that are nearly the same list, by name: each is linked to another with overlap
    `near` or more.

    Runs of their own are groups of one; groups stand in the order of their first runs.
    """
    names = list(runs)
    linked = rank_biased_overlap(runs, depth=depth) >= near
    family = list(range(len(names)))
    for first, second in zip(*np.nonzero(np.triu(linked, 1)), strict=True):
        old, new = family[second], family[first]
        family = [new if member == old else member for member in family]
    groups: dict[int, list[str]] = {}
    for name, member in zip(names, family, strict=True):
        groups.setdefault(member, []).append(name)
    return list(groups.values())


def lone_relevant(pooled: pl.DataFrame, qrels: pl.DataFrame, runs: Sequence[str]) -> dict[str, int]:
    """Relevant pairs that one run alone found, by its name; `pooled.runs` has indexes into `runs`."""
    relevant = qrels.filter(pl.col("relevance") >= 1).select("query_id", "document_id")
    alone = pooled.filter(pl.col("run_count") == 1).join(relevant, on=["query_id", "document_id"], how="semi")
    finders = alone["runs"].list.first().to_numpy().astype(np.int64)
    return dict(zip(runs, np.bincount(finders, minlength=len(runs)).tolist(), strict=True))


@dataclass(frozen=True)
class DryDepth:
    """Numbers by rank, from 1 on: new pairs, those with a label, and the relevant ones.

    `depth` is the last rank whose neighbourhood still brought a share of at least `DRY` relevant pairs
    among those with a label; None when no pair has a label. At the full depth of the pool, finds have not
    dried up.
    """

    depth: int | None
    pairs: list[int]
    labelled: list[int]
    relevant: list[int]


def dry_depth(pooled: pl.DataFrame, qrels: pl.DataFrame, *, min_relevance: int = 1) -> DryDepth:
    """The depth where finds dry up, from the best rank of each pair and the labels so far."""
    labels = qrels.filter(pl.col("relevance") >= 0)
    rows = pooled.select("query_id", "document_id", "best_rank").join(
        labels, on=["query_id", "document_id"], how="left"
    )
    rank = rows["best_rank"].to_numpy().astype(np.int64)
    labelled = rows["relevance"].is_not_null().to_numpy()
    relevant = (rows["relevance"] >= min_relevance).fill_null(False).to_numpy()
    size = int(rank.max(initial=0)) + 1
    pairs, with_label, finds = (
        np.bincount(rank[chosen], minlength=size)[1:] for chosen in (rank > 0, labelled, relevant)
    )
    window = np.ones(WINDOW)
    near_finds, near_labelled = (np.convolve(counts, window)[: size - 1] for counts in (finds, with_label))
    wet = np.flatnonzero((near_labelled > 0) & (near_finds >= DRY * near_labelled))
    depth = (int(wet[-1]) + 1 if len(wet) else 0) if labelled.any() else None
    return DryDepth(depth, pairs.tolist(), with_label.tolist(), finds.tolist())
