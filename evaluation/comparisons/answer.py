"""First sentences of a report: which run is best, how sure that is, what could turn it, what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypedDict

from evaluation.comparisons.grades import Grade, graded
from evaluation.comparisons.verdict import Comparison
from evaluation.measures import titled
from evaluation.measures.intervals import FEWEST_QUERIES
from evaluation.measures.significance import queries_needed
from evaluation.scoring.config import MARGIN
from evaluation.scoring.estimate_figures import COMPLETE, ESTIMATE, LABELS, SPAN, Estimates, FrameFigures
from evaluation.scoring.figures import Figure, RunFigures, mean_as_read
from evaluation.scoring.wording import first_places, usual_cutoff
from pooling.formats.wording import counted

#: To ask for more queries than this is no advice.
MOST_QUERIES = 100_000


@dataclass(frozen=True)
class Rival:
    """The next best run next to the best: the difference in favour of the best, its interval over queries and
    its p-value, corrected for the number of `pairs`; the grade; the share of the unjudged documents of both
    first K that must turn out against it before the order turns; and how many of these only one of the two
    has. same: no query and no label tells the two apart."""

    run: str
    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    pairs: int
    grade: Grade
    turning: float | None
    unjudged: int | None
    same: bool = False


@dataclass(frozen=True)
class Outside:
    """Documents of the best run's first K outside the pool and what its audit was drawn from: their number
    over the scored queries, at most where the pool does not tell all that it was drawn from; and their share
    of all there. relevant: None, as nothing tells; at the rate of the judged ones it was 1.5 to 11 times too
    many in simulations, since these are of the top."""

    documents: int
    share: float
    relevant: float | None
    sentence: str


@dataclass(frozen=True)
class NextStep:
    """The most valuable thing to do. kind: `judge` or `queries`. count: documents to judge, or queries to
    have in all."""

    kind: str
    count: int
    sentence: str


class Found(TypedDict):
    """Mean recall over the relevant documents found, and the number of these."""

    recall: float | None
    relevant: int


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The best run at `k` by the labels found, and its recall: on which `basis`, of which `average` (`macro`:
    the mean over queries; `micro`: over all relevant documents at once), and of which frame, where it is
    estimated. low, high: both uncertainties of an estimate, both ends of a span, None for labels. found: the
    labels at hand.

    And its coverage; how it compares with the next best, None where there is no other; a sentence for people,
    and what to do next; and what lies outside the pool, None where nothing does or no pool was given.
    with_mistakes: None, as no figure of the answer tells what wrong verdicts do to an estimate: corrected by
    their expected number, it was further from the truth in simulations than it had been."""

    k: int
    run: str
    basis: str
    recall: float | None
    low: float | None
    high: float | None
    average: str
    found: Found
    frame: FrameFigures | None = None
    queries: int
    judged: float | None
    sentence: str
    rival: Rival | None = None
    next: NextStep | None = None
    outside: Outside | None = None
    with_mistakes: None = None

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Answer:
        kept = {one.name: stored[one.name] for one in fields(cls)}
        rival, following, outside = kept["rival"], kept["next"], kept["outside"]
        kept["rival"] = rival and Rival(**rival | {"grade": Grade(rival["grade"])})
        kept["next"] = following and NextStep(**following)
        kept["outside"] = outside and Outside(**outside)
        return cls(**kept)

    def to_dict(self) -> Mapping[str, object]:
        return asdict(self)


class _Recall(TypedDict):
    basis: str
    recall: float | None
    low: float | None
    high: float | None
    average: str
    found: Found
    frame: FrameFigures | None


@dataclass(frozen=True)
class AnswerBasis:
    """Facts behind an answer besides the figures.

    relevant: documents that are known to be so. complete: the labels are. frame: what they are complete of,
    where nobody had to declare it. estimates: of the audit, where there are any. margin: a difference within
    ± margin does not matter. pairs: of runs that were compared, where not all comparisons are given. wanted:
    how many labels are expected to decide the best two, where that is known.
    """

    relevant: int
    complete: bool = False
    frame: FrameFigures | None = None
    estimates: Estimates | None = None
    margin: float = MARGIN
    pairs: int | None = None
    wanted: int | None = None

    def recall_of(self, run: str, k: int, figure: Figure) -> _Recall:
        """Recall of a run as its readers meet it first; `figure` is that of the labels at hand."""
        of_labels: Found = {"recall": figure["mean"], "relevant": self.relevant}
        estimates = self.estimates
        estimate = None if estimates is None else estimates["runs"].get(run, {}).get(f"recall@{k}")
        headline = None if estimate is None else estimate.get("headline")
        has_interval = headline is not None and headline["low"] is not None and not self.complete
        if has_interval and estimates is not None and headline is not None:
            return {
                "basis": SPAN if headline["value"] is None else ESTIMATE,
                "recall": headline["value"],
                "low": headline["low"],
                "high": headline["high"],
                "average": headline["average"],
                "found": of_labels,
                "frame": estimated_frame(estimates),
            }
        return {
            "basis": COMPLETE if self.complete else LABELS,
            "recall": figure["mean"],
            "low": figure["low"] if self.complete else None,
            "high": figure["high"] if self.complete else None,
            "average": "macro",
            "found": of_labels,
            "frame": self.frame,
        }


def estimated_frame(estimates: Estimates) -> FrameFigures | None:
    """The frame of an estimate, with the queries that it is about where some of the pool are not answered."""
    frame, queries = estimates.get("frame"), estimates["queries"]
    if frame is None or queries is None or not queries["not_estimated"]:
        return frame
    return {**frame, "queries": [queries["estimated"], queries["pool"]]}


