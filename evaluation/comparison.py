"""Whether run A beats run B: the difference with its interval and p-value, what the documents without a
label can still do to it, and the labels that would decide. A pair is ranked only when its sign is safe
from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.measures import MEASURES, Floats, split_name, titled
from evaluation.results import Evaluation, percent, share_in_words
from evaluation.significance import (
    BOOTSTRAP_SAMPLES,
    LEVEL,
    PERMUTATIONS,
    TESTS,
    adjusted,
    difference_intervals,
    effect_sizes,
    power_line,
)
from evaluation.unsettled import Unsettled, difference_bounds, labels_to_decide, unsettled

if TYPE_CHECKING:
    import pandas as pd

# Runs whose coverage differs by more than this were not measured alike: their raw order is not to be read.
UNEVEN_COVERAGE = 0.05
# What counts as a small p-value, and the difference in a mean that the power is told for.
SMALL_P, SEEN_DIFFERENCE = 0.05, 0.05
BOUNDED = ("recall", "precision")
COLUMNS = (
    *("first", "second", "measure", "k", "queries", "difference", "low", "high", "p_value", "effect"),
    *("lower_bound", "upper_bound", "settled", "open_pairs", "leader", "verdict"),
)
# Less than the last digits of a sum of shares: such a bound is 0.
_ZERO = 1e-12


Interval = tuple[float, float]


@dataclass(frozen=True)
class Difference:
    """What an audit says of a difference: the estimate, its interval over the draw of labels, and about how
    many audit labels more would decide it if it stays. None where that is not known."""

    value: float | None
    interval: Interval | None
    more_labels: int | None = None


@dataclass(frozen=True)
class Comparison:
    """Two runs on one measure, over the queries that count for both; positive is in favour of `first`.

    difference, low, high: mean difference and its bootstrap interval over queries, at `confidence`. p_value,
    test: of that difference, corrected where several pairs were compared. effect: Cohen's d. deviation:
    standard deviation of the differences. bounds: the least and largest mean difference over all labels that
    the unjudged documents can get; None for measures without such bounds. settled: queries whose own sign is
    decided so. open_pairs: unjudged documents that only one of the two has in its first K. estimated:
    interval of the difference of micro recall estimated from an audit sample; estimate: its value;
    more_labels: how many labels more of the audit would decide it. judged: coverage of both. What is
    undefined is None.
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
    bounds: tuple[float, float] | None
    settled: int | None
    open_pairs: int | None
    estimated: tuple[float, float] | None
    judged: tuple[float | None, float | None]
    estimate: float | None = None
    more_labels: int | None = None
    confidence: float = LEVEL

    @property
    def leader(self) -> str | None:
        """The run that is ahead whatever the unjudged documents turn out to be, or by the estimate; or
        none."""
        for span in (self.bounds, self.estimated):
            if span is not None and (span[0] > _ZERO or span[1] < -_ZERO):
                return self.first if span[0] > 0 else self.second
        return None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What forbids to read the raw order."""
        one, other = self.judged
        if one is None or other is None or abs(one - other) <= UNEVEN_COVERAGE:
            return ()
        return (
            f"judged@K is {percent(one)} for {self.first} and {percent(other)} for {self.second}: they were "
            "not judged alike, and their raw order is not to be read.",
        )

    def verdict(self) -> str:
        """One sentence that ranks the two runs, or says why it does not and what would decide it."""
        if self.difference is None:
            return f"Not ranked: no query counts for both {self.first} and {self.second}."
        return f"{self._ranked()} {self._queries_sentence()}".strip()

    def power(self, difference: float = SEEN_DIFFERENCE) -> str:
        """How many queries it takes to see a difference of that size between these two runs."""
        if self.deviation is None:
            return "Fewer than two queries count, so the power is unknown."
        return power_line(self.deviation, self.queries, difference)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, with leader, warnings and verdict."""
        said = {"leader": self.leader, "warnings": list(self.warnings), "verdict": self.verdict()}
        return {**asdict(self), **said}

    def _ranked(self) -> str:
        name = f"{titled(self.measure, self.k)} {_signed(self.difference)}{self._interval()}"
        if self.leader is None:
            return f"Not ranked ({self.first} − {self.second}: {name}): {self._reason()}"
        one, other = (self.first, self.second) if self.leader == self.first else (self.second, self.first)
        why = (
            f"decided whatever the unjudged documents turn out to be, bounds {_between(self.bounds)}"
            if self.settled_by_bounds
            else f"by the estimate from the audit, {_between(self.estimated)} in micro recall"
        )
        return f"{one} beats {other} on these queries ({self.first} − {self.second}: {name}), {why}."

    def _interval(self) -> str:
        """The interval, with its level where that is not the usual one."""
        span = _span(self.low, self.high)
        return f"{span} at {share_in_words(self.confidence)}" if span and self.confidence != LEVEL else span

    @property
    def settled_by_bounds(self) -> bool:
        """Whether no label that is still missing can turn the difference."""
        return self.bounds is not None and (self.bounds[0] > _ZERO or self.bounds[1] < -_ZERO)

    def _reason(self) -> str:
        if self.bounds is None:
            return (
                f"what unjudged documents can do to {MEASURES[self.measure].title} has no bound here; "
                f"compare the runs by {' or '.join(BOUNDED)}, or estimate the difference from an audit."
            )
        if not self.open_pairs:
            return (
                "every document that only one of them has is judged, and the difference is "
                f"{_between(self.bounds)}."
            )
        return (
            f"the unjudged documents can make it anything from {_between(self.bounds)}; judging the "
            f"{self.open_pairs:,} that only one of the two has would decide most.{self._of_the_audit()}"
        )

    def _of_the_audit(self) -> str:
        """What the estimate from the audit adds to a refusal."""
        if self.estimated is None:
            return ""
        text = f" The audit's estimate in micro recall, {_between(self.estimated)}, holds 0 as well"
        if self.more_labels is None:
            return f"{text}."
        return f"{text}; about {self.more_labels:,} audit labels more would decide it if it stays."

    def _queries_sentence(self) -> str:
        if self.p_value is None:
            return ""
        corrected = "" if self.correction == "none" else f" by {self.correction.title()}"
        shown = f"{self.test} p = {self.p_value:.3g}{corrected}, {self.queries:,} queries"
        rarely = "would rarely" if self.p_value <= SMALL_P else "could"
        return f"Another choice of queries {rarely} turn it ({shown})."


