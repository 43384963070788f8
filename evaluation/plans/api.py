"""The HTTP interface of plans: the figures of one, and its beginning."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.plans.launch import begin
from evaluation.plans.planning import plan
from evaluation.plans.serializers import (
    CampaignRequestSerializer,
    CampaignSerializer,
    PlanRequestSerializer,
    PlanSerializer,
)
from evaluation.plans.settings import settings_from
from pooling.interface.api import Made, answers, parsed, person, takes
from pooling.people.access import ADMIN, collection_for


class Plan(APIView):
    """A campaign before it is begun."""

    @answers(PlanSerializer, operation_id="plan_retrieve", parameters=[PlanRequestSerializer])
    def get(self, request: Request, slug: str) -> Response:
        """Pool, cost, days, expected interval and power of a campaign with these settings."""
        collection = collection_for(request.user, slug, ADMIN)
        return Response(plan(collection, settings_from(parsed(PlanRequestSerializer, request))))

    @takes(CampaignRequestSerializer, makes=CampaignSerializer, operation_id="plan_begin")
    def post(self, request: Request, slug: str) -> Made:
        """Build the pool of a plan and open its queue: 201, or 202 with a job to poll when it is large."""
        collection = collection_for(request.user, slug, ADMIN)
        values = parsed(CampaignRequestSerializer, request)
        return begin(collection, settings_from(values), values["name"], person(request))
