"""Runs, over HTTP."""

from __future__ import annotations

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import OneKind, answers, versioned
from pooling.interface.downloads import attachment
from pooling.interface.serializers import FILE
from pooling.models import Run
from pooling.people.access import collection_for, run_for
from pooling.runs import serializers
from pooling.runs.lists import RUNS
from pooling.runs.stored import RowsOfRun
from pooling.storage.api import _import, imports
from pooling.tables.calls import lists
from pooling.tables.rows import Rows
from pooling.tidying.api import Tidied

PARQUET = "application/vnd.apache.parquet"


class Runs(APIView):
    """The runs of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @lists(serializers.RunSerializer, RUNS)
    def get(self, request: Request, slug: str) -> Rows:
        """List the runs."""
        collection = collection_for(request.user, slug)
        return Run.objects.listed().filter(collection=collection).defer("preflight")

    @imports(serializers.RunUploadSerializer, serializers.ImportedRunSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Import a run file."""
        return _import(request, slug, "run", serializers.RunUploadSerializer)


class OneRun(Tidied):
    """One run."""

    kind = "run"

    @answers(serializers.RunDetailSerializer, also={304: None})
    def get(self, request: Request, run_id: int) -> HttpResponseBase:
        """Read a run with what its preflight found."""
        run = run_for(request.user, run_id)
        version = ("run", run.pk, run.sha256, run.name)
        return versioned(request, version, lambda: Response(serializers.RunDetailSerializer(run).data))


class RunRows(APIView):
    """The rows of a run."""

    @lists(
        serializers.RunRowSerializer,
        operation_id="runs_rows_list",
        parameters=[OpenApiParameter("query", str, description="Only rows of the query of this id.")],
    )
    def get(self, request: Request, run_id: int) -> Rows:
        """List the rows of a run as its file has them."""
        return RowsOfRun(run_for(request.user, run_id), request.query_params.get("query"))


class RunFile(APIView):
    """The rows of a run as a file."""

    content_negotiation_class = OneKind

    @extend_schema(operation_id="runs_file", responses={**FILE, 304: None})
    def get(self, request: Request, run_id: int) -> HttpResponseBase:
        """Download a run as a Parquet file: query_id, document_id, score, rank."""
        run = run_for(request.user, run_id)
        return versioned(
            request,
            ("run file", run.pk, run.sha256),
            lambda: attachment(run.file.open("rb"), f"run-{run.pk}.parquet", PARQUET),
        )
