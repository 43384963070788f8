"""Queues, over HTTP."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.models import Queue
from labeling.queues import serializers
from labeling.queues.changes import change_queue
from labeling.queues.opening_jobs import open_or_start
from labeling.queues.options import options_from
from pooling.interface.api import Made, answers, made, parsed, person, takes
from pooling.interface.serializers import JobStartedSerializer
from pooling.models import Job
from pooling.people.access import ADMIN, READERS, pool_for
from pooling.tidying.api import Tidied
from pooling.tidying.doing import archive, rename


class PoolQueue(APIView):
    """The way from a pool to its queue."""

    @takes(serializers.QueueRequestSerializer, makes=serializers.QueueSerializer)
    def post(self, request: Request, pool_id: int) -> Made:
        """Open a queue over a pool; that of a large pool is opened by a job."""
        pool = pool_for(request.user, pool_id, ADMIN)
        body = parsed(serializers.QueueRequestSerializer, request)
        opened = open_or_start(pool, options_from(body), name=body.get("name"), user=person(request))
        return opened if isinstance(opened, Job) else _described(opened)


class OneQueue(Tidied):
    """A queue's name, state, redundancy and prices."""

    kind = "queue"

    @answers(serializers.QueueSerializer)
    def get(self, request: Request, queue_id: int) -> Response:
        """Read a queue's settings; how far it is has its own call."""
        return Response(_described(queue_for(request.user, queue_id, READERS)))

    @takes(
        serializers.QueueChangeSerializer, gives=serializers.QueueSerializer, also={202: JobStartedSerializer}
    )
    def patch(self, request: Request, queue_id: int) -> Response:  # type: ignore[override]
        """Open, pause or close a queue, rename or archive it, change its prices, or how many judgments a pair
        needs.

        The last is done by a job where the queue is large: then the answer is 202 with its number.
        """
        queue = queue_for(request.user, queue_id, ADMIN)
        changes = parsed(serializers.QueueChangeSerializer, request)
        if "name" in changes:
            rename(queue, changes["name"], by=person(request))
        if "archived" in changes:
            archive(queue, changes["archived"], by=person(request))
        job = change_queue(queue, changes, by=person(request))
        return made(job) if job else Response(_described(queue))


def _described(queue: Queue) -> ReturnDict[str, Any]:
    queue.item_count = queue.items.filter(repeats=None, order_key__gte=0).count()  # type: ignore[attr-defined]
    return serializers.QueueSerializer(queue).data