@dataclass(frozen=True)
class _Method:
    """How the differences are tested: by which test and correction, with how many draws from which seed."""

    test: str
    correction: str
    samples: int
    permutations: int
    seed: int
    confidence: float

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise ValueError(f"There is no test {self.test!r}; choose one of {', '.join(TESTS)}.")

    def numbers(self, differences: Floats, groups: int = 1) -> Floats:
        """(P, 4) low and high of the interval, corrected p-value and effect for each column.

        Columns fall into so many groups of equal size, and each is corrected by itself.
        """
        low, high = difference_intervals(
            differences, samples=self.samples, seed=self.seed, level=self.confidence
        )
        drawn = {"permutations": self.permutations, "seed": self.seed}
        p_values = TESTS[self.test](differences, **(drawn if self.test == "randomisation" else {}))
        corrected = np.concatenate([adjusted(part, self.correction) for part in np.split(p_values, groups)])
        return np.column_stack([low, high, corrected, effect_sizes(differences)])


def compare(
    evaluation: Evaluation,
    first: str,
    second: str,
    measure: str = "recall",
    *,
    test: str = "randomisation",
    estimated: tuple[float, float] | None = None,
    samples: int = BOOTSTRAP_SAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Comparison:
    """Compare two runs of an evaluation; `measure` is `recall` (at 10, or the deepest K), `recall@20`, `map`
    …

    The runs are read a second time for the bounds, so their files must still be there. estimated: the
    interval of the difference from `evaluation.estimates`, for when the bounds leave it open. Raises
    ValueError for a run or measure that was not evaluated.

    >>> from evaluation import evaluate
    >>> runs = {"a": {"q": {"d1": 2.0, "d2": 1.0}}, "b": {"q": {"d2": 2.0, "d3": 1.0}}}
    >>> found = compare(evaluate({"q": {"d1": 1, "d2": 1, "d3": 0}}, runs, k=2), "a", "b")
    >>> found.difference, found.bounds, found.leader
    (0.5, (0.5, 0.5), 'a')
    """
    method = _Method(test, "none", samples, permutations, seed, evaluation.confidence)
    key = _key(evaluation, measure)
    audited = {} if estimated is None else {(first, second, key[1]): Difference(None, estimated)}
    (made,) = _compared(evaluation, [(first, second)], [key], method, audited)
    return made


def compare_all(
    evaluation: Evaluation,
    measure: str = "recall",
    *,
    test: str = "randomisation",
    correction: str = "holm",
    samples: int = BOOTSTRAP_SAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> list[Comparison]:
    """Every pair of the evaluation's runs, their p-values corrected for being many."""
    method = _Method(test, correction, samples, permutations, seed, evaluation.confidence)
    return _compared(evaluation, list(combinations(evaluation.runs, 2)), [_key(evaluation, measure)], method)


def compare_at(
    evaluation: Evaluation,
    cutoffs: Sequence[int],
    *,
    measure: str = "recall",
    audited: Mapping[tuple[str, str, int | None], Difference] | None = None,
    opened: Unsettled | None = None,
    test: str = "randomisation",
    correction: str = "holm",
    samples: int = BOOTSTRAP_SAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> list[Comparison]:
    """Every pair of runs at each cutoff, cutoff by cutoff; corrected for the pairs at one cutoff.

    audited: (first, second, k) -> what the audit says of the difference. opened: what `unsettled` has read of
    all runs, so that it is not read again.
    """
    method = _Method(test, correction, samples, permutations, seed, evaluation.confidence)
    keys = [(measure, _cutoff(evaluation, measure, k)) for k in cutoffs]
    pairs = list(combinations(evaluation.runs, 2))
    return _compared(evaluation, pairs, keys, method, audited, opened)


def comparison_table(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    """One row per pair, with COLUMNS: the fields of `Comparison`, its bounds apart, leader and verdict."""
    import pandas as pd

    rows = []
    for made in comparisons:
        plain = made.to_dict()
        plain["lower_bound"], plain["upper_bound"] = made.bounds or (None, None)
        rows.append({name: plain[name] for name in COLUMNS})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def deciding_labels(evaluation: Evaluation, first: str, second: str, k: int | None = None) -> pd.DataFrame:
    """The unjudged documents that only one of the runs has in its first K, the most telling first.

    Columns query_id, document_id, run, rank, swing: the change of the mean Recall difference if it turns out
    relevant.
    """
    at = _cutoff(evaluation, "recall", k)
    assert at is not None
    opened = unsettled(evaluation, [first, second])
    return labels_to_decide(evaluation, opened, first, second, at)


def _compared(
    evaluation: Evaluation,
    pairs: Sequence[tuple[str, str]],
    keys: Sequence[tuple[str, int | None]],
    method: _Method,
    audited: Mapping[tuple[str, str, int | None], Difference] | None = None,
    opened: Unsettled | None = None,
) -> list[Comparison]:
    """The pairs at each key in turn; one key's pairs are corrected together."""
    if not pairs or not keys:
        return []
    names = list(dict.fromkeys(run for pair in pairs for run in pair))
    columns = []
    for key in keys:
        values = {run: _values(evaluation, run, *key) for run in names}
        columns += [values[one] - values[other] for one, other in pairs]
    if opened is None and any(measure in BOUNDED and k for measure, k in keys):
        opened = unsettled(evaluation, names)
    differences = np.column_stack(columns)
    numbers = method.numbers(differences, len(keys))
    made = []
    for at, (key, pair) in enumerate((key, pair) for key in keys for pair in pairs):
        row = _Row(pair, *key, differences[:, at], numbers[at], (audited or {}).get((*pair, key[1])))
        made.append(_comparison(evaluation, row, opened, method))
    return made


@dataclass(frozen=True)
class _Row:
    """What is known of one pair at one key before its sentence is written."""

    pair: tuple[str, str]
    measure: str
    k: int | None
    differences: Floats
    numbers: Floats
    audited: Difference | None


def _comparison(evaluation: Evaluation, row: _Row, opened: Unsettled | None, method: _Method) -> Comparison:
    counted = row.differences[~np.isnan(row.differences)]
    low, high, p_value, effect = (None if np.isnan(number) else float(number) for number in row.numbers)
    deepest = int(evaluation.cutoffs[-1]) if row.k is None else row.k
    bounds = None
    if opened is not None and row.measure in BOUNDED and row.k is not None:
        bounds = difference_bounds(evaluation, opened, *row.pair, row.measure, row.k)
    audited = row.audited or Difference(None, None)
    return Comparison(
        first=row.pair[0],
        second=row.pair[1],
        measure=row.measure,
        k=row.k,
        queries=len(counted),
        difference=float(counted.mean()) if len(counted) else None,
        low=low,
        high=high,
        p_value=p_value,
        test=method.test,
        correction=method.correction,
        effect=effect,
        deviation=float(counted.std(ddof=1)) if len(counted) > 1 else None,
        bounds=None if bounds is None else bounds.mean(),
        settled=None if bounds is None else bounds.settled(),
        open_pairs=None if bounds is None else bounds.open_pairs,
        estimated=audited.interval,
        judged=(_judged(evaluation, row.pair[0], deepest), _judged(evaluation, row.pair[1], deepest)),
        estimate=audited.value,
        more_labels=audited.more_labels,
        confidence=method.confidence,
    )


def _key(evaluation: Evaluation, measure: str) -> tuple[str, int | None]:
    name, k = split_name(measure)
    return name, _cutoff(evaluation, name, k)


def _judged(evaluation: Evaluation, run: str, k: int) -> float | None:
    share: float | None = evaluation.figure(run, "judged", k)["mean_of_retrieved"]
    return share


def _cutoff(evaluation: Evaluation, measure: str, k: int | None) -> int | None:
    """The K that was asked for; else 10, or the deepest, and none for a measure over the whole run."""
    cutoffs = [at for name, at in evaluation.keys if name == measure and at is not None]
    if (measure, k) in evaluation.keys:
        return k
    if k is not None or not cutoffs:
        raise ValueError(f"{titled(measure, k)} was not evaluated; name it among the measures and cutoffs.")
    return 10 if 10 in cutoffs else max(cutoffs)


def _values(evaluation: Evaluation, run: str, measure: str, k: int | None) -> Floats:
    if run not in evaluation.runs:
        raise ValueError(f"There is no run {run!r}; the runs are {', '.join(evaluation.runs)}.")
    held = evaluation.runs[run]
    if k is None:
        return held.whole[measure]
    return held.values[measure][:, int(np.flatnonzero(evaluation.cutoffs == k)[0])]


def _signed(number: float | None) -> str:
    # Adding 0 turns the -0.0 of a rounded sum into 0.0.
    return "–" if number is None else f"{round(number, 3) + 0.0:+.3f}".replace("-", "−")


def _span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{_signed(low)}, {_signed(high)}]"


def _between(span: tuple[float, float] | None) -> str:
    return "" if span is None else f"{_signed(span[0])} to {_signed(span[1])}"
