from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labeling.adaptive.options import USUAL_LOOKS, AdaptiveOptions
from labeling.gold.options import GoldOptions
from labeling.models import Selection
from labeling.queues.costs import OwnPrices
from labeling.queues.options import QueueOptions, options_from
from pooling.interface.problems import InputError, refuse_all
from pooling.merging.choice import (
    USUAL_AUDIT_SHARE,
    USUAL_STRATEGY,
    USUAL_WORDS,
    Choice,
    offered_choice,
    usual_choice,
)
from pooling.options import OPTION, Number, Option, chosen, options_of, problems_of, same, setting
from pooling.strategies import STRATEGIES

K = 10
# Of seconds and hours: days of less would be too many for a number.
LEAST_TIME = 0.001
POOL, QUEUE, GOLD = options_of(Choice), options_of(QueueOptions), options_of(GoldOptions)
ADAPTIVE, PRICES = options_of(AdaptiveOptions), options_of(OwnPrices)
# The options of an order that is adaptive.
OF_ADAPTIVE = ("budget_rule", "budget_floor", "stop_missing", "stop_looks", "stop_over")


def _usual(default: Any, name: str) -> Any:
    return same(default, POOL[name], empty=USUAL_WORDS[name])


def _while_there_is_gold(name: str) -> str:
    return f"{GOLD[name].default}, or none while the collection has no gold questions"


def _between(words: str, least: Number, most: Number) -> dict[str, Any]:
    """Bounds of an option, and what is said of a value out of them."""
    refusal = f"{words} must be between {least:g} and {most:,g}, not {{value:g}}."
    return {"minimum": least, "maximum": most, "refusal": refusal}


def _as_in_queue(default: Any, queue_option: Option, words: str, **changes: Any) -> Any:
    """An option of a queue as a plan has it: within the same bounds, and refused in its own words."""
    assert queue_option.minimum is not None
    assert queue_option.maximum is not None
    bounds = _between(words, queue_option.minimum, queue_option.maximum)
    return same(default, queue_option, **bounds, **changes)


