"""Settings of an approximate index: latency from a small CSV, the Pareto front, the cheapest that will do."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NotRequired, TypedDict

from evaluation.indexes.recall import AgainstExact
from evaluation.measures import split_name
from evaluation.scoring.wording import (
    USUAL_LEVEL,
    decimal_against,
    falls_short,
    interval_or_why_not,
    share_in_words,
)
from pooling.formats.cells import unguarded
from pooling.formats.errors import FormatError, excerpt
from pooling.formats.sources import require_file

LARGEST_FILE = 1 << 20
RUN, LATENCY = "run", "latency_ms"
EXAMPLE = "The header is run,latency_ms and, where wanted, a column for each parameter."


@dataclass(frozen=True)
class IndexSetting:
    """One line of the file of settings: the run's name, its latency in milliseconds, and any parameters."""

    run: str
    latency_ms: float
    parameters: Mapping[str, str] = field(default_factory=dict)


def read_index_settings(path: Path) -> list[IndexSetting]:
    """The settings of a CSV file; FormatError names file, line and remedy."""
    require_file(path)
    with path.open("rb") as file:
        return parse_index_settings(file.read(LARGEST_FILE + 1), path.name)


def parse_index_settings(content: bytes, name: str) -> list[IndexSetting]:
    """Settings from a file called `name`: header first, one line for each run.

    >>> parse_index_settings(b"run,latency_ms,ef\\nhnsw-16,0.12,16\\n", "settings.csv")
    [IndexSetting(run='hnsw-16', latency_ms=0.12, parameters={'ef': '16'})]
    """
    if len(content) > LARGEST_FILE:
        raise FormatError(name, None, "the file is larger than 1 MB", "It is a line for each run.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FormatError(name, line, "not UTF-8", "Save the file as UTF-8.") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    by_run: dict[str, IndexSetting] = {}
    header: list[str] = []
    try:
        for values in reader:
            if not any(value.strip() for value in values):
                continue
            stripped = [unguarded(value.strip()) for value in values]
            if not header:
                header = _header(name, reader.line_num, stripped)
                continue
            one = _setting(name, reader.line_num, header, stripped)
            if one.run in by_run:
                problem = f"run {excerpt(one.run)} appears again"
                raise FormatError(name, reader.line_num, problem, "Keep one line for each run.")
            by_run[one.run] = one
    except csv.Error as error:
        raise FormatError(name, reader.line_num, f"no CSV ({error})", EXAMPLE) from None
    if not by_run:
        raise FormatError(name, None, "there is no setting in it", EXAMPLE)
    return list(by_run.values())


def _header(name: str, line: int, values: list[str]) -> list[str]:
    for column in (RUN, LATENCY):
        if values.count(column) != 1:
            what = "no column" if column not in values else "more than one column"
            raise FormatError(name, line, f"{what} {column} among {excerpt(', '.join(values), 80)}", EXAMPLE)
    twice = next((value for value in values if not value or values.count(value) > 1), None)
    if twice is not None:
        problem = f"the column {excerpt(twice)} is there twice" if twice else "a column has no name"
        raise FormatError(name, line, problem, "Give every column a different name.")
    return values


def _setting(name: str, line: int, header: Sequence[str], values: Sequence[str]) -> IndexSetting:
    if len(values) != len(header):
        problem = f"{len(values)} values instead of {len(header)}"
        raise FormatError(name, line, problem, "Give every column of the header a value.")
    record = dict(zip(header, values, strict=True))
    run, latency_text = record.pop(RUN), record.pop(LATENCY)
    if not run:
        raise FormatError(name, line, "the run has no name", "Write the run's name, as its file's.")
    try:
        latency = float(latency_text)
    except ValueError:
        latency = math.nan
    if not (math.isfinite(latency) and latency > 0):
        problem = f"the latency is {excerpt(latency_text)}"
        raise FormatError(name, line, problem, "Write milliseconds as a number above 0, such as 1.25.")
    return IndexSetting(run, latency, record)


def settings_of_runs(settings: Sequence[IndexSetting], runs: Sequence[str], name: str) -> list[IndexSetting]:
    """The settings, once each run has one and each one its run; ValueError names what is missing."""
    names = {one.run for one in settings}
    without = [run for run in runs if run not in names]
    if without:
        raise ValueError(f"{name} has no line for run {without[0]}; add one with its latency.")
    strange = next((one.run for one in settings if one.run not in runs), None)
    if strange is not None:
        raise ValueError(f"{name} has a line for {strange}, which is none of the runs: {', '.join(runs)}.")
    return list(settings)


def pareto_front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """True for each point (latency, recall) on the front.

    It is, when no other point is better in one and no worse in the other; equal points are both on it.

    >>> pareto_front([(1.0, 0.8), (2.0, 0.7), (3.0, 0.9), (3.0, 0.85)])
    [True, False, True, False]
    """
    front = [False] * len(points)
    best = -math.inf
    order = sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1]))
    for place in order:
        latency, recall = points[place]
        if recall > best:
            best, fastest = recall, latency
            front[place] = True
        else:
            front[place] = recall == best and latency == fastest
    return front


