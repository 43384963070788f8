"""What an evaluation of facts hands out: plain values for JSON, and the convention lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from evaluation.facts.measures import FACT_MEASURES, Counting, Denominator
from evaluation.facts.shapes import FactCounts as FactCounts
from evaluation.facts.shapes import FactFigure as FactFigure
from evaluation.facts.shapes import FactFigures as FactFigures
from evaluation.facts.shapes import FactResult as FactResult
from evaluation.facts.shapes import FactRow as FactRow
from evaluation.facts.shapes import FactsMeasuredHow as FactsMeasuredHow
from evaluation.facts.shapes import RuledPairs as RuledPairs
from evaluation.facts.table import FactTable, RunPlaces
from evaluation.measures import key_of
from evaluation.measures.intervals import IntervalSettings
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.figures import values_frame
from evaluation.scoring.wording import decimal, interval_or_why_not, percent
from pooling.formats.wording import counted
from pooling.heavy import Floats, Integers, np, pl

Key: TypeAlias = tuple[str, int | None]
QueryValues: TypeAlias = Mapping[str, Floats]


#: Measures that need the verdicts on nearly all pairs in the first K, and the share of them that is enough.
NEED_PAIRS = ("alpha_ndcg", "err_ia", "p_ia", "redundancy")
LEAST_JUDGED = 0.8


@dataclass(frozen=True)
class FactConventions:
    """Which facts count. importance: all, or only the vital ones. denominator: all of these, or those that
    some judged document supports (`findable`). partial: a document that supports a part of a fact counts
    half in fact recall. least_judged: the share of pairs below which NEED_PAIRS are not told."""

    importance: Literal["all", "vital"] = "all"
    denominator: Denominator = "all"
    partial: bool = False
    least_judged: float = LEAST_JUDGED

    @property
    def counting(self) -> Counting:
        return Counting(self.denominator, self.partial)

    @property
    def words(self) -> str:
        which = {"all": "all", "vital": "vital"}[self.importance]
        out_of = ", findable" if self.denominator == "findable" else ""
        return f"facts: {which}{out_of}, {'parts count half' if self.partial else 'strict'}"


#: Other programs by name: see `Conventions.preset` for what else they change.
FACT_PRESETS: Mapping[str, Denominator] = {"ndeval": "findable"}


@dataclass(frozen=True)
class FactEvaluation:
    """Facts × runs under one set of conventions. Made by `evaluate_facts`.

    keys: measure and K as asked. counts: (Q,) the denominator of each query. runs: name -> key -> figure.
    values: name -> measure -> (Q, C), NaN where a query does not count. missing: name -> queries with facts
    that the run lacks, and queries of the run without facts. placed: name -> where it has the documents.
    without_judged: queries with facts of which nobody judged a pair.
    """

    conventions: FactConventions
    order: Conventions
    cutoffs: Sequence[int]
    keys: Sequence[Key]
    table: FactTable
    counts: Integers
    runs: Mapping[str, Mapping[str, FactFigure]]
    values: Mapping[str, QueryValues]
    interval: IntervalSettings
    missing: Mapping[str, tuple[int, int]]
    placed: Mapping[str, RunPlaces]
    without_judged: int = 0
    notes: Sequence[str] = ()

    def with_lines(self) -> dict[str, dict[str, FactFigure]]:
        return {
            name: {key: {**figure, "line": self.line(name, key)} for key, figure in figures.items()}
            for name, figures in self.runs.items()
        }

    def per_query_frame(self) -> pl.DataFrame:
        """run, query_id, measure, k, value (null: the query does not count, or too few pairs are judged)."""
        columns = []
        for run, values in self.values.items():
            for name, k in self.keys:
                column = values[name][:, 0 if k is None else list(self.cutoffs).index(k)]
                has_mean = self.runs[run][key_of(name, k)]["queries"] > 0
                columns.append((run, name, k, column if has_mean else np.full_like(column, np.nan)))
        return values_frame(self.table.query_ids, columns)

    def to_dict(self) -> FactFigures:
        """What `evaluate --facts --format json` prints of the runs, one by one."""
        return {**self.measured_how(), "runs": self.with_lines()}

    def measured_how(self) -> FactResult:
        """All but the figures."""
        order = self.order.to_dict()
        return {
            "conventions": {
                "importance": self.conventions.importance,
                "denominator": self.conventions.denominator,
                "partial": self.conventions.partial,
                "zero_relevant": order["zero_relevant"],
                "missing": order["missing"],
                "ties": order["ties"],
                "scores": order["scores"],
                "interval": self.interval,
            },
            "counts": {
                "queries": len(self.table.query_ids),
                "without_facts": self.without_facts,
                "facts": self.table.fact_total,
                "without_judged": self.without_judged,
                **self.ruled,
            },
        }

    @cached_property
    def ruled(self) -> RuledPairs:
        """The pairs whose document is not relevant."""
        rows = [(one, one.irrelevant) for one in self.table.queries if one.irrelevant is not None]
        judged = [one.is_judged[irrelevant] for one, irrelevant in rows]
        return {
            "ruled_pairs": sum(int(np.count_nonzero(~one)) for one in judged),
            "checked_pairs": sum(int(np.count_nonzero(one)) for one in judged),
            "checked_supports": sum(int(one.supports[irrelevant].sum()) for one, irrelevant in rows),
        }

    @property
    def without_facts(self) -> int:
        """Queries whose denominator is 0."""
        return int(np.count_nonzero(self.counts == 0))

    def line(self, run: str, key: str) -> str:
        """One figure with all that it depends on, as one line of text."""
        name, _, k = key.partition("@")
        figure = self.runs[run][key]
        title = key_of(FACT_MEASURES[name].title, int(k) if k else None)
        words = f"{title} {decimal(figure['mean'])}{interval_or_why_not(figure, self.interval['level'])}"
        if figure["mean"] is None and name in NEED_PAIRS:
            words = f"{title} not told below {percent(self.conventions.least_judged)} of the pairs"
        parts = [
            words,
            f"{figure['queries']} of {counted(len(self.table.query_ids), 'query')}{self._aside(run)}",
            "missing = 0" if self.order.missing == "zero" else "missing = skipped",
            self.conventions.words,
            *self._rule(),
            f"ties: {self.order.order_in_words}",
        ]
        if figure.get("judged_pairs") is not None:
            parts.append(f"judged pairs@{k} {percent(figure['judged_pairs'])}")
        return " · ".join(parts)

    def _rule(self) -> list[str]:
        if not self.ruled["ruled_pairs"]:
            return []
        checked = counted(self.ruled["checked_pairs"], "such pair")
        return [f"not relevant = no support ({self.ruled['checked_supports']} of {checked} judged are)"]

    def _aside(self, run: str) -> str:
        notes = []
        if self.without_judged:
            notes.append(f"{self.without_judged} without a judged pair")
        if self.without_facts:
            zero = " count 0" if self.order.zero_relevant == "zero" else ""
            notes.append(f"{self.without_facts} without a fact{zero}")
        if self.missing[run][0]:
            notes.append(f"{self.missing[run][0]} missing from the run")
        return f" ({', '.join(notes)})" if notes else ""
