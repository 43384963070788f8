"""Measures that need no more than counts at K: recall and its companions, and coverage."""

from __future__ import annotations

from evaluation.measures.registry import Measure, TopCounts, register, share
from pooling.heavy import Floats, np


def recall(counts: TopCounts) -> Floats:
    return share(counts.hits, counts.relevant[:, None])


def precision(counts: TopCounts) -> Floats:
    return share(counts.hits, counts.cutoffs)


def f1(counts: TopCounts) -> Floats:
    # 2PR / (P + R) with P = hits / K and R = hits / relevant, freed of its 0/0 where nothing was found.
    relevant = counts.relevant[:, None]
    return share(2 * counts.hits, np.where(relevant > 0, counts.cutoffs + relevant, 0))


def success(counts: TopCounts) -> Floats:
    return (counts.hits > 0).astype(np.float64)


def capped_recall(counts: TopCounts) -> Floats:
    return share(counts.hits, np.minimum(counts.relevant[:, None], counts.cutoffs))


def judged(counts: TopCounts) -> Floats:
    return share(counts.judged, counts.cutoffs)


def judged_of_retrieved(counts: TopCounts) -> Floats:
    """Judged@K over min(K, documents retrieved); NaN where nothing was retrieved. (Q, C)."""
    return share(counts.judged, counts.retrieved)


_BOOK = "Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), section 8"

register(
    Measure(
        "recall",
        "Recall",
        "The share of a query's relevant documents that stand in the first K of the run.",
        "hits(K) / R; undefined for R = 0",
        f"{_BOOK}.3; trec_eval recall_K",
        recall,
    ),
    Measure(
        "precision",
        "Precision",
        "The share of the first K places that hold a relevant document; empty places count.",
        "hits(K) / K",
        f"{_BOOK}.4; trec_eval P_K",
        precision,
    ),
    Measure(
        "f1",
        "F1",
        "The harmonic mean of Precision@K and Recall@K.",
        "2 · hits(K) / (K + R); undefined for R = 0",
        f"{_BOOK}.3",
        f1,
    ),
    Measure(
        "success",
        "Success",
        "Whether at least one relevant document stands in the first K (hit rate).",
        "1 if hits(K) ≥ 1, else 0",
        "trec_eval success_K",
        success,
    ),
    Measure(
        "capped_recall",
        "Capped recall",
        "Recall with a denominator that K documents can reach; never to be called recall.",
        "hits(K) / min(R, K); undefined for R = 0",
        "Thakur et al., BEIR (2021), section 3 (R_cap@K)",
        capped_recall,
    ),
    Measure(
        "judged",
        "Judged",
        "Coverage: the share of the documents in the first K of the run that have a label.",
        "labelled(K) / min(K, documents retrieved); the `mean` of JSON and CSV is labelled(K) / K",
        "trec_eval 10 unj_K is the unjudged part of the same K places",
        judged,
    ),
)
