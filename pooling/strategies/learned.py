"""Weights of the runs' opinions, learned from the labels of all queries and bent to each query's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pooling.heavy import Floats, np
from pooling.strategies.base import UNKNOWN, ScoredStrategy
from pooling.strategies.candidates import Candidates

#: Features are multiples of 1/GRID, so sums over labels are exact and their order leaves no trace.
GRID = 1024
RRF_K = 60


@dataclass
class Sums:
    """Of the labelled documents of a query: sums over the centred features x and the labels y, all exact."""

    count: int
    relevant: int
    x: Floats
    xy: Floats
    xx: Floats

    def add(self, x: Floats, square: Floats, label: int, sign: int) -> None:
        """Take a labelled document in (sign 1) or out (sign -1); `square` is x times x, (runs, runs)."""
        self.count += sign
        self.relevant += sign * label
        self.x += sign * x
        self.xy += sign * label * x
        self.xx += sign * square


class Learned(ScoredStrategy):
    """Two ridge regressions of relevance on 60/(60 + rank) in each run; our own.

    One over all queries, each with its own level: which runs are worth how much, starting from equal
    weights, that is from RRF. It takes account of runs that copy each other, since what one of them says is
    then known. The other within the query, on what the first leaves unexplained. Both are computed again
    from the labels, which may come in any order.
    """

    #: Weight of the starting point in the regression over all queries, in labels.
    shared_penalty = 30.0
    #: Weight of the shared opinion within a query, in labels.
    own_penalty = 30.0
    #: How freely a query's level moves, in the scale of a feature.
    level_scale = 3.0
    #: Rise in the chance of relevance that a standard deviation of RRF is taken for at the start.
    start_slope = 0.3

    def __init__(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> None:
        super().__init__(candidates, seed=seed)
        self.runs = max((one.runs for one in self.candidates.values()), default=0)
        self.features = {query_id: feature(one) for query_id, one in self.candidates.items()}
        self.means = {query_id: self.mean(one) for query_id, one in self.candidates.items()}
        self.sums: dict[str, Sums] = {}
        self.total = np.zeros((self.runs, self.runs))
        self.elsewhere = np.zeros(2 + self.runs + self.runs**2)
        self.start = np.full(self.runs, self.start_weight())
        self.weights: Floats | None = self.start

    def mean(self, one: Candidates) -> Floats:
        """The mean feature by run over the query's pool, on the grid."""
        total = np.bincount(one.run, weights=self.features[one.query_id], minlength=self.runs)
        return np.round(total / len(one) * GRID) / GRID

    def start_weight(self) -> float:
        """One weight for every run, such that their sum predicts as `start_slope` says."""
        spreads = [self.spread(one) for one in self.candidates.values()]
        queries = len(spreads) + self.elsewhere[1]
        spread = float((sum(spreads) + self.elsewhere[0]) / queries) if queries else 0.0
        return self.start_slope / spread if spread > 0 else self.start_slope

    def spread(self, one: Candidates) -> float:
        """Standard deviation over the documents of the sum of their features."""
        return float(one.total(self.features[one.query_id]).std())

    def lesson(self, one: Candidates) -> Floats:
        """The query's spread, 1, and sums over features and labels less its level: (2 + runs + runs²,)."""
        sums = self.sums.get(one.query_id)
        head = [self.spread(one), 1.0]
        if sums is None or not sums.count:
            return np.append(head, np.zeros(self.runs + self.runs**2))
        slope = sums.xy - sums.relevant / sums.count * sums.x
        spread = sums.xx - np.multiply.outer(sums.x, sums.x) / sums.count
        return np.concatenate((head, slope, spread.ravel()))

    def heed(self, lessons: Floats) -> None:
        """Let the labels of other queries count like one's own."""
        self.elsewhere = lessons
        self.start = np.full(self.runs, self.start_weight())
        self.weights = None

    def learn(self, one: Candidates, number: int, old: int, new: int) -> None:
        x, sums = self.row(one, number), self.sums_of(one.query_id)
        square = np.multiply.outer(x, x)
        for label, sign in ((old, -1), (new, 1)):
            if label != UNKNOWN:
                sums.add(x, square, label, sign)
        self.total += ((new != UNKNOWN) - (old != UNKNOWN)) * square
        self.weights = None

    def row(self, one: Candidates, number: int) -> Floats:
        x = -self.means[one.query_id]
        rows = slice(one.starts[number], one.starts[number + 1])
        x[one.run[rows]] += self.features[one.query_id][rows]
        return x

    def sums_of(self, query_id: str) -> Sums:
        if query_id not in self.sums:
            size = self.runs
            self.sums[query_id] = Sums(0, 0, np.zeros(size), np.zeros(size), np.zeros((size, size)))
        return self.sums[query_id]

    def score(self, one: Candidates) -> Floats:
        weights = self.shared_weights()
        sums = self.sums.get(one.query_id)
        if sums is not None and sums.count:
            weights = weights + self.own_weights(sums, weights)
        return one.total(self.features[one.query_id] * weights[one.run])

    def shared_weights(self) -> Floats:
        """Weights of the runs from the labels of all queries, each query's level taken out."""
        if self.weights is None:
            judged = [self.sums[query_id] for query_id in sorted(self.sums) if self.sums[query_id].count]
            counts = np.array([sums.count for sums in judged], dtype=np.float64).reshape(-1, 1)
            x = np.array([sums.x for sums in judged]).reshape(-1, self.runs)
            share = np.array([sums.relevant for sums in judged]).reshape(-1, 1) / counts
            spread = self.total - (x / counts).T @ x
            slope = (np.array([sums.xy for sums in judged]).reshape(-1, self.runs) - share * x).sum(axis=0)
            slope = slope + self.elsewhere[2 : 2 + self.runs]
            spread = spread + self.elsewhere[2 + self.runs :].reshape(self.runs, self.runs)
            identity = np.eye(self.runs) * self.shared_penalty
            self.weights = np.linalg.solve(spread + identity, slope + self.shared_penalty * self.start)
        return self.weights

    def own_weights(self, sums: Sums, weights: Floats) -> Floats:
        """Additions to the weights by the query's own labels."""
        size, scale = self.runs, self.level_scale
        level = (sums.relevant + 1) / (sums.count + 2)
        matrix = np.empty((size + 1, size + 1))
        matrix[:size, :size] = sums.xx
        matrix[size, :size] = matrix[:size, size] = scale * sums.x
        matrix[size, size] = scale**2 * sums.count
        matrix[np.diag_indices(size + 1)] += self.own_penalty
        rest = np.empty(size + 1)
        rest[:size] = sums.xy - level * sums.x - sums.xx @ weights
        rest[size] = scale * (sums.relevant - level * sums.count - sums.x @ weights)
        return np.asarray(np.linalg.solve(matrix, rest)[:size])


def feature(one: Candidates) -> Floats:
    """60/(60 + rank) of each find, on the grid."""
    return np.round(RRF_K / (RRF_K + one.rank) * GRID) / GRID
