from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.access import prelabeler_for_queue, queue_for
from labeling.consensus.shares import Difference
from labeling.exposure.anchoring import Arm
from labeling.exposure.seen_and_blind import seen_and_blind
from labeling.exposure.use import change_use, use_of
from labeling.models import PrelabelMode, Queue
from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN

shape(Difference, "Share")


class AnchoringSerializer(serializers.Serializer[Any]):
    """First verdicts with the pre-label seen before against blind ones; differences are seen minus blind."""

    verdict = serializers.CharField(
        allow_null=True, help_text="A sentence; null with too few verdicts, see `why`."
    )
    why = serializers.CharField()
    seen, blind = shape(Arm)(), shape(Arm)()
    relevant, agreeing = shape(Difference)(), shape(Difference)()
    by_lot = serializers.BooleanField(help_text="Whether `blind` is the randomly drawn control arm alone.")
    control = serializers.IntegerField(help_text="Judgments in the control arm.")
    revealed = serializers.IntegerField(help_text="Verdicts that a revealed pre-label contradicted.")
    changed = serializers.IntegerField(help_text="Of these, changed afterwards.")


@dataclass(frozen=True)
class UseAndEffect:
    """When annotators see pre-labels, whose, and which verdicts get a second opinion."""

    mode: Annotated[str, {"choices": PrelabelMode.choices}]
    prelabeler: Annotated[int | None, "Number of the model, as in the list of models."]
    blind_share: Annotated[float, "Share of pairs that stay blind in every mode (control arm)."]
    second_opinion_from: Annotated[
        float | None,
        "A verdict that contradicts a score of at least this, or at most 1 minus this, asks for one more "
        "judgment.",
    ]
    anchoring: Annotated[Mapping[str, Any] | None, AnchoringSerializer, {"read_only": True}]


UseSerializer = shape(UseAndEffect, "Use")


class UseChangeSerializer(serializers.Serializer[Any]):
    """What is to change; what is left out stays."""

    mode = serializers.ChoiceField(choices=PrelabelMode.choices, required=False)
    prelabeler = serializers.IntegerField(required=False, allow_null=True, min_value=1)
    blind_share = serializers.FloatField(required=False)
    second_opinion_from = serializers.FloatField(required=False, allow_null=True)
    understood = serializers.BooleanField(
        default=False,
        help_text="Confirms that you have read how assistance affects people; required to turn it on.",
    )


class PrelabelUseCall(APIView):
    @answers(UseSerializer)
    def get(self, request: Request, queue_id: int) -> object:
        """When annotators see them, whose, and what seeing them does to people, as far as it is measured."""
        return _use_and_effect(queue_for(request.user, queue_id, ADMIN))

    @takes(UseChangeSerializer, gives=UseSerializer)
    def patch(self, request: Request, queue_id: int) -> object:
        """Change it; judged pairs are gone through at once where verdicts are doubted now, or no more."""
        queue = queue_for(request.user, queue_id, ADMIN)
        changes = parsed(UseChangeSerializer, request)
        understood = changes.pop("understood")
        if changes.get("prelabeler"):
            changes["prelabeler"] = prelabeler_for_queue(queue, changes["prelabeler"])
        use = replace(use_of(queue), **changes)
        change_use(queue, use, by=person(request), understood=understood)
        return _use_and_effect(queue)


def _use_and_effect(queue: Queue) -> UseAndEffect:
    use, arms = use_of(queue), seen_and_blind(queue)
    counts = ("by_lot", "control", "revealed", "changed")
    anchoring = None
    if arms is not None:
        anchoring = {**asdict(arms.anchoring), **{name: getattr(arms, name) for name in counts}}
    return UseAndEffect(use.mode, queue.prelabeler_id, use.blind_share, use.second_opinion_from, anchoring)
