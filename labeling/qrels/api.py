from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import release_for
from labeling.consensus.rules import RULE_NAMES
from labeling.models import LabelFile, QrelsRelease
from labeling.qrels.downloads import export_options, release_content
from labeling.qrels.imported import QrelsImport, label_files, withdraw_labels
from labeling.qrels.options import ExportOptions
from labeling.qrels.registry import EXPORTS
from labeling.qrels.releases import FORMATS, newest_release, release_file_name, release_named, release_qrels
from labeling.qrels.views import RELEASES
from pooling.interface.api import OneKind, answers, parsed, person, takes, versioned
from pooling.interface.downloads import attachment
from pooling.interface.option_fields import serializer_fields
from pooling.interface.serializers import FILE
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.storage.api import UploadSerializer, _import, imports
from pooling.tables.calls import lists
from pooling.tables.rows import Rows
from pooling.tidying.api import Tidied


class QrelsUploadSerializer(UploadSerializer):
    """A qrels file."""

    complete = serializers.BooleanField(
        default=False,
        help_text="The file names all that is relevant to its queries: unlisted documents are not relevant.",
    )


@serializer_fields(ExportOptions, filled=False, nullable=False)
class ExportOptionsSerializer(serializers.Serializer[Any]):
    """What some formats of other tools need to know; each reads its own of these options."""


class LabelFileSerializer(serializers.ModelSerializer[LabelFile]):
    """An import of labels."""

    labels = serializers.IntegerField(source="label_count", help_text="Labels that it brought.")
    complete = serializers.BooleanField(
        source="complete_for", help_text="Unlisted documents of its queries count as not relevant."
    )
    imported_by = serializers.CharField(source="imported_by.username", default=None)

    class Meta:
        model = LabelFile
        fields = ["id", "name", "sha256", "labels", "complete", "imported_by", "imported_at", "withdrawn_at"]


class ReleaseRequestSerializer(serializers.Serializer[Any]):
    """How to freeze the labels."""

    name = serializers.CharField(max_length=200)
    rule = serializers.ChoiceField(choices=RULE_NAMES, default="majority")


class ReleaseSerializer(serializers.ModelSerializer[QrelsRelease]):
    """A qrels release; `sidecar` has rule, counts and provenance."""

    class Meta:
        model = QrelsRelease
        fields = [
            "id",
            "name",
            "rule",
            "sha256",
            "pair_count",
            "relevant_count",
            "query_count",
            "released_at",
            "sidecar",
        ]


class Releases(APIView):
    @lists(ReleaseSerializer, RELEASES)
    def get(self, request: Request, slug: str) -> Rows:
        """List the releases, newest first."""
        collection = collection_for(request.user, slug)
        return collection.releases.listed()

    @takes(ReleaseRequestSerializer, gives=ReleaseSerializer, status=201)
    def post(self, request: Request, slug: str) -> object:
        """Freeze the labels under a name."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(ReleaseRequestSerializer, request)
        return release_qrels(collection, user=person(request), **body)


class OneRelease(Tidied):
    kind = "release"

    @answers(ReleaseSerializer, also={304: None})
    def get(self, request: Request, release_id: int) -> HttpResponseBase:
        """Read a release with its sidecar."""
        release = release_for(request.user, release_id)
        version = ("release", release.pk, release.sha256, release.name)
        return versioned(request, version, lambda: Response(ReleaseSerializer(release).data))


class QrelsDownload(APIView):
    content_negotiation_class = OneKind

    @extend_schema(
        operation_id="collections_qrels_download",
        parameters=[
            OpenApiParameter("release", str, description="Name of a release; without it, the newest."),
            OpenApiParameter("format", str, enum=list(FORMATS), default="trec"),
            ExportOptionsSerializer,
        ],
        responses={**FILE, 304: None},
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """Download a release as a file, or its sidecar."""
        collection = collection_for(request.user, slug)
        name = request.query_params.get("release")
        release = release_named(collection, name) if name else newest_release(collection)
        format = request.query_params.get("format") or "trec"
        parameters = parsed(ExportOptionsSerializer, request)
        if format in EXPORTS:
            # Texts change, and so what these hold is not that of the release alone.
            return _attached(release, format, export_options(format, parameters))
        version = ("qrels", release.pk, release.sha256, release.name, format)
        return versioned(
            request, version, lambda: _attached(release, format, export_options(format, parameters))
        )


def _attached(release: QrelsRelease, format: str, options: ExportOptions) -> HttpResponseBase:
    content = release_content(release, format, options)
    return attachment(content, release_file_name(release, format), FORMATS[format].media_type)


class Qrels(QrelsDownload):
    parser_classes = [MultiPartParser, FormParser]

    @extend_schema(exclude=True)
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """The same as without the slash at the end."""
        return super().get(request, slug)

    @imports(QrelsUploadSerializer, shape(QrelsImport, more=("detail", "url")))
    def post(self, request: Request, slug: str) -> Response:
        """Import a file of labels."""
        return _import(request, slug, "qrels", QrelsUploadSerializer)


class LabelFiles(APIView):
    @lists(LabelFileSerializer)
    def get(self, request: Request, slug: str) -> Rows:
        """List the imports of labels, newest first, with those that were taken back."""
        collection = collection_for(request.user, slug)
        return label_files(collection)


class LabelFileWithdrawal(APIView):
    @answers(LabelFileSerializer)
    def post(self, request: Request, slug: str, file_id: int) -> object:
        """Take back an import of labels: they count no longer. Releases stay as they are."""
        files = label_files(collection_for(request.user, slug, ADMIN))
        withdraw_labels(fetch(files, pk=file_id), by=person(request))
        return files.get(pk=file_id)
