"""The same documents embedded twice: did an upgrade, a quantisation or another machine move their vectors?"""

from __future__ import annotations

from typing import TypedDict

from pooling.formats.wording import counted
from pooling.heavy import Floats, np

#: Vectors below this cosine are no longer the same for most purposes.
SAME = 0.99
SAMPLE, NEIGHBOURS = 1_000, 10
BLOCK = 256


class VectorCheck(TypedDict):
    """Cosines of old and new vectors of the same documents, and what a search would notice.

    neighbours: the mean share of the ten nearest documents that stayed, over a sample of documents.
    self_first: the share of these whose new vector finds its old one first; `sample` is their number.
    """

    documents: int
    only_old: int
    only_new: int
    mean_cosine: float
    low_cosine: float
    below: float
    sample: int
    neighbours: float
    self_first: float


def check_vectors(
    old: Floats, new: Floats, *, strangers: tuple[int, int] = (0, 0), seed: int = 0
) -> VectorCheck:
    """Compare (n, d) vectors row by row; d may differ, and then there are no cosines (NaN) and no self."""
    first, second = _unit(old), _unit(new)
    comparable = first.shape[1] == second.shape[1]
    cosines = (first * second).sum(axis=1) if comparable else np.full(len(first), np.nan)
    rows = np.sort(np.random.default_rng(seed).permutation(len(first))[:SAMPLE])
    return {
        "documents": len(first),
        "only_old": strangers[0],
        "only_new": strangers[1],
        "mean_cosine": float(cosines.mean()),
        "low_cosine": float(np.quantile(cosines, 0.01)),
        "below": float((cosines < SAME).mean()) if comparable else float("nan"),
        "sample": len(rows),
        "neighbours": _kept_neighbours(first, second, rows),
        "self_first": _finds_itself(first, second, rows) if comparable else float("nan"),
    }


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.where(lengths > 0, lengths, 1)
    return unit


def _kept_neighbours(
    first: Floats, second: Floats, rows: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> float:
    count = min(NEIGHBOURS, len(first) - 1)
    shares = []
    for block in np.array_split(rows, max(1, len(rows) // BLOCK)):
        before, after = (_nearest(vectors, block, count) for vectors in (first, second))
        shares += [
            len(set(one) & set(two)) / count for one, two in zip(before.tolist(), after.tolist(), strict=True)
        ]
    return float(np.mean(shares))


def _nearest(
    vectors: Floats, rows: np.ndarray[tuple[int], np.dtype[np.int64]], count: int
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """(rows, count) the nearest other documents of each row; of equally near ones the first."""
    scores = vectors[rows] @ vectors.T
    scores[np.arange(len(rows)), rows] = -np.inf
    order: np.ndarray[tuple[int, int], np.dtype[np.int64]] = np.argsort(-scores, axis=1, kind="stable")[
        :, :count
    ]
    return order


def _finds_itself(first: Floats, second: Floats, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
    """Documents that are written twice share a vector, so a tie counts as found."""
    count = 0
    for block in np.array_split(rows, max(1, len(rows) // BLOCK)):
        scores = second[block] @ first.T
        own = scores[np.arange(len(block)), block]
        count += int((own >= scores.max(axis=1) - 1e-9).sum())
    return count / len(rows)


def check_text(check: VectorCheck) -> str:
    lines = [f"{counted(check['documents'], 'document')} in both."]
    if check["only_old"] or check["only_new"]:
        lines[0] += (
            f" Left out: {check['only_old']:,} of the old file alone, {check['only_new']:,} of the new."
        )
    if np.isnan(check["mean_cosine"]):
        lines.append("The vectors have other dimensions, so they cannot be compared one by one.")
    else:
        lines += [
            f"Cosine of old and new: {check['mean_cosine']:.4f} on average, {check['low_cosine']:.4f} for "
            f"the lowest hundredth; {100 * check['below']:.1f} % are below {SAME}.",
            f"{100 * check['self_first']:.1f} % of {check['sample']:,} documents find themselves first.",
        ]
    lines.append(f"{100 * check['neighbours']:.1f} % of the {NEIGHBOURS} nearest documents stayed.")
    return "\n".join(lines)
