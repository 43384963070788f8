from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.comparisons.stored import answer_at
from evaluation.models import Report
from evaluation.report_store.files import file_stem, result_of
from evaluation.report_store.links import link_to
from evaluation.reports.export import FILES
from evaluation.reports.forms import ReportView
from evaluation.reports.making import ReportRequest, request_report
from evaluation.reports.serializers import ReportRequestSerializer, ReportResultSerializer, ReportSerializer
from evaluation.scoring.conventions import CONVENTIONS
from pooling.interface.api import Made, OneKind, answers, file_call, parsed, person, takes, versioned
from pooling.interface.downloads import offered
from pooling.people.access import ADMIN, collection_for
from pooling.tables.calls import listed, lists
from pooling.tidying.api import Tidied


class Reports(APIView):
    @lists(ReportSerializer, operation_id="reports_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the reports, newest first."""
        collection = collection_for(request.user, slug)
        rows = collection.reports.listed().only("id", "name", "created_at", "collection")
        return listed(request, rows, lambda some: [link_to(report) for report in some])

    @takes(ReportRequestSerializer, makes=ReportSerializer, operation_id="reports_create")
    def post(self, request: Request, slug: str) -> Made:
        """Measure stored runs on a qrels release: 201, or 202 with a job to poll when the runs are large."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(ReportRequestSerializer, request)
        outcome = request_report(collection, _request(body), person(request))
        return link_to(outcome) if isinstance(outcome, Report) else outcome


def _request(values: dict[str, Any]) -> ReportRequest:
    own = {name: values.get(name) for name in ("name", "release", "runs", "k", "measures", "pool", "weights")}
    names = ("confidence", "tags", "minimum_queries", "thresholds", "samples", "seed", "margin")
    settings = {name: values[name] for name in names if values.get(name) not in (None, [], {})}
    conventions = {**values.get("conventions", {})}
    conventions |= {name: values[name] for name in ("preset", *CONVENTIONS) if name in values}
    return ReportRequest(**own, conventions=conventions, settings=settings)


class ReportResult(Tidied):
    kind = "report"

    @answers(ReportResultSerializer, also={304: None}, operation_id="reports_retrieve")
    def get(self, request: Request, report_id: int) -> HttpResponseBase:
        """The same object as `evaluate --format json` prints."""
        report = report_for(request.user, report_id)
        best_answer = answer_at(report)
        answer = None if best_answer is None else best_answer.to_dict()
        # The numbers of a report do not change; the words about them may, with a new version of the code.
        version = ("report", report.pk, answer)
        return versioned(request, version, lambda: Response({**result_of(report), "answer": answer}))


class ReportFile(APIView):
    content_negotiation_class = OneKind

    @file_call(FILES)
    def get(self, request: Request, report_id: int, format: str) -> HttpResponseBase:
        """Download a report; a picture is of the `measure` in the query string."""
        report = report_for(request.user, report_id)
        measure = ReportView(request.query_params, report=report).choice().measure
        return offered(FILES, format, file_stem(report), report, measure)
