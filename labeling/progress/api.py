"""Progress of a queue, over HTTP."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import is_annotator, queue_for
from labeling.judging.blind_counts import blind_progress, own_figures, own_queues
from labeling.progress.counts import listed_queues, queue_progress
from labeling.progress.lists import OWN_QUEUES, QUEUES
from labeling.progress.serializers import ListedQueueSerializer, ProgressSerializer
from pooling.interface.api import answers, person
from pooling.models import Role
from pooling.people.access import MEMBERS, collection_for
from pooling.tables.calls import listed, lists


class Progress(APIView):
    """How far a queue has come."""

    @answers(ProgressSerializer)
    def get(self, request: Request, queue_id: int) -> Response:
        """Counts by state, pace, cost and end date; to an annotator, of their own work alone."""
        queue = queue_for(request.user, queue_id, MEMBERS)
        user = person(request)
        if is_annotator(queue):
            return Response(blind_progress(queue, user))
        return Response({**queue_progress(queue), "own": own_figures(queue, user)})


class Queues(APIView):
    """The queues of a collection."""

    @lists(ListedQueueSerializer, operation_id="collections_queues_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the queues with how far they are; annotators see them with their own numbers."""
        collection = collection_for(request.user, slug, MEMBERS)
        blind = collection.role == Role.ANNOTATOR  # type: ignore[attr-defined]
        rows = (own_queues if blind else listed_queues)(collection, person(request))

        def data(some: Any) -> Any:
            return ListedQueueSerializer(some, many=True, context={"blind": blind}).data

        return listed(request, rows, data, OWN_QUEUES if blind else QUEUES)
