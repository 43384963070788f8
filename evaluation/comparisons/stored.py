"""The comparisons of a report: made with it, kept in a file next to it, read by page, HTTP interface and
download.

Two files: `comparisons.json` with every pair of runs at every K, and `unjudged.parquet` with the documents
that have no label and are in some run's first places (query_id, document_id, rank_0 … in the order of the
runs). From these it finds, on request, the labels that would decide a pair.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, NotRequired, TypedDict

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from evaluation.charts import drawing as charts
from evaluation.comparisons.answer import Answer, AnswerBasis, answer_of, best_first
from evaluation.comparisons.answering import MOST_RUNS, usual_test
from evaluation.comparisons.audited import audited_differences
from evaluation.comparisons.comparing import Method, compare_at
from evaluation.comparisons.grades import Graded, graded
from evaluation.comparisons.verdict import Comparison, ComparisonResult
from evaluation.estimates.of_pool import Basis, recall_cutoffs
from evaluation.models import Report
from evaluation.report_store.files import (
    LOOK,
    beside,
    put_frame,
    run_names,
    scan_beside,
    scan_per_query,
    scan_relevant,
    usual_cutoff,
)
from evaluation.report_store.options import headline_k
from evaluation.report_store.settings import margin_of
from evaluation.scoring.estimate_figures import COMPLETE
from evaluation.scoring.figures import RunFigures
from pooling.formats.cells import guarded_frame
from pooling.heavy import alt, pd, pl
from pooling.interface.problems import InputError
from pooling.storage.pictures import kept_svg

COMPARISONS, UNJUDGED = "comparisons.json", "unjudged.parquet"
PAIR = ["query_id", "document_id"]


class ChosenComparisons(TypedDict):
    """The comparisons of a report at one K."""

    k: int
    test: str
    correction: str
    left_out: Annotated[int, "Runs of the report that are not compared."]
    best_at: Annotated[int, "Compared are the best two at each K, and then the best at this one."]
    comparisons: list[ComparisonResult]


class StoredComparisons(TypedDict):
    """Contents of `comparisons.json`: every pair of these runs at these K; left_out: runs beyond them.
    best_at: the K at which they are the best, beyond the best two at each. weights: how much each drawn query
    counts, where means are taken back to a log."""

    runs: list[str]
    left_out: int
    best_at: int
    k: list[int]
    test: str
    correction: str
    confidence: float
    comparisons: list[ComparisonResult]
    weights: NotRequired[dict[str, float]]


def compared_runs(basis: Basis) -> tuple[list[Comparison], StoredComparisons]:
    """Pairs of up to twenty runs at each K, and as stored: the best two at each, then the best at the usual K
    and those without a mean there."""
    evaluation = basis.evaluation
    cutoffs = recall_cutoffs(evaluation)
    figures = {name: run.figures for name, run in evaluation.runs.items()}
    best = {name for k in cutoffs for name in best_first(figures, k)[:2]}
    best_at = usual_cutoff(cutoffs)
    ranked = dict.fromkeys([*best_first(figures, best_at), *figures])
    others = [name for name in ranked if name not in best][: max(0, MOST_RUNS - len(best))]
    names = [name for name in figures if name in best or name in others]
    some = replace(evaluation, runs={name: evaluation.runs[name] for name in names})
    audited = audited_differences(basis, names, cutoffs)
    test = usual_test(some)
    made = compare_at(some, cutoffs, audited=audited, opened=basis.opened, method=Method(test))
    stored: StoredComparisons = {
        "runs": names,
        "left_out": len(evaluation.runs) - len(names),
        "best_at": best_at,
        "k": cutoffs,
        "test": test,
        "correction": "holm",
        "confidence": evaluation.confidence,
        "comparisons": [{**one.to_dict(), "power": one.power()} for one in made],
    }
    if evaluation.weights is not None:
        weights = zip(evaluation.labels.query_ids.to_list(), evaluation.weights.tolist(), strict=True)
        stored["weights"] = {query: weight for query, weight in weights if weight}
    return made, stored


def unjudged_frame(basis: Basis, qrels: pl.DataFrame) -> pl.DataFrame:
    """The documents without a label in the first places of some run, with their ranks."""
    judged = qrels.filter(pl.col("relevance") >= 0)
    return basis.places.frame.join(judged, on=PAIR, how="anti").sort(PAIR)


def store_comparisons(report: Report, comparisons: StoredComparisons, unjudged: pl.DataFrame) -> None:
    """Write both files next to the report's other parts."""
    put_frame(beside(report, UNJUDGED), unjudged, 50_000)
    content = json.dumps(comparisons, ensure_ascii=False, allow_nan=False)
    default_storage.save(beside(report, COMPARISONS), ContentFile(content.encode()))


