"""A greedy part and a uniform audit in one queue, kept apart so that what is left can be estimated.

The audit is the beginning of a random order of each query's pool (`pooling.ranking.sample.audit_order`). The
greedy part sees neither who is in it nor its labels until its own order reaches the document; then the
document is not judged twice. So, given all that the greedy part has used, the audit documents it has not
reached are a uniform sample of the documents it has not reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pooling.heavy import Booleans, Floats, Integers, np, pl
from pooling.ranking.sample import audit_order
from pooling.strategies.base import UNKNOWN, Strategy
from pooling.strategies.candidates import Candidates
from pooling.strategies.learned import Learned

#: Part of the judgments that the hybrid strategy spends on its audit.
SHARE = 0.2


class Audited(Strategy):
    """A strategy that sees the labels of audit documents only when it reaches them.

    `reached` and `in_audit` (by query id; True for the documents of the greedy part and of the audit) are
    facts of the campaign like the labels: to take one up again, set them before telling the labels.
    """

    random = True

    def __init__(
        self,
        candidates: Mapping[str, Candidates],
        *,
        seed: int = 0,
        greedy: type[Strategy] = Learned,
        orders: Mapping[str, Integers] | None = None,
    ) -> None:
        super().__init__(candidates, seed=seed)
        self.greedy = greedy(candidates, seed=seed)
        self.orders = dict(orders or {query: drawing(one, seed) for query, one in self.candidates.items()})
        self.in_audit = {
            query_id: np.zeros(len(one), dtype=bool) for query_id, one in self.candidates.items()
        }
        self.reached = {query_id: np.zeros(len(one), dtype=bool) for query_id, one in self.candidates.items()}

    def learn(self, one: Candidates, number: int, old: int, new: int) -> None:
        query_id = one.query_id
        if not self.in_audit[query_id][number]:
            self.reached[query_id][number] = True
        if self.reached[query_id][number]:
            self.greedy.tell_number(one, number, None if new == UNKNOWN else bool(new))

    def draw(self, one: Candidates) -> int | None:
        """Let the next document of the audit order join the audit, reached ones aside; None at the end."""
        in_audit, reached = self.in_audit[one.query_id], self.reached[one.query_id]
        order = self.orders[one.query_id]
        left = order[~(in_audit | reached)[order]]
        if not len(left):
            return None
        in_audit[left[0]] = True
        return int(left[0])

    def reach(self, one: Candidates, is_open: Booleans) -> int | None:
        """Move the greedy part one document on; a document of the audit brings its label along.

        `is_open` is False for documents that are being judged. None when every document is reached.
        """
        hidden = self.in_audit[one.query_id] & ~self.reached[one.query_id]
        picked = self.greedy.pick(one, self.greedy.open_documents(one) & (is_open | hidden), 1)
        if not picked:
            return None
        self.reached[one.query_id][picked[0]] = True
        label = int(self.labels[one.query_id][picked[0]])
        if label != UNKNOWN:
            self.greedy.tell_number(one, picked[0], bool(label))
        return picked[0]

    def pick(self, one: Candidates, is_open: Booleans, count: int) -> list[int]:
        picked: list[int] = []
        while len(picked) < count:
            number = self.next_number(one, is_open)
            if number is None:
                break
            if is_open[number]:
                picked.append(number)
            is_open[number] = False
        return picked

    def next_number(self, one: Candidates, is_open: Booleans) -> int | None:
        """A document that is drawn or reached and still open, else one more of the greedy part."""
        begun = np.flatnonzero(is_open & (self.in_audit[one.query_id] | self.reached[one.query_id]))
        return int(begun[0]) if len(begun) else self.reach(one, is_open)

    def probabilities(self, one: Candidates) -> Floats:
        """Inclusion probability of each document: 1 where reached, else the audit's share, or nan."""
        in_audit, reached = self.in_audit[one.query_id], self.reached[one.query_id]
        result = np.where(reached, 1.0, np.nan)
        left = in_audit & ~reached
        result[left] = left.sum() / max(int((~reached).sum()), 1)
        return result


class Hybrid(Audited):
    """`Learned` and a uniform audit side by side.

    Another audit document is drawn whenever those not reached are less than a fifth of the documents judged,
    so the rest can be estimated after any number of judgments.

    What `pick` hands out is remembered as drawn or reached, so here the order in which documents are asked
    for and labelled matters; the same log of questions and labels gives the same state.
    """

    def next_number(self, one: Candidates, is_open: Booleans) -> int | None:
        in_audit, reached = self.in_audit[one.query_id], self.reached[one.query_id]
        begun = np.flatnonzero(is_open & (in_audit | reached))
        if len(begun):
            return int(begun[0])
        judged = int((in_audit | reached).sum())
        if (in_audit & ~reached).sum() < SHARE * (judged + 1) and (number := self.draw(one)) is not None:
            return number
        return self.reach(one, is_open)


def drawing(one: Candidates, seed: int) -> Integers:
    return audit_order(one.query_id, pl.Series(one.documents, dtype=pl.String), seed)


def campaign(
    strategy: Audited, one: Candidates, *, budget: int, audit: int, answer: Callable[[int], bool]
) -> None:
    """Judge a query to its end as `pooling.ranking.sample` says: the audit, then the greedy part, until
    `budget`
    is spent.

    If the audit is used up before, the last judgment goes to the next document of the audit order, so that
    the rest can be estimated. `answer` gives the label of a document number.
    """
    for _ in range(min(audit, budget)):
        spend(strategy, one, strategy.draw(one), answer)
    spent = min(audit, budget)
    while spent < budget:
        rest = ~strategy.reached[one.query_id]
        if (
            audit
            and spent == budget - 1
            and rest.sum() > 1
            and not (rest & strategy.in_audit[one.query_id]).any()
        ):
            spend(strategy, one, strategy.draw(one), answer)
            return
        number = strategy.reach(one, np.ones(len(one), dtype=bool))
        if number is None:
            return
        spent += spend(strategy, one, number, answer)


def spend(strategy: Audited, one: Candidates, number: int | None, answer: Callable[[int], bool]) -> int:
    """Judge a document unless it is judged already; the number of judgments that took."""
    if number is None or strategy.labels[one.query_id][number] != UNKNOWN:
        return 0
    strategy.tell_number(one, number, answer(number))
    return 1