class LatencyRow(TypedDict):
    """One setting: its latency, and its recall at the K of the table over queries."""

    run: str
    latency_ms: float
    parameters: dict[str, str]
    mean: float | None
    low: float | None
    high: float | None
    min: float | None
    queries: int
    percentiles: dict[str, float | None]
    on_front: bool


class LatencyTarget(TypedDict):
    """The recall asked for, and the fastest runs that reach it, by mean and by lower end of the interval."""

    at_least: float
    cheapest: str | None
    cheapest_clear: str | None


class LatencyTableResult(TypedDict):
    """A `LatencyTable` in JSON."""

    k: int
    rows: list[LatencyRow]
    front: list[str]
    target: NotRequired[LatencyTarget]
    sentence: str


@dataclass(frozen=True)
class LatencyTable:
    """Recall and latency of each setting at a K, the fastest first in `rows`; target: what became of it."""

    k: int
    confidence: float
    rows: Sequence[LatencyRow]
    target: LatencyTarget | None = None

    @property
    def front(self) -> list[str]:
        """The runs on the Pareto front, the fastest first."""
        return [row["run"] for row in self.rows if row["on_front"]]

    def sentence(self) -> str:
        if self.target is None:
            count = len(self.rows)
            return (
                f"{len(self.front)} of {count} settings are on the front, from {self.front[0]} to "
                f"{self.front[-1]}: no other is faster and has a higher Recall@{self.k}."
            )
        return _answer(self.target, {row["run"]: row for row in self.rows}, self.k, self.confidence)

    def to_dict(self) -> LatencyTableResult:
        rows, sentence = list(self.rows), self.sentence()
        if self.target is None:
            return {"k": self.k, "rows": rows, "front": self.front, "sentence": sentence}
        return {"k": self.k, "rows": rows, "front": self.front, "target": self.target, "sentence": sentence}


def latency_table(
    against: AgainstExact, settings: Sequence[IndexSetting], k: int, target: float | None = None
) -> LatencyTable:
    """Recall at `k` against latency: who is on the front, and the cheapest setting that reaches `target`.

    `cheapest` goes by the mean, `cheapest_clear` by the lower end of its interval. Of equally fast settings
    the one with the higher recall comes first.
    """
    figures = [against.figure(one.run, k) for one in settings]
    recalls = [-1.0 if figure["mean"] is None else float(figure["mean"]) for figure in figures]
    points = [(one.latency_ms, recall) for one, recall in zip(settings, recalls, strict=True)]
    rows: list[LatencyRow] = [
        {
            "run": one.run,
            "latency_ms": one.latency_ms,
            "parameters": dict(one.parameters),
            "mean": figure["mean"],
            "low": figure["low"],
            "high": figure["high"],
            "min": figure["min"],
            "queries": figure["queries"],
            "percentiles": figure["percentiles"],
            "on_front": on_front,
        }
        for one, figure, on_front in zip(settings, figures, pareto_front(points), strict=True)
    ]
    rows.sort(key=lambda row: (row["latency_ms"], -(row["mean"] or 0.0), row["run"]))
    return LatencyTable(k, against.confidence, rows, None if target is None else _reaching(rows, target))


def _reaching(rows: Sequence[LatencyRow], target: float) -> LatencyTarget:
    by_mean = (row["run"] for row in rows if row["mean"] is not None and not falls_short(row["mean"], target))
    by_low = (row["run"] for row in rows if row["low"] is not None and not falls_short(row["low"], target))
    return {"at_least": target, "cheapest": next(by_mean, None), "cheapest_clear": next(by_low, None)}


def _answer(target: LatencyTarget, rows: Mapping[str, LatencyRow], k: int, confidence: float) -> str:
    wanted, cheapest, clear = target["at_least"], target["cheapest"], target["cheapest_clear"]
    name, level = f"Recall@{k}", share_in_words(confidence)
    if cheapest is None:
        best = max(rows.values(), key=lambda row: row["mean"] or 0.0)
        return f"No setting reaches {name} {wanted:g}; the best is {_in_words(best, wanted)}."
    answer = f"The cheapest setting that reaches {name} {wanted:g} is {_in_words(rows[cheapest], wanted)}."
    if clear == cheapest:
        return f"{answer} The lower end of its {level} interval reaches it too."
    if rows[cheapest]["low"] is None:
        return answer
    in_words = None if clear is None else _in_words(rows[clear], wanted)
    beside = (
        "that of no setting does" if in_words is None else f"the cheapest whose lower end does is {in_words}"
    )
    return f"{answer} The lower end of its {level} interval does not reach it; {beside}."


def _in_words(row: LatencyRow, wanted: float) -> str:
    spread = interval_or_why_not(row, USUAL_LEVEL)
    return f"{row['run']} with {decimal_against(row['mean'], wanted)}{spread} at {row['latency_ms']:g} ms"


def parse_target(text: str) -> tuple[int, float]:
    """K and value of a target; ValueError for what is no recall at a K.

    >>> parse_target("recall@10=0.95")
    (10, 0.95)
    """
    name, _, value = text.partition("=")
    try:
        measure, k = split_name(name)
        least = float(value)
    except ValueError:
        measure, k, least = "", None, math.nan
    if measure != "recall" or k is None or not 0 <= least <= 1:
        raise ValueError(f"{text!r} is not a target; write for instance recall@10=0.95.")
    return k, least
