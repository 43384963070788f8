"""Move-to-front: stay with a run while it brings relevant documents, else go to the one that failed least."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pooling.heavy import Booleans, Integers, np
from pooling.strategies.base import UNKNOWN, Strategy
from pooling.strategies.candidates import Candidates, Cursors


@dataclass
class Front:
    """Failures of each run of a query so far, and the run that is at the front (None: nobody)."""

    failures: Integers
    current: int | None = None


class MoveToFront(Strategy):
    """Local move-to-front (Cormack, Palmer and Clarke, SIGIR 1998), one queue of runs for each query.

    Among equal runs the one whose next document leads in RRF order plays. Here the order of the labels
    matters by definition: a label belongs to the run at the front if that found the document, else to its
    finder with the fewest failures (ties: best rank). The fronts are made again from the log, in which a
    revised label keeps its first place.
    """

    def __init__(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> None:
        super().__init__(candidates, seed=seed)
        self.log: dict[str, list[int]] = {query_id: [] for query_id in self.candidates}
        self.fronts = {query_id: new_front(one) for query_id, one in self.candidates.items()}
        self.cursors = {query_id: Cursors(one) for query_id, one in self.candidates.items()}
        self.recent: str | None = None

    def learn(self, one: Candidates, number: int, old: int, new: int) -> None:
        log = self.log[one.query_id]
        if old == UNKNOWN:
            log.append(number)
            self.follow(one, self.fronts[one.query_id], number)
        else:
            if new == UNKNOWN:
                log.remove(number)
            self.fronts[one.query_id] = new_front(one)
            for earlier in log:
                self.follow(one, self.fronts[one.query_id], earlier)
        self.recent = one.query_id

    def follow(self, one: Candidates, front: Front, number: int) -> None:
        finders = one.finders(number)
        owner = front.current
        if owner is None or owner not in finders:
            owner = int(finders[front.failures[finders].argmin()])
        if self.labels[one.query_id][number] == 1:
            front.current = owner
        else:
            front.failures[owner] += 1
            front.current = None

    def pick(self, one: Candidates, is_open: Booleans, count: int) -> list[int]:
        front = self.fronts[one.query_id]
        picked: list[int] = []
        while len(picked) < count:
            first = self.cursors[one.query_id].first_open(is_open)
            playable = first < len(one)
            if not playable.any():
                break
            document = play(front, first, playable)
            picked.append(document)
            is_open[document] = False
        return picked


def new_front(one: Candidates) -> Front:
    return Front(np.zeros(one.runs, dtype=np.int64))


def play(front: Front, first: Integers, playable: Booleans) -> int:
    """The next document of the run at the front, or of the best of those with the fewest failures."""
    if front.current is not None and playable[front.current]:
        return int(first[front.current])
    fewest = front.failures[playable].min()
    return int(first[playable & (front.failures == fewest)].min())


class GlobalMoveToFront(MoveToFront):
    """Global move-to-front: all queries' runs in one queue, so `next_pairs` chooses easy queries first."""

    across_queries = True

    def __init__(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> None:
        super().__init__(candidates, seed=seed)
        self.offers: dict[str, Offer | None] = {}

    def learn(self, one: Candidates, number: int, old: int, new: int) -> None:
        super().learn(one, number, old, new)
        self.offers.pop(one.query_id, None)

    def next_pair(self, *, taken: Collection[tuple[str, str]] = ()) -> tuple[str, str] | None:
        """The next (query id, document id) without a label and not among `taken`; None when there is none."""
        leased: dict[str, set[str]] = {}
        for query_id, document_id in taken:
            leased.setdefault(query_id, set()).add(document_id)
        offers = [self.offer(one, leased.get(query_id)) for query_id, one in self.candidates.items()]
        best = min((self.rank(offer) for offer in offers if offer is not None), default=None)
        return None if best is None else best[2:]

    def rank(self, offer: Offer) -> tuple[float, float, str, str]:
        """The least one wins: the run at the front, then few failures, then RRF."""
        in_front = offer.at_front and offer.query_id == self.recent
        return (-1.0 if in_front else offer.failures, -offer.rrf, offer.query_id, offer.document_id)

    def offer(self, one: Candidates, taken: set[str] | None) -> Offer | None:
        """A query's next document; remembered until one of its labels changes."""
        if taken is None and one.query_id in self.offers:
            return self.offers[one.query_id]
        is_open = self.open_documents(one)
        is_open[[one.number[document] for document in taken or () if document in one.number]] = False
        offer = make_offer(one, self.fronts[one.query_id], self.cursors[one.query_id].first_open(is_open))
        if taken is None:
            self.offers[one.query_id] = offer
        return offer


@dataclass(frozen=True)
class Offer:
    """The next document of a query, and how its run stands."""

    query_id: str
    document_id: str
    failures: float
    rrf: float
    at_front: bool


def make_offer(one: Candidates, front: Front, first: Integers) -> Offer | None:
    playable = first < len(one)
    if not playable.any():
        return None
    number = play(front, first, playable)
    at_front = front.current is not None and bool(playable[front.current])
    failures = float(front.failures[playable].min())
    return Offer(one.query_id, one.documents[number], failures, float(one.rrf[number]), at_front)
