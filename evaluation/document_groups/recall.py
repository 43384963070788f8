"""Recall of groups of documents: how findable old ones, short ones or those of one source are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from evaluation.document_groups.cutting import Cut
from evaluation.significance import (
    FEWEST_QUERIES,
    RatioDifferences,
    Resampling,
    adjusted,
    mean_intervals,
    ratio_differences,
)
from pooling.heavy import Floats, Integers, np, npt

#: Of fewer relevant documents, or of fewer queries than `FEWEST_QUERIES`, there are counts and no interval.
FEWEST_RELEVANT = 5


@dataclass(frozen=True)
class Span:
    """A share or a difference with its interval; null where too little is known for one."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class GroupRecall:
    """Recall of one group: `found` of its `relevant` pairs of a query and a document."""

    name: str
    documents: int
    queries: int
    relevant: int
    found: int
    recall: Span
    difference: Annotated[Span, "From the documents of all other groups."]
    p: float | None
    p_holm: Annotated[float | None, "Corrected for the groups that are compared."]

    @property
    def is_small(self) -> bool:
        """Whether there is no interval because too little is known."""
        return self.recall.low is None


@dataclass(frozen=True)
class GroupedRecall:
    """All relevant documents, then their groups, which partition them."""

    key: str
    in_order: bool
    everything: GroupRecall
    groups: tuple[GroupRecall, ...]


def recall_by_documents(
    query: Integers, document_ids: list[str], hit: npt.NDArray[np.bool_], cut: Cut, *, resampling: Resampling
) -> GroupedRecall:
    """recall_g = Σ_q |R_q ∩ top K ∩ g| / Σ_q |R_q ∩ g|: a document counts as often as it is relevant.

    query, document_ids, hit: (n,) the relevant pairs, whether each is in the first K; queries are numbered
    from 0. The interval of a group is that of a ratio over queries (`mean_intervals` with weights), those of
    differences come from resamples that group and rest share. Holm corrects for the groups that are compared;
    two groups are one comparison.
    """
    group = np.array([cut.place[id] for id in document_ids], dtype=np.int64)
    shape = int(query.max(initial=-1)) + 1, len(cut.names)
    of, found = (_table(query[rows], group[rows], shape) for rows in (slice(None), hit))
    ids = np.array(document_ids, dtype=object)
    counts = [len(set(ids[group == place].tolist())) for place in range(len(cut.names))]
    low, high = _intervals(found, of, resampling)
    compared = _comparable(of)
    differences = ratio_differences(found, of, resampling)
    groups = [
        GroupRecall(
            name,
            counts[g],
            int(np.count_nonzero(of[:, g])),
            int(of[:, g].sum()),
            int(found[:, g].sum()),
            _span(_share(found[:, g], of[:, g]), low[g], high[g]),
            *_difference(differences, g, compared),
        )
        for g, name in enumerate(cut.names)
    ]
    all_found, all_of = found.sum(axis=1, keepdims=True), of.sum(axis=1, keepdims=True)
    ends = _intervals(all_found, all_of, resampling)
    everything = GroupRecall(
        "all",
        len(set(document_ids)),
        int(np.count_nonzero(all_of)),
        int(all_of.sum()),
        int(all_found.sum()),
        _span(_share(all_found, all_of), ends[0][0], ends[1][0]),
        Span(None),
        None,
        None,
    )
    return GroupedRecall(cut.key, cut.in_order, everything, tuple(one for one in groups if one.relevant))


def _table(query: Integers, group: Integers, shape: tuple[int, int]) -> Floats:
    counts = np.bincount(query * shape[1] + group, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


def _share(found: Floats, of: Floats) -> float:
    total = float(of.sum())
    return float(found.sum()) / total if total else float("nan")


def _intervals(found: Floats, of: Floats, resampling: Resampling) -> tuple[Floats, Floats]:
    """(G,) limits, NaN where there are too few documents; a query weighs its relevant documents."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(of > 0, found / of, np.nan)
    low, high = mean_intervals(values, **resampling._asdict(), weights=np.maximum(of, 1.0))
    few = of.sum(axis=0) < FEWEST_RELEVANT
    return np.where(few, np.nan, low), np.where(few, np.nan, high)


def _comparable(of: Floats) -> npt.NDArray[np.bool_]:
    """(G,) whether a group and the rest both have enough documents and queries for an interval."""
    rest = of.sum(axis=1, keepdims=True) - of
    enough = [
        (one.sum(axis=0) >= FEWEST_RELEVANT) & (np.count_nonzero(one, axis=0) >= FEWEST_QUERIES)
        for one in (of, rest)
    ]
    both: npt.NDArray[np.bool_] = enough[0] & enough[1]
    return both


def _difference(
    made: RatioDifferences, g: int, compared: npt.NDArray[np.bool_]
) -> tuple[Span, float | None, float | None]:
    """The difference of one group from the rest; p-values only where both are large enough."""
    value = float(made.difference[g])
    if not compared[g]:
        return Span(None if np.isnan(value) else value), None, None
    p = np.where(compared, made.p, np.nan)
    # Of two groups each is the other's rest.
    holm = p if len(p) == 2 else adjusted(p)
    return _span(value, made.low[g], made.high[g]), float(p[g]), float(holm[g])


def _span(value: float, low: float, high: float) -> Span:
    ends = (None, None) if np.isnan(low) else (float(low), float(high))
    return Span(None if np.isnan(value) else value, *ends)
