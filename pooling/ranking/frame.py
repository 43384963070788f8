"""Reach: an audit drawn from a frame that goes deeper than the documents that are judged with certainty.

Depth says how far down the runs' lists the order of a strategy may choose; reach, how far down documents
may be drawn at random. The frame of a query is the union of the first `reach` places of every run and, where
the texts are there, of a text ranking over the collection (`pooling/texts/text_ranking.py`). The rules are
those of `pooling/ranking/sample.py`: the greedy part walks down the pool and no further, and the audit is the
beginning of a random order of the whole frame. So documents that nobody reached have one probability,
however deep they lie.

Frame order. Each document has its own key, a BLAKE2b hash of seed, query and document id, and the order
is that of the keys. So the order of a few documents is known without the others: only documents that are
drawn, or may be, need a row.

Without a budget the whole pool is judged, and as many documents are drawn beyond it as the audit share says
of the pool. Sampling from a frame deeper than what is judged is that of infAP and statAP (Yilmaz and Aslam,
2006; Aslam and Pavlu, 2007).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pooling.heavy import Booleans, Integers, NDArray, np, pl
from pooling.ranking.ranking import query_starts
from pooling.ranking.sample import audit_size, audit_sizes, spread_budget, walk


def frame_keys(query_id: str, document_ids: Iterable[str], seed: int) -> list[bytes]:
    """Keys that order the documents of a query in the audit."""
    query_key = hashlib.blake2b(f"{seed}\0{query_id}".encode(), digest_size=32).digest()
    return [
        hashlib.blake2b(document.encode(), key=query_key, digest_size=16).digest()
        for document in document_ids
    ]


def frame_order(query_id: str, document_ids: Sequence[str], seed: int) -> Integers:
    """The numbers of a query's documents in audit order."""
    keys = frame_keys(query_id, document_ids, seed)
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


@dataclass(frozen=True)
class Draw:
    """A draw's budget (pairs in all, None for the whole pool), share that is drawn, and seed of the order."""

    budget: int | None
    audit_share: float
    seed: int


