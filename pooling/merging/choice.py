"""How the pairs of a pool are chosen: what pages, the HTTP interface and the commands ask for alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pooling.audit.sample import Budget

# What the database can count; no run is as deep.
MOST = 2**31 - 1


@dataclass(frozen=True)
class Choice:
    """The options of `pooling.merging.merging.build_pool`; `depths`: runs with a depth of their own."""

    depth: int
    strategy: str = "rrf"
    budget: Budget | None = None
    audit_share: float = 0.0
    seed: int = 0
    ties: str = "docid"
    scores: str = "float64"
    depths: Mapping[str, int] = field(default_factory=dict)

    def depth_of(self, run: str) -> int:
        """How far down the list of a run goes into the pool."""
        return self.depths.get(run, self.depth)

    @property
    def deepest(self) -> int:
        """No rank of the pool is below this one."""
        return max([self.depth, *self.depths.values()])

    def problems(self, runs: Collection[str] | None = None) -> dict[str, str]:
        """Field -> a sentence, for each number or strategy out of its range, and for a depth of a run that is
        not among `runs`.
        """
        from pooling.strategies import STRATEGIES, UnknownStrategyError

        kind = STRATEGIES.get(self.strategy)
        fine = {
            "depth": 1 <= self.depth <= MOST or f"The depth is a number from 1 to {MOST:,}.",
            "depths": self._depths_problem(runs) or True,
            "strategy": kind is not None or str(UnknownStrategyError(self.strategy)),
            "budget": not isinstance(self.budget, int)
            or 1 <= self.budget <= MOST
            or f"A budget is a number of pairs from 1 to {MOST:,}.",
            "audit_share": 0 <= self.audit_share <= 1 or "The audit share lies between 0 and 1.",
            "seed": -(2**63) <= self.seed < 2**63 or "The seed is a 64-bit whole number.",
        }
        if self.audit_share and kind is not None and kind.samples:
            fine["audit_share"] = "Sampling is a random sample already; leave the audit share at 0."
        return {name: problem for name, problem in fine.items() if isinstance(problem, str)}

    def _depths_problem(self, runs: Collection[str] | None) -> str | None:
        wrong = next((run for run, depth in self.depths.items() if not 1 <= depth <= MOST), None)
        if wrong is not None:
            return f"The depth of “{wrong}” is a number from 1 to {MOST:,}."
        strange = None if runs is None else next((run for run in self.depths if run not in runs), None)
        if strange is not None:
            return f"There is a depth for “{strange}”, which is not among the runs: name a run that is."
        return None

    def check(self, runs: Collection[str] | None = None) -> None:
        """ValueError for what is out of its range, before anything is read."""
        from pooling.ranking.ranking import check_order

        check_order(self.ties, self.scores)
        if problems := self.problems(runs):
            raise ValueError(" ".join(problems.values()))

    def settled(self) -> Choice:
        """With the audit share of the strategy where none is given, and without depths that say nothing."""
        from pooling.strategies import STRATEGIES

        depths = {run: depth for run, depth in self.depths.items() if depth != self.depth}
        share = self.audit_share or STRATEGIES[self.strategy].audit_share
        return replace(self, audit_share=share, depths=depths)
