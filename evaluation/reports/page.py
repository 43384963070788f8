"""A report's page, from the stored result: figures as cells, coverage warnings, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.charts.kinds import ChartChoice, bounds_open
from evaluation.charts.page import form_context, picture_of
from evaluation.charts.stored import figures_of, kinds_of
from evaluation.comparisons.results_table import ResultsTable, earlier_report, means_of, results_table
from evaluation.comparisons.stored import compared
from evaluation.fact_reports.stored import fact_table_rows, facts_in
from evaluation.failures.worst_queries import worst_queries
from evaluation.measures import MEASURES, titled
from evaluation.models import Report
from evaluation.pool_estimates.page import estimates_context
from evaluation.pool_estimates.pool_choice import pools_to_rest_on
from evaluation.report_store.files import (
    cutoffs_of,
    figure_of,
    relevant_total,
    run_names,
)
from evaluation.report_store.settings import conventions_in_words, pool_of_estimates
from evaluation.reports.answer_card import full_card, of_labels
from evaluation.reports.changes import are_equal
from evaluation.reports.coverage import Coverage, coverage_by_cutoff, coverage_warnings
from evaluation.reports.export import provenance_of
from evaluation.reports.forms import Choice
from evaluation.scoring.results import decimal, percent, share_in_words
from labeling.qrels.releases import read_release
from pooling.formats.wording import plural
from pooling.models import Query

MOST_IDS = 200


def results_of(report: Report, choice: Choice) -> ResultsTable:
    """The table of the chosen measure at the chosen K, or at the K nearest to it that it has."""
    cutoffs = cutoffs_of(report, choice.measure)
    k = choice.k if choice.k in cutoffs else cutoffs[-1]
    comparisons, before = compared(report), earlier_report(report)
    coverage = coverage_by_cutoff(report).get(report.options["k"][-1] if k is None else k)
    return results_table(
        report,
        choice.measure,
        k,
        low=[] if coverage is None else [run for run in run_names(report) if coverage.lacks(run)],
        earlier=None if before is None else means_of(before, report, choice.measure, k),
        compared=[] if comparisons is None else comparisons.runs,
    )


def report_context(
    report: Report, choice: Choice, picture_choice: ChartChoice, results: ResultsTable
) -> dict[str, Any]:
    """Everything the template needs; nothing is measured again, and the database queries are constant."""
    result, columns = report.result, cutoffs_of(report, choice.measure)
    curve = kinds_of(report)["curve"]
    has_bounds = bounds_open(figures_of(report), choice.measure)
    coverage = coverage_by_cutoff(report)
    return {
        "choice": choice,
        "columns": columns,
        "shown": _title(choice.measure, columns),
        "found_so_far": of_labels(report) if choice.measure == "recall" else "",
        "measure": MEASURES[choice.measure],
        "measures": [MEASURES[name] for name in report.options["measures"]],
        **form_context(report, picture_choice),
        "picture": picture_of(report, curve, picture_choice, alt=_alt(report, choice.measure, has_bounds)),
        "curve_caption": _caption(report, choice.measure, has_bounds),
        "bounds_drawn": has_bounds,
        "conventions": conventions_in_words(report),
        "counts": result["queries"],
        "relevant_labels": relevant_total(report),
        "answer": full_card(report, choice.k, results.earlier if choice.measure == "recall" else None),
        "summary": recall_in_words(report, choice, coverage),
        "warnings": coverage_warnings(coverage),
        "axis": results.axis,
        "lines": convention_lines(report, choice),
        "interval": result["conventions"]["interval"],
        "level": share_in_words(result["conventions"]["interval"]["level"]),
        "left_out": left_out_queries(report),
        "unlabelled": unlabelled_queries(report),
        "unanswered": [(run, ids) for run, ids in result["queries"]["missing_ids"].items() if ids],
        "estimates": estimates_context(report, choice.k) if choice.measure == "recall" else None,
        "worst": worst_queries(report, choice.run, choice.k, choice.count) if choice.shows_worst else None,
        "rests_on": (rests_on := pool_of_estimates(report)),
        "other_pools": [pool.name for pool in pools_to_rest_on(report.collection) if pool != rests_on],
        "provenance": provenance_of(report),
        "again": _again(report),
        "facts": (facts := facts_in(report)),
        "fact_rows": fact_table_rows(facts, run_names(report), choice.k) if facts else [],
    }


def _again(report: Report) -> dict[str, Any] | None:
    """Of a report that repeats another: that one, while it is there, and whether the figures are equal."""
    key = report.options.get("again_of")
    before = Report.objects.filter(pk=key, collection=report.collection).first() if key else None
    return {"before": before, "equal": are_equal(before, report)} if before else None


def _alt(report: Report, measure: str, with_bounds: bool) -> str:
    """The curve in words; the table below it has its numbers."""
    columns, runs = cutoffs_of(report, measure), len(run_names(report))
    bounds = " and bounds from unjudged documents" if with_bounds else ""
    over = [k for k in columns if k is not None]
    at = f", over K from {over[0]} to {over[-1]}" if len(columns) > 1 else ""
    word, ends = plural(runs, "run"), plural(runs, "interval")
    return (
        f"{_title(measure, columns)} of {runs} {word} with {ends}{bounds}{at}; "
        "the table below has the same numbers."
    )


def _caption(report: Report, measure: str, with_bounds: bool) -> str:
    interval, curved = report.result["conventions"]["interval"], len(cutoffs_of(report, measure)) > 1
    basis = of_labels(report) if measure == "recall" else ""
    caption = (
        f"Mean over queries{basis and f', {basis},'} with its {share_in_words(interval['level'])} interval, "
        f"{interval['method']}: it speaks of the choice of queries, not of missing labels."
    )
    if with_bounds:
        edges = "lighter band with thin edges" if curved else "thin line"
        caption += f" The {edges}: its bounds, whatever the unjudged documents of the pool turn out to be."
    if not curved:
        return caption
    alone = "" if len(run_names(report)) <= 2 else " Of more than two runs in colour only the best has bands."
    return f"{caption}{alone} K is on a logarithmic axis."


def _title(measure: str, columns: Sequence[int | None]) -> str:
    """`Recall@K`, `Recall@10` where that is the only K, `MAP` over the whole run."""
    return titled(measure, columns[0]) if len(columns) == 1 else f"{titled(measure, None)}@K"


def convention_lines(report: Report, choice: Choice) -> list[tuple[str, str]]:
    """Each run's number at the chosen measure and K with all that it depends on, to be copied."""
    cutoffs = cutoffs_of(report, choice.measure)
    k = choice.k if choice.k in cutoffs else cutoffs[-1]
    return [(run, figure_of(report, run, choice.measure, k)["line"]) for run in run_names(report)]