def choose_from_frame(
    ordered: pl.DataFrame,
    beyond: pl.DataFrame,
    draw: Draw,
    *,
    with_reserve: bool = False,
    kept: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """The pooled pairs, and of each query behind them the documents drawn from beyond the pool.

    ordered: the pool, sorted by query id and then position. beyond: the other pairs of the frame, with the
    same columns but for `position`, sorted by query id. New columns: `in_audit`, `inclusion_probability`,
    `frame_size` (documents in the frame of the query) and `is_beyond`. with_reserve: a queue whose order
    learns draws as it goes, so whatever it may come to draw has a row as well, without a probability.

    kept: query_id, document_id, in_audit, inclusion_probability of the version that is extended, whose rows
    all stay. What was certain is certain. The audit goes on in the one order of the new frame: documents that
    are new in it and stand before the last that was drawn are drawn now. The budget is for new judgments.
    Raises ValueError where it does not suffice for them.
    """
    beyond = beyond.join(ordered, on="query_id", how="semi", maintain_order="left")
    before = _before(kept)
    pools, deeper = _slices(ordered), _slices(beyond)
    queries = list(pools)
    frames = []
    for query in queries:
        pool = ordered[pools[query].start : pools[query].stop]
        rest = beyond[deeper[query].start : deeper[query].stop] if query in deeper else beyond.clear()
        frames.append(_Frame.of(query, pool, rest, before.get(query, {}), seed=draw.seed))
    sizes = np.array([int(frame.is_eligible.sum()) for frame in frames], dtype=np.int64)
    given = [None] * len(frames) if draw.budget is None else spread_budget(sizes, draw.budget).tolist()
    parts = [
        frame.chosen(share, draw.audit_share, with_reserve)
        for frame, share in zip(frames, given, strict=True)
    ]
    return pl.concat(parts) if parts else ordered.clear()


def _before(kept: pl.DataFrame | None) -> dict[str, dict[str, tuple[bool, float | None]]]:
    """Query -> document -> in_audit and inclusion_probability."""
    by_query: dict[str, dict[str, tuple[bool, float | None]]] = {}
    if kept is not None:
        columns = ("query_id", "document_id", "in_audit", "inclusion_probability")
        for query, document, in_audit, probability in kept.select(columns).iter_rows():
            by_query.setdefault(query, {})[document] = in_audit, probability
    return by_query


@dataclass(frozen=True)
class _Frame:
    """The documents of a query's frame, those of the pool first; the arrays go by their numbers.

    order: in audit order. was_certain, was_audited, was_kept: in the version that is extended.
    """

    pool: pl.DataFrame
    rest: pl.DataFrame
    order: Integers
    was_certain: Booleans
    was_audited: Booleans
    was_kept: Booleans

    @classmethod
    def of(
        cls,
        query: str,
        pool: pl.DataFrame,
        rest: pl.DataFrame,
        before: dict[str, tuple[bool, float | None]],
        *,
        seed: int,
    ) -> _Frame:
        documents = pool["document_id"].to_list() + rest["document_id"].to_list()
        entries = [before.get(document) for document in documents]
        return cls(
            pool,
            rest,
            frame_order(query, documents, seed),
            np.array([one is not None and one[1] == 1 for one in entries], dtype=bool),
            np.array([one is not None and one[0] for one in entries], dtype=bool),
            np.array([one is not None for one in entries], dtype=bool),
        )

    @property
    def is_eligible(self) -> Booleans:
        """Documents that a judgment can still be spent on."""
        return ~(self.was_certain | self.was_audited)

    def chosen(self, budget: int | None, audit_share: float, with_reserve: bool) -> pl.DataFrame:
        """The rows of the query: see `choose_from_frame`."""
        size, pooled = len(self.order), self.pool.height
        is_new = self.is_eligible & ~self.was_kept & (np.arange(size) < pooled)
        # The greedy part walks down the new documents of the pool; the audit may draw whatever has no label.
        eligible = np.concatenate([np.flatnonzero(is_new), np.flatnonzero(self.is_eligible & ~is_new)])
        place = np.full(size, -1)
        place[eligible] = np.arange(len(eligible))
        order, new = place[self.order][self.is_eligible[self.order]], int(is_new.sum())
        sample_size = max(self._due(), audit_size(audit_share, new if budget is None else budget))
        budget = min(new + sample_size if budget is None else budget, len(eligible))
        if sample_size > budget:
            raise ValueError(
                f"The audit of query {self.pool['query_id'][0]} needs {self._due():,} of the documents that "
                "are new in its frame. Give a larger budget, or none."
            )
        reached, sample = walk(order, budget, sample_size, new)
        in_audit, certain = self.was_audited.copy(), self.was_certain.copy()
        in_audit[eligible[sample]] = True
        certain[eligible[:reached]] = True
        rows = self._rows(in_audit, audit_share, with_reserve)
        position = pl.int_range(pooled + 1, len(rows) + 1, dtype=pl.UInt32, eager=True)
        behind = self.rest[rows[pooled:] - pooled].with_columns(position.alias("position"))
        return pl.concat([self.pool, behind.select(self.pool.columns)]).with_columns(
            pl.Series("in_audit", in_audit[rows]),
            pl.Series("inclusion_probability", _probabilities(in_audit, certain)[rows]).fill_nan(None),
            pl.lit(size, dtype=pl.UInt32).alias("frame_size"),
            pl.Series("is_beyond", rows >= pooled),
        )

    def _due(self) -> int:
        """Number of documents before the last that was drawn and must be drawn too."""
        before = np.flatnonzero(self.was_audited[self.order])
        return int(self.is_eligible[self.order[: before[-1]]].sum()) if len(before) else 0

    def _rows(self, in_audit: Booleans, audit_share: float, with_reserve: bool) -> Integers:
        """The pool, then in audit order what was drawn beyond it, was kept, or may come to be drawn."""
        pooled = self.pool.height
        beyond = self.order[self.order >= pooled]
        is_row = in_audit[beyond] | self.was_kept[beyond]
        if with_reserve:
            is_row[: reserve_size(audit_share, pooled)] = True
        return np.concatenate([np.arange(pooled), beyond[is_row]])


def _probabilities(in_audit: Booleans, certain: Booleans) -> NDArray[np.float64]:
    """π by document; nan for those that are neither certain nor drawn."""
    left = ~certain
    probability = np.where(certain, 1.0, np.nan)
    if left.any():
        probability[left & in_audit] = in_audit[left].mean()
    return probability


def whole_sizes(sizes: Integers, frames: Integers, audit_share: float) -> Integers:
    """(Q,) the documents that are judged without a budget, of pools and frames of these sizes."""
    whole: Integers = np.minimum(sizes + audit_sizes(audit_share, sizes), frames)
    return whole


def expected_draws(
    sizes: Integers, frames: Integers, chosen: Integers, audits: Integers
) -> tuple[float, float]:
    """(documents drawn of all that are chosen, those of them from beyond the pools), as expected.

    sizes, frames, chosen, audits (Q,): documents of each query's pool and frame, those that are judged, and
    those of its audit. Where the greedy part comes to the end of the pool, the rest of the budget is drawn.

    >>> expected_draws(*map(np.array, ([20], [100], [40], [10])))
    (22.0, 20.0)
    """
    in_pool = sizes * audits / np.maximum(frames, 1)
    beyond = np.maximum(audits - in_pool, chosen - sizes)
    return float((in_pool + beyond).sum()), float(beyond.sum())


def reserve_size(audit_share: float, pooled: int) -> int:
    """Number of documents that an audit of this share can draw by the time that the whole pool is judged."""
    if audit_share >= 1:
        return 1 << 31
    return math.ceil(round(audit_share * pooled / (1 - audit_share), 9)) + 1 if audit_share else 0


def _slices(frame: pl.DataFrame) -> dict[str, range]:
    starts = query_starts(frame)
    heads = frame["query_id"].gather(starts).to_list()
    edges = pairwise([*starts.tolist(), frame.height])
    return {query: range(*both) for query, both in zip(heads, edges, strict=True)}
