from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.adaptive.api import LiveQueueSerializer
from labeling.gold.serializers import GoldOptionsSerializer
from labeling.models import Queue
from labeling.queues.changes import change_queue
from labeling.queues.costs import OwnPrices
from labeling.queues.opening import open_or_start
from labeling.queues.options import LATER, LaterOptions, QueueOptions, options_from
from pooling.interface.api import Made, answers, made, parsed, person, takes
from pooling.interface.option_fields import serializer_fields
from pooling.interface.serializers import JobStartedSerializer
from pooling.models import Job
from pooling.people.access import ADMIN, READERS, pool_for
from pooling.tidying.api import Tidied
from pooling.tidying.doing import archive, rename


@serializer_fields(QueueOptions)
class QueueRequestSerializer(LiveQueueSerializer, GoldOptionsSerializer):
    """How to open a queue; without a name it gets that of its pool."""

    name = serializers.CharField(max_length=200, required=False, allow_blank=True, allow_null=True)


class QueueSerializer(serializers.ModelSerializer[Queue]):
    """A queue as it was opened."""

    pool = serializers.CharField(source="pool.name")
    item_count = serializers.IntegerField()

    class Meta:
        model = Queue
        fields = [
            *(
                "id",
                "name",
                "public_name",
                "pool",
                "judgments_per_item",
                "most_judgments_per_item",
                "seed",
                "state",
            ),
            *("opened_at", "item_count", "is_adaptive", "highlight", *LATER),
            *("price_per_judgment", "currency", "overhead"),
        ]


@serializer_fields(QueueOptions, filled=False, but=["seed"], judgments_per_item={"allow_null": False})
@serializer_fields(LaterOptions, filled=False, nullable=False)
@serializer_fields(OwnPrices, filled=False)
class QueueChangeSerializer(serializers.Serializer[Any]):
    """What a queue is to have; what is left out stays. A null or empty price is the site's."""

    name = serializers.CharField(max_length=200, required=False)
    archived = serializers.BooleanField(required=False)
    state = serializers.ChoiceField(choices=Queue.State.choices, required=False)
    currency = serializers.CharField(max_length=12, required=False, allow_blank=True)


class PoolQueue(APIView):
    @takes(QueueRequestSerializer, makes=QueueSerializer)
    def post(self, request: Request, pool_id: int) -> Made:
        """Open a queue over a pool; that of a large pool is opened by a job."""
        pool = pool_for(request.user, pool_id, ADMIN)
        body = parsed(QueueRequestSerializer, request)
        opened = open_or_start(pool, options_from(body), name=body.get("name"), user=person(request))
        return opened if isinstance(opened, Job) else _described(opened)


class OneQueue(Tidied):
    kind = "queue"

    @answers(QueueSerializer)
    def get(self, request: Request, queue_id: int) -> Response:
        """Read a queue's settings; how far it is has its own call."""
        return Response(_described(queue_for(request.user, queue_id, READERS)))

    @takes(QueueChangeSerializer, gives=QueueSerializer, also={202: JobStartedSerializer})
    def patch(self, request: Request, queue_id: int) -> Response:  # type: ignore[override]
        """Open, pause or close a queue, rename or archive it, change its prices, or how many judgments a pair
        needs.

        The last is done by a job where the queue is large: then the answer is 202 with its number.
        """
        queue = queue_for(request.user, queue_id, ADMIN)
        changes = parsed(QueueChangeSerializer, request)
        if "name" in changes:
            rename(queue, changes["name"], by=person(request))
        if "archived" in changes:
            archive(queue, changes["archived"], by=person(request))
        job = change_queue(queue, changes, by=person(request))
        return made(job) if job else Response(_described(queue))


def _described(queue: Queue) -> ReturnDict[str, Any]:
    queue.item_count = queue.items.filter(repeats=None, order_key__gte=0).count()  # type: ignore[attr-defined]
    return QueueSerializer(queue).data