def recall_in_words(report: Report, choice: Choice, coverage: Mapping[int, Coverage]) -> str:
    """The measure and the range of its numbers, without saying who wins."""
    means = [report.result["runs"][run][f"recall@{choice.k}"]["mean"] for run in run_names(report)]
    defined = sorted(mean for mean in means if mean is not None)
    if not defined:
        return "No query of this release has a relevant label, so recall is undefined."
    where = (
        decimal(defined[0])
        if defined[0] == defined[-1]
        else f"between {decimal(defined[0])} and {decimal(defined[-1])}"
    )
    text = f"Recall@{choice.k} is {where}"
    if choice.k not in coverage:
        return f"{text}."
    least, most = percent(coverage[choice.k].least[1]), percent(coverage[choice.k].most[1])
    share = least if least == most else f"{least} to {most}"
    return f"{text}; {share} of what the runs return in the first {choice.k} places is judged."


def unlabelled_queries(report: Report) -> dict[str, Any]:
    """The release is read only where there are any."""
    ids = list(report.collection.queries.listed().order_by("pk").values_list("external_id", flat=True))
    labelled = report.result["queries"]["labelled"]
    if len(ids) <= labelled:
        return {"every": labelled, "count": 0, "ids": []}
    labelled_ids = set(read_release(report.release)["query_id"].unique())
    lacking = [query_id for query_id in ids if query_id not in labelled_ids]
    return {"every": len(ids), "count": len(lacking), "ids": lacking[:MOST_IDS]}


def left_out_queries(report: Report) -> dict[str, Any]:
    ids = report.result["queries"]["without_relevant_ids"]
    first_ids = ids[:MOST_IDS]
    queries = Query.objects.filter(collection_id=report.collection_id, external_id__in=first_ids)
    texts = dict(queries.values_list("external_id", "text"))
    return {
        "count": len(ids),
        "queries": [(query_id, texts.get(query_id, "")) for query_id in first_ids],
        "more": len(ids) - len(first_ids),
    }
