"""Drawing queries from a log with known probabilities: stratified sequential Poisson sampling.

Each query has a permanent random number, made from the seed and its text. Within a stratum a query of size f
gets the probability min(1, n f / Σ f); those at 1 are taken, the rest worked out again until nothing changes,
and the n queries with the smallest number ÷ probability are drawn (Ohlsson, Sequential Poisson sampling,
1998). The numbers stay when the log changes, so next month's draw keeps nearly all queries, and their labels.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pooling.heavy import Floats, Integers, np

#: The strata by traffic, most frequent first.
HEAD, TORSO, TAIL = "head", "torso", "tail"
#: Queries asked this often at most are the tail.
TAIL_SIZE = 2
#: The share of the traffic that the head holds at most.
HEAD_SHARE = 1 / 3
#: A stratum gets this many queries, where it has them.
LEAST_IN_STRATUM = 5


def query_key(text: str) -> str:
    """What counts as the same query: NFC, blanks folded and trimmed, lower case.

    >>> query_key("  Night   BUS ")
    'night bus'
    """
    return " ".join(unicodedata.normalize("NFC", text).split()).lower()


def permanent_number(seed: int | str, key: str) -> float:
    """A number in [0, 1): the first 8 bytes of SHA-256(seed, 0, key) ÷ 2⁶⁴.

    >>> round(permanent_number(0, "night bus"), 6)
    0.648231
    """
    digest = hashlib.sha256(f"{seed}\0{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def inclusion_probabilities(sizes: Floats, n: int) -> Floats:
    """(N,) min(1, n f / Σ f), those at 1 set apart and the rest worked out again; they add up to n.

    >>> inclusion_probabilities(np.array([6.0, 2.0, 1.0, 1.0]), 2).tolist()
    [1.0, 0.5, 0.25, 0.25]
    """
    probabilities = np.ones(len(sizes))
    if n >= len(sizes):
        return probabilities
    certain = np.zeros(len(sizes), dtype=np.bool_)
    while True:
        left = ~certain
        probabilities[left] = (n - int(certain.sum())) * sizes[left] / sizes[left].sum()
        above = left & (probabilities >= 1)
        if not above.any():
            return probabilities
        certain |= above
        probabilities[certain] = 1.0


def sequential_poisson(numbers: Floats, probabilities: Floats, n: int) -> Integers:
    """The n members with the smallest number ÷ probability, all of probability 1 among them; rising."""
    ratio = np.where(probabilities >= 1, -1.0, numbers / probabilities)
    return np.sort(np.argsort(ratio, kind="stable")[:n])


def strata_by_traffic(sizes: Sequence[float]) -> list[str]:
    """The stratum of each query: the tail was asked once or twice; the head are the fewest top queries that
    hold a third of the traffic, equals kept together where that does not exceed it.

    >>> strata_by_traffic([9, 4, 3, 3, 2, 1, 1, 1])
    ['head', 'torso', 'torso', 'torso', 'tail', 'tail', 'tail', 'tail']
    """
    total, before, head = sum(sizes), 0.0, math.inf
    times = Counter(sizes)
    for size in sorted(times, reverse=True):
        after = before + size * times[size]
        if before and after > HEAD_SHARE * total:
            break
        head, before = size, after
    return [TAIL if one <= TAIL_SIZE else HEAD if one >= head else TORSO for one in sizes]


def allocated(strata: Mapping[str, Floats], n: int, target: str = "both") -> dict[str, int]:
    """How many queries each stratum gets of n.

    target: `traffic` gives in proportion to N · (standard deviation + mean of the sizes), `queries` in
    proportion to N, `both` half of each. Each stratum has at least 5, where it holds them, and none more than
    it holds; what is left over goes to the largest remainders.
    """
    wanted = np.zeros(len(strata))
    by_traffic = np.array([len(f) * (float(np.std(f)) + float(np.mean(f))) for f in strata.values()])
    by_queries = np.array([float(len(f)) for f in strata.values()])
    for name, weight in (("traffic", by_traffic), ("queries", by_queries)):
        if target in (name, "both"):
            wanted += weight / weight.sum()
    most = by_queries.astype(int)
    least = np.minimum(most, LEAST_IN_STRATUM)
    n = min(n, int(most.sum()))
    if n <= least.sum():
        return dict(zip(strata, _rounded(least * n / max(least.sum(), 1), n, least).tolist(), strict=True))
    share = n * wanted / wanted.sum()
    fixed = np.zeros(len(share), dtype=np.bool_)
    while True:
        bounded = np.clip(share, least, most)
        changed = ~fixed & (bounded != share)
        if not changed.any():
            break
        fixed |= changed
        share[fixed] = bounded[fixed]
        free = ~fixed
        if not free.any():
            break
        share[free] = (n - share[fixed].sum()) * wanted[free] / wanted[free].sum()
    return dict(zip(strata, _rounded(share, n, most).tolist(), strict=True))


def _rounded(share: Floats, n: int, most: Integers) -> Integers:
    """Whole numbers that add up to n, by largest remainder."""
    whole = np.floor(share + 1e-9).astype(np.int64)
    order = np.argsort(-(share - whole), kind="stable")
    while whole.sum() < n:
        room = [at for at in order.tolist() if whole[at] < most[at]]
        if not room:
            break
        for at in room[: n - int(whole.sum())]:
            whole[at] += 1
    return whole


@dataclass(frozen=True)
class LoggedQuery:
    key: str
    text: str
    size: float
    stratum: str
    # The log's own; empty where one is made of the text.
    id: str = ""


@dataclass(frozen=True)
class SampledQuery:
    """in_stratum, drawn: its stratum in log and draw; probability, number: of inclusion, permanent random."""

    query: LoggedQuery
    in_stratum: int
    drawn: int
    probability: float
    number: float


def draw(
    population: Sequence[LoggedQuery], n: int, *, seed: int | str = 0, target: str = "both"
) -> list[SampledQuery]:
    """A stratified sample of n queries in population order; ValueError for an empty log, stratum, or n."""
    if n < 1:
        raise ValueError(f"{n} queries cannot be drawn; draw at least 1.")
    if not population:
        raise ValueError("The log has no query to draw from.")
    rows: dict[str, list[int]] = {}
    for row, query in enumerate(population):
        rows.setdefault(query.stratum, []).append(row)
    sizes = np.array([query.size for query in population])
    numbers = np.array([permanent_number(seed, query.key) for query in population])
    shares = allocated({name: sizes[members] for name, members in rows.items()}, n, target)
    if without := [name for name, many in shares.items() if not many]:
        enough = sum(min(len(members), LEAST_IN_STRATUM) for members in rows.values())
        raise ValueError(
            f"{len(without):,} of {len(rows):,} strata, such as {without[0]!r}, would get none of {n:,} "
            f"queries, and nothing would speak for them. Draw {enough:,} or more, or choose fewer strata."
        )
    sample: dict[int, SampledQuery] = {}
    for name, members in rows.items():
        many = shares[name]
        probabilities = inclusion_probabilities(sizes[members], many)
        for at in sequential_poisson(numbers[members], probabilities, many).tolist():
            row = members[at]
            chance, number = float(probabilities[at]), float(numbers[row])
            sample[row] = SampledQuery(population[row], len(members), many, chance, number)
    return [sample[row] for row in sorted(sample)]
