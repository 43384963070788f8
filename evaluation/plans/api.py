"""The HTTP interface of plans: the figures of one, and its beginning."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import status
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
from pooling.interface.api import PROBLEM
from pooling.interface.serializers import JobStartedSerializer
from pooling.models import Job
from pooling.people.access import ADMIN, collection_for


class Plan(APIView):
    """A campaign before it is begun."""

    @extend_schema(
        operation_id="plan_retrieve",
        parameters=[PlanRequestSerializer],
        responses={200: PlanSerializer, 400: PROBLEM, 404: PROBLEM},
    )
    def get(self, request: Request, slug: str) -> Response:
        """Pool, cost, days, expected interval and power of a campaign with these settings."""
        collection = collection_for(request.user, slug, ADMIN)
        asked = PlanRequestSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        return Response(plan(collection, settings_from(dict(asked.validated_data))))

    @extend_schema(
        operation_id="plan_begin",
        request=CampaignRequestSerializer,
        responses={
            201: CampaignSerializer,
            202: JobStartedSerializer,
            400: PROBLEM,
            404: PROBLEM,
            409: PROBLEM,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        """Build the pool of a plan and open its queue: 201, or 202 with a job to poll when it is large."""
        collection = collection_for(request.user, slug, ADMIN)
        asked = CampaignRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values: dict[str, Any] = dict(asked.validated_data)
        begun = begin(collection, settings_from(values), values["name"], cast("User", request.user))
        if isinstance(begun, Job):
            return Response({"job": begun.pk}, status=status.HTTP_202_ACCEPTED)
        return Response(begun, status=status.HTTP_201_CREATED)
