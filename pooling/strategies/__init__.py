"""Strategies by name: orders in which pairs are judged.

A strategy is one small object (`pooling.strategies.base.Strategy`): made from the candidates of some queries
and a seed, told labels as they come, asked for the next documents of a query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pooling.heavy import pl
from pooling.strategies import audited, bandits, fronts, learned, static, weighting
from pooling.strategies.base import Strategy
from pooling.strategies.candidates import Candidates, candidates_of, candidates_of_query

__all__ = [
    "DEFAULT_ADAPTIVE",
    "RECOMMENDED",
    "STRATEGIES",
    "Candidates",
    "Kind",
    "Strategy",
    "candidates_of",
    "candidates_of_query",
    "strategy_named",
]

#: Orders that a sort of the whole frame gives, query by query the same as their strategy's.
SORTS = {"depth": static.order_by_depth, "rrf": static.order_by_rrf}


#: The headings under which strategies are offered, as in the guide.
FIXED, LEARNING, SAMPLES = "Fixed orders", "Orders that learn", "Samples"


@dataclass(frozen=True)
class Kind:
    """A strategy by name; called with merged pairs, it sorts them by query id and order without labels."""

    name: str
    make: type[Strategy]
    #: What it does, in one line for anyone who has to choose.
    summary: str
    #: Whether the candidates need the column `score_sum`.
    needs_scores: bool = False
    #: Part of a pool's budget that is drawn at random when nobody says how much.
    audit_share: float = 0.0

    @property
    def needs_finders(self) -> bool:
        """An order needs to know which run found a document at which rank."""
        return self.name not in SORTS

    @property
    def group(self) -> str:
        if self.samples or self.audit_share:
            return SAMPLES
        return LEARNING if self.make.learns else FIXED

    @property
    def samples(self) -> bool:
        """The chosen pairs are a random sample with probabilities of their own."""
        return self.make is static.Sampling

    @property
    def greedy(self) -> type[Strategy]:
        """The strategy that orders the documents where an audit is drawn next to it."""
        return learned.Learned if self.make is audited.Hybrid else self.make

    def check(self, audit_share: float | None) -> None:
        """ValueError when an audit is asked for next to a strategy that samples already."""
        if audit_share and self.samples:
            raise ValueError("The strategy sampling is a random sample already; leave the audit share at 0.")

    def with_probabilities(self, pooled: pl.DataFrame, *, seed: int = 0) -> pl.DataFrame:
        if not self.samples:
            return pooled
        return static.sampling_probabilities(pooled, seed)

    def start(self, candidates: Mapping[str, Candidates], *, seed: int = 0) -> Strategy:
        return self.make(candidates, seed=seed)

    def __call__(
        self, merged: pl.DataFrame, *, seed: int = 0, runs: int | None = None, depth: int | None = None
    ) -> pl.DataFrame:
        if self.name in SORTS:
            return SORTS[self.name](merged)
        return static.order_without_labels(merged, self.greedy, seed, runs=runs, depth=depth)


STRATEGIES: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("depth", static.Depth, "best rank first: documents at rank 1 of any run, then at rank 2, …"),
        Kind(
            "rrf",
            static.ReciprocalRankFusion,
            "reciprocal rank fusion: documents that several runs rank high",
        ),
        Kind(
            "combmnz",
            static.CombMNZ,
            "sum of normalised scores, times the number of runs that found it",
            needs_scores=True,
        ),
        Kind("borda", static.Borda, "points by rank in each run"),
        Kind("rbp", static.RankBiased, "points that fall by a fifth with each rank: favours the very top"),
        Kind("mtf", fronts.MoveToFront, "move to front: stays with a run while it finds relevant documents"),
        Kind(
            "mtf-global", fronts.GlobalMoveToFront, "move to front over all queries at once; easy ones first"
        ),
        Kind("hedge", weighting.Hedge, "runs lose weight for ranking non-relevant documents high"),
        Kind(
            "maxmean", bandits.MaxMean, "follows the run with the highest share of relevant documents so far"
        ),
        Kind("thompson", bandits.Thompson, "follows a run drawn by its probability of being the best"),
        Kind(
            "rbp-adaptive",
            weighting.RankBiasedAdaptive,
            "documents that matter most to the rank-biased score of promising runs",
        ),
        Kind("posterior-rrf", weighting.PosteriorFusion, "rrf with runs weighted by their precision so far"),
        Kind(
            "learned",
            learned.Learned,
            "learns from all queries which runs to trust; found the most in our measurements",
        ),
        Kind("disagreement", static.Disagreement, "documents that distinguish two systems first; finds few"),
        Kind("sampling", static.Sampling, "a random order with known probabilities, for estimates"),
        Kind(
            "hybrid",
            audited.Hybrid,
            "learned, with a fifth drawn at random: finds nearly as much and allows estimates",
            audit_share=audited.SHARE,
        ),
    )
}


#: What adaptive queues use unless told otherwise: the most found on the collections it was measured on.
DEFAULT_ADAPTIVE = "learned"


#: What forms offer first, the one we recommend on top, each with when to choose it.
RECOMMENDED: dict[str, str] = {
    "hybrid": "Recommended: its audit tells how much is still missing.",
    "learned": "If only finding counts: without an audit nobody knows what is missing.",
    "rrf": "If every pair is judged anyway: a fixed order, simple to explain.",
}


def grouped() -> dict[str, list[Kind]]:
    groups: dict[str, list[Kind]] = {FIXED: [], LEARNING: [], SAMPLES: []}
    for kind in STRATEGIES.values():
        groups[kind.group].append(kind)
    return groups


class UnknownStrategyError(ValueError):
    """A name that no strategy has; the message lists the known ones."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Unknown strategy {name!r}; known are {', '.join(sorted(STRATEGIES))}.")


def without_audit(name: str) -> str:
    """The strategy that orders the documents as this one does and draws none at random."""
    kind = STRATEGIES[name]
    if not kind.audit_share:
        return name
    return next(one.name for one in STRATEGIES.values() if one.make is kind.greedy)


def strategy_named(name: str) -> Kind:
    """The strategy of that name, or UnknownStrategyError."""
    try:
        return STRATEGIES[name]
    except KeyError:
        raise UnknownStrategyError(name) from None
