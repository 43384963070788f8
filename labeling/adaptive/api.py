"""The HTTP interface of adaptive queues: how far each query is, and finishing some by hand."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.adaptive import facts
from labeling.adaptive.finishing import finish_queries
from labeling.adaptive.options import AdaptiveOptions
from labeling.adaptive.state import order_by_query
from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.option_fields import serializer_fields
from pooling.interface.problems import InputError
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN, READERS


@serializer_fields(AdaptiveOptions, filled=False, but=["prior"])
class LiveOptionsSerializer(serializers.Serializer[Any]):
    """Whether labels move the order of what is left, and what ends it; the rest is for such a queue alone."""

    adaptive = serializers.BooleanField(
        default=False,
        help_text="Labels move the order, by the strategy of the pool, which must be one that learns.",
    )


@serializer_fields(AdaptiveOptions, filled=False)
class LiveQueueSerializer(LiveOptionsSerializer):
    """The same for a queue, of whose pairs a model may have said something."""


shape(facts.QueryProgress, "SelectedQuery")


class FinishSerializer(serializers.Serializer[Any]):
    """Queries to finish, by the collection's own ids; without any, all."""

    queries = serializers.ListField(child=serializers.CharField(), required=False, allow_null=True)


class FinishedSerializer(serializers.Serializer[Any]):
    """How many queries were finished."""

    finished = serializers.IntegerField()


class AdaptiveOrder(APIView):
    """The order of an adaptive queue."""

    @answers(shape(facts.OrderByQuery, "Selection"))
    def get(self, request: Request, queue_id: int) -> object:
        """Tell the rule of a live order, how far each query is, and what finished it; 404 for a fixed one."""
        queue = queue_for(request.user, queue_id, READERS)
        if (order := order_by_query(queue)) is None:
            raise InputError("This queue has a fixed order.", missing=True)
        return order


class FinishQueries(APIView):
    """Finishing queries."""

    @takes(FinishSerializer, gives=FinishedSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Hand out nothing more of some queries of an adaptive queue, or of all."""
        queue = queue_for(request.user, queue_id, ADMIN)
        body = parsed(FinishSerializer, request)
        return Response({"finished": finish_queries(queue, body.get("queries"), by=person(request))})
