"""Facts about two runs on one measure, and the sentence that ranks them or says why it does not.

A verdict speaks of one quantity: of the mean difference as labelled with its bounds, or of the difference of
micro recall that an audit estimates. It never takes the sign of one and the p-value of the other; where the
two point in different directions, that is the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NotRequired, TypedDict, cast

from evaluation.measures import MEASURES, titled
from evaluation.measures.intervals import LEVEL
from evaluation.measures.significance import power_line
from evaluation.scoring.wording import TOO_FEW, percent, share_in_words
from pooling.formats.wording import counted, signed

# Runs whose coverage differs by more than this were not measured alike: do not read their raw order.
UNEVEN_COVERAGE = 0.05
# What counts as a small p-value, and the difference in a mean that the power is computed for.
SMALL_P, SEEN_DIFFERENCE = 0.05, 0.05
BOUNDED = ("recall", "precision")
BY_BOUNDS, BY_AUDIT = "bounds", "audit"
# Less than the last digits of a sum or difference of shares: such a bound is 0.
_ZERO = 1e-12
# A smaller p-value is shown as “< this”.
_LEAST_P = 1e-4

Interval = tuple[float, float]


@dataclass(frozen=True)
class Difference:
    """A difference of micro recall by the audit: the estimate, its interval over the draw of labels, the
    p-value that belongs to both, and about how many more audit labels would decide it if it stays. None where
    that is not known."""

    value: float | None
    interval: Interval | None
    more_labels: int | None = None
    p_value: float | None = None


class ComparisonResult(TypedDict):
    """Two runs at a K; positive is in favour of `first`, undefined is null."""

    first: str
    second: str
    measure: str
    k: Annotated[int | None, {"allow_null": False}]
    queries: Annotated[int, "That count for both."]
    difference: Annotated[float | None, "Mean over queries."]
    low: Annotated[float | None, "95 % interval: covers queries; null below 10."]
    high: float | None
    p_value: Annotated[float | None, "Of `difference`, corrected for the pairs at K."]
    test: Annotated[str, "That the p-value is of."]
    correction: Annotated[str, "For several pairs."]
    effect: Annotated[float | None, "Cohen's d."]
    deviation: Annotated[float | None, "Standard deviation of the differences of queries."]
    bounds: Annotated[Sequence[float] | None, "Whatever the unjudged turn out to be."]
    settled: Annotated[int | None, "Queries whose own sign is decided so."]
    open_pairs: Annotated[int | None, "Unjudged documents of only one run."]
    estimated: Annotated[Sequence[float] | None, "Its 95 % interval: covers labels."]
    judged: Annotated[Sequence[float | None], "Share of the first K with a label, of each run."]
    estimate: Annotated[float | None, "Of micro recall, from the audit."]
    more_labels: Annotated[int | None, "Audit labels that would decide it."]
    confidence: Annotated[float, "Of both intervals."]
    estimate_p_value: Annotated[float | None, "Of the estimate, corrected for the pairs at K."]
    turning: Annotated[
        float | None, "Share of the unjudged documents of both first K that would reverse the order."
    ]
    top_bounds: Annotated[
        Sequence[float] | None, "Whatever the unjudged documents of both first K turn out to be."
    ]
    leader: Annotated[str | None, "The better run, or null: not ranked."]
    decided_by: Annotated[str | None, "`bounds` or `audit`; null: not ranked."]
    warnings: list[str]
    verdict: Annotated[str, "What the bounds and the audit alone say."]
    power: NotRequired[
        Annotated[str, {"required": True}, "How many queries it takes to see a difference of 0.05."]
    ]
    grade: NotRequired[
        Annotated[
            str,
            {"required": True},
            "`clearly_better`, `probably_better`, `no_difference`, `cannot_tell_labels` or "
            "`cannot_tell_queries`.",
        ]
    ]
    sentence: NotRequired[Annotated[str, {"required": True}, "The grade in words."]]


@dataclass(frozen=True)
class Comparison:
    """Two runs on one measure, over the queries that count for both; positive is in favour of `first`.

    difference, low, high: mean difference as labelled and its interval over queries, at `confidence`; None
    for too few queries. p_value, test: of that difference, corrected where several pairs were compared.
    effect: Cohen's d. deviation: standard deviation of the differences. bounds: the least and largest mean
    difference over all labels that the unjudged documents can get; None for measures without such bounds.
    settled: queries whose own sign is decided so. open_pairs: unjudged documents that only one of the two has
    in its first K. estimate, estimated: the difference of micro recall that an audit sample estimates, and
    its interval over the draw of labels; estimate_p_value: of that estimate, corrected as `p_value` is;
    more_labels: how many labels more of the audit would decide it. judged: coverage of both. turning: the
    share of the unjudged documents of both first K that must be relevant, all in favour of the run behind,
    before the mean difference is 0. top_bounds: the bounds where nothing else is unjudged; a larger pool does
    not widen them. What is undefined is None.
    """

    first: str
    second: str
    measure: str
    k: int | None
    queries: int
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    test: str
    correction: str
    effect: float | None
    deviation: float | None
    bounds: Interval | None
    settled: int | None
    open_pairs: int | None
    estimated: Interval | None
    judged: tuple[float | None, float | None]
    estimate: float | None = None
    more_labels: int | None = None
    confidence: float = LEVEL
    estimate_p_value: float | None = None
    turning: float | None = None
    top_bounds: Interval | None = None

    @property
    def decided_by(self) -> str | None:
        """`bounds`: no label that is still missing can turn the mean difference. `audit`: its estimate
        excludes 0 once corrected, and the difference as labelled does not point the other way. Else None."""
        if excludes_zero(self.bounds):
            return BY_BOUNDS
        if self.contradicted or not excludes_zero(self.estimated):
            return None
        p_value = self.estimate_p_value
        return BY_AUDIT if p_value is None or p_value <= 1 - self.confidence else None

    @property
    def leader(self) -> str | None:
        """The run that is ahead by what `decided_by` names; or none."""
        sides = {BY_BOUNDS: excludes_zero(self.bounds), BY_AUDIT: self._audited_side(), None: 0}
        return {1: self.first, 0: None, -1: self.second}[sides[self.decided_by]]

    @property
    def contradicted(self) -> bool:
        """The audit's estimate points the other way than the difference as labelled."""
        return self._audited_side() * _side(self.difference) < 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why the raw order must not be read."""
        one, other = self.judged
        if one is None or other is None or abs(one - other) <= UNEVEN_COVERAGE + _ZERO:
            return ()
        return (
            f"judged@K is {percent(one)} for {self.first} and {percent(other)} for {self.second}: the "
            "runs were not judged equally, so do not compare their raw values.",
        )

    def verdict(self) -> str:
        """One sentence or two that rank the two runs, or say why not and what would decide it."""
        if self.difference is None:
            return f"Not ranked: no query counts for both {self.first} and {self.second}."
        if self.decided_by == BY_BOUNDS:
            return self._by_bounds()
        if self.decided_by == BY_AUDIT:
            return self._by_audit()
        if self.contradicted:
            return self._both_ways()
        return self._open() if self.estimated is None else self._open_by_audit()

    def power(self, difference: float = SEEN_DIFFERENCE) -> str:
        """Number of queries to see a difference of that size between these two runs, in a sentence."""
        if self.deviation is None:
            return "Fewer than two queries count, so the power is unknown."
        if self.deviation <= _ZERO:
            return f"The difference is the same in all {self.queries:,} queries, so the power is unknown."
        return power_line(self.deviation, self.queries, difference)

    def to_dict(self) -> ComparisonResult:
        """The fields as plain values, with leader, what decided, warnings and verdict."""
        follows = {
            "leader": self.leader,
            "decided_by": self.decided_by,
            "warnings": list(self.warnings),
            "verdict": self.verdict(),
        }
        return cast("ComparisonResult", vars(self) | follows)

    def _by_bounds(self) -> str:
        return (
            f"{self._winner()} on these queries ({self._as_labelled()}), decided whatever the unjudged "
            f"documents in the pool turn out to be, bounds {_between(self.bounds)}.{self.of_queries()}"
        )

    def _by_audit(self) -> str:
        of = f"{self.first} − {self.second}{self._audited_p('; ')}"
        return (
            f"{self._winner()} on these queries by the estimate from the audit, {self._audited()} in micro "
            f"{titled(self.measure, self.k)} ({of}). That covers which documents the audit drew, not which "
            "queries were asked."
        )

    def _both_ways(self) -> str:
        ahead, behind = self.first, self.second
        if _side(self.difference) < 0:
            ahead, behind = behind, ahead
        return f"Not ranked: the labels found first favour {ahead}, the audit favours {behind}.{self._more()}"

    def _open_by_audit(self) -> str:
        many = "is not significant after correction for multiple comparisons"
        why = many if excludes_zero(self.estimated) else "includes 0"
        wanted = ""
        if self.more_labels is not None:
            labels = counted(self.more_labels, "more audit label")
            wanted = f" It takes about {labels} to decide it, even if it stays."
        return (
            f"Not ranked: the audit’s estimate of {self.first} − {self.second} in micro "
            f"{titled(self.measure, self.k)}, {self._audited()}{self._audited_p(', ')}, "
            f"{why}.{wanted}{self._more()}"
        )

    def _open(self) -> str:
        of_queries = self.of_queries("As labelled, another")
        return f"Not ranked ({self._as_labelled()}): {self._reason()}{of_queries}"

    def _reason(self) -> str:
        if self.bounds is None:
            return (
                f"there is no bound on how unjudged documents change {MEASURES[self.measure].title}; "
                f"compare the runs by {' or '.join(BOUNDED)}, or estimate the difference from an audit."
            )
        if not self.open_pairs:
            return (
                "every document that only one of them has is judged, and the difference is "
                f"{_between(self.bounds)}."
            )
        return (
            f"the unjudged documents can make it anything from {_between(self.bounds)}; judging the "
            f"{self.open_pairs:,} that only one of the two has would help most."
        )

    def _winner(self) -> str:
        one, other = (self.first, self.second) if self.leader == self.first else (self.second, self.first)
        return f"{one} beats {other}"

    def _as_labelled(self) -> str:
        """The difference by the labels there are, with its interval over queries."""
        spread = f" ({TOO_FEW})"
        if self.low is not None and self.high is not None:
            spread = f" {_bracketed((self.low, self.high))}{self._at_level()}"
        name = f"{titled(self.measure, self.k)} {signed(self.difference)}"
        return f"{self.first} − {self.second}: {name}{spread}"

    def of_queries(self, opening: str = "Another") -> str:
        """Effect of another choice of queries on the difference as labelled, in a sentence."""
        if self.p_value is None:
            return ""
        corrected = "" if self.correction == "none" else f" by {self.correction.title()}"
        test_words = f"{self.test} p = {self.p_value:.3g}{corrected}, {counted(self.queries, 'query')}"
        is_clear = self.low is None or self.high is None or excludes_zero((self.low, self.high))
        rarely = "would rarely" if self.p_value <= SMALL_P and is_clear else "could"
        return f" {opening} choice of queries {rarely} reverse it ({test_words})."

    def _audited(self) -> str:
        """The estimate with its interval over the draw of labels."""
        if self.estimate is None or self.estimated is None:
            return _between(self.estimated)
        return f"{signed(self.estimate)} {_bracketed(self.estimated)}{self._at_level()}"

    def _audited_p(self, before: str) -> str:
        p_value = self.estimate_p_value
        if p_value is None:
            return ""
        corrected = "" if self.correction == "none" else f" by {self.correction.title()}"
        level = f"p < {_LEAST_P:g}" if p_value < _LEAST_P else f"p = {p_value:.3g}"
        return f"{before}{level}{corrected}"

    def _audited_side(self) -> int:
        return excludes_zero(self.estimated) if self.estimate is None else _side(self.estimate)

    def _at_level(self) -> str:
        """The level of an interval where it is not the usual one."""
        return "" if self.confidence == LEVEL else f" at {share_in_words(self.confidence)}"

    def _more(self) -> str:
        if not self.open_pairs:
            return ""
        return f" Judging the {self.open_pairs:,} unjudged that only one of the two has would help most."


def excludes_zero(span: Interval | None) -> int:
    """1 where all of it is above 0, -1 where all of it is below, else 0; 0 for none."""
    return 0 if span is None else int(span[0] > _ZERO) - int(span[1] < -_ZERO)


def _side(number: float | None) -> int:
    return 0 if number is None else excludes_zero((number, number))


def _bracketed(span: Interval) -> str:
    return f"[{signed(span[0])}, {signed(span[1])}]"


def _between(span: Interval | None) -> str:
    return "" if span is None else f"{signed(span[0])} to {signed(span[1])}"
