"""Measures that depend on where relevant documents stand, and those made for incomplete labels."""

from __future__ import annotations

from evaluation.measures.ranked import RankedLabels, sums_up_to
from evaluation.measures.registry import Measure, TopCounts, register, share
from pooling.heavy import Floats, Integers, np

INFAP_EPSILON = 0.00001


def average_precision(counts: TopCounts) -> Floats:
    ranked = counts.ranked
    rows = ranked.relevant
    precision_there = (ranked.above(rows)[rows] + 1) / ranked.position[rows]
    return share(ranked.sums_up_to(counts.cutoffs, rows, precision_there), counts.relevant[:, None])


def reciprocal_rank(counts: TopCounts) -> Floats:
    ranked = counts.ranked
    first = ranked.relevant & (ranked.above(ranked.relevant) == 0)
    values = ranked.sums_up_to(counts.cutoffs, first, 1 / ranked.position[first])
    return np.where(counts.relevant[:, None] > 0, values, np.nan)


def ndcg(counts: TopCounts) -> Floats:
    ranked = counts.ranked
    gaining = ranked.relevance > 0
    gained = ranked.sums_up_to(
        counts.cutoffs, gaining, _discounted(ranked.relevance[gaining], ranked.position[gaining])
    )
    query, position, gain = ranked.grades.ideal
    gains, count = _discounted(gain, position), ranked.grades.query_count
    best = sums_up_to(position, query, gains, counts.cutoffs, query_count=count)
    return share(gained, best)


def _discounted(gain: Floats, position: Integers) -> Floats:
    discounted: Floats = gain / np.log2(position + 1)
    return discounted


def r_precision(counts: TopCounts) -> Floats:
    ranked = counts.ranked
    within = ranked.relevant & (ranked.position <= counts.relevant[ranked.query])
    hits = np.bincount(ranked.query[within], minlength=len(counts.relevant))
    return share(hits[:, None], counts.relevant[:, None])


def bpref(counts: TopCounts) -> Floats:
    ranked = counts.ranked
    rows = ranked.relevant
    query = ranked.query[rows]
    wrong = ranked.above(_not_relevant(ranked))[rows]
    relevant = counts.relevant[query]
    most = np.minimum(ranked.grades.nonrelevant_count[query], relevant)
    # Without a document judged not relevant above it, no preference is broken: 1 - 0.
    kept = 1 - np.minimum(wrong, relevant) / np.maximum(most, 1)
    return share(ranked.sums_up_to(counts.cutoffs, rows, kept), counts.relevant[:, None])


def inferred_ap(counts: TopCounts) -> Floats:
    ranked = counts.ranked
    rows = ranked.relevant
    position = ranked.position[rows]
    pooled = ranked.above(np.ones(len(rows), dtype=np.bool_))[rows]
    right, wrong = ranked.above(rows)[rows], ranked.above(_not_relevant(ranked))[rows]
    expected = (right + INFAP_EPSILON) / (right + wrong + 2 * INFAP_EPSILON)
    terms = 1 / position + pooled / position * expected
    return share(ranked.sums_up_to(counts.cutoffs, rows, terms), counts.relevant[:, None])


def _not_relevant(ranked: RankedLabels) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """The rows that were judged and are not relevant; a negative label was not judged."""
    judged: np.ndarray[tuple[int], np.dtype[np.bool_]] = (ranked.relevance >= 0) & ~ranked.relevant
    return judged


_BOOK = "Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), section 8"

register(
    Measure(
        "ndcg",
        "nDCG",
        "The graded relevance in the first K, discounted by rank, as a share of the best that K can hold.",
        "DCG(K) / best DCG(K), DCG(K) = Σ relevance / log2(rank + 1); undefined without a label above 0",
        "Järvelin and Kekäläinen, Cumulated gain-based evaluation (2002); trec_eval ndcg_cut_K. The gain is "
        "the label itself, whatever counts as relevant",
        ndcg,
        by_rank=True,
    ),
    Measure(
        "map",
        "MAP",
        "The mean, over all relevant documents, of the precision at the place where each was found; 0 for "
        "those that were not.",
        "Σ precision(rank of each relevant document, up to K) / R; undefined for R = 0",
        f"{_BOOK}.4; trec_eval map, map_cut_K (which divides by R, not by min(R, K))",
        average_precision,
        by_rank=True,
        whole=True,
    ),
    Measure(
        "mrr",
        "MRR",
        "One divided by the rank of the first relevant document; 0 where there is none up to K.",
        "1 / rank of the first relevant document; undefined for R = 0",
        "Voorhees, The TREC-8 question answering track report (1999); trec_eval recip_rank",
        reciprocal_rank,
        by_rank=True,
        whole=True,
    ),
    Measure(
        "rprecision",
        "R-precision",
        "The precision at R, the number of the query's relevant documents; there it equals recall.",
        "hits(R) / R; undefined for R = 0",
        f"{_BOOK}.4; trec_eval Rprec",
        r_precision,
        by_rank=True,
        whole=True,
        cut=False,
    ),
    Measure(
        "bpref",
        "bpref",
        "How often relevant documents stand above those judged not relevant; documents without a label do "
        "not count.",
        "1/R · Σ (1 − min(n, R) / min(N, R)), n judged not relevant above, N in all; undefined for R = 0",
        "Buckley and Voorhees, Retrieval evaluation with incomplete information (2004); trec_eval bpref",
        bpref,
        by_rank=True,
        whole=True,
        cut=False,
    ),
    Measure(
        "infap",
        "infAP",
        "Average precision expected from a uniform random sample of the pool; a negative label is a document "
        "of the pool that the sample left out. Not valid on labels that were chosen in any other way.",
        "1/R · Σ (1/k + pooled/k · (r + ε) / (r + n + 2ε)) over the relevant at rank k, of the pooled "
        "documents above it r relevant and n not; ε = 0.00001; undefined for R = 0",
        "Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments (2006); "
        "trec_eval infAP",
        inferred_ap,
        by_rank=True,
        whole=True,
        cut=False,
    ),
)
