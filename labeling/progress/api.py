from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import is_annotator, queue_for
from labeling.adaptive.facts import OrderSummary
from labeling.judging import progress_figures
from labeling.judging.blind_counts import blind_progress, own_figures, own_queues
from labeling.models import Queue
from labeling.progress.counts import listed_queues, queue_progress
from labeling.progress.lists import OWN_QUEUES, QUEUES
from pooling.interface.api import answers, person
from pooling.interface.shapes import shape
from pooling.models import Role
from pooling.people.access import MEMBERS, collection_for
from pooling.tables.calls import listed, lists

shape(OrderSummary, "Order")
shape(progress_figures.Items, "ItemCounts")
shape(progress_figures.Leases, "Held")
shape(progress_figures.TeamEnd, "EndDate")
shape(progress_figures.AnnotatorProgress, "Annotator")
shape(progress_figures.OwnFigures, "OwnProgress")


class ListedQueueSerializer(serializers.Serializer[Queue]):
    """A queue in a list; what annotators may not know is null for them."""

    id = serializers.IntegerField(source="pk")
    name = serializers.SerializerMethodField()
    state = serializers.ChoiceField(choices=Queue.State.choices)
    own = serializers.IntegerField(help_text="What you judged in it.")
    pool = serializers.SerializerMethodField()
    judgments_per_item = serializers.SerializerMethodField()
    pairs = serializers.SerializerMethodField()
    settled = serializers.SerializerMethodField()

    def get_name(self, queue: Queue) -> str:
        """Its name, to annotators the one that is for them."""
        return queue.public_name if self.context["blind"] else queue.name

    def get_pool(self, queue: Queue) -> int | None:
        """Number of its pool."""
        return None if self.context["blind"] else queue.pool_id

    def get_judgments_per_item(self, queue: Queue) -> int | None:
        """Judgments that a pair needs."""
        return None if self.context["blind"] else queue.judgments_per_item

    def get_pairs(self, queue: Queue) -> int | None:
        """Pairs in all."""
        return None if self.context["blind"] else queue.total  # type: ignore[attr-defined]

    def get_settled(self, queue: Queue) -> int | None:
        """Pairs that need no more."""
        return None if self.context["blind"] else queue.settled  # type: ignore[attr-defined]


class Progress(APIView):
    @answers(shape(progress_figures.QueueProgress, "Progress"))
    def get(self, request: Request, queue_id: int) -> Response:
        """Counts by state, pace, cost and end date; to an annotator, of their own work alone."""
        queue = queue_for(request.user, queue_id, MEMBERS)
        user = person(request)
        if is_annotator(queue):
            return Response(blind_progress(queue, user))
        return Response({**queue_progress(queue), "own": own_figures(queue, user)})


class Queues(APIView):
    @lists(ListedQueueSerializer, operation_id="collections_queues_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the queues with how far they are; annotators see them with their own numbers."""
        collection = collection_for(request.user, slug, MEMBERS)
        blind = collection.role == Role.ANNOTATOR  # type: ignore[attr-defined]
        rows = (own_queues if blind else listed_queues)(collection, person(request))

        def data(some: Any) -> Any:
            return ListedQueueSerializer(some, many=True, context={"blind": blind}).data

        return listed(request, rows, data, OWN_QUEUES if blind else QUEUES)
