"""Runs, over HTTP."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import PROBLEM, making
from pooling.models import Run
from pooling.people.access import collection_for
from pooling.runs import serializers
from pooling.storage.api import PREVIEW, _import


class Runs(APIView):
    """The runs of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @extend_schema(responses={200: serializers.RunSerializer(many=True), 404: PROBLEM})
    def get(self, request: Request, slug: str) -> Response:
        """List the runs."""
        collection = collection_for(request.user, slug)
        rows = Run.objects.listed().filter(collection=collection).defer("preflight")
        return Response(serializers.RunSerializer(rows, many=True).data)

    @extend_schema(
        request=serializers.RunUploadSerializer,
        responses={
            **making(serializers.ImportedRunSerializer),
            200: serializers.ImportedRunSerializer,
        },
        parameters=[PREVIEW],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a run file."""
        return _import(request, slug, "run", serializers.RunUploadSerializer)
