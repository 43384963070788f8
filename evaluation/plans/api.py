from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.plans import results
from evaluation.plans.launch import begin
from evaluation.plans.planning import plan
from evaluation.plans.settings import OF_ADAPTIVE, PlanSettings, settings_from
from pooling.interface.api import Made, answers, parsed, person, takes
from pooling.interface.option_fields import serializer_fields
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN, collection_for
from pooling.runs.depths import given_depths

Object = dict[str, object]


MAY_BE_NULL: Any = {name: {"allow_null": True} for name in OF_ADAPTIVE}


@serializer_fields(
    PlanSettings,
    filled=False,
    nullable=False,
    depths={"help_text": "Runs with their own depth; in an address `depths.NAME=N`."},
    strategy={"help_text": "A name from /api/strategies/."},
    **MAY_BE_NULL,
)
class PlanRequestSerializer(serializers.Serializer[Any]):
    """The settings of a plan; everything has a default. Ranges are those of pools and queues."""

    runs = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Names, repeated; all if absent."
    )

    def to_internal_value(self, data: Any) -> Any:
        """An empty parameter of the address is one that is absent; `runs` may be repeated."""
        if hasattr(data, "getlist"):
            given = {name: value for name, value in data.items() if value != "" and name != "runs"}
            if runs := [run for run in data.getlist("runs") if run]:
                given["runs"] = runs
            given["depths"] = given_depths(data)
            data = given
        return super().to_internal_value(data)


class CampaignRequestSerializer(PlanRequestSerializer):
    """The settings of a plan, and what pool and queue are called."""

    name = serializers.CharField(max_length=200)


CampaignSerializer = shape(results.Campaign)
shape(results.TeamRow, "TeamWork")
shape(results.PlannedWork, "Work")
PlanSerializer = shape(results.PlanResult, "Plan")


class Plan(APIView):
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
