from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.access import report_for
from evaluation.charts.kinds import CURVE, ChartChoice, bounds_open, first_curve
from evaluation.charts.page import ChartView, form_context, picture_of
from evaluation.charts.stored import figures_of
from evaluation.comparisons.results_table import ResultsTable, earlier_report, means_of, results_table
from evaluation.comparisons.stored import compared
from evaluation.comparisons.wording import grade_in_words
from evaluation.estimates.page import estimates_context
from evaluation.estimates.pool_choice import pools_to_rest_on
from evaluation.failures.by_tag import table_by_tag
from evaluation.failures.stored_facts import fact_table_rows, facts_in
from evaluation.failures.stored_queries import worst_queries
from evaluation.measures import MEASURES, titled
from evaluation.models import Report
from evaluation.report_store.files import cutoffs_of, figure_of, file_stem, relevant_total, run_names
from evaluation.report_store.settings import (
    conventions_in_words,
    outside_draw,
    pool_of_estimates,
    settings_context,
)
from evaluation.report_store.shared_links import links_of
from evaluation.reports.answer_card import estimated_caption, full_card, of_labels, queries_in_all
from evaluation.reports.changes import are_equal
from evaluation.reports.coverage import Coverage, coverage_by_cutoff, report_warnings
from evaluation.reports.export import FILES, provenance_of
from evaluation.reports.forms import Choice, ReportForm, ReportView, SettingsForm
from evaluation.reports.making import request_report
from evaluation.reports.summaries import (
    Change,
    ReportSummary,
    RunSummary,
    best_of,
    change_of,
    report_summaries,
)
from evaluation.scoring.estimate_figures import ESTIMATE
from evaluation.scoring.results import decimal, percent, share_in_words
from evaluation.scoring.wording import interval, interval_in_words
from labeling.qrels.releases import read_release
from pooling.formats.wording import counted, plural, signed
from pooling.interface.downloads import offered
from pooling.interface.forms import Figure, choose_runs_from_address, say_left_out, show_problem
from pooling.interface.pages import answered
from pooling.interface.problems import InputError
from pooling.models import Collection, Query, Role
from pooling.people.access import ADMIN, collection_for
from pooling.tables.answers import answer
from pooling.tables.columns import BulkAction, Column, Empty
from pooling.tables.table import Table

MOST_IDS = 200


