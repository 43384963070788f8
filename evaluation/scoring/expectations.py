"""Expectations of a report: the means it should reach, and the number of queries it should rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from evaluation.measures import Floats, key_of, split_name, titled
from evaluation.measures.significance import power_line
from evaluation.scoring.figures import MeanCount, mean_as_read
from evaluation.scoring.wording import decimal_against, falls_short
from pooling.formats.wording import counted
from pooling.heavy import np, npt

DIFFERENCE = 0.05


class HasFigures(Protocol):
    """A run with its figures: `measure@k` -> mean, queries and more."""

    @property
    def figures(self) -> Mapping[str, MeanCount]: ...


class HasValues(Protocol):
    """A run with its values by query: of each measure one column per cutoff, and those without a cutoff."""

    @property
    def scored(self) -> npt.NDArray[np.bool_]: ...

    @property
    def values(self) -> Mapping[str, Floats]: ...

    @property
    def whole(self) -> Mapping[str, Floats]: ...


@dataclass(frozen=True)
class Check:
    """A run's mean and its threshold; an undefined mean never meets one. rests_on: which labels, in words.
    of_retrieved: of judged, the share without the places that short lists leave empty."""

    run: str
    key: str
    wanted: float
    mean: float | None
    queries: int
    rests_on: str = ""
    of_retrieved: float | None = None

    @property
    def is_below(self) -> bool:
        return self.mean is None or falls_short(self.mean, self.wanted)

    @property
    def value(self) -> str:
        """The mean in words."""
        return "undefined" if self.mean is None else decimal_against(self.mean, self.wanted, 4)

    @property
    def least(self) -> str:
        """The threshold as it was given."""
        return f"{self.wanted:.12g}"

    @property
    def sentence(self) -> str:
        place = "below" if self.is_below else "at least"
        over = " ".join(filter(None, (f"over {counted(self.queries, 'query')}", self.rests_on)))
        is_short = self.of_retrieved is not None and self.of_retrieved != self.mean
        short = f" (short lists; {self.of_retrieved:.4f} of what it retrieved)" if is_short else ""
        return f"{self.run}: {self.key} is {self.value}{short} {over}, {place} {self.least}."


def checked(
    runs: Mapping[str, HasFigures], thresholds: Mapping[str, float], rests_on: str = ""
) -> list[Check]:
    """Every run's mean against every threshold, by threshold and then by run."""
    return [
        Check(run, key, wanted, figure["mean"], figure["queries"], rests_on, mean_as_read(figure))
        for key, wanted in ((key_of(*split_name(name)), wanted) for name, wanted in thresholds.items())
        for run, figure in ((run, evaluated.figures[key]) for run, evaluated in runs.items())
    ]


def below(
    runs: Mapping[str, HasFigures], thresholds: Mapping[str, float], rests_on: str = ""
) -> list[tuple[str, str, str]]:
    """(run, key, sentence) for every mean below its threshold."""
    return [(one.run, one.key, one.sentence) for one in checked(runs, thresholds, rests_on) if one.is_below]


def too_few_queries(
    runs: Mapping[str, HasValues], key: tuple[str, int | None], column: int, minimum: int
) -> list[str]:
    """One sentence when a mean rests on fewer queries than `minimum`, with what it takes to see a difference.

    key, column: the measure the sentence speaks of, and the column of its cutoff. The power is that of a
    paired test between the two runs whose differences by query vary most, or of one run against a fixed value
    where it is the only one.
    """
    queries = min((int(run.scored.sum()) for run in runs.values()), default=0)
    if queries >= minimum:
        return []
    short = f"The means rest on {counted(queries, 'query')}, fewer than the minimum of {minimum:,}."
    measure, k = key
    values = {
        name: run.whole[measure] if k is None else run.values[measure][:, column]
        for name, run in runs.items()
    }
    widest = _widest(values)
    if widest is None:
        return [f"{short} Too few count to tell how many it takes."]
    deviation, what = widest
    return [f"{short} {titled(measure, k)}, {what}: {power_line(deviation, queries, DIFFERENCE)}"]


def _widest(values: Mapping[str, Floats]) -> tuple[float, str] | None:
    """The largest standard deviation by query, and of what."""
    pairs = [(values[one] - values[other], f"{one} − {other}") for one, other in combinations(values, 2)]
    if not pairs:
        pairs = [(numbers, f"{name} against a fixed value") for name, numbers in values.items()]
    counted = [(numbers[~np.isnan(numbers)], what) for numbers, what in pairs]
    deviations = [(float(numbers.std(ddof=1)), what) for numbers, what in counted if len(numbers) > 1]
    return max(deviations, default=None)
