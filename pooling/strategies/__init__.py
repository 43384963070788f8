"""Which pairs are judged first: the strategies by name.

A strategy is one small object (`pooling.strategies.base.Strategy`): made from the candidates of some queries
and a seed, told labels as they come, asked for the next documents of a query.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from pooling.strategies import audited, bandits, fronts, learned, orders, sampling, static, weighting
from pooling.strategies.base import Strategy
from pooling.strategies.candidates import Candidates, candidates_of

__all__ = [
    "DEFAULT_ADAPTIVE",
    "STRATEGIES",
    "Candidates",
    "Kind",
    "Strategy",
    "candidates_of",
    "strategy_named",
]

#: Orders that a sort of the whole frame gives, query by query the same as their strategy's.
SORTS = {"depth": orders.order_by_depth, "rrf": orders.order_by_rrf}


@dataclass(frozen=True)
class Kind:
    """A strategy by name. Called with merged pairs (see `pooling.merging.merge_runs`) it returns them
    sorted by query id, then by the order in which they are judged as long as there is no label.
    """

    name: str
    make: type[Strategy]
    #: Whether the candidates need the column `score_sum`.
    needs_scores: bool = False
    #: Part of a pool's budget that is drawn at random when nobody says how much.
    audit_share: float = 0.0

    @property
    def needs_finders(self) -> bool:
        """Whether an order needs to know which run found a document at which rank."""
        return self.name not in SORTS

    @property
    def samples(self) -> bool:
        """Whether the chosen pairs are a random sample with probabilities of their own."""
        return self.make is sampling.Sampling

    def check(self, audit_share: float) -> None:
        """ValueError when an audit is asked for beside a strategy that samples already."""
        if audit_share and self.samples:
            raise ValueError("The strategy sampling is a random sample already; leave the audit share at 0.")

    def with_probabilities(self, pooled: pl.DataFrame, *, seed: int = 0) -> pl.DataFrame:
        """The pooled frame with the inclusion probabilities of the strategy, where it has its own."""
        if not self.samples:
            return pooled
        return orders.sampling_probabilities(pooled, seed)

    def start(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> Strategy:
        """A strategy that has been told nothing yet."""
        return self.make(candidates, seed=seed)

    def __call__(self, merged: pl.DataFrame, *, seed: int = 0) -> pl.DataFrame:
        if self.name in SORTS:
            return SORTS[self.name](merged)
        make = learned.Learned if self.make is audited.Hybrid else self.make
        return orders.order_without_labels(merged, make, seed)


STRATEGIES: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("depth", static.Depth),
        Kind("rrf", static.ReciprocalRankFusion),
        Kind("combmnz", static.CombMNZ, needs_scores=True),
        Kind("borda", static.Borda),
        Kind("rbp", static.RankBiased),
        Kind("mtf", fronts.MoveToFront),
        Kind("mtf-global", fronts.GlobalMoveToFront),
        Kind("hedge", weighting.Hedge),
        Kind("maxmean", bandits.MaxMean),
        Kind("thompson", bandits.Thompson),
        Kind("rbp-adaptive", weighting.RankBiasedAdaptive),
        Kind("posterior-rrf", weighting.PosteriorFusion),
        Kind("learned", learned.Learned),
        Kind("disagreement", static.Disagreement),
        Kind("sampling", sampling.Sampling),
        Kind("hybrid", audited.Hybrid, audit_share=audited.SHARE),
    )
}


#: What adaptive queues use unless told otherwise: the most found on the collections it was measured on.
DEFAULT_ADAPTIVE = "learned"


class UnknownStrategyError(ValueError):
    """A name that no strategy has; the message lists the known ones."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown strategy {name!r}; known are {', '.join(sorted(STRATEGIES))}.")


def strategy_named(name: str) -> Kind:
    """The strategy of that name, or UnknownStrategyError."""
    try:
        return STRATEGIES[name]
    except KeyError:
        raise UnknownStrategyError(name) from None
