"""The HTTP interface of what pre-labels are worth, for admins; it calls what the pages call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict
from rest_framework.views import APIView

from labeling.access import prelabeler_for_admin, prelabeler_for_queue, queue_for
from labeling.models import Prelabeler
from labeling.queues.score_order import order_or_start
from labeling.worth import facts
from labeling.worth import serializers as shapes
from labeling.worth.blind_labels import Evidence
from labeling.worth.samples import USUAL, Wanted, open_sample, samples_of
from labeling.worth.worth import worth, worth_of_all
from pooling.interface.api import answers, made, parsed, person, takes
from pooling.interface.serializers import JobStartedSerializer
from pooling.models import Job
from pooling.people.access import ADMIN, collection_for
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


def worth_and_samples(
    prelabeler: Prelabeler, given: Mapping[int, Evidence] | None = None
) -> ReturnDict[str, Any]:
    """All that is known of a model and prompt, as the interface and the command write it; given: as in
    `worth`.
    """
    figures = worth(prelabeler, given)
    figures["by_query"] = figures["by_query"][: facts.MOST_QUERIES]
    answer: shapes.WorthAndSamples = {**figures, "prelabeler": prelabeler, "samples": samples_of(prelabeler)}
    return shapes.WorthSerializer(answer).data


class Prelabelers(APIView):
    """The models of a collection."""

    @lists(shapes.PrelabelerRowSerializer)
    def get(self, request: Request, slug: str) -> Rows:
        """Every model and prompt that was asked, newest first, and whether it pays."""
        collection = collection_for(request.user, slug, ADMIN)
        return worth_of_all(collection)


class OnePrelabeler(APIView):
    """One model and prompt."""

    @answers(shapes.WorthSerializer)
    def get(self, request: Request, prelabeler_id: int) -> Response:
        """What it is worth on the blind labels that there are."""
        return Response(worth_and_samples(prelabeler_for_admin(request.user, prelabeler_id)))


class ScoreOrder(APIView):
    """The order of a queue by scores."""

    @takes(
        shapes.ScoreOrderRequestSerializer,
        gives=shapes.ScoreOrderSerializer,
        also={202: JobStartedSerializer},
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Put what is left of a queue in the order of a model's scores; the audit stays evenly spread.

        An adaptive queue starts its order from the scores, or with null from the runs alone again. Where it
        has many queries, a job orders them: then the answer is 202 with its number.
        """
        queue = queue_for(request.user, queue_id, ADMIN)
        number = parsed(shapes.ScoreOrderRequestSerializer, request)["prelabeler"]
        prelabeler = None if number is None else prelabeler_for_queue(queue, number)
        done = order_or_start(queue, prelabeler, by=person(request))
        return made(done) if isinstance(done, Job) else Response({"moved": done})


class Samples(APIView):
    """Verification samples of one model."""

    @takes(shapes.SampleRequestSerializer, gives=shapes.OpenedSampleSerializer, status=201)
    def post(self, request: Request, prelabeler_id: int) -> Response:
        """Draw some of its negatives and positives at random, and open them as a queue."""
        prelabeler = prelabeler_for_admin(request.user, prelabeler_id)
        body = parsed(shapes.SampleRequestSerializer, request)
        wanted = [Wanted(body[f"{name}_method"], body[f"{name}_bound"]) for name in USUAL]
        chosen = {name: body[name] for name in ("seed", "judgments_per_item")}
        queue = open_sample(prelabeler, *wanted, by=person(request), **chosen)
        return Response({"queue": queue.pk, "name": queue.name}, status=status.HTTP_201_CREATED)
