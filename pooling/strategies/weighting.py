"""Documents scored by all the runs that found them, each run weighted by what its documents turned out to be.

The scores are computed from the labels as they stand, never carried along, so the order in which labels came
leaves no trace, not even in the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping

from pooling.heavy import Floats, np
from pooling.strategies.base import UNKNOWN, RunStatistics, ScoredStrategy
from pooling.strategies.candidates import Candidates


class Hedge(ScoredStrategy):
    """Runs as experts whose weight falls with their loss (Aslam, Pavlu and Savell, SIGIR 2003).

    The loss of a run on a document is 0.5 ln(depth / rank), with the mean over ranks depth + 1 … 2 depth for
    documents it did not find; relevant documents turn its sign.
    """

    beta = 0.5

    def __init__(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> None:
        super().__init__(candidates, seed=seed)
        self.stakes = {query_id: self.stake(one) for query_id, one in self.candidates.items()}

    def stake(self, one: Candidates) -> Floats:
        """Of each find: how much more the run stakes on the document than on one it did not find."""
        beyond = np.arange(one.depth + 1, 2 * one.depth + 1)
        elsewhere = float(np.mean(0.5 * np.log(one.depth / beyond)))
        return np.asarray(0.5 * np.log(one.depth / one.rank) - elsewhere)

    def score(self, one: Candidates) -> Floats:
        stake, label = self.stakes[one.query_id], self.labels[one.query_id]
        # What all runs would lose alike cancels when the weights are normalised: only finders count.
        sign = np.where(label == UNKNOWN, 0, 1 - 2 * label)[one.document]
        loss = np.bincount(one.run, weights=sign * stake, minlength=one.runs)
        weight = self.beta ** (loss - loss.min())
        return one.total((weight / weight.sum())[one.run] * stake)


class RankBiasedAdaptive(ScoredStrategy):
    """Method C of Moffat, Webber and Zobel (SIGIR 2007): Σ c · e · (b + e/2)³ over the runs.

    c is the document's rank-biased weight in the run, b the run's score so far, e what is still open of it.
    """

    persistence = 0.95

    def __init__(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> None:
        super().__init__(candidates, seed=seed)
        self.credits = {
            query_id: (1 - self.persistence) * self.persistence ** (one.rank - 1.0)
            for query_id, one in self.candidates.items()
        }

    def score(self, one: Candidates) -> Floats:
        credit, label = self.credits[one.query_id], self.labels[one.query_id][one.document]
        base = np.bincount(one.run, weights=credit * (label == 1), minlength=one.runs)
        residual = 1 - np.bincount(one.run, weights=credit * (label != UNKNOWN), minlength=one.runs)
        weight = residual * (base + residual / 2) ** 3
        return one.total(credit * weight[one.run])


class PosteriorFusion(RunStatistics, ScoredStrategy):
    """RRF whose runs weigh ((1 + relevant) / (3 + judged))², recomputed after each label."""

    def score(self, one: Candidates) -> Floats:
        weight = ((1 + self.relevant[one.query_id]) / (3 + self.judged[one.query_id])) ** 2
        return one.total(weight[one.run] / (60 + one.rank))