@dataclass(frozen=True)
class PlanSettings:
    """The options of a pool and of a queue over it, by the names they have there, and what is supposed.

    runs: names; empty is all. depths: of runs with their own depth. None takes what the collection
    shows, else what the site's settings or the guide's page on pooling say. k: the cutoff of the recalls that
    intervals and power are about; None is 10, or the least depth if that is less.
    """

    runs: Sequence[str] = ()
    depth: int = same(10, POOL["depth"])
    depths: Mapping[str, int] = field(default_factory=dict, metadata={OPTION: POOL["depths"]})
    strategy: str = _usual(USUAL_STRATEGY, "strategy")
    budget: int | None = same(None, POOL["budget"])
    audit_share: float = _usual(USUAL_AUDIT_SHARE, "audit_share")
    reach: int | None = _usual(None, "reach")
    adaptive: bool = setting(
        False,
        "Adaptive: labels move the order of what is left",
        "For a strategy that learns. The options below apply only to such a queue.",
        bool,
        about="Labels move the order, by the strategy of the pool, which must be one that learns.",
    )
    budget_rule: str = same(Selection.Rule.EQUAL, ADAPTIVE["budget_rule"])
    budget_floor: int | None = same(None, ADAPTIVE["budget_floor"])
    stop_missing: float | None = same(None, ADAPTIVE["stop_missing"])
    stop_looks: int = same(
        USUAL_LOOKS,
        ADAPTIVE["stop_looks"],
        help=f"{ADAPTIVE['stop_looks'].help} Empty: {ADAPTIVE['stop_looks'].default} times.",
    )
    stop_over: str = same(Selection.Over.QUERY, ADAPTIVE["stop_over"])
    judgments_per_item: int = _as_in_queue(
        1, QUEUE["judgments_per_item"], "The number of judgments of a pair"
    )
    most_judgments_per_item: int | None = _as_in_queue(
        None, QUEUE["most_judgments_per_item"], "The most judgments of a pair"
    )
    gold_first_share: float | None = _as_in_queue(
        None,
        GOLD["gold_first_share"],
        "The share of gold questions",
        empty=_while_there_is_gold("gold_first_share"),
    )
    gold_share: float | None = _as_in_queue(
        None, GOLD["gold_share"], "The share of gold questions", empty=_while_there_is_gold("gold_share")
    )
    practice_questions: int | None = _as_in_queue(
        None,
        GOLD["practice_questions"],
        "The number of practice questions",
        empty=f"as many as there are, at most {GOLD['practice_questions'].default}",
    )
    repeat_share: float = _as_in_queue(0.0, GOLD["repeat_share"], "The share of repeats", help="")
    price_per_judgment: float | None = _as_in_queue(None, PRICES["price_per_judgment"], "A price")
    overhead: float | None = _as_in_queue(None, PRICES["overhead"], "The overhead (a share)")
    annotators: int = setting(5, "Annotators", kind=int, **_between("The number of annotators", 1, 10_000))
    seconds_per_judgment: float | None = setting(
        None,
        "Seconds per judgment",
        kind=float,
        flag="--seconds",
        metavar="S",
        empty="the mean of the collection's verdicts, else 20",
        **_between("The time for a judgment in seconds", 0, 3_600.0),
    )
    hours_per_week: float = setting(
        20.0,
        "Hours per week",
        "What one annotator judges, without breaks.",
        float,
        metavar="H",
        **_between("The hours of a week", 0, 168.0),
    )
    tie_share: float | None = setting(
        None,
        "Pairs that tie (share)",
        kind=float,
        about="Share of the pairs that tie.",
        empty="as in the collection's queues, else 0.1",
        **_between("The share of ties", 0, 1),
    )
    relevant_share: float | None = setting(
        None,
        "Relevant pairs of the pool (share)",
        "For the interval's width.",
        float,
        about="Share of the pool's pairs that are relevant, for the interval's width.",
        empty="from the existing labels; with fewer than 50, widths are ranges",
        **_between("The share of relevant pairs", 0, 1),
    )
    k: int | None = setting(
        None,
        "K",
        "Cutoff of the recalls.",
        int,
        flag="-k --k",
        metavar="K",
        empty="10, or the depth",
        minimum=1,
    )

    @property
    def choice(self) -> Choice:
        """The choice of the pool, with the audit of a strategy that brings its own."""
        return self._given.settled()

    @property
    def _given(self) -> Choice:
        return Choice(
            self.depth,
            depths=self.depths,
            strategy=self.strategy,
            budget=self.budget,
            audit_share=self.audit_share,
            reach=self.reach,
        )

    @property
    def queue(self) -> QueueOptions:
        """The options of the queue; an adaptive order has the pool's budget. `InputError` for an option of
        such an order where the order is fixed."""
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
        problems = self._given.problems()
        problems |= problems_of(self)
        for name in ("seconds_per_judgment", "hours_per_week"):
            value = getattr(self, name)
            if value is not None and 0 <= value < LEAST_TIME:
                problems[name] = f"This must be {LEAST_TIME:g} or more: judging takes time."
        if (
            self.most_judgments_per_item is not None
            and self.most_judgments_per_item < self.judgments_per_item
        ):
            problems["most_judgments_per_item"] = (
                "The most judgments of a pair cannot be fewer than the judgments per pair."
            )
        if self.k is not None and not 1 <= self.k <= self.shallowest:
            end = f"the {'least ' if self.shallowest < self.depth else ''}depth, {self.shallowest:,}"
            problems["k"] = f"K must be between 1 and {end}: deeper documents are not in the pool."
        if self.adaptive and "strategy" not in problems and not self._learns:
            problems["adaptive"] = (
                f"The order “{self.strategy}” does not learn from labels; choose one that does."
            )
        try:
            self.queue  # noqa: B018 - it refuses
        except InputError as error:
            problems |= error.fields
        refuse_all(problems)
        return self

    @property
    def _learns(self) -> bool:
        return STRATEGIES[self.strategy].make.learns


def settings_from(values: Mapping[str, Any]) -> PlanSettings:
    """From what a call or a command brought; empty values take the defaults, a pool's the usual ones."""
    usual = usual_choice({"depth": PlanSettings.depth, **chosen(Choice, values)})
    return _settled(values, usual)


def settings_offered(values: Mapping[str, Any]) -> PlanSettings:
    return _settled(values, offered_choice({"depth": PlanSettings.depth, **chosen(Choice, values)}))


def _settled(values: Mapping[str, Any], pool: Choice) -> PlanSettings:
    of_pool = {"strategy": pool.strategy, "audit_share": pool.share, "reach": pool.reach}
    given = {**chosen(PlanSettings, values), **of_pool}
    return PlanSettings(runs=values.get("runs") or (), **given).checked()
