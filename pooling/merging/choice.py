"""Choice of the pairs of a pool, alike for pages, the HTTP interface and the commands."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from pooling.options import LARGEST_SEED, MOST, option, options_of, problems_of, setting
from pooling.ranking.ranking import SCORES, TIES
from pooling.ranking.sample import Budget
from pooling.strategies import STRATEGIES, UnknownStrategyError, grouped, without_audit


def strategies_offered() -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (heading, [(kind.name, f"{kind.name}: {kind.summary}") for kind in kinds])
        for heading, kinds in grouped().items()
    ]


#: What a pool of a site has where nobody says otherwise: page, call and command alike. Its audit draws from
#: far below the depth, so that recall can be estimated for the whole collection.
USUAL_STRATEGY, USUAL_AUDIT_SHARE, USUAL_REACH = "hybrid", 0.2, 1_000
#: The same by option, as helps say it: what `usual_choice` does.
USUAL_WORDS = {
    "strategy": USUAL_STRATEGY,
    "audit_share": f"{USUAL_AUDIT_SHARE:g}, or none with a strategy that samples",
    "reach": f"{USUAL_REACH:,}, or the depth if that is more or an audit share is given",
}


def usual_reach(deepest: int) -> int:
    """The reach that is offered to a pool whose runs go down to `deepest`: never less than that."""
    return max(USUAL_REACH, min(deepest, MOST))


def usual_choice(given: Mapping[str, Any]) -> Choice:
    """The values `given`, by field, and the usual strategy, audit and reach for the others.

    A strategy that is a sample itself has no audit. The usual reach is that of the usual audit: one that is
    asked for by its share alone draws from the pool.
    """
    fields = {name: value for name, value in given.items() if value is not None}
    fields.setdefault("strategy", USUAL_STRATEGY)
    kind = STRATEGIES.get(fields["strategy"])
    if kind is not None and not kind.samples:
        fields.setdefault("audit_share", USUAL_AUDIT_SHARE)
    choice = Choice(**fields)
    is_usual = "reach" not in given and given.get("audit_share") is None and choice.audit_share
    if not is_usual or choice.deepest > MOST:
        return choice
    return replace(choice, reach=usual_reach(choice.deepest))


def offered_choice(given: Mapping[str, Any]) -> Choice:
    """`usual_choice` of a form that shows audit and reach always: a sample has neither, no audit no reach."""
    kind = STRATEGIES.get(given.get("strategy", USUAL_STRATEGY))
    if kind is not None and kind.samples:
        given = {**given, "audit_share": 0.0, "reach": None}
    choice = usual_choice(given)
    return choice if choice.has_audit else replace(choice, reach=None)


@dataclass(frozen=True)
class Choice:
    """The options of `pooling.merging.merging.build_pool`; `depths`: runs with their own depth."""

    depth: int = field(
        metadata=option(
            "Depth",
            "How far down each run's list to go.",
            int,
            minimum=1,
            initial=10,
            refusal=f"The depth is a number from 1 to {MOST:,}.",
        )
    )
    _: KW_ONLY
    depths: Mapping[str, int] = field(
        default_factory=dict,
        metadata=option(
            "Depth of individual runs",
            "Runs with their own depth.",
            dict,
            minimum=1,
            flag="--run-depth",
            metavar="RUN=N",
        ),
    )
    strategy: str = setting(
        "rrf",
        "Strategy",
        "The order in which pairs are worth judging. "
        "One that learns takes the order it would have with no label yet.",
        choices=strategies_offered,
        metavar="S",
    )
    budget: Budget | None = setting(
        None,
        "Budget",
        "Pairs to judge in all, audit included.",
        int,
        empty="every pair",
        unit="pairs",
        metavar="B",
        minimum=1,
        refusal=f"A budget is a number of pairs from 1 to {MOST:,}.",
    )
    audit_share: float | None = setting(
        None,
        "Audit share",
        "Share of the budget drawn at random, so that estimates stay honest; 0.1 is a tenth.",
        float,
        empty="0, or what the strategy draws by itself",
        initial=USUAL_AUDIT_SHARE,
        minimum=0,
        maximum=1,
        refusal="The audit share must be between 0 and 1.",
    )
    reach: int | None = setting(
        None,
        "Reach",
        "How far down each run's list, and a text ranking over the collection, the audit draws.",
        int,
        minimum=1,
        empty="the depth",
        initial=USUAL_REACH,
        metavar="R",
        refusal=f"The reach is a number from 1 to {MOST:,}.",
    )
    seed: int = setting(
        0,
        "Seed",
        "Draws the audit; the same seed, the same pool.",
        int,
        limit=LARGEST_SEED,
        refusal="The seed is a 64-bit whole number.",
    )
    ties: str = setting("docid", "Ties", "What decides between equal scores.", choices=TIES)
    scores: str = setting("float64", "Precision of scores", choices=SCORES)

    def depth_of(self, run: str) -> int:
        """Depth in the list of a run down to which documents go into the pool."""
        return self.depths.get(run, self.depth)

    @property
    def deepest(self) -> int:
        """No rank of the pool is below this one."""
        return max([self.depth, *self.depths.values()])

    def reach_of(self, run: str) -> int:
        """Depth in the list of a run down to which documents go into the frame of the audit."""
        return max(self.depth_of(run), self.reach or 0)

    @property
    def share(self) -> float:
        """The audit share: that of the strategy where none is given."""
        if self.audit_share is not None:
            return self.audit_share
        return STRATEGIES[self.strategy].audit_share if self.strategy in STRATEGIES else 0.0

    @property
    def has_audit(self) -> bool:
        kind = STRATEGIES.get(self.strategy)
        return kind is not None and not kind.samples and self.share > 0

    def problems(self, runs: Collection[str] | None = None) -> dict[str, str]:
        """Field -> a sentence, for each value out of its range, and a depth of a run not among `runs`."""
        kind = STRATEGIES.get(self.strategy)
        problems = {
            **dict.fromkeys(options_of(Choice)),
            "depths": self._depths_problem(runs),
            "strategy": None if kind else str(UnknownStrategyError(self.strategy)),
            **problems_of(self),
        }
        if self.audit_share and kind is not None and kind.samples:
            problems["audit_share"] = "Sampling is a random sample already; leave the audit share at 0."
        problems["reach"] = problems.get("reach") or self._reach_problem(kind.samples if kind else False)
        return {name: problem for name, problem in problems.items() if problem}

    def _reach_problem(self, samples: bool) -> str | None:
        if self.reach is None:
            return None
        if self.reach < self.deepest:
            least = f"{self.deepest:,}"
            below = f"The reach ({self.reach:,}) is less than the depth ({least})."
            return f"{below} Give a reach of {least} or more."
        if samples:
            return "Sampling draws from the depth of the pool. Choose another strategy for a deeper reach."
        if self.strategy in STRATEGIES and not self.has_audit:
            return "Only an audit draws from beyond the depth. Give an audit share above 0."
        return None

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
        if problems := self.problems(runs):
            raise ValueError(" ".join(problems.values()))

    def settled(self) -> Choice:
        """With the audit share of the strategy where none is given, the strategy that draws nothing where the
        share is 0, and without depths that say nothing."""
        depths = {run: depth for run, depth in self.depths.items() if depth != self.depth}
        strategy = self.strategy if self.share else without_audit(self.strategy)
        return replace(self, strategy=strategy, audit_share=self.share, depths=depths)
