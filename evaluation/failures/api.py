from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.facts.comparing import FactComparison
from evaluation.failures.breakdown import BreakdownResult, BrokenGroupResult, GroupResult, WeightedResult
from evaluation.failures.fact_lists import FactsOfRun
from evaluation.failures.fact_views import NO_FACTS, chosen_run
from evaluation.failures.missed_documents import Missed
from evaluation.failures.page import BREAKDOWN_FILES, WhereChoice, breakdown_stem, near
from evaluation.failures.side_by_side import Place, QueryResult, Relevant, SideBySideResult, side_by_side
from evaluation.failures.stored_breakdown import BreakdownRequest, breakdown_of
from evaluation.failures.stored_facts import FactRow, difference_of, facts_in, fill_others
from evaluation.failures.stored_queries import (
    PER_PAGE,
    ROW_CHOICES,
    SORTS,
    QueryRow,
    QuerySelection,
    missed_csv,
    query_rows,
    query_table,
)
from evaluation.models import Report
from evaluation.report_store.files import check_measure, cutoffs_of, file_stem, usual_cutoff
from pooling.interface.api import OneKind, answers, parsed
from pooling.interface.downloads import attachment, offered
from pooling.interface.problems import InputError
from pooling.interface.serializers import FILE, texts
from pooling.interface.shapes import shape
from pooling.tables.calls import listed, lists


class BreakdownQuerySerializer(serializers.Serializer[dict[str, object]]):
    by = serializers.CharField(
        required=False,
        default="relevant",
        help_text="`tag`, `relevant` (number of relevant documents; if absent), `weight` (head, torso and "
        "tail), `run` (no groups), or a key of the queries' metadata.",
    )
    measure = serializers.CharField(required=False, default="recall", help_text="recall if absent.")
    k = serializers.IntegerField(required=False, help_text="10, or the nearest, if absent.")
    threshold = serializers.FloatField(
        required=False, min_value=0, max_value=1, default=0.5, help_text="0.5 if absent."
    )
    run = texts("Some runs; all if absent.")


shape(WeightedResult, "WeightedMean")
shape(GroupResult, "GroupFigures")
shape(BrokenGroupResult, "BrokenGroup")


class ReportBreakdown(APIView):
    @answers(
        shape(BreakdownResult, "Breakdown"),
        operation_id="reports_breakdown",
        parameters=[BreakdownQuerySerializer],
    )
    def get(self, request: Request, report_id: int) -> Response:
        """A measure by tag, metadata, relevant documents or how often queries are asked."""
        report = report_for(request.user, report_id)
        return Response(breakdown_of(report, _breakdown_request(request, report)).to_dict())


class BreakdownFile(APIView):
    content_negotiation_class = OneKind

    @extend_schema(
        operation_id="reports_breakdown_file",
        parameters=[
            OpenApiParameter("format", str, OpenApiParameter.PATH, enum=list(BREAKDOWN_FILES)),
            BreakdownQuerySerializer,
        ],
        responses=FILE,
    )
    def get(self, request: Request, report_id: int, format: str) -> HttpResponseBase:
        """Download a breakdown: its rows as CSV, its picture as SVG or PNG."""
        report = report_for(request.user, report_id)
        choice = _breakdown_request(request, report)
        breakdown = breakdown_of(report, choice)
        where = WhereChoice(choice.by, choice.measure, choice.k, breakdown.threshold, order="group", run=None)
        return offered(BREAKDOWN_FILES, format, breakdown_stem(report, choice.by), breakdown, where)


def _breakdown_request(request: Request, report: Report) -> BreakdownRequest:
    values = parsed(BreakdownQuerySerializer, request)
    return BreakdownRequest(
        by=values["by"],
        measure=values["measure"],
        k=_cutoff(report, values["measure"], values.get("k")),
        threshold=values["threshold"],
        runs=values.get("run") or None,
    )


class QueriesQuerySerializer(serializers.Serializer[dict[str, object]]):
    run = serializers.CharField()
    measure = serializers.CharField(required=False, default="recall", help_text="recall if absent.")
    k = serializers.IntegerField(required=False, help_text="10, or the nearest, if absent.")
    by = serializers.CharField(required=False, help_text="With `group`: as in the breakdown.")
    group = serializers.CharField(required=False, trim_whitespace=False)
    ungrouped = serializers.BooleanField(required=False, help_text="With `by`: those in none of its groups.")
    q = serializers.CharField(required=False, default="", help_text="Words of the text, or of the id.")
    show = serializers.ChoiceField(choices=ROW_CHOICES, required=False, default="all")
    sort = serializers.ChoiceField(choices=list(SORTS), required=False, default="worst")
    page = serializers.IntegerField(required=False, min_value=1, default=1)


shape(Missed, "MissedDocument")


class QueriesSerializer(serializers.Serializer[dict[str, object]]):
    """A page of queries."""

    count = serializers.IntegerField()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    queries = shape(QueryRow, more=["missed_documents"])(many=True)