def headline_cutoff(cutoffs: Sequence[int], reach: int | None = None, *, named: bool = False) -> int:
    """The K of the answer among those that were measured, of those that the labels reach as far as that is
    known: the deepest where somebody `named` them, else the one nearest 10."""
    covered = [k for k in cutoffs if reach is None or k <= reach] or list(cutoffs)
    return max(covered) if named and reach is not None else usual_cutoff(covered)


def best_first(figures: Mapping[str, RunFigures], k: int) -> list[str]:
    """Runs with a defined recall at K, the best first, then by name, as databases store in other orders."""
    means = {run: by_key[f"recall@{k}"]["mean"] for run, by_key in figures.items()}
    defined = {run: mean for run, mean in means.items() if mean is not None}
    return sorted(defined, key=lambda run: (-defined[run], run))


def answer_of(
    figures: Mapping[str, RunFigures], comparisons: Sequence[Comparison], k: int, basis: AnswerBasis
) -> Answer | None:
    """The answer at K; None where recall is undefined.

    figures: run -> `measure@k` -> figure. comparisons: of all pairs of runs at K, or of the best two.
    """
    key = f"recall@{k}"
    ranked = best_first(figures, k)
    if not ranked:
        return None
    best = ranked[0]
    figure, judged = figures[best][key], figures[best].get(f"judged@{k}")
    one = _with_next(comparisons, ranked)
    apart = _apart(comparisons, ranked, figures)
    if one is not None:
        sentence = (
            f"{graded(one, basis.margin).sentence}{_means_of_others(one, figures)}{apart and f' But {apart}'}"
        )
    elif len(ranked) == 1:
        sentence = f"{best} is the only run."
    elif apart:
        sentence = f"{best} has the highest {titled('recall', k)}, but {apart}"
    else:
        sentence = f"{best} has the highest {titled('recall', k)}; it was not compared with the next."
    many = len(comparisons) if basis.pairs is None else basis.pairs
    return Answer(
        k=k,
        run=best,
        **basis.recall_of(best, k, figure),
        queries=figure["queries"],
        judged=None if judged is None else mean_as_read(judged),
        sentence=sentence,
        rival=None if one is None else _rival(one, best, many, basis.margin),
        next=None if one is None else _next_step(one, graded(one, basis.margin).grade, basis.wanted),
    )


def _means_of_others(one: Comparison, figures: Mapping[str, RunFigures]) -> str:
    """Where runs do not answer the same queries, the means next to a difference are of others."""
    runs = (one.first, one.second)
    many = {run: figures[run][f"recall@{one.k}"]["queries"] for run in runs}
    if max(many.values()) == one.queries:
        return ""
    return f" That is on the {counted(one.queries, 'query')} that both answer; {_own_queries(many)}"


def _apart(
    comparisons: Sequence[Comparison], ranked: Sequence[str], figures: Mapping[str, RunFigures]
) -> str:
    """Where the two highest means are of runs that answer no query in common."""
    two = ranked[:2]
    if not any({one.first, one.second} == set(two) and not one.queries for one in comparisons):
        return ""
    k = next(one.k for one in comparisons)
    many = {run: figures[run][f"recall@{k}"]["queries"] for run in two}
    return f"no query is answered by both {' and '.join(two)}; {_own_queries(many)}"


def _own_queries(many: Mapping[str, int]) -> str:
    own = ", ".join(f"{queries:,} of {run}" for run, queries in many.items())
    return f"each mean is over its run’s own queries ({own}), so the means do not tell which is better."


def _with_next(comparisons: Sequence[Comparison], ranked: Sequence[str]) -> Comparison | None:
    """The comparison of the best run with the best of those it was compared with."""
    places = {run: place for place, run in enumerate(ranked)}
    pairs = [
        one for one in comparisons if ranked[0] in (one.first, one.second) and one.difference is not None
    ]
    pairs = [one for one in pairs if one.first in places and one.second in places]
    return min(pairs, key=lambda one: places[one.first] + places[one.second], default=None)


def _rival(one: Comparison, best: str, pairs: int, margin: float) -> Rival:
    """Its signs are in favour of the best run."""
    ours, grade = one.first == best, graded(one, margin)
    low, high = (one.low, one.high) if ours else (_negative(one.high), _negative(one.low))
    difference = one.difference or 0.0
    return Rival(
        run=one.second if ours else one.first,
        difference=difference if ours else 0.0 - difference,
        low=low,
        high=high,
        p_value=one.p_value,
        pairs=pairs,
        grade=grade.grade,
        turning=one.turning,
        unjudged=one.open_pairs,
        same=grade.same,
    )


def _next_step(one: Comparison, grade: Grade, wanted: int | None) -> NextStep | None:
    if grade is Grade.LABELS and one.open_pairs:
        count = wanted or one.open_pairs
        return NextStep("judge", count, judge_sentence(count, one.open_pairs, one.k or 0))
    if grade is Grade.QUERIES and one.deviation and one.difference:
        needed = queries_needed(one.deviation, abs(one.difference), measured=one.queries)
        needed = max(needed, FEWEST_QUERIES)
        if one.queries < needed <= MOST_QUERIES:
            size = f"a difference of {abs(one.difference):.3f}"
            sentence = f"Add queries: {size} takes about {needed:,}; there are {one.queries:,}."
            return NextStep("queries", needed, sentence)
    return None


def judge_sentence(count: int, left: int, k: int) -> str:
    """Judge `count` of the documents that are left."""
    some = "" if count >= left else f"{count:,} of "
    return (
        f"Judge {some}the {counted(left, 'document')} that only one of the two has in its {first_places(k)}."
    )


def _negative(number: float | None) -> float | None:
    return None if number is None else 0.0 - number
