"""What a plan is asked for: one set of settings for page, HTTP interface and command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from labeling.adaptive.options import USUAL_LOOKS
from labeling.gold.options import LARGEST_REPEAT_SHARE, LARGEST_SHARE, MOST_PRACTICE
from labeling.models import Selection
from labeling.queues.costs import HIGHEST_OVERHEAD, HIGHEST_PRICE
from labeling.queues.options import MOST_JUDGMENTS_PER_ITEM, QueueOptions, options_from
from pooling.interface.problems import InputError
from pooling.merging.choice import Choice

K = 10
DEPTH = 10
ANNOTATORS = 5
HOURS_PER_WEEK = 20.0
MOST_ANNOTATORS = 10_000
HOURS_IN_A_WEEK = 168.0
LONGEST_JUDGMENT = 3_600.0


@dataclass(frozen=True)
class PlanSettings:
    """The options of a pool and of a queue over it, by the names they have there, and what is supposed.

    runs: names; empty is all. depths: those that some runs have of their own. None takes what the collection
    shows, else what the site's settings or the guide's page on pooling say. k: the cutoff of the recalls that
    intervals and power are about; None is 10, or the least depth if that is less.
    """

    runs: Sequence[str] = ()
    depth: int = DEPTH
    depths: Mapping[str, int] = field(default_factory=dict)
    strategy: str = "rrf"
    budget: int | None = None
    audit_share: float = 0.0
    adaptive: bool = False
    budget_rule: str = Selection.Rule.EQUAL
    budget_floor: int | None = None
    stop_missing: float | None = None
    stop_looks: int = USUAL_LOOKS
    stop_over: str = Selection.Over.QUERY
    judgments_per_item: int = 1
    most_judgments_per_item: int | None = None
    gold_first_share: float | None = None
    gold_share: float | None = None
    practice_questions: int | None = None
    repeat_share: float = 0.0
    price_per_judgment: float | None = None
    overhead: float | None = None
    annotators: int = ANNOTATORS
    seconds_per_judgment: float | None = None
    hours_per_week: float = HOURS_PER_WEEK
    tie_share: float | None = None
    relevant_share: float | None = None
    k: int | None = None

    @property
    def choice(self) -> Choice:
        """How the pool is chosen, with the audit of a strategy that brings its own."""
        return self._given.settled()

    @property
    def _given(self) -> Choice:
        return Choice(
            self.depth,
            depths=self.depths,
            strategy=self.strategy,
            budget=self.budget,
            audit_share=self.audit_share,
        )

    @property
    def queue(self) -> QueueOptions:
        """The options of the queue; an adaptive order has the pool's budget. `InputError` for an option of
        such an order where the order is fixed.
        """
        return options_from({**vars(self), "budget": None})

    @property
    def shallowest(self) -> int:
        """Down to here every run is in the pool."""
        return min([self.depth, *self.depths.values()])

    @property
    def cutoff(self) -> int:
        return min(K, self.shallowest) if self.k is None else self.k

    def checked(self) -> PlanSettings:
        """Itself; `InputError` names every value that will not do."""
        found = self._given.problems()
        for name, (least, most, words) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                found[name] = f"{words} lies between {least:g} and {most:,g}, not {value:g}."
        if self.seconds_per_judgment == 0 or self.hours_per_week == 0:
            name = "hours_per_week" if self.hours_per_week == 0 else "seconds_per_judgment"
            found[name] = "Nobody judges in no time: this must be above 0."
        if (
            self.most_judgments_per_item is not None
            and self.most_judgments_per_item < self.judgments_per_item
        ):
            found["most_judgments_per_item"] = "At most cannot be fewer than the judgments of every pair."
        if self.k is not None and not 1 <= self.k <= self.shallowest:
            end = f"the {'least ' if self.shallowest < self.depth else ''}depth, {self.shallowest:,}"
            found["k"] = f"K lies between 1 and {end}: what is below is not in the pool."
        if self.adaptive and "strategy" not in found and not self._learns:
            found["adaptive"] = (
                f"The order “{self.strategy}” does not learn from labels; choose one that does."
            )
        try:
            self.queue  # noqa: B018 - it refuses
        except InputError as error:
            found |= error.fields
        if found:
            raise InputError(" ".join(found.values()), fields=found)
        return self

    @property
    def _learns(self) -> bool:
        from pooling.strategies import STRATEGIES

        return STRATEGIES[self.strategy].make.learns


RANGES: dict[str, tuple[float, float, str]] = {
    "judgments_per_item": (1, MOST_JUDGMENTS_PER_ITEM, "The number of judgments of a pair"),
    "most_judgments_per_item": (2, MOST_JUDGMENTS_PER_ITEM, "The most judgments of a pair"),
    "gold_first_share": (0, LARGEST_SHARE, "The share of gold questions"),
    "gold_share": (0, LARGEST_SHARE, "The share of gold questions"),
    "practice_questions": (0, MOST_PRACTICE, "The number of practice questions"),
    "repeat_share": (0, LARGEST_REPEAT_SHARE, "The share of repeats"),
    "price_per_judgment": (0, HIGHEST_PRICE, "A price"),
    "overhead": (0, HIGHEST_OVERHEAD, "The overhead, a share,"),
    "annotators": (1, MOST_ANNOTATORS, "The number of annotators"),
    "seconds_per_judgment": (0, LONGEST_JUDGMENT, "The time for a judgment in seconds"),
    "hours_per_week": (0, HOURS_IN_A_WEEK, "The hours of a week"),
    "tie_share": (0, 1, "The share of ties"),
    "relevant_share": (0, 1, "The share of relevant pairs"),
}


def settings_from(values: dict[str, Any]) -> PlanSettings:
    """From what a form, a call or a command brought; empty values take their defaults."""
    names = {field.name for field in fields(PlanSettings)}
    given = {
        name: value for name, value in values.items() if name in names and value not in (None, "", [], {})
    }
    return PlanSettings(**given).checked()
