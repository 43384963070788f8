"""How far a queue has come, over HTTP."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import is_annotator, queue_for
from labeling.judging.blind_counts import blind_progress, own_figures
from labeling.progress.counts import queue_progress
from labeling.progress.serializers import ProgressSerializer
from pooling.interface.api import PROBLEM, person
from pooling.people.access import MEMBERS


class Progress(APIView):
    """How far a queue has come."""

    @extend_schema(responses={200: ProgressSerializer, 404: PROBLEM})
    def get(self, request: Request, queue_id: int) -> Response:
        """Counts by state, pace, cost and end date; to an annotator, of their own work alone."""
        queue = queue_for(request.user, queue_id, MEMBERS)
        user = person(request)
        if is_annotator(queue):
            return Response(blind_progress(queue, user))
        return Response({**queue_progress(queue), "own": own_figures(queue, user)})
