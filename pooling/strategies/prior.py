"""A score per document, known before the first judgment, as what a strategy starts from.

The score (of a language model, of a local one) becomes the opinion of a few runs more: each has all documents
with a score in its order, ties in RRF order. So every strategy takes it up in its own way and needs no other:
rrf fuses it, the bandits play it, `learned` finds out from the labels what it is worth, and a score that is
worth nothing loses its weight like a bad run. A prior is part of the order only: the audit and what is
estimated from it mean what they did.

Measured with scores drawn so that a relevant document scores above another with a stated chance (AUC), votes
as by default, batches of ten; found by `learned` after a quarter of each judged pool
(`benchmarks/bench_prior.py`, where other strategies are as well):

    AUC                              no prior   .30    .50    .60    .75    .90
    DL 2019, 6 runs                    .517    .529   .513   .526   .569   .647
    TREC-COVID round 3, 10 runs        .413    .417   .414   .421   .451   .498

Orders that cannot learn to distrust a score do lose by a bad one: rrf .496, then .445 at AUC .30.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pooling.heavy import Integers, np, pl
from pooling.ranking.ranking import RRF_K
from pooling.strategies.candidates import Candidates

Scores = Mapping[str, float]


def with_priors(
    candidates: Mapping[str, Candidates], priors: pl.DataFrame, *, votes: int | None = None
) -> dict[str, Candidates]:
    """The candidates of all queries with their priors; to be given to a strategy in the place of the others.

    priors: query_id, document_id, score (a higher one is better; any scale). Pairs without a score, or
    outside the pools, change nothing. votes: as how many runs the score counts at the start, by default half
    of the runs that there are, rounded up. Documents are numbered again. Raises ValueError for a score that
    is not finite, two scores of a pair, or votes below 1.
    """
    if not priors["score"].is_finite().all():
        raise ValueError("A prior score is not a finite number; leave out pairs that have none.")
    if priors.select("query_id", "document_id").is_duplicated().any():
        raise ValueError("A pair has two prior scores; use those of one model and prompt.")
    by_query: dict[str, dict[str, float]] = {}
    for query_id, document_id, score in priors.select("query_id", "document_id", "score").iter_rows():
        by_query.setdefault(query_id, {})[document_id] = score
    return {
        query_id: with_prior(one, by_query.get(query_id, {}), votes=votes)
        for query_id, one in candidates.items()
    }


def with_prior(one: Candidates, scores: Scores, *, votes: int | None = None) -> Candidates:
    """scores: by document id. All queries of a strategy must get the same votes."""
    votes = usual_votes(one.runs) if votes is None else votes
    if votes < 1:
        raise ValueError(f"A prior needs 1 or more votes, not {votes}.")
    scored = np.array([number for number, name in enumerate(one.documents) if name in scores], dtype=np.int64)
    values = np.array([scores[one.documents[number]] for number in scored], dtype=np.float64)
    order = scored[np.argsort(-values, kind="stable")]
    rank = np.arange(1, len(order) + 1)
    rrf = one.rrf.copy()
    rrf[order] += votes / (RRF_K + rank)
    document = np.concatenate((one.document, np.repeat(order, votes)))
    run = np.concatenate((one.run, np.tile(one.runs + np.arange(votes), len(order))))
    ranks = np.concatenate((one.rank, np.repeat(rank, votes)))
    return _renumbered(
        replace(
            one,
            runs=one.runs + votes,
            depth=max(one.depth, len(order)),
            document=document,
            run=run,
            rank=ranks,
            rrf=rrf,
        )
    )


def usual_votes(runs: int) -> int:
    """As how many runs a score counts unless somebody says otherwise: half of those there are, rounded up."""
    return max(1, -(-runs // 2))


def _renumbered(one: Candidates) -> Candidates:
    """Documents numbered in RRF order again, and the finds in the order that Candidates have."""
    order: Integers = np.argsort(-one.rrf, kind="stable")
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    document = number[one.document]
    finds = np.lexsort((one.run, one.rank, document))
    return replace(
        one,
        documents=[one.documents[old] for old in order],
        document=document[finds],
        run=one.run[finds],
        rank=one.rank[finds],
        rrf=one.rrf[order],
        score_sum=None if one.score_sum is None else one.score_sum[order],
    )
