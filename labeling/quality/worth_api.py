from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict
from rest_framework.views import APIView

from labeling.access import prelabeler_for_admin, prelabeler_for_queue, queue_for
from labeling.models import Prelabeler
from labeling.prelabels.api import PrelabelerSerializer as PrelabelerSerializer  # the shape of a Prelabeler
from labeling.quality import worth_facts as facts
from labeling.quality.blind_labels import Evidence
from labeling.quality.samples import METHODS, USUAL, Wanted, open_sample, samples_of
from labeling.quality.worth import worth, worth_of_all
from labeling.quality.worth_figures import ShareOfBin
from labeling.queues.opening import LARGEST_SEED
from labeling.queues.score_order import order_or_start
from pooling.interface.api import answers, made, parsed, person, takes
from pooling.interface.serializers import JobStartedSerializer
from pooling.interface.shapes import shape
from pooling.models import Job
from pooling.people.access import ADMIN, collection_for
from pooling.tables.calls import lists
from pooling.tables.rows import Rows

shape(facts.BestOfSeveral, "Best")
shape(facts.StratumOfSample, "Stratum")
shape(ShareOfBin, "BinShare")


shape(facts.SampleRow, "Sample")


class SampleRequestSerializer(serializers.Serializer[Any]):
    """How large the samples are: `zero_failures` or `half_width` for a bound, or null for none."""

    negatives_method = serializers.ChoiceField(
        choices=METHODS, default=USUAL["negatives"].method, allow_null=True
    )
    negatives_bound = serializers.FloatField(default=USUAL["negatives"].bound, help_text="A share.")
    positives_method = serializers.ChoiceField(
        choices=METHODS, default=USUAL["positives"].method, allow_null=True
    )
    positives_bound = serializers.FloatField(default=USUAL["positives"].bound, help_text="A share.")
    seed = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=LARGEST_SEED
    )
    judgments_per_item = serializers.IntegerField(default=1, min_value=1, max_value=20)


class WorthAndSamples(facts.Worth):
    """All that is known of a model and prompt."""

    prelabeler: Prelabeler
    samples: list[facts.SampleRow]


shape(facts.CostOfPair, "WorthCost")
WorthSerializer = shape(WorthAndSamples, "Worth")


class OpenedSampleSerializer(serializers.Serializer[Any]):
    """The queue of a new sample."""

    queue = serializers.IntegerField()
    name = serializers.CharField()


class ScoreOrderRequestSerializer(serializers.Serializer[Any]):
    """By whose scores; null: an adaptive queue's order without scores again."""

    prelabeler = serializers.IntegerField(min_value=1, max_value=2**62, allow_null=True)


class ScoreOrderSerializer(serializers.Serializer[Any]):
    """How many pairs not yet handed out are ordered again."""

    moved = serializers.IntegerField()


def worth_and_samples(
    prelabeler: Prelabeler, given: Mapping[int, Evidence] | None = None
) -> ReturnDict[str, Any]:
    """All about a model and prompt, as the interface and the command write it; given: as in `worth`."""
    figures = worth(prelabeler, given)
    figures["by_query"] = figures["by_query"][: facts.MOST_QUERIES]
    answer: WorthAndSamples = {**figures, "prelabeler": prelabeler, "samples": samples_of(prelabeler)}
    return WorthSerializer(answer).data


class Prelabelers(APIView):
    @lists(shape(facts.WorthRow, "PrelabelerRow"))
    def get(self, request: Request, slug: str) -> Rows:
        """Every model and prompt that was asked, newest first, and whether it pays."""
        collection = collection_for(request.user, slug, ADMIN)
        return worth_of_all(collection)


class OnePrelabeler(APIView):
    @answers(WorthSerializer)
    def get(self, request: Request, prelabeler_id: int) -> Response:
        """What it is worth on the blind labels that there are."""
        return Response(worth_and_samples(prelabeler_for_admin(request.user, prelabeler_id)))


class ScoreOrder(APIView):
    @takes(ScoreOrderRequestSerializer, gives=ScoreOrderSerializer, also={202: JobStartedSerializer})
    def post(self, request: Request, queue_id: int) -> Response:
        """Put what is left of a queue in the order of a model's scores; the audit stays evenly spread.

        An adaptive queue starts its order from the scores, or with null from the runs alone again. Where it
        has many queries, a job orders them: then the answer is 202 with its number.
        """
        queue = queue_for(request.user, queue_id, ADMIN)
        number = parsed(ScoreOrderRequestSerializer, request)["prelabeler"]
        prelabeler = None if number is None else prelabeler_for_queue(queue, number)
        done = order_or_start(queue, prelabeler, by=person(request))
        return made(done) if isinstance(done, Job) else Response({"moved": done})


class Samples(APIView):
    @takes(SampleRequestSerializer, gives=OpenedSampleSerializer, status=201)
    def post(self, request: Request, prelabeler_id: int) -> Response:
        """Draw some of its negatives and positives at random, and open them as a queue."""
        prelabeler = prelabeler_for_admin(request.user, prelabeler_id)
        body = parsed(SampleRequestSerializer, request)
        wanted = [Wanted(body[f"{name}_method"], body[f"{name}_bound"]) for name in USUAL]
        chosen = {name: body[name] for name in ("seed", "judgments_per_item")}
        queue = open_sample(prelabeler, *wanted, by=person(request), **chosen)
        return Response({"queue": queue.pk, "name": queue.name}, status=status.HTTP_201_CREATED)
