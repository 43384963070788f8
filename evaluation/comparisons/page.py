"""The page on which two runs of a report are compared: what its query string chooses, and what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from django import forms

from evaluation.comparisons.deciding_queue import decision, queues_of
from evaluation.comparisons.grades import NAMED
from evaluation.comparisons.stored import Compared, deciding, grade_of, turned
from evaluation.comparisons.verdict import ComparisonResult
from evaluation.comparisons.wording import grade_in_words, span
from evaluation.models import Report
from evaluation.report_store.files import run_names, usual_cutoff
from evaluation.report_store.settings import margin_of, weights_in_words
from evaluation.scoring.results import percent, share_in_words
from pooling.formats.wording import signed
from pooling.interface.forms import AddressForm

MOST_LABELS = 20
MOST_PAIRS = 45
# Runs that are not compared, by name.
MOST_NAMED = 5


@dataclass(frozen=True)
class PairChoice:
    """Two runs of a report and a K."""

    a: str
    b: str
    k: int


class PairView(AddressForm):
    """The query string; what makes no sense falls back to the best two runs, and to a K near 10."""

    a = forms.ChoiceField(required=False)
    b = forms.ChoiceField(required=False)
    k = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)

    def __init__(self, data: Any = None, *, comparisons: Compared) -> None:
        super().__init__(data)
        self._comparisons = comparisons
        self.offer(a=comparisons.runs, b=comparisons.runs, k=comparisons.cutoffs)

    def choice(self) -> PairChoice:
        """The valid part of the query string, filled up, of two different runs."""
        self.is_valid()
        values = self.cleaned_data
        k = values.get("k") or usual_cutoff(self._comparisons.cutoffs)
        best = self._comparisons.best_two(k)
        first = values.get("a") or next(run for run in best if run != values.get("b"))
        second = values.get("b") or next(run for run in best if run != first)
        if second == first:
            second = next(run for run in best if run != first)
        return PairChoice(first, second, k)


class FactRow(TypedDict):
    """One number of a pair, and what its interval covers."""

    name: str
    value: str
    span: str
    covers: str


def comparison_context(report: Report, comparisons: Compared, choice: PairChoice) -> dict[str, Any]:
    """Everything the template needs: the chosen pair, all pairs at that K, and what would decide the pair."""
    margin = margin_of(report)
    pairs = comparisons.at(choice.k)
    stored = comparisons.pair(choice.a, choice.b, choice.k)
    grade = grade_of(stored, margin)
    wanted = deciding(report, choice.a, choice.b, choice.k)
    now = decision(report, choice.a, choice.b, choice.k)
    left_out = [name for name in run_names(report) if name not in comparisons.runs]
    return {
        "choice": choice,
        "runs": comparisons.runs,
        "cutoffs": comparisons.cutoffs,
        "left_out": left_out[:MOST_NAMED],
        "more_left_out": max(0, len(left_out) - MOST_NAMED),
        "best_at": comparisons.stored["best_at"],
        "grade": grade.grade,
        "sentence": grade.sentence,
        "verdict": stored["verdict"],
        "warnings": stored["warnings"],
        "weights": weights_in_words(report),
        "power": stored["power"],
        "facts": facts(turned(stored, choice.a)),
        "settled": stored["settled"],
        "queries": stored["queries"],
        "decision": now,
        "decision_bounds": "" if now.bounds is None else " and ".join(map(signed, now.bounds)),
        "deciding_queues": queues_of(report, choice.a, choice.b, choice.k),
        "labels": wanted.head(MOST_LABELS).to_dicts(),
        "label_count": wanted.height,
        "pairs": [_row(one, margin) for one in pairs[:MOST_PAIRS]],
        "more_pairs": len(pairs) - MOST_PAIRS if len(pairs) > MOST_PAIRS else 0,
        "ranked_count": sum(grade_of(one, margin).grade in NAMED for one in pairs),
        "pair_count": len(pairs),
        "level": share_in_words(comparisons.stored["confidence"]),
        "correction": str(comparisons.stored["correction"]).title(),
        "forest_runs": len(comparisons.runs) - 1,
    }


def facts(one: ComparisonResult) -> list[FactRow]:
    """Each number of the pair with what it covers, in words."""
    judged = [percent(share) for share in one["judged"]]
    rows = [
        (
            "Difference",
            signed(one["difference"]),
            span(one["low"], one["high"]),
            "choice of queries (paired differences)",
        ),
        ("Bounds", _both(one["bounds"]), "", "any labels of unjudged documents (exact for the pool)"),
        (
            "Estimated difference",
            signed(one["estimate"]),
            _bracketed(one["estimated"]),
            "choice of audit labels (micro recall)",
        ),
        (
            "p of the estimated difference",
            _p(one["estimate_p_value"]),
            f"corrected: {one['correction']}",
            "choice of audit labels (micro recall)",
        ),
        (f"p, {one['test']} test", _p(one["p_value"]), f"corrected: {one['correction']}", "which queries"),
        ("Effect size (Cohen’s d)", _effect(one["effect"]), "", "which queries"),
        ("judged@K", " and ".join(judged), "", "—"),
    ]
    return [
        {"name": name, "value": value, "span": ends, "covers": covers} for name, value, ends, covers in rows
    ]


def _row(one: ComparisonResult, margin: float) -> dict[str, Any]:
    return {
        "first": one["first"],
        "second": one["second"],
        "difference": signed(one["difference"]),
        "interval": span(one["low"], one["high"]),
        "p_value": _p(one["p_value"]),
        "bounds": _both(one["bounds"]),
        "estimated": _both(one["estimated"]),
        "estimate_p_value": _p(one["estimate_p_value"]),
        "uneven": bool(one["warnings"]),
        "grade": grade_in_words(grade_of(one, margin)),
    }


def _bracketed(ends: Sequence[float] | None) -> str:
    return "" if ends is None else span(ends[0], ends[1])


def _both(ends: Sequence[float] | None) -> str:
    return "–" if ends is None else f"{signed(ends[0])} to {signed(ends[1])}"


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _effect(value: float | None) -> str:
    return "–" if value is None else signed(value)
