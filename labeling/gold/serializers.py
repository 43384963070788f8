"""What the HTTP interface takes and gives around gold questions, as its schema shows it."""

from __future__ import annotations

from typing import Any, TypedDict

from rest_framework import serializers

from labeling.consensus.wilson import wilson
from labeling.gold.options import GoldOptions
from labeling.gold.questions import LONGEST_REASON
from labeling.gold.scores import AnnotatorGold
from labeling.models import GoldQuestion, Quarantine, Verdict
from pooling.interface.option_fields import serializer_fields

ANSWERS = [(value, label) for value, label in Verdict.choices if value != Verdict.CANNOT_JUDGE]


@serializer_fields(GoldOptions, filled=False)
class GoldOptionsSerializer(serializers.Serializer[Any]):
    """How gold questions come among the items of a queue; what is left out is as the site's settings say."""


class GoldQuestionSerializer(serializers.ModelSerializer[GoldQuestion]):
    """A gold question."""

    query = serializers.CharField(source="query.external_id")
    document = serializers.CharField(source="document.external_id")

    class Meta:
        model = GoldQuestion
        fields = ["id", "query", "document", "answer", "reason", "practice", "active", "origin", "created_at"]
        read_only_fields = fields


class GoldRequestSerializer(serializers.Serializer[Any]):
    """A pair and its answer."""

    query = serializers.CharField(max_length=500)
    document = serializers.CharField(max_length=500)
    answer = serializers.ChoiceField(choices=ANSWERS)
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, allow_blank=True, default="")
    practice = serializers.BooleanField(required=False, default=False)


class GoldChangeSerializer(serializers.Serializer[Any]):
    """What of a gold question is to change."""

    answer = serializers.ChoiceField(choices=ANSWERS, required=False)
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, allow_blank=True)
    practice = serializers.BooleanField(required=False)
    active = serializers.BooleanField(required=False)


class GoldBalanceSerializer(serializers.Serializer[Any]):
    """Active questions by answer and use."""

    relevant = serializers.IntegerField()
    not_relevant = serializers.IntegerField()
    practice_relevant = serializers.IntegerField()
    practice_not_relevant = serializers.IntegerField()


class GoldListSerializer(serializers.Serializer[Any]):
    """The gold questions of a collection."""

    balance = GoldBalanceSerializer()
    questions = GoldQuestionSerializer(many=True)


class GoldFileSerializer(serializers.Serializer[Any]):
    """A file of gold questions."""

    file = serializers.FileField()


class GoldImportSerializer(serializers.Serializer[Any]):
    """What an import of gold questions did."""

    created = serializers.IntegerField()
    changed = serializers.IntegerField(help_text="Questions whose reason or use changed.")
    unchanged = serializers.IntegerField()
    detail = serializers.CharField()
    url = serializers.CharField()


class AnnotatorGoldSerializer(serializers.Serializer[Any]):
    """How one annotator answers gold questions; intervals are Wilson's, 95 %."""

    username = serializers.CharField()
    answers = serializers.IntegerField()
    cannot_judge = serializers.IntegerField()
    before = serializers.IntegerField(
        help_text="Answers from before the annotator was last restored; they do not count."
    )
    sensitivity = serializers.FloatField(allow_null=True)
    sensitivity_interval = serializers.ListField(child=serializers.FloatField())
    specificity = serializers.FloatField(allow_null=True)
    specificity_interval = serializers.ListField(child=serializers.FloatField())
    balanced_accuracy = serializers.FloatField(allow_null=True)
    advice = serializers.ChoiceField(choices=["continue", "warn", "pause"])
    left = serializers.DictField(
        child=serializers.IntegerField(), help_text="Questions never asked, by answer."
    )
    is_low = serializers.BooleanField(help_text="Whether the questions run out for this person.")


class QuarantineSerializer(serializers.ModelSerializer[Quarantine]):
    """Who was paused, when, by whom and why; `imposed_by` is null for the rule."""

    annotator = serializers.CharField(source="annotator.username")
    imposed_by = serializers.CharField(source="imposed_by.username", allow_null=True, default=None)
    lifted_by = serializers.CharField(source="lifted_by.username", allow_null=True, default=None)

    class Meta:
        model = Quarantine
        fields = ["annotator", "reason", "evidence", "imposed_by", "imposed_at", "lifted_by", "lifted_at"]


class QueueGoldSerializer(serializers.Serializer[Any]):
    """A queue's options, its annotators' answers, and its quarantines, newest first."""

    gold_first_share = serializers.FloatField()
    gold_share = serializers.FloatField()
    repeat_share = serializers.FloatField()
    practice_questions = serializers.IntegerField()
    gold_pause = serializers.CharField()
    questions = serializers.IntegerField(help_text="Gold questions mixed into the items.")
    annotators = AnnotatorGoldSerializer(many=True)
    quarantines = QuarantineSerializer(many=True)


class QuarantineRequestSerializer(serializers.Serializer[Any]):
    """Why somebody is paused."""

    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, allow_blank=True, default="")


class AnnotatorGoldFigures(TypedDict):
    """One annotator's answers, as `AnnotatorGoldSerializer` shows them."""

    username: str
    answers: int
    cannot_judge: int
    before: int
    sensitivity: float | None
    sensitivity_interval: list[float]
    specificity: float | None
    specificity_interval: list[float]
    balanced_accuracy: float | None
    advice: str
    left: dict[str, int]
    is_low: bool


def gold_figures(row: AnnotatorGold) -> AnnotatorGoldFigures:
    """One annotator's answers as plain data."""
    score = row.score
    return {
        "username": row.username,
        "answers": score.answers,
        "cannot_judge": row.cannot_judge,
        "before": row.before,
        "sensitivity": score.sensitivity,
        "sensitivity_interval": list(
            wilson(score.relevant_right, score.relevant_right + score.relevant_wrong)
        ),
        "specificity": score.specificity,
        "specificity_interval": list(
            wilson(score.not_relevant_right, score.not_relevant_right + score.not_relevant_wrong)
        ),
        "balanced_accuracy": score.balanced_accuracy,
        "advice": row.advice.value,
        "left": row.left,
        "is_low": row.is_low,
    }


class GoldAnswerSerializer(serializers.Serializer[Any]):
    """What somebody answered to a gold question."""

    query = serializers.CharField()
    document = serializers.CharField()
    verdict = serializers.ChoiceField(choices=Verdict.choices)
    answer = serializers.ChoiceField(choices=ANSWERS, help_text="The right one.")
    right = serializers.BooleanField()
    seconds = serializers.FloatField(allow_null=True)
    judged_at = serializers.DateTimeField()
