"""What the HTTP interface gives of the quality of a queue, as its schema shows it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.models import Verdict


def _share(**options: Any) -> serializers.FloatField:
    return serializers.FloatField(allow_null=True, **options)


def _interval() -> serializers.ListField:
    return serializers.ListField(child=serializers.FloatField(), allow_null=True, help_text="95 %.")


class FigureSerializer(serializers.Serializer[Any]):
    """A coefficient with its 95 % interval over pairs; null where `why` says so."""

    name = serializers.CharField()
    title = serializers.CharField()
    meaning = serializers.CharField()
    value = _share()
    low = _share()
    high = _share()
    why = serializers.CharField()


class AgreementSerializer(serializers.Serializer[Any]):
    """Agreement on the pairs that two or more people judged."""

    pairs = serializers.IntegerField()
    verdicts = serializers.IntegerField()
    prevalence = _share(help_text="Share of relevant among these verdicts.")
    figures = FigureSerializer(many=True)


class LeniencySerializer(serializers.Serializer[Any]):
    """How much more often somebody says relevant than others do on the same pairs."""

    pairs = serializers.IntegerField()
    queries = serializers.IntegerField(help_text="Of these pairs.")
    own = serializers.FloatField()
    others = serializers.FloatField()
    difference = serializers.FloatField()
    low = _share()
    high = _share()


class GoldFiguresSerializer(serializers.Serializer[Any]):
    """Answers to gold questions and what the rule makes of them."""

    answers = serializers.IntegerField()
    relevant_answers = serializers.IntegerField(help_text="To questions whose answer is relevant.")
    not_relevant_answers = serializers.IntegerField()
    sensitivity = _share()
    sensitivity_interval = _interval()
    specificity = _share()
    specificity_interval = _interval()
    balanced_accuracy = _share()
    balanced_interval = _interval()
    cannot_judge = serializers.IntegerField()
    advice = serializers.ChoiceField(choices=["continue", "warn", "pause"])


class AgainSerializer(serializers.Serializer[Any]):
    """How often somebody said the same of their own earlier pairs, shown again; without "can't judge"."""

    answers = serializers.IntegerField()
    same = serializers.IntegerField()
    share = serializers.FloatField()
    interval = serializers.ListField(child=serializers.FloatField(), help_text="95 %, Wilson.")


class StreakSerializer(serializers.Serializer[Any]):
    """The longest run of one verdict, and the chance of one as long."""

    length = serializers.IntegerField()
    relevant = serializers.BooleanField(allow_null=True)
    chance = serializers.FloatField()
    is_odd = serializers.BooleanField()


class SpeedSerializer(serializers.Serializer[Any]):
    """Middle active time, and how many verdicts were faster than anybody can read what was shown."""

    median_ms = _share()
    recent = serializers.IntegerField()
    too_fast = serializers.IntegerField()
    timed = serializers.IntegerField(help_text="Verdicts with a measured time.")
    all_too_fast = serializers.IntegerField(help_text="Of the timed.")
    has_collapsed = serializers.BooleanField(help_text="Too many of the recent ones.")
    is_implausible = serializers.BooleanField(help_text="Too many of the recent, or of all timed ones.")


class AnnotatorQualitySerializer(serializers.Serializer[Any]):
    """One annotator in a queue."""

    username = serializers.CharField()
    verdicts = serializers.IntegerField()
    set_aside = serializers.IntegerField(help_text="Those of them in quarantine.")
    relevant = serializers.IntegerField()
    not_relevant = serializers.IntegerField()
    cannot_judge = serializers.IntegerField()
    share = _share(help_text="Of relevant.")
    share_low = _share()
    share_high = _share()
    leniency = LeniencySerializer(allow_null=True)
    streak = StreakSerializer()
    speed = SpeedSerializer()
    last_at = serializers.DateTimeField(allow_null=True)
    gold = GoldFiguresSerializer(allow_null=True)
    again = AgainSerializer(allow_null=True)
    is_paused = serializers.BooleanField()


class PlaceSerializer(serializers.Serializer[Any]):
    """The share of relevant at some places of a session; `last` is null in the open group."""

    first = serializers.IntegerField()
    last = serializers.IntegerField(allow_null=True)
    verdicts = serializers.IntegerField()
    share = _share()
    low = _share()
    high = _share()


class DaySerializer(serializers.Serializer[Any]):
    """Verdicts that stand, of one day."""

    day = serializers.DateField()
    verdicts = serializers.IntegerField()
    annotators = serializers.IntegerField()
    median_seconds = _share()


class HardQuerySerializer(serializers.Serializer[Any]):
    """A query that people could not judge."""

    query_id = serializers.CharField()
    text = serializers.CharField()
    verdicts = serializers.IntegerField()
    cannot_judge = serializers.IntegerField()
    share = serializers.FloatField()
    is_bad = serializers.BooleanField()


class FindingSerializer(serializers.Serializer[Any]):
    """A sentence on how good the judgments are."""

    about = serializers.ChoiceField(choices=["agreement", "annotators", "speed", "waiting"])
    grade = serializers.ChoiceField(choices=["good", "unsure", "poor", "none"])
    text = serializers.CharField()
    who = serializers.ListField(child=serializers.CharField(), help_text="Annotators it names.")


class QualitySerializer(serializers.Serializer[Any]):
    """The quality of the judgments of a queue."""

    queue = serializers.IntegerField()
    name = serializers.CharField()
    computed_at = serializers.DateTimeField()
    verdict = FindingSerializer(many=True, help_text="The sentences the page begins with.")
    waiting = serializers.IntegerField(help_text="Pairs that wait for a decision.")
    verdicts = serializers.IntegerField(help_text="That stand, without answers to gold questions.")
    set_aside = serializers.IntegerField()
    cannot_judge = serializers.IntegerField()
    relevant = serializers.IntegerField()
    agreement = AgreementSerializer()
    annotators = AnnotatorQualitySerializer(many=True)
    by_position = PlaceSerializer(many=True)
    per_day = DaySerializer(many=True)
    hard_queries = HardQuerySerializer(many=True)


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