@dataclass(frozen=True)
class Compared:
    """The comparisons of a report as they were stored; positive is in favour of a pair's first run. figures:
    run -> `measure@k` -> figure."""

    stored: StoredComparisons
    figures: Mapping[str, RunFigures]

    @property
    def runs(self) -> list[str]:
        return list(self.stored["runs"])

    @property
    def cutoffs(self) -> list[int]:
        return list(self.stored["k"])

    def best_two(self, k: int) -> tuple[str, str]:
        """The two to begin with: those with the highest recall at K."""
        ranked = [run for run in best_first(self.figures, k) if run in self.runs]
        first, second = [*ranked, *(run for run in self.runs if run not in ranked)][:2]
        return first, second

    def at(self, k: int) -> list[ComparisonResult]:
        """Every pair at one K."""
        return [one for one in self.stored["comparisons"] if one["k"] == k]

    def pair(self, first: str, second: str, k: int) -> ComparisonResult:
        """One pair at one K, stored in either order; its words and signs are those of the stored order."""
        wanted = {first, second}
        return next(one for one in self.at(k) if {one["first"], one["second"]} == wanted)

    def of(self, run: str, k: int) -> list[ComparisonResult]:
        """The pairs of one run at one K, each turned so that this run comes first."""
        return [turned(one, run) for one in self.at(k) if run in (one["first"], one["second"])]


def turned(one: ComparisonResult, first: str) -> ComparisonResult:
    """The comparison with `first` first: signs and limits change, the verdict's words stay."""
    if one["first"] == first:
        return one
    low, high = one["low"], one["high"]
    return {
        **one,
        "first": one["second"],
        "second": one["first"],
        "judged": one["judged"][::-1],
        "difference": _negative(one["difference"]),
        "effect": _negative(one["effect"]),
        "estimate": _negative(one["estimate"]),
        "low": None if high is None else -high,
        "high": None if low is None else -low,
        "bounds": _turned_ends(one["bounds"]),
        "top_bounds": _turned_ends(one["top_bounds"]),
        "estimated": _turned_ends(one["estimated"]),
    }


def _negative(number: float | None) -> float | None:
    # Adding 0 turns the -0.0 of a 0.0 into 0.0.
    return None if number is None else -number + 0.0


def _turned_ends(ends: Sequence[float] | None) -> list[float] | None:
    return None if ends is None else [-ends[1], -ends[0]]


def compared(report: Report) -> Compared | None:
    """Stored comparisons, read once a `report`; None for one run, and where it is too large."""
    kept = vars(report)
    if "_compared" not in kept:
        kept["_compared"] = _read_comparisons(report)
    comparisons: Compared | None = kept["_compared"]
    return comparisons


def _read_comparisons(report: Report) -> Compared | None:
    name = beside(report, COMPARISONS)
    if not default_storage.exists(name):
        return None
    with default_storage.open(name, "rb") as file:
        stored: StoredComparisons = json.load(file)
    return Compared(stored, report.result["runs"]) if stored["comparisons"] else None


def answer_at(report: Report, k: int | None = None) -> Answer | None:
    """The best run at K, how sure that is, and what to do next; None where recall is undefined.

    At the K nearest 10 as it was stored with the report; at another K from its comparisons, where the best
    runs are among them.
    """
    usual = headline_k(report.options)
    stored = report.result["answer"]
    if stored is None:
        return None
    if k is None or k == usual:
        return Answer.from_dict(stored)
    comparisons = compared(report)
    pairs = [] if comparisons is None else [comparison_of(one) for one in comparisons.at(k)]
    is_complete, estimates = stored["basis"] == COMPLETE, report.result.get("estimates")
    frame = stored["frame"] if is_complete else None
    rests_on = AnswerBasis(stored["found"]["relevant"], is_complete, frame, estimates, margin_of(report))
    return answer_of(report.result["runs"], pairs, k, rests_on)


def grade_of(one: ComparisonResult, margin: float) -> Graded:
    return graded(comparison_of(one), margin)


def comparison_of(one: Any) -> Comparison:
    """The value a stored comparison was written from."""
    return Comparison(**{field.name: one[field.name] for field in fields(Comparison)})


def chosen_comparisons(
    report: Report, first: str | None, second: str | None, k: int | None
) -> ChosenComparisons:
    """All pairs at a K (10, or the nearest), those of one run, or one pair; `InputError` without them."""
    comparisons = compared(report)
    if comparisons is None:
        raise InputError("This report has no comparisons: it has only one run or is too large.", missing=True)
    at = k if k is not None else usual_cutoff(comparisons.cutoffs)
    if at not in comparisons.cutoffs:
        raise _not_there("k", f"K = {at} is not in this report", comparisons.cutoffs)
    for field, name in (("a", first), ("b", second)):
        if name is not None and name not in comparisons.runs:
            raise _not_there(field, f"There is no run “{name}” among the compared", comparisons.runs)
    chosen = [name for name in (first, second) if name is not None]
    if first is not None and first == second:
        raise InputError("A run is compared with another run; name two.", field="b")
    pairs = comparisons.at(at)
    if first is not None and second is not None:
        pairs = [turned(comparisons.pair(first, second, at), first)]
    elif chosen:
        pairs = comparisons.of(chosen[0], at)
    stored = comparisons.stored
    margin = margin_of(report)
    grades = [grade_of(one, margin) for one in pairs]
    return {
        "k": at,
        "test": stored["test"],
        "correction": stored["correction"],
        "left_out": stored["left_out"],
        "best_at": stored["best_at"],
        "comparisons": [
            {**one, "grade": grade.grade, "sentence": grade.sentence}
            for one, grade in zip(pairs, grades, strict=True)
        ],
    }


