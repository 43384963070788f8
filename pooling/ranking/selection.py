"""Selection of the next documents of a query, in batches: a greedy order and a uniform audit side by side.

The rules are those of `pooling/ranking/sample.py`, taken up again with each batch. The audit is the beginning
of a stored random order of the query's documents; of t judgments, ceil(share × t) go to it, and one more
whenever the greedy part has reached all of it, so that what is left can be estimated after any batch. The
greedy part walks down the order of a strategy that sees only the labels of reached documents; a document
of the audit that it comes to is reached and not judged again. Whatever batch comes last: given all that the
greedy part has used, the audit documents not reached are a uniform sample of the documents not reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pooling.heavy import Booleans, Integers, np
from pooling.ranking.sample import spread_budget

#: The same number of documents for each query, the same share of each pool, or wherever they are relevant.
EQUAL, SHARE, GREEDY = "equal", "share", "greedy"
#: Documents that are chosen together.
BATCH = 10


@dataclass(frozen=True)
class Standing:
    """Progress of a query's selection, by document number.

    reached: the greedy part has come to it. in_audit: it belongs to the audit. free: judging it costs
    nothing, because it is judged elsewhere. spent: documents handed out so far. hidden: documents of a
    deeper frame that have no number: they are left as well, and the audit speaks for them.
    """

    reached: Booleans
    in_audit: Booleans
    free: Booleans
    spent: int
    hidden: int = 0


@dataclass(frozen=True)
class Batch:
    """handed: what is to be judged. reached: what the greedy part comes to. joined: what joins the audit."""

    handed: tuple[int, ...]
    reached: tuple[int, ...]
    joined: tuple[int, ...]


def next_batches(
    order: Sequence[int],
    audit_order: Sequence[int],
    standing: Standing,
    *,
    budget: int,
    audit_share: float = 0.0,
    size: int = BATCH,
) -> list[Batch]:
    """The next batches until `budget` or the end. order: the strategy's; audit_order: all documents."""
    return list(_Walk(order, audit_order, standing, audit_share).batches(budget, size))


class _Walk:
    def __init__(
        self, order: Sequence[int], audit_order: Sequence[int], standing: Standing, share: float
    ) -> None:
        self.reached, self.in_audit = standing.reached.tolist(), standing.in_audit.tolist()
        self.free, self.spent, self.share = standing.free.tolist(), standing.spent, share
        self.order, self.audit_order = iter(order), iter(audit_order)
        self.audit = sum(self.in_audit)
        self.rest = len(self.reached) - sum(self.reached) + standing.hidden
        self.audit_left = sum(
            in_audit and not reached for in_audit, reached in zip(self.in_audit, self.reached, strict=True)
        )

    def batches(self, budget: int, size: int) -> Iterator[Batch]:
        while self.spent < budget:
            handed: list[int] = []
            reached: list[int] = []
            joined: list[int] = []
            while len(handed) < size and self.spent < budget:
                number = self.draw() if self.is_draw_due() else None
                if number is not None:
                    joined.append(number)
                else:
                    number = self.reach()
                    if number is None:
                        break
                    reached.append(number)
                    if self.in_audit[number]:
                        continue
                if not self.free[number]:
                    handed.append(number)
                    self.spent += 1
            if not (handed or reached or joined):
                return
            yield Batch(tuple(handed), tuple(reached), tuple(joined))

    def is_draw_due(self) -> bool:
        if not self.share:
            return False
        wanted = math.ceil(round(self.share * (self.spent + 1), 9))
        return self.audit < wanted or (not self.audit_left and self.rest > 1)

    def draw(self) -> int | None:
        for number in self.audit_order:
            if not (self.in_audit[number] or self.reached[number]):
                self.in_audit[number] = True
                self.audit += 1
                self.audit_left += 1
                return number
        return None

    def reach(self) -> int | None:
        for number in self.order:
            if not self.reached[number]:
                self.reached[number] = True
                self.rest -= 1
                self.audit_left -= self.in_audit[number]
                return number
        return None


def spread(
    sizes: Mapping[str, int], budget: int | None, *, rule: str = EQUAL, floor: int | None = None
) -> dict[str, int]:
    """The documents that each query may have judged at first; `sizes` are those of the queries' pools.

    equal: the same number for each; share: the same share of each pool; greedy: the floor alone, since the
    rest goes where documents turn out relevant. Each gets at least `floor` (greedy: a batch when None), or
    all it has. Without a budget each gets everything.

    >>> spread({"a": 100, "b": 20}, 30)
    {'a': 15, 'b': 15}
    >>> spread({"a": 100, "b": 20}, 30, rule="share", floor=8)
    {'a': 22, 'b': 8}
    """
    names, all_sizes = list(sizes), np.array(list(sizes.values()), dtype=np.int64)
    if budget is None:
        return dict(sizes)
    least = np.minimum(floor_of(len(names), budget, rule, floor), all_sizes)
    if rule == GREEDY:
        given = least
    elif rule == SHARE:
        given = least + _in_proportion(all_sizes, least, budget - int(least.sum()))
    else:
        given = np.maximum(spread_budget(all_sizes, budget), least)
    return dict(zip(names, given.tolist(), strict=True))


def spread_handed(
    sizes: Mapping[str, int],
    budget: int | None,
    handed: Callable[[Mapping[str, int]], Mapping[str, int]],
    *,
    rule: str = EQUAL,
    floor: int | None = None,
) -> dict[str, int]:
    """`spread` where much of a pool may have labels: what a query that ends early leaves goes to the others.

    handed: by query, the documents that it hands out of the number given to it.
    """
    if budget is None:
        return dict(sizes)
    ended: dict[str, int] = {}
    while True:
        rest = {name: size for name, size in sizes.items() if name not in ended}
        given = spread(rest, budget - sum(ended.values()), rule=rule, floor=floor) if rest else {}
        ends = {name: many for name, many in handed(given).items() if many < given[name]}
        if not ends:
            return {name: (ended | given)[name] for name in sizes}
        ended |= ends


def floor_of(queries: int, budget: int, rule: str, floor: int | None) -> int:
    """The least that each of this many queries gets, where nothing or `floor` is asked for."""
    if floor is None:
        floor = min(BATCH, budget // max(queries, 1)) if rule == GREEDY else 0
    return floor


def _in_proportion(sizes: Integers, least: Integers, left: int) -> Integers:
    """`left` documents over queries, so that with `least` each has as near the same share as floors allow."""
    wanted = np.maximum(sizes * _common_share(sizes, least, left) - least, 0)
    given = np.floor(wanted + 1e-9).astype(np.int64)
    for place in np.argsort(-(wanted - given), kind="stable"):
        if given.sum() >= left:
            break
        given[place] += int(least[place] + given[place] < sizes[place])
    return np.asarray(given)


def _common_share(sizes: Integers, least: Integers, left: int) -> float:
    """The share f with Σ max(f·size, least) = Σ least + left, by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        too_much = np.maximum(middle * sizes, least).sum() > least.sum() + left
        low, high = (low, middle) if too_much else (middle, high)
    return low
