"""The audit sample: a random part of every query's pool, so that estimates from a greedy queue stay honest.

Budget. B pairs in all, the audit included, are spread equally over the queries; a query whose pool is smaller
than its share gives the rest to the others, and the remainder of the division goes to the first queries
bytewise. Without a budget everything is judged and every inclusion probability is 1.

Audit order. Each query has a random order of its pool that depends only on the seed, the query id and the set
of its document ids: the documents, sorted bytewise, are ordered by the raw 64-bit output of a Philox
generator keyed by a BLAKE2b hash of seed and query. Raw bits are the same on every platform and in every
version of NumPy.

Choice, for a query with budget b:

1. n = ceil(audit_share × b), at least 1 when the share is above 0; the audit sample is the first n documents
   of the audit order. They cost n.
2. The greedy part walks down the order of the strategy. A document of the audit is not judged again and costs
   nothing, any other costs one. It stops as soon as the budget is spent: it does not walk on over audit
   documents that follow, since that would look ahead into the audit.
3. If at some point all n audit documents have been reached, documents are left, and only one unit of the
   budget is left too, it stops, and the next document of the audit order beyond the greedy part joins the
   audit instead. So a remainder always holds at least one audit document (when audit_share > 0), and can be
   estimated.
4. Where the frame of the audit reaches deeper than the pool (`ranking/frame.py`), the greedy part ends
   with the pool, and what is left of the budget then goes to the next documents of the audit order.
5. Documents reached have probability 1. Given where the walk stopped, the audit documents not reached are a
   uniform sample of the documents not reached: their probability is (audit documents there) / (documents
   there). All others have none.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import TypeAlias

from pooling.heavy import Booleans, Integers, NDArray, np, pl
from pooling.ranking.ranking import query_starts

#: Pairs to judge in all, or by query where they are spread already.
Budget: TypeAlias = int | Mapping[str, int]


def choose(
    ordered: pl.DataFrame, *, budget: Budget | None, audit_share: float, seed: int
) -> tuple[pl.Series, pl.Series]:
    """(in_audit, inclusion_probability) by row, sorted by query id and position; ValueError out of range."""
    if isinstance(budget, int) and budget < 1:
        raise ValueError(f"The budget is {budget}; it must be 1 pair or more.")
    if not 0 <= audit_share <= 1:
        raise ValueError(f"The audit share is {audit_share}; it must be between 0 and 1.")
    starts = query_starts(ordered)
    sizes = np.diff(np.append(starts, ordered.height))
    if isinstance(budget, Mapping):
        budgets = np.array([budget[query] for query in ordered["query_id"].gather(starts)], dtype=np.int64)
    else:
        budgets = sizes if budget is None else spread_budget(sizes, budget)
    in_audit = np.zeros(ordered.height, dtype=bool)
    probability = np.ones(ordered.height)
    if budget is not None or audit_share > 0:
        queries = ordered["query_id"].gather(starts)
        for query, start, size, share in zip(queries, starts, sizes, budgets, strict=True):
            rows = slice(start, start + size)
            documents = ordered["document_id"][start : start + size]
            in_audit[rows], probability[rows] = choose_in_query(
                query, documents, budget=int(share), audit_share=audit_share, seed=seed
            )
    return pl.Series("in_audit", in_audit), pl.Series("inclusion_probability", probability).fill_nan(None)


def spread_budget(sizes: Integers, budget: int) -> Integers:
    """Equal shares, never more than a query's pool; what one cannot use goes to the others.

    >>> spread_budget(np.array([2, 10, 10]), 11).tolist()
    [2, 5, 4]
    """
    given = np.zeros_like(sizes)
    left = min(budget, int(sizes.sum()))
    while left:
        wanting = np.flatnonzero(given < sizes)
        each, over = divmod(left, len(wanting))
        offer = np.full(len(wanting), each)
        offer[:over] += 1
        taken = np.minimum(offer, sizes[wanting] - given[wanting])
        given[wanting] += taken
        left -= int(taken.sum())
    return given


def audit_size(share: float, budget: int) -> int:
    """ceil(share × budget), free of the dust of binary fractions: 0.1 × 30 is 3, not 4."""
    if not share:
        return 0
    return min(budget, max(1, math.ceil(round(share * budget, 9))))


def audit_sizes(share: float, budgets: Integers) -> Integers:
    """`audit_size` of each budget."""
    by_budget = {budget: audit_size(share, budget) for budget in np.unique(budgets).tolist()}
    return np.array([by_budget[budget] for budget in budgets.tolist()], dtype=np.int64)


def audit_order(query_id: str, document_ids: pl.Series, seed: int) -> Integers:
    """Row numbers of a query's documents in audit order, whatever the order in which they are given."""
    return sampling_order(query_id, document_ids.arg_sort().to_numpy().astype(np.int64), seed)


def sampling_order(query_id: str, bytewise: Integers, seed: int) -> Integers:
    """`audit_order`; bytewise: row numbers of the documents in bytewise order of their ids."""
    key = hashlib.blake2b(f"{seed}\0{query_id}".encode(), digest_size=16).digest()
    generator = np.random.Philox(key=np.frombuffer(key, dtype="<u8").astype(np.uint64))
    shuffled = np.argsort(generator.random_raw(len(bytewise)), kind="stable")
    return bytewise[shuffled]


def choose_in_query(
    query_id: str, document_ids: pl.Series, *, budget: int, audit_share: float, seed: int
) -> tuple[Booleans, NDArray[np.float64]]:
    """(in_audit, π) for the documents of one query in the order of the strategy; π is nan for none."""
    in_audit = np.zeros(len(document_ids), dtype=bool)
    size = audit_size(audit_share, budget)
    if not size:
        reached = budget
    else:
        order = audit_order(query_id, document_ids, seed)
        reached, sample = walk(order, budget, size)
        in_audit[sample] = True
    probability = np.full(len(document_ids), np.nan)
    probability[:reached] = 1.0
    left = slice(reached, None)
    probability[left][in_audit[left]] = in_audit[left].mean() if reached < len(document_ids) else 1.0
    return in_audit, probability


def walk(order: Integers, budget: int, size: int, pooled: int | None = None) -> tuple[int, Integers]:
    """(documents reached, audit documents): steps 2 to 4 above; `order`: audit order over 0 … P-1."""
    end = len(order) if pooled is None else pooled
    sample = order[:size]
    if not size:
        return min(budget, end), sample
    outside = np.ones(len(order), dtype=np.int64)
    outside[sample] = 0
    cost = size + np.concatenate(([0], np.cumsum(outside)))  # after 0, 1, 2 … documents were reached
    reached = min(int(np.searchsorted(cost, budget)), end)
    used_up = max(int(np.searchsorted(cost, budget - 1)), int(sample.max()) + 1)
    if used_up < len(order) - 1 and used_up <= end and cost[used_up] == budget - 1:
        reached = used_up
    beyond = order[size:][order[size:] >= reached]
    return reached, np.append(sample, beyond[: max(budget - int(cost[reached]), 0)])
