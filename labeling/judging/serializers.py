from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from rest_framework import serializers

from labeling.exposure.showing import Proposal
from labeling.items.numbers import LARGEST_NUMBER, item_of
from labeling.judging.leases import LARGEST_CLAIM, EmptyQueue
from labeling.judging.offers import Offer
from labeling.judging.own_work import MOST_TO_COME, NearlySame, OwnVerdict
from labeling.judging.submissions import Submission
from labeling.models import Highlight, Reason, Verdict
from pooling.interface.shapes import shape

MOST_SUBMISSIONS = 500
# Nobody reads one document for longer; a clock that says so is wrong.
LONGEST_ACTIVE_MS = 24 * 60 * 60 * 1000


class ClaimRequestSerializer(serializers.Serializer[Any]):
    """How many items to hold."""

    count = serializers.IntegerField(min_value=1, max_value=LARGEST_CLAIM, default=10)


OfferSerializer, EmptySerializer = shape(Offer), shape(EmptyQueue, "Empty")


class Claimed(TypedDict):
    """The items you hold, or why there are none."""

    # Both null where a claim failed that was sent with verdicts.
    items: Annotated[list[Offer] | None, {"allow_null": False}]
    empty: Annotated[Mapping[str, Any] | None, EmptySerializer]


ClaimSerializer = shape(Claimed, "Claim")


class ItemNumberField(serializers.IntegerField):
    """The number of an item, as a claim gave it; becomes the item's key."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0, max_value=LARGEST_NUMBER, **options)

    def to_internal_value(self, data: Any) -> int:
        return item_of(super().to_internal_value(data))


class SubmissionSerializer(serializers.Serializer[Any]):
    """A verdict; with `cannot_judge` a reason is required."""

    item = ItemNumberField()
    version = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=2**31 - 1)
    lease = serializers.UUIDField(required=False, allow_null=True)
    key = serializers.CharField(
        max_length=64, help_text="Chosen by the client; sending the same key again changes nothing."
    )
    verdict = serializers.ChoiceField(choices=Verdict.choices)
    reason = serializers.ChoiceField(
        choices=Reason.choices, required=False, allow_blank=True, allow_null=True
    )
    note = serializers.CharField(required=False, allow_blank=True, allow_null=True, max_length=5000)
    active_ms = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=LONGEST_ACTIVE_MS,
        error_messages={"max_value": "Active time is at most a day: {max_value} milliseconds."},
    )
    shown = serializers.ChoiceField(
        choices=["passage", "document"], required=False, allow_blank=True, allow_null=True
    )
    highlight = serializers.ChoiceField(
        choices=Highlight.choices,
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="What was highlighted on screen.",
    )
    evidence = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=2**31 - 1),
        min_length=2,
        max_length=2,
        required=False,
        allow_null=True,
        help_text="With `relevant`: [start, end] of what decides it, in Unicode characters of that version.",
    )


def submission_of(values: Mapping[str, Any]) -> Submission:
    named = {name: value for name, value in values.items() if value is not None}
    if "evidence" in named:
        named["evidence"] = tuple(named["evidence"])
    return Submission(**named)


class StoredVerdict(TypedDict):
    key: str | None
    status: Annotated[
        str,
        Literal["stored", "extra", "duplicate", "rejected"],
        "Only admins see whether a verdict was an extra one.",
    ]
    detail: str
    prelabel: NotRequired[
        Annotated[
            Proposal,
            "What contradicts the verdict, in a queue that reveals pre-labels after it. Keeping the verdict "
            "needs no call; to change it, send another for the same pair under another key.",
        ]
    ]


class AlsoClaimSerializer(serializers.Serializer[Any]):
    claim = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_CLAIM,
        help_text="After saving the verdicts, claim pairs until you hold this many.",
    )


class OutcomesSerializer(serializers.Serializer[Any]):
    """One outcome for each verdict, in their order; with `claim`, also what a claim answers."""

    results = shape(StoredVerdict, "Outcome")(many=True)
    state = serializers.CharField(
        help_text="Of the queue: open, paused, closed or deleted. What you hold is judged in any of them. A "
        "queue that is paused for you says so: your verdicts are kept and not counted."
    )
    guidelines = serializers.CharField(help_text="Another one once the text of the guidelines has changed.")
    items = OfferSerializer(
        many=True,
        required=False,
        allow_null=True,
        help_text="Only with `claim`; null if the verdicts were saved but the claim failed.",
    )
    empty = EmptySerializer(required=False, allow_null=True, help_text="Only with `claim`.")


class SkipSerializer(serializers.Serializer[Any]):
    """The item to pass over."""

    item = ItemNumberField()
    lease = serializers.UUIDField(required=False, allow_null=True, default=None)


class UndoSerializer(serializers.Serializer[Any]):
    """The key of the verdict to take back."""

    key = serializers.CharField(max_length=64)


class UndoneSerializer(serializers.Serializer[Any]):
    """The item again, with a fresh lease; null where no slot is free or an earlier verdict stands."""

    item = OfferSerializer(allow_null=True)
    detail = serializers.CharField()


class LeasesSerializer(serializers.Serializer[Any]):
    """Leases by their tokens."""

    leases = serializers.ListField(child=serializers.UUIDField(), max_length=500)


class RenewedLeaseSerializer(serializers.Serializer[Any]):
    """A lease and its new end."""

    lease = serializers.UUIDField(source="token")
    expires_at = serializers.DateTimeField()


class RenewedSerializer(serializers.Serializer[Any]):
    """The leases that you still hold."""

    leases = RenewedLeaseSerializer(many=True)


class ReleasedSerializer(serializers.Serializer[Any]):
    """How many leases were returned."""

    released = serializers.IntegerField()


class OfQuerySerializer(serializers.Serializer[Any]):
    """Which query one's own verdicts are asked of, and which documents are compared with what one judged."""

    query = serializers.CharField(max_length=1000)
    document = serializers.ListField(
        child=serializers.CharField(max_length=1000), max_length=MOST_TO_COME, required=False, default=[]
    )


class OwnVerdictsSerializer(serializers.Serializer[Any]):
    """Your verdicts on the documents of a query, oldest first."""

    verdicts = shape(OwnVerdict)(many=True)
    alike = shape(NearlySame)(many=True)
