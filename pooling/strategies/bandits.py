"""Runs as slot machines: judge the next document of the run that promises most."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from pooling.heavy import Booleans, Floats, Integers, np
from pooling.strategies.base import RunStatistics, stream
from pooling.strategies.candidates import Candidates, Cursors


class PlayedRuns(RunStatistics):
    """A strategy that looks at the next document of each run."""

    def __init__(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> None:
        super().__init__(candidates, seed=seed)
        self.cursors = {query_id: Cursors(one) for query_id, one in self.candidates.items()}


class MaxMean(PlayedRuns):
    """Play the run with the highest mean (1 + relevant) / (2 + judged) (Losada et al., IPM 53(5), 2017).

    A label counts for every run that found the document, not only for the run that was played; equal means
    go to the run whose next document leads in RRF order. The state depends on the labels alone, not on
    their order.
    """

    def mean(self, one: Candidates) -> Floats:
        return (1 + self.relevant[one.query_id]) / (2 + self.judged[one.query_id])

    def pick(self, one: Candidates, is_open: Booleans, count: int) -> list[int]:
        mean, first = self.mean(one), self.cursors[one.query_id].first_open(is_open)
        if count == 1:
            playable = np.flatnonzero(first < len(one))
            best = playable[mean[playable] == mean[playable].max()] if len(playable) else playable
            return [int(first[best].min())] if len(best) else []
        return play(one, mean, first, is_open, count=count)


def play(one: Candidates, mean: Floats, first: Integers, is_open: Booleans, *, count: int) -> list[int]:
    """Documents in the order of play while the means stay as they are."""
    cursor, ends, lists = one.list_starts[:-1].tolist(), one.list_starts[1:].tolist(), one.lists.tolist()
    waiting = [(-float(mean[run]), int(first[run]), run) for run in np.flatnonzero(first < len(one)).tolist()]
    heapq.heapify(waiting)
    left = is_open.tolist()
    picked: list[int] = []
    while waiting and len(picked) < count:
        value, document, run = waiting[0]
        if left[document]:
            left[document] = False
            picked.append(document)
        place = cursor[run]
        while place < ends[run] and not left[lists[place]]:
            place += 1
        cursor[run] = place
        if place < ends[run]:
            heapq.heapreplace(waiting, (value, lists[place], run))
        else:
            heapq.heappop(waiting)
    return picked


class Thompson(PlayedRuns):
    """Play each run's best draw from Beta(1 + relevant, 1 + judged - relevant); the same in any log order."""

    random = True

    def pick(self, one: Candidates, is_open: Booleans, count: int) -> list[int]:
        picked: list[int] = []
        while len(picked) < count:
            first = self.cursors[one.query_id].first_open(is_open)
            if not (first < len(one)).any():
                break
            draw = self.draw(one, len(one) - int(is_open.sum()))
            document = int(first[np.where(first < len(one), draw, -1).argmax()])
            picked.append(document)
            is_open[document] = False
        return picked

    def draw(self, one: Candidates, event: int) -> Floats:
        relevant, judged = self.relevant[one.query_id], self.judged[one.query_id]
        source = stream(self.seed, "thompson", one.query_id, event=event)
        return np.random.Generator(source).beta(1 + relevant, 1 + judged - relevant)
