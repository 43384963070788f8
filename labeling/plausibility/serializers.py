"""The JSON of proposals and decisions on implausible work."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.plausibility.decisions import LONGEST_QUESTION
from labeling.plausibility.record import DECISIONS, WorkDecision
from pooling.interface.shapes import shape


class WorkProposalSerializer(serializers.Serializer[Any]):
    """Somebody whose last answers an admin should look at."""

    annotator = serializers.CharField(source="username")
    answers = serializers.IntegerField(
        source="finding.answers", help_text="The last ones, of which it speaks."
    )
    chance = serializers.FloatField(
        source="finding.chance", help_text="How often careful people show signs as strong."
    )
    signs = serializers.ListField(source="finding.sentences", child=serializers.CharField())


WorkDecisionSerializer = shape(WorkDecision)


class ImplausibleSerializer(serializers.Serializer[Any]):
    """What the rule proposes in a queue, and what was decided there, newest first."""

    proposals = WorkProposalSerializer(many=True)
    decisions = WorkDecisionSerializer(many=True)


class WorkDecisionRequestSerializer(serializers.Serializer[Any]):
    """A decision on a proposal."""

    annotator = serializers.CharField(max_length=150)
    decision = serializers.ChoiceField(choices=list(DECISIONS))
    question = serializers.CharField(
        max_length=LONGEST_QUESTION,
        required=False,
        allow_blank=True,
        default="",
        help_text="What the annotator is asked; needed for `ask`.",
    )


class WorkQuestionSerializer(serializers.Serializer[Any]):
    """What an admin asked you about your work, and your answer."""

    id = serializers.IntegerField()
    question = serializers.CharField()
    reply = serializers.CharField()
    asked_at = serializers.DateTimeField(source="decided_at")


class WorkReplySerializer(serializers.Serializer[Any]):
    """Your answer; only admins see it."""

    reply = serializers.CharField(max_length=LONGEST_QUESTION)
