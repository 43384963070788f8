"""Serializers of a queue's quality for the HTTP interface."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.models import Verdict
from labeling.quality import facts
from labeling.quality.monitors import Speed, Streak
from pooling.interface.shapes import shape

shape(facts.AgreementFigure, "Figure")
shape(facts.AgreementFigures, "Agreement")
shape(facts.Leniency)
shape(Streak, more=("is_odd",))
shape(Speed, more=("has_collapsed", "is_implausible"))
shape(facts.AgainFigures, "Again")
shape(facts.PlaceFigures, "Place")
shape(facts.DayFigures, "Day")
QualitySerializer = shape(facts.QueueQuality, "Quality")


class HandedBackSerializer(serializers.Serializer[Any]):
    """How many items returned to the queue."""

    handed_back = serializers.IntegerField()
    detail = serializers.CharField()


class OpinionSerializer(serializers.Serializer[Any]):
    """Somebody's verdict."""

    annotator = serializers.CharField(source="annotator.username")
    verdict = serializers.ChoiceField(choices=Verdict.choices)


class DisagreementSerializer(serializers.Serializer[Any]):
    """A pair that one person called relevant and another did not, with the verdicts as they were given."""

    query = serializers.CharField(source="query_id")
    document = serializers.CharField(source="document_id")
    verdicts = OpinionSerializer(source="judgments", many=True)