def results_of(report: Report, choice: Choice) -> ResultsTable:
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
    result, columns = report.result, cutoffs_of(report, choice.measure)
    curve = first_curve(figures_of(report), choice.measure)
    has_bounds = not curve.is_of_audit and bounds_open(figures_of(report), choice.measure)
    coverage = coverage_by_cutoff(report)
    return {
        "choice": choice,
        "columns": columns,
        "shown": _title(choice.measure, columns),
        "found_so_far": of_labels(report) if choice.measure == "recall" else "",
        "measure": MEASURES[choice.measure],
        "measures": [MEASURES[name] for name in report.options["measures"]],
        **form_context(report, picture_choice),
        "picture": picture_of(
            report,
            curve,
            picture_choice,
            alt="" if curve.is_of_audit else _alt(report, choice.measure, has_bounds),
        ),
        "curve_caption": _caption(report, choice.measure, has_bounds)
        if not curve.is_of_audit
        else estimated_caption(report),
        "found_curve": picture_of(report, CURVE, picture_choice).page if curve.is_of_audit else "",
        "bounds_drawn": has_bounds,
        "conventions": conventions_in_words(report),
        "counts": result["queries"],
        "outside_draw": outside_draw(report),
        "relevant_labels": relevant_total(report),
        "answer": full_card(report, choice.k, results.earlier if choice.measure == "recall" else None),
        "summary": recall_in_words(report, choice, coverage),
        "warnings": report_warnings(report),
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
    made, curved = report.result["conventions"]["interval"], len(cutoffs_of(report, measure)) > 1
    basis = of_labels(report) if measure == "recall" else ""
    caption = (
        f"Mean over queries{basis and f', {basis},'} with its {interval_in_words(made)}: it speaks of the "
        "choice of queries, not of missing labels."
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
    first = f"first {counted(choice.k, 'place')}" if choice.k > 1 else "first place"
    return f"{text}; {share} of what the runs return in the {first} is judged."


def unlabelled_queries(report: Report) -> dict[str, Any]:
    """The release is read only where there are any. What was imported later comes last and is left out."""
    every = queries_in_all(report)
    count = every - report.result["queries"]["labelled"]
    if not count:
        return {"every": every, "count": 0, "ids": []}
    ids = report.collection.queries.listed().order_by("pk").values_list("external_id", flat=True)
    labelled_ids = set(read_release(report.release)["query_id"].unique())
    lacking = [query_id for query_id in ids if query_id not in labelled_ids]
    return {"every": every, "count": count, "ids": lacking[: min(count, MOST_IDS)]}


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


# What a recall is of, by the basis of an answer.
RESTS_ON = {
    "estimate": "all, estimated",
    "span": "what was found; the audit waits",
    "labels": "what was found",
    "complete": "all",
}


@dataclass(frozen=True)
class ReportRow:
    """A report with its best run and what changed since the report before that counts alike."""

    report: Report
    entry: ReportSummary
    run: str | None
    change: Change | None

    @property
    def pk(self) -> int:
        return self.report.pk

    @property
    def figure(self) -> RunSummary | None:
        """Recall, interval and coverage of the best run."""
        return None if self.run is None else self.entry.summary["runs"][self.run]

    @property
    def recall(self) -> float | None:
        """The recall of the best run that is read first."""
        answer = self.entry.answer
        if self.figure is None or answer is None:
            return None
        return self.figure["estimate"] if answer.basis == ESTIMATE else self.figure["mean"]

    @property
    def rests_on(self) -> str:
        answer = self.entry.answer
        return "" if answer is None else RESTS_ON[answer.basis]

    @property
    def span(self) -> str | None:
        if self.figure is None or self.figure["low"] is None:
            return None
        return interval({"low": self.figure["low"], "high": self.figure["high"]}).strip()

    @property
    def changed(self) -> str:
        return "" if self.change is None else signed(self.change.difference)

    @property
    def verdict(self) -> str | None:
        answer = self.entry.answer
        return grade_in_words(answer.rival) if answer and answer.rival else None


def report_rows(collection: Collection) -> list[ReportRow]:
    reports = list(collection.reports.listed().select_related("release", "created_by").defer("result"))
    entries = report_summaries(reports)
    rows = []
    for place, (report, one) in enumerate(zip(reports, entries, strict=True)):
        run = best_of(one)
        change = None if run is None else change_of(run, one, entries[place + 1 :])
        rows.append(ReportRow(report, one, run, change))
    return rows


def _page(row: ReportRow) -> str:
    return row.report.get_absolute_url()


REPORTS = Table(
    "reports",
    "report",
    columns=(
        Column("name", "Report", "report.name", natural=True, link=_page),
        Column("best", "Best run", "run", natural=True, style="id"),
        Column("recall", "Recall", "recall", number=True),
        Column("of", "Of", "rests_on", style="quiet"),
        Column("interval", "Interval", "span", style="quiet"),
        Column("k", "at K", "entry.summary.k", number=True),
        Column(
            "change",
            "Change",
            lambda row: row.change.difference if row.change else None,
            number=True,
            template="evaluation/_change_cell.html",
        ),
        Column("verdict", "Verdict", style="small"),
        Column(
            "coverage",
            "Judged",
            lambda row: row.figure and row.figure["judged"],
            number=True,
            template="evaluation/_share_cell.html",
        ),
        Column("release", "Qrels release", "report.release.name", natural=True, style="quiet", hidden=True),
        Column("runs", "Runs", lambda row: len(run_names(row.report)), number=True, hidden=True),
        Column("created", "Created", "report.created_at", style="quiet", to_the_minute=True),
        Column("by", "Created by", "report.created_by.username", hidden=True),
    ),
    search=("name", "best", "release"),
    search_hint="Report, run or release",
    actions=(BulkAction("trend", "Compare over time", "report_trend", admin_only=False),),
    choose="report",
    empty=Empty("No reports yet.", "Measure the runs", "report_new", made="report"),
    caption="Each report measures runs on one qrels release. Reports never change.",
)


@login_required
@require_safe
def reports(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug)
    table = REPORTS.shown(request, report_rows(collection), collection)
    ready = collection.releases.exists() and collection.runs.exists()
    context = {"collection": collection, "section": "reports", "table": table, "ready": ready}
    return answer(request, "evaluation/reports.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    if request.headers.get("HX-Request"):
        return answered(request, ReportForm(request.GET, collection=collection), _figures)
    if "fill" in request.POST:
        upload = SettingsForm(request.POST, request.FILES)
        file_settings = upload.cleaned_data["settings"] if upload.is_valid() else None
        form = ReportForm(collection=collection, settings=file_settings)
        return _report_form(request, collection, form, upload, filled=file_settings is not None)
    form = ReportForm(request.POST or None, collection=collection)
    choose_runs_from_address(request, form)
    if request.method == "POST" and form.is_valid():
        try:
            made = request_report(collection, form.request(), request.user)  # type: ignore[arg-type]
            return redirect(made)
        except InputError as error:
            show_problem(form, error)
    return _report_form(request, collection, form, SettingsForm())


def _figures(form: ReportForm) -> list[Figure]:
    release, runs, cutoffs = (form.cleaned_data[name] for name in ("release", "runs", "k"))
    labels = Figure(
        "Labels",
        f"{release.pair_count:,}",
        f"{release.relevant_count:,} relevant, of {counted(release.query_count, 'query')}",
    )
    figures = [Figure("Runs", f"{len(runs):,}", f"each at {counted(len(cutoffs), 'value')} of K"), labels]
    deepest = max((pool.deepest for pool in pools_to_rest_on(form.collection)), default=None)
    if deepest and max(cutoffs, default=0) > deepest:
        note = "the bounds are wide beyond: nobody was asked to judge there"
        figures.append(Figure("Judged down to", f"{deepest:,}", note))
    return figures


def _report_form(
    request: HttpRequest,
    collection: Collection,
    form: ReportForm,
    upload: SettingsForm,
    *,
    filled: bool = False,
) -> HttpResponse:
    context = {"collection": collection, "section": "reports", "form": form}
    return render(request, "evaluation/report_new.html", {**context, "upload": upload, "filled": filled})


@login_required
@require_safe
def one_report(request: HttpRequest, report_id: int) -> HttpResponseBase:
    report = report_for(request.user, report_id)
    context = {"collection": report.collection, "section": "reports", "report": report}
    context["shared_links"] = links_of(report) if report.collection.role == Role.ADMIN else []  # type: ignore[attr-defined]
    view = ReportView(request.GET, report=report)
    chosen = view.choice()
    say_left_out(request, view, vars(chosen))
    picture_choice = ChartView(request.GET, report=report).displayed(request, chosen.measure)
    results = results_of(report, chosen)
    context["table"] = results.table.shown(request, results.lines, report.collection)
    context["strata"] = table_by_tag(request, report, chosen.measure)
    page = {**report_context(report, chosen, picture_choice, results), **settings_context(report)}
    return answer(request, "evaluation/report.html", {**context, **page})


@login_required
@require_safe
def report_download(request: HttpRequest, report_id: int, format: str) -> HttpResponseBase:
    report = report_for(request.user, report_id)
    measure = ReportView(request.GET, report=report).choice().measure
    return offered(FILES, format, file_stem(report), report, measure)
