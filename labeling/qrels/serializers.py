"""Releases and imported labels, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.consensus.rule_names import RULE_NAMES
from labeling.models import LabelFile, QrelsRelease
from labeling.qrels.imported import QrelsImport
from labeling.qrels.options import ExportOptions
from pooling.interface.option_fields import serializer_fields
from pooling.interface.shapes import shape


class QrelsUploadSerializer(serializers.Serializer[Any]):
    """A qrels file."""

    file = serializers.FileField()
    complete = serializers.BooleanField(
        default=False,
        help_text="The file names all that is relevant to its queries: unlisted documents are not relevant.",
    )


@serializer_fields(ExportOptions, filled=False, nullable=False)
class ExportOptionsSerializer(serializers.Serializer[Any]):
    """What some formats of other tools need to know; each reads its own of these options."""


QrelsImportSerializer = shape(QrelsImport, more=("detail", "url"))


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
