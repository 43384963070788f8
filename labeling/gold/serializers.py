from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from rest_framework import serializers

from labeling.consensus.shares import wilson
from labeling.gold.gaps import AnnotatorSkips
from labeling.gold.importing import GoldImport
from labeling.gold.options import GoldOptions
from labeling.gold.questions import LONGEST_REASON, GoldBalance
from labeling.gold.scores import AnnotatorGold
from labeling.models import GoldQuestion, Quarantine, Verdict
from pooling.interface.option_fields import serializer_fields
from pooling.interface.serializers import optional_text
from pooling.interface.shapes import shape

ANSWERS = [(value, label) for value, label in Verdict.choices if value != Verdict.CANNOT_JUDGE]


@serializer_fields(GoldOptions, filled=False)
class GoldOptionsSerializer(serializers.Serializer[Any]):
    """How gold questions come among the items of a queue."""


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
    reason = optional_text(max_length=LONGEST_REASON)
    practice = serializers.BooleanField(required=False, default=False)


class GoldChangeSerializer(serializers.Serializer[Any]):
    """What of a gold question is to change."""

    answer = serializers.ChoiceField(choices=ANSWERS, required=False)
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, allow_blank=True)
    practice = serializers.BooleanField(required=False)
    active = serializers.BooleanField(required=False)


class GoldListSerializer(serializers.Serializer[Any]):
    """The gold questions of a collection."""

    balance = shape(GoldBalance)()
    questions = GoldQuestionSerializer(many=True)


class GoldFileSerializer(serializers.Serializer[Any]):
    """A file of gold questions."""

    file = serializers.FileField()


GoldImportSerializer = shape(GoldImport, more=("detail", "url"))


class AnnotatorGoldFigures(TypedDict):
    """An annotator's answers to gold questions; intervals are Wilson's, 95 %."""

    username: str
    answers: int
    cannot_judge: int
    before: Annotated[int, "Answers from before the annotator was last restored; they do not count."]
    sensitivity: float | None
    sensitivity_interval: list[float]
    specificity: float | None
    specificity_interval: list[float]
    balanced_accuracy: float | None
    advice: Annotated[str, Literal["continue", "warn", "pause"]]
    left: Annotated[dict[str, int], "Questions never asked, by answer."]
    is_low: Annotated[bool, "Whether the questions run out for this person."]


class QuarantineSerializer(serializers.ModelSerializer[Quarantine]):
    """Who was paused, when, by whom and why; `imposed_by` is null for the rule."""

    annotator = serializers.CharField(source="annotator.username")
    imposed_by = serializers.CharField(source="imposed_by.username", allow_null=True, default=None)
    lifted_by = serializers.CharField(source="lifted_by.username", allow_null=True, default=None)

    class Meta:
        model = Quarantine
        fields = ["annotator", "reason", "evidence", "imposed_by", "imposed_at", "lifted_by", "lifted_at"]


AnnotatorSkipsSerializer = shape(AnnotatorSkips, more=["is_much"])


class QueueGoldSerializer(serializers.Serializer[Any]):
    """A queue's options, its annotators' answers, and its quarantines, newest first."""

    gold_first_share = serializers.FloatField()
    gold_share = serializers.FloatField()
    repeat_share = serializers.FloatField()
    practice_questions = serializers.IntegerField()
    gold_pause = serializers.CharField()
    questions = serializers.IntegerField(help_text="Gold questions mixed into the pairs.")
    queries_without = serializers.ListField(
        child=serializers.CharField(), help_text="Queries with pairs left and no gold question."
    )
    annotators = shape(AnnotatorGoldFigures, "AnnotatorGold")(many=True)
    skips = AnnotatorSkipsSerializer(many=True)
    quarantines = QuarantineSerializer(many=True)


class QuarantineRequestSerializer(serializers.Serializer[Any]):
    """Why somebody is paused."""

    reason = optional_text(max_length=LONGEST_REASON)


def gold_figures(row: AnnotatorGold) -> AnnotatorGoldFigures:
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
