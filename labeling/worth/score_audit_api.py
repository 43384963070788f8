"""The HTTP interface of audits by scores, for admins; it calls what the page and the command call."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict
from rest_framework.views import APIView

from labeling.access import prelabeler_for_admin
from labeling.models import Queue
from labeling.queues.sampling import LARGEST_SEED
from labeling.worth.audits import USUAL_STRATA, AuditDraw, AuditFacts, draw_audit, plan_audit
from labeling.worth.strata import StratumFacts
from pooling.interface.api import parsed, person, takes
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN, pool_for


class AuditRequestSerializer(serializers.Serializer[Any]):
    """From which pool, and how many pairs. With `dry_run` nothing is drawn."""

    pool = serializers.IntegerField(min_value=1, max_value=2**62, help_text="Its number.")
    pairs = serializers.IntegerField()
    strata = serializers.IntegerField(default=USUAL_STRATA, help_text="Maximum number of score bands.")
    seed = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=LARGEST_SEED
    )
    judgments_per_item = serializers.IntegerField(default=1, min_value=1, max_value=20)
    dry_run = serializers.BooleanField(default=False)


class AuditAnswer(AuditFacts):
    """How the pairs are spread, what that promises of the number of relevant ones, and the queue, if any."""

    queue: int | None
    name: str | None


shape(StratumFacts, "AuditStratum")
AuditPlanSerializer = shape(AuditAnswer, "AuditPlan")


class ScoreAudits(APIView):
    @takes(AuditRequestSerializer, gives=AuditPlanSerializer, also={201: AuditPlanSerializer})
    def post(self, request: Request, prelabeler_id: int) -> Response:
        """Draw pairs without a label from bands of the model's scores, and open them as a queue."""
        prelabeler = prelabeler_for_admin(request.user, prelabeler_id)
        body = parsed(AuditRequestSerializer, request)
        pool = pool_for(request.user, body["pool"], ADMIN)
        if body["dry_run"]:
            plan = plan_audit(pool, prelabeler, body["pairs"], strata=body["strata"]).facts()
            return Response(_answer(None, plan))
        draw = AuditDraw(body["pairs"], body["strata"], body["seed"], body["judgments_per_item"])
        queue = draw_audit(pool, prelabeler, draw, by=person(request))
        return Response(_answer(queue, queue.pool.provenance), status=status.HTTP_201_CREATED)


def _answer(queue: Queue | None, plan: AuditFacts) -> ReturnDict[str, Any]:
    queue_facts = {"queue": queue and queue.pk, "name": queue and queue.name}
    return AuditPlanSerializer({**plan, **queue_facts}).data
