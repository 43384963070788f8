from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import OneKind, answers, versioned
from pooling.interface.downloads import attachment
from pooling.interface.serializers import FILE, optional_text
from pooling.interface.shapes import shape
from pooling.models import Run
from pooling.people.access import collection_for, run_for
from pooling.runs.lists import RUNS
from pooling.runs.stored import RowsOfRun, RunImported
from pooling.storage.api import UploadSerializer, _import, imports
from pooling.tables.calls import lists
from pooling.tables.rows import Rows
from pooling.tidying.api import Tidied


class RunUploadSerializer(UploadSerializer):
    """A run file and, unless the file's own is meant, the run's name."""

    collapse_chunks = optional_text(
        "Collapse chunks to documents: the document id is the part before the last separator.", max_length=20
    )


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run as it was imported."""

    rows = serializers.IntegerField(source="row_count")
    queries = serializers.IntegerField(source="query_count")

    class Meta:
        model = Run
        fields = ["id", "name", "rows", "queries", "depth", "tag", "sha256", "imported_at"]


class RunDetailSerializer(RunSerializer):
    """A run with what its preflight found."""

    collection = serializers.CharField(source="collection.slug")
    file_name = serializers.CharField(source="source_name")
    imported_by = serializers.CharField(source="imported_by.username", default=None, allow_null=True)
    preflight = serializers.DictField()

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "collection", "file_name", "imported_by", "preflight"]


class RunRowSerializer(serializers.Serializer[Any]):
    """One row of a run; the rank is null where its file had none."""

    query = serializers.CharField(source="query_id")
    document = serializers.CharField(source="document_id")
    score = serializers.FloatField()
    rank = serializers.IntegerField(allow_null=True)


PARQUET = "application/vnd.apache.parquet"


class Runs(APIView):
    parser_classes = [MultiPartParser, FormParser]

    @lists(RunSerializer, RUNS)
    def get(self, request: Request, slug: str) -> Rows:
        """List the runs."""
        collection = collection_for(request.user, slug)
        return Run.objects.listed().filter(collection=collection).defer("preflight")

    @imports(RunUploadSerializer, shape(RunImported, "ImportedRun"))
    def post(self, request: Request, slug: str) -> Response:
        """Import a run file."""
        return _import(request, slug, "run", RunUploadSerializer)


class OneRun(Tidied):
    kind = "run"

    @answers(RunDetailSerializer, also={304: None})
    def get(self, request: Request, run_id: int) -> HttpResponseBase:
        """Read a run with what its preflight found."""
        run = run_for(request.user, run_id)
        version = ("run", run.pk, run.sha256, run.name)
        return versioned(request, version, lambda: Response(RunDetailSerializer(run).data))


class RunRows(APIView):
    @lists(
        RunRowSerializer,
        operation_id="runs_rows_list",
        parameters=[OpenApiParameter("query", str, description="Only rows of the query of this id.")],
    )
    def get(self, request: Request, run_id: int) -> Rows:
        """List the rows of a run as its file has them."""
        return RowsOfRun(run_for(request.user, run_id), request.query_params.get("query"))


class RunFile(APIView):
    content_negotiation_class = OneKind

    @extend_schema(operation_id="runs_file", responses={**FILE, 304: None})
    def get(self, request: Request, run_id: int) -> HttpResponseBase:
        """Download a run as a Parquet file: query_id, document_id, score, and rank, null where there was
        none in the run's own file."""
        run = run_for(request.user, run_id)
        return versioned(
            request,
            ("run file", run.pk, run.sha256),
            lambda: attachment(run.file.open("rb"), f"run-{run.pk}.parquet", PARQUET),
        )
