"""The HTTP interface of adaptive queues: how far each query is, and finishing some by hand."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.adaptive import serializers as selection_serializers
from labeling.adaptive.finishing import finish_queries
from labeling.adaptive.state import order_by_query
from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, READERS


class AdaptiveOrder(APIView):
    """The order of an adaptive queue."""

    @answers(selection_serializers.SelectionSerializer)
    def get(self, request: Request, queue_id: int) -> object:
        """Tell the rule of a live order, how far each query is, and what finished it; 404 for a fixed one."""
        queue = queue_for(request.user, queue_id, READERS)
        if (order := order_by_query(queue)) is None:
            raise InputError("This queue has a fixed order.", missing=True)
        return order


class FinishQueries(APIView):
    """Finishing queries."""

    @takes(selection_serializers.FinishSerializer, gives=selection_serializers.FinishedSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Hand out nothing more of some queries of an adaptive queue, or of all."""
        queue = queue_for(request.user, queue_id, ADMIN)
        body = parsed(selection_serializers.FinishSerializer, request)
        return Response({"finished": finish_queries(queue, body.get("queries"), by=person(request))})
