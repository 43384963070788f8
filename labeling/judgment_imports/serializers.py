"""An import of judgments as HTTP calls read and write it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.judgment_imports.choices import USUAL_WORDS
from labeling.models import JudgmentImport
from pooling.formats.judgments.registry import JUDGMENT_FORMATS


class JudgmentsUploadSerializer(serializers.Serializer[Any]):
    """A file of judgments, and how it is read."""

    file = serializers.FileField()
    format = serializers.ChoiceField(choices=list(JUDGMENT_FORMATS), default="soundings")
    map = serializers.CharField(
        default="",
        allow_blank=True,
        help_text=f"`VALUE=VERDICT`, separated by commas or line ends; a verdict is relevant, not_relevant, "
        f"cannot_judge or leave_out. Without it: {USUAL_WORDS}",
    )
    accounts = serializers.BooleanField(
        default=False, help_text="Match people to annotators and admins by user name or email."
    )
    query_field = serializers.CharField(default="", allow_blank=True, max_length=200)
    document_field = serializers.CharField(default="", allow_blank=True, max_length=200)
    question = serializers.CharField(default="", allow_blank=True, max_length=200)


class PersonImportedSerializer(serializers.Serializer[Any]):
    """Somebody of a file."""

    name = serializers.CharField(help_text="In the file.")
    account = serializers.CharField(help_text="Here.")
    is_imported = serializers.BooleanField(help_text="An account that nobody can sign in to.")
    relevant = serializers.IntegerField()
    not_relevant = serializers.IntegerField()
    cannot_judge = serializers.IntegerField()


class JudgmentsImportedSerializer(serializers.Serializer[Any]):
    """What an import of judgments did."""

    import_id = serializers.IntegerField(help_text="Delete it to take back the import.")
    events = serializers.IntegerField()
    judgments = serializers.IntegerField(help_text="Verdicts that count.")
    pairs = serializers.IntegerField()
    new_documents = serializers.IntegerField()
    left_out = serializers.IntegerField(help_text="Judgments of queries that the collection does not have.")
    overruled = serializers.IntegerField(help_text="Verdicts on pairs that the same person judged here.")
    queues = serializers.ListField(child=serializers.CharField())
    people = PersonImportedSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())
    detail = serializers.CharField()
    url = serializers.CharField()


class JudgmentImportSerializer(serializers.ModelSerializer[JudgmentImport]):
    """An import of judgments."""

    imported_by = serializers.CharField(source="imported_by.username", default=None)

    class Meta:
        model = JudgmentImport
        fields = [
            *("id", "name", "format", "sha256", "event_count", "judgment_count", "pair_count"),
            *("imported_by", "imported_at"),
        ]