class ReportQueries(APIView):
    @answers(QueriesSerializer, operation_id="reports_queries", parameters=[QueriesQuerySerializer])
    def get(self, request: Request, report_id: int) -> object:
        """Value, relevant, found and missed documents of each query of a run, 50 to a page."""
        report = report_for(request.user, report_id)
        selection, page_number = _query_selection(request, report)
        table = query_table(report, selection)
        start = min((page_number - 1) * PER_PAGE, table.height)
        rows = query_rows(report, selection, table.slice(start, PER_PAGE))
        pages = max(1, -(-table.height // PER_PAGE))
        counts = {"count": table.height, "page": page_number, "pages": pages}
        return {**counts, "queries": rows}


def _query_selection(request: Request, report: Report) -> tuple[QuerySelection, int]:
    values = parsed(QueriesQuerySerializer, request)
    page_number = values.pop("page")
    k = _cutoff(report, values["measure"], values.pop("k", None))
    return QuerySelection(**values | {"k": k, "search": values.pop("q")}), page_number


class DetailQuerySerializer(serializers.Serializer[dict[str, object]]):
    query = serializers.CharField(trim_whitespace=False, help_text="The id of the query.")
    a = serializers.CharField(
        required=False,
        help_text=(
            "If absent, the run other than `b` with the highest recall; the first run if `b` is absent too."
        ),
    )
    b = serializers.CharField(required=False, help_text="The other run with the highest recall if absent.")
    k = serializers.IntegerField(required=False, help_text="10, or the nearest, if absent.")


shape(Place, "PlaceInList")
shape(Relevant, "RelevantDocument")
shape(QueryResult, "QueryOfLists")


class ReportQuery(APIView):
    @answers(
        shape(SideBySideResult, "SideBySide"),
        operation_id="reports_query",
        parameters=[DetailQuerySerializer],
    )
    def get(self, request: Request, report_id: int) -> object:
        """Both lists with labels, and what one found and the other missed."""
        report = report_for(request.user, report_id)
        values = parsed(DetailQuerySerializer, request)
        k = _cutoff(report, "recall", values.get("k"))
        lists = side_by_side(report, values["query"], k or 0, a=values.get("a"), b=values.get("b"))
        return lists.to_dict()


def _cutoff(report: Report, measure: str, k: int | None) -> int | None:
    """K as asked for, and without one that nearest to 10; refused where the report does not have it."""
    if k is None and measure in report.options["measures"]:
        k = near(None, cutoffs_of(report, measure))
    check_measure(report, measure, k)
    return k


class MissedDocuments(APIView):
    content_negotiation_class = OneKind

    @extend_schema(operation_id="reports_queries_missed", parameters=[QueriesQuerySerializer], responses=FILE)
    def get(self, request: Request, report_id: int) -> HttpResponseBase:
        """Download the relevant documents missed in the queries asked for, as CSV."""
        report = report_for(request.user, report_id)
        content = missed_csv(report, _query_selection(request, report)[0])
        return attachment(content, f"{file_stem(report)}-missed.csv", "text/csv")


class FactsQuerySerializer(serializers.Serializer[dict[str, object]]):
    run = serializers.CharField(required=False, help_text="The run; the report's first if left out.")
    k = serializers.IntegerField(
        required=False, help_text="A K of the report; 10, or the nearest, if left out."
    )


class TwoRunsSerializer(FactsQuerySerializer):
    run = serializers.CharField(help_text="The run from which the other is subtracted.")
    against = serializers.CharField(help_text="The run that is subtracted.")


ReportFactSerializer = shape(FactRow, "ReportFact")


class ReportFactDifference(APIView):
    @answers(shape(FactComparison, "FactDifference"), parameters=[TwoRunsSerializer])
    def get(self, request: Request, report_id: int) -> object:
        """The difference of their fact recall, with its interval over queries, and bounds for what nobody
        judged."""
        report = report_for(request.user, report_id)
        if facts_in(report) is None:
            raise Http404(NO_FACTS)
        values = parsed(TwoRunsSerializer, request)
        k = _recall_cutoff(report, values)
        first, second = (chosen_run(report, values[name], name) for name in ("run", "against"))
        if first == second:
            problem = f"{first} would be compared with itself. Name another run as against."
            raise InputError(problem, field="against")
        difference = difference_of(report, first, second, k)
        if difference is None:
            raise InputError("This report has no bounds of differences. Make it again.", missing=True)
        return {"first": first, "second": second, **difference}


class ReportFacts(APIView):
    @lists(ReportFactSerializer, parameters=[FactsQuerySerializer])
    def get(self, request: Request, report_id: int) -> Response:
        """List where each fact stands in a run: the place of the first document that supports it."""
        report = report_for(request.user, report_id)
        if facts_in(report) is None:
            raise Http404(NO_FACTS)
        run, k = _chosen(request, report)

        def plain_rows(rows: Sequence[FactRow]) -> Any:
            fill_others(report, run, k, rows)
            return ReportFactSerializer(rows, many=True).data

        return listed(request, FactsOfRun(report, run), plain_rows)


def _chosen(request: Request, report: Report) -> tuple[str, int]:
    """The run and the K that the address names; `InputError` for what the report does not have."""
    values = parsed(FactsQuerySerializer, request)
    k = _recall_cutoff(report, values)
    return chosen_run(report, values.get("run", "")), k


def _recall_cutoff(report: Report, values: dict[str, Any]) -> int:
    k: int = values.get("k", usual_cutoff(report.options["k"]))
    check_measure(report, "recall", k)
    return k