def _not_there(field: str, problem: str, offers: Sequence[object]) -> InputError:
    return InputError(f"{problem}; choose one of {', '.join(map(str, offers))}.", field=field)


def deciding(report: Report, first: str, second: str, k: int) -> pl.DataFrame:
    """The unjudged documents in the first k of only one of the two: query_id, document_id, run, rank, swing.

    As `evaluation.deciding_labels`: swing is how far the mean Recall difference moves if the document turns
    out relevant, the widest first.
    """
    ranks = {name: pl.col(f"rank_{run_names(report).index(name)}") for name in (first, second)}
    mine, other = ((ranks[name] <= k).fill_null(False) for name in (first, second))
    counted = counted_queries(report, first, second, k)
    hits = (
        scan_relevant(report)
        .group_by("query_id")
        .agg(
            relevant=pl.len().cast(pl.Float64),
            ahead=mine.sum().cast(pl.Float64) - other.sum().cast(pl.Float64),
        )
    )
    alone = (
        scan_beside(report, UNJUDGED).filter(mine != other).join(counted.lazy(), on="query_id", how="inner")
    )
    lone = alone.join(hits, on="query_id", how="left").with_columns(
        pl.col("relevant", "ahead").fill_null(0.0), sign=pl.when(mine).then(1.0).otherwise(-1.0)
    )
    after = (pl.col("ahead") + pl.col("sign")) / (pl.col("relevant") + 1)
    before = pl.col("ahead") / pl.max_horizontal(pl.col("relevant"), 1.0)
    table = lone.select(
        *PAIR,
        pl.when(pl.col("sign") > 0).then(pl.lit(first)).otherwise(pl.lit(second)).alias("run"),
        pl.when(pl.col("sign") > 0).then(ranks[first]).otherwise(ranks[second]).alias("rank"),
        ((after - before).abs() * pl.col("weight") / counted["weight"].sum()).alias("swing"),
    )
    return table.sort(
        "swing", "rank", "query_id", "document_id", descending=[True, False, False, False]
    ).collect()


def counted_queries(report: Report, first: str, second: str, k: int) -> pl.DataFrame:
    """query_id, weight of the queries that count for both runs: 1, or what a drawn one stands for."""
    values = scan_per_query(report).filter(pl.col("run").is_in([first, second]), pl.col("k") == k)
    recall = values.filter(pl.col("measure") == "recall", pl.col("value").is_not_null())
    both = recall.group_by("query_id").len().filter(pl.col("len") == 2).select("query_id").collect()
    comparisons = compared(report)
    weights = comparisons.stored.get("weights") if comparisons else None
    if weights is None:
        return both.with_columns(weight=pl.lit(1.0))
    table = pl.DataFrame({"query_id": list(weights), "weight": list(weights.values())})
    return both.join(table, on="query_id")


def deciding_csv(report: Report, first: str, second: str, k: int) -> io.BytesIO:
    """CSV of the pairs that decide, to be opened as a queue."""
    out = io.BytesIO()
    guarded_frame(deciding(report, first, second, k)).write_csv(out)
    out.seek(0)
    return out


def forest_svg(report: Report, comparisons: Compared, run: str, k: int, *, variant: str) -> bytes:
    """The differences of one run from every other at one K as SVG, drawn once and then kept."""
    stem = beside(report, f"forest-{comparisons.runs.index(run)}-{k}-{LOOK}")
    return kept_svg(stem, variant, lambda is_narrow: _forest(comparisons, run, k, narrow=is_narrow))


def _forest(comparisons: Compared, run: str, k: int, *, narrow: bool) -> alt.LayerChart:
    rows = [
        {
            "run": one["second"],
            "difference": one["difference"],
            "low": one["low"],
            "high": one["high"],
            **dict(zip(("least", "most"), one["bounds"] or (None, None), strict=True)),
            **dict(zip(("from", "to"), one["estimated"] or (None, None), strict=True)),
            "estimate": one["estimate"],
        }
        for one in comparisons.of(run, k)
    ]
    numbers = [column for column in rows[0] if column != "run"]
    table = pd.DataFrame(rows).astype(dict.fromkeys(numbers, float))
    title = f"Recall@{k} of {run} minus that of"
    return charts.forest(table, title=title, narrow=narrow)
