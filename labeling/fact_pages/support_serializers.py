"""Queues of facts, as HTTP calls read and write them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.fact_pages import progress
from labeling.fact_pages.opening import FactQueueOptions
from labeling.fact_pages.showing import ShownPage
from labeling.fact_pages.storing import LONGEST_TIME_MS, FactPage, FactVerdict
from labeling.judging.serializers import ItemNumberField
from labeling.models import Queue, SupportVerdict
from pooling.interface.option_fields import serializer_fields
from pooling.interface.shapes import shape


@serializer_fields(FactQueueOptions)
class FactQueueRequestSerializer(serializers.Serializer[Any]):
    """How to open a queue of facts; without a name it is called after its pool."""

    pool = serializers.IntegerField(min_value=1, help_text="The pool's id.")
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, allow_null=True)


class FactQueueSerializer(serializers.ModelSerializer[Queue]):
    """A queue of facts as it was opened."""

    pool = serializers.CharField(source="pool.name")
    documents = serializers.IntegerField(source="fact_items.count")

    class Meta:
        model = Queue
        fields = [
            "id",
            "name",
            "pool",
            "kind",
            "judgments_per_item",
            "covered_by",
            "seed",
            "state",
            "documents",
        ]


ShownPageSerializer = shape(ShownPage)


class FactClaimSerializer(serializers.Serializer[Any]):
    """What to judge next; null where there is nothing for you now."""

    page = ShownPageSerializer(allow_null=True)


class FactVerdictSerializer(serializers.Serializer[Any]):
    """What you say of a fact, as its version was on screen."""

    fact = serializers.CharField(max_length=100)
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    verdict = serializers.ChoiceField(choices=SupportVerdict.choices)
    evidence = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=2**31 - 1),
        min_length=2,
        max_length=2,
        required=False,
        allow_null=True,
        help_text="[start, end] in characters of the text.",
    )


class FactPageSerializer(serializers.Serializer[Any]):
    """A page of verdicts. Sending it again with the same `key` changes nothing."""

    item = ItemNumberField()
    key = serializers.UUIDField()
    document_version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    verdicts = FactVerdictSerializer(many=True)
    active_ms = serializers.IntegerField(
        min_value=0, max_value=LONGEST_TIME_MS, required=False, allow_null=True
    )
    adjudicates = serializers.BooleanField(
        required=False, default=False, help_text="An admin's word that settles these pairs."
    )

    def page(self) -> FactPage:
        """The valid body."""
        body = self.validated_data
        return FactPage(
            body["key"],
            body["document_version"],
            [
                FactVerdict(one["fact"], one["version"], one["verdict"], _span(one.get("evidence")))
                for one in body["verdicts"]
            ],
            body.get("active_ms"),
            body["adjudicates"],
        )


def _span(evidence: list[int] | None) -> tuple[int, int] | None:
    return None if evidence is None else (evidence[0], evidence[1])


class FactOutcomeSerializer(serializers.Serializer[Any]):
    """What became of a page, and the page to judge next."""

    status = serializers.ChoiceField(choices=["stored", "duplicate"])
    stored = serializers.IntegerField()
    left = serializers.IntegerField(help_text="Facts of this document that you have yet to judge.")
    page = ShownPageSerializer(allow_null=True)


class FactSkipSerializer(serializers.Serializer[Any]):
    """The document to leave for later."""

    item = ItemNumberField()


class FactReleaseSerializer(serializers.Serializer[Any]):
    """Which hold to end: the time until which the page says that it lasts; without one, whatever is held."""

    lease = serializers.DateTimeField(required=False, allow_null=True, default=None)


shape(progress.AgreementFigures, "FactAgreement")
FactProgressSerializer = shape(progress.FactProgress)
