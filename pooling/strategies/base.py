"""The interface of strategies: told labels as they come, asked for the next documents of a query."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import ClassVar

from pooling.heavy import Booleans, Floats, NDArray, np
from pooling.strategies.candidates import Candidates


def stream(seed: int, *names: str, event: int = 0) -> np.random.Philox:
    """A counter-based generator of its own for each seed, names and event number (0, 1, 2 …)."""
    key = hashlib.blake2b("\0".join((str(seed), *names)).encode(), digest_size=16).digest()
    # Events lie 2^64 blocks apart, so they never overlap.
    return np.random.Philox(key=np.frombuffer(key, dtype="<u8").astype(np.uint64), counter=event << 64)


def uniforms(source: np.random.Philox, count: int) -> NDArray[np.float64]:
    """`count` numbers in (0, 1], from raw bits: the same on every platform and in every version of NumPy."""
    return ((source.random_raw(count) >> np.uint64(11)).astype(np.float64) + 1) / 2.0**53


#: The label of a document that has none.
UNKNOWN = -1


class Strategy:
    """The order in which the pools of some queries are judged.

    `tell` takes labels in any order, with repeats and revisions; `next` names the documents to judge next.
    Both are deterministic given the candidates, the seed and the labels told, so the state can always be
    rebuilt from the log of labels. Subclasses write `pick`, and `learn` where labels change their mind.
    """

    #: Whether labels change the order.
    learns: ClassVar[bool] = True
    #: Whether chance has a part in it, so that another seed gives another order.
    random: ClassVar[bool] = False
    #: Whether it chooses the query too; then `next_pairs` is there.
    across_queries: ClassVar[bool] = False

    def __init__(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> None:
        self.candidates = dict(candidates)
        self.seed = seed
        self.labels = {
            query_id: np.full(len(one), UNKNOWN, dtype=np.int8) for query_id, one in self.candidates.items()
        }

    def tell(self, query_id: str, document_id: str, relevant: bool | None) -> None:
        """Take a label; None takes it back. Documents outside the pool change nothing."""
        one = self.candidates.get(query_id)
        number = None if one is None else one.number.get(document_id)
        if one is not None and number is not None:
            self.tell_number(one, number, relevant)

    def tell_number(self, one: Candidates, number: int, relevant: bool | None) -> None:
        labels = self.labels[one.query_id]
        old, new = int(labels[number]), UNKNOWN if relevant is None else int(relevant)
        if old != new:
            labels[number] = new
            self.learn(one, number, old, new)

    def next(self, query_id: str, count: int = 1, *, taken: Collection[str] = ()) -> list[str]:
        """The next `count` documents of a query that have no label and are not among `taken` (leased,
        skipped).

        Fewer when the pool ends. Raises KeyError for a query without candidates.
        """
        one = self.candidates[query_id]
        is_open = self.open_documents(one)
        is_open[[one.number[document] for document in taken if document in one.number]] = False
        return [one.documents[number] for number in self.pick(one, is_open, count)]

    def open_documents(self, one: Candidates) -> Booleans:
        return np.asarray(self.labels[one.query_id] == UNKNOWN)

    def probabilities(self, one: Candidates) -> Floats | None:
        """Inclusion probability of each judged document (nan: not judged); None where chance has no part."""
        return None

    def lesson(self, one: Candidates) -> Floats | None:
        """A query's numbers that summed teach others; None where each is ordered by its own labels alone."""
        return None

    def heed(self, lessons: Floats) -> None:
        """Take the summed lessons of queries that are not at hand, so that one query can be ordered alone."""

    def learn(self, one: Candidates, number: int, old: int, new: int) -> None:
        """A label changed from `old` to `new` (1, 0 or UNKNOWN)."""

    def pick(self, one: Candidates, is_open: Booleans, count: int) -> list[int]:
        """Numbers of the next open documents, as if no label came in between; may write into `is_open`."""
        raise NotImplementedError


class ScoredStrategy(Strategy):
    """Judge what scores highest now; equal scores in RRF order."""

    def score(self, one: Candidates) -> Floats:
        raise NotImplementedError

    def pick(self, one: Candidates, is_open: Booleans, count: int) -> list[int]:
        score = np.where(is_open, self.score(one), -np.inf)
        left = int(is_open.sum())
        if count == 1 and left:
            return [int(score.argmax())]
        return [int(number) for number in np.argsort(-score, kind="stable")[: min(count, left)]]


class RunStatistics(Strategy):
    """A strategy that keeps, by query and run, the documents judged and the relevant among them."""

    def __init__(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> None:
        super().__init__(candidates, seed=seed)
        self.judged = {query_id: np.zeros(one.runs) for query_id, one in self.candidates.items()}
        self.relevant = {query_id: np.zeros(one.runs) for query_id, one in self.candidates.items()}

    def probabilities(self, one: Candidates) -> Floats | None:
        """Inclusion probability of each judged document (nan: not judged); None where chance has no part."""
        return None

    def learn(self, one: Candidates, number: int, old: int, new: int) -> None:
        finders = one.finders(number)
        self.judged[one.query_id][finders] += (new != UNKNOWN) - (old != UNKNOWN)
        self.relevant[one.query_id][finders] += (new == 1) - (old == 1)
