"""The order of a whole pool before the first label, as a frame."""

from __future__ import annotations

from pooling.heavy import np, pl
from pooling.strategies.base import Strategy
from pooling.strategies.candidates import candidates_of
from pooling.strategies.static import Sampling


def order_by_depth(merged: pl.DataFrame) -> pl.DataFrame:
    """Best rank in any run, so the depth-1 pool first; ties by RRF falling, then document id falling."""
    return merged.sort("query_id", "best_rank", "rrf", "document_id", descending=[False, False, True, True])


def order_by_rrf(merged: pl.DataFrame) -> pl.DataFrame:
    """Reciprocal rank fusion falling (Cormack et al., SIGIR 2009); ties by document id falling bytewise."""
    return merged.sort("query_id", "rrf", "document_id", descending=[False, True, True])


def order_without_labels(
    merged: pl.DataFrame,
    make: type[Strategy],
    seed: int,
    *,
    runs: int | None = None,
    depth: int | None = None,
) -> pl.DataFrame:
    """Each query's pool in the strategy's order without labels; `runs` and `depth` as for `candidates_of`."""
    if not merged.height:
        return merged
    ordered = order_by_rrf(merged)
    candidates = candidates_of(ordered, runs=runs, depth=depth)
    strategy, first, rows = make(candidates, seed=seed), 0, []
    for one in candidates.values():
        rows.append(first + np.array(strategy.pick(one, strategy.open_documents(one), len(one))))
        first += len(one)
    return ordered[np.concatenate(rows)]


def sampling_probabilities(pooled: pl.DataFrame, seed: int) -> pl.DataFrame:
    """π of documents from priority sampling, given the sample's order with each query's chosen ones first."""
    candidates = candidates_of(pooled)
    sampling = Sampling(candidates, seed=seed)
    chosen = dict(pooled.group_by("query_id").agg(pl.col("inclusion_probability").count()).iter_rows())
    parts = []
    for query_id, one in candidates.items():
        probability = sampling.probabilities_after(one, chosen[query_id])
        parts.append(probability[sampling.pick(one, sampling.open_documents(one), len(one))])
    values = pl.Series("inclusion_probability", np.concatenate(parts or [np.zeros(0)])).fill_nan(None)
    return pooled.with_columns(values)
