from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from django.utils.text import slugify
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import replay_for
from evaluation.models import Replay
from evaluation.plans import results
from evaluation.plans.launch import begin
from evaluation.plans.planning import plan
from evaluation.plans.replay_files import FILES, result_in_order
from evaluation.plans.settings import OF_ADAPTIVE, PlanSettings, settings_from
from evaluation.plans.simulation import SimulationResult
from evaluation.plans.stored_replays import ReplayRequest, request_replay
from evaluation.report_store.links import Link, link_to
from pooling.interface.api import Made, OneKind, answers, file_call, parsed, person, takes
from pooling.interface.downloads import offered
from pooling.interface.option_fields import serializer_fields
from pooling.interface.serializers import texts
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN, collection_for
from pooling.runs.depths import given_depths
from pooling.tables.calls import listed, lists
from pooling.tidying.api import Tidied

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

    runs = texts("Names, repeated; all if absent.")

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


shape(results.TeamRow, "TeamWork")
shape(results.PlannedWork, "Work")
PlanSerializer = shape(results.PlanResult, "Plan")


class Plan(APIView):
    @answers(PlanSerializer, operation_id="plan_retrieve", parameters=[PlanRequestSerializer])
    def get(self, request: Request, slug: str) -> Response:
        """Pool, cost, days, expected interval and power of a campaign with these settings."""
        collection = collection_for(request.user, slug, ADMIN)
        return Response(plan(collection, settings_from(parsed(PlanRequestSerializer, request))))

    @takes(CampaignRequestSerializer, makes=shape(results.Campaign), operation_id="plan_begin")
    def post(self, request: Request, slug: str) -> Made:
        """Build the pool of a plan and open its queue: 201, or 202 with a job to poll when it is large."""
        collection = collection_for(request.user, slug, ADMIN)
        values = parsed(CampaignRequestSerializer, request)
        return begin(collection, settings_from(values), values["name"], person(request))


class ReplayRequestSerializer(serializers.Serializer[dict[str, object]]):
    """A replay to make; everything has a default."""

    name = serializers.CharField(required=False, max_length=200)
    release = serializers.CharField(
        required=False, help_text="Name of a qrels release; the labels as they stand if absent."
    )
    runs = texts("Names of runs; all if absent.")
    depth = serializers.IntegerField(
        required=False, min_value=1, help_text="Of the pool; 50, or that of the deepest run, if absent."
    )
    strategies = texts("Names of strategies; all if absent.")
    budgets = serializers.ListField(
        child=serializers.FloatField(),
        required=False,
        help_text="Shares of each query's pool; 0.1 0.25 0.5 if absent.",
    )
    seeds = serializers.IntegerField(default=1, help_text="Repetitions of what depends on chance, 1 to 20.")
    noise = serializers.FloatField(default=0.0, help_text="Share of wrong labels, below 0.5.")
    batch = serializers.IntegerField(default=1, help_text="Labels revealed at a time.")
    k = serializers.IntegerField(
        required=False, min_value=1, help_text="Cutoff of the recalls; the depth if absent."
    )


class ReplayLink(Link):
    """A replay in a list, or just made; its numbers are at /api/replays/{id}/."""


ReplaySerializer = shape(ReplayLink, "Replay")


class Replays(APIView):
    @lists(ReplaySerializer, operation_id="replays_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the replays, newest first."""
        collection = collection_for(request.user, slug)
        rows = collection.replays.listed().only("id", "name", "created_at", "collection")
        return listed(request, rows, lambda some: [link_to(replay) for replay in some])

    @takes(ReplayRequestSerializer, makes=ReplaySerializer, operation_id="replays_create")
    def post(self, request: Request, slug: str) -> Made:
        """Replay strategies on the collection's labels: 201, or 202 with a job to poll when it takes long."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(ReplayRequestSerializer, request)
        outcome = request_replay(collection, ReplayRequest(**body), person(request))
        return link_to(outcome) if isinstance(outcome, Replay) else outcome


class ReplayResult(Tidied):
    kind = "replay"

    @answers(shape(SimulationResult, "ReplayResult"), operation_id="replays_retrieve")
    def get(self, request: Request, replay_id: int) -> Response:
        """The same object as `simulate --format json` prints, with the curves."""
        return Response(result_in_order(replay_for(request.user, replay_id)))


class ReplayFile(APIView):
    content_negotiation_class = OneKind

    @file_call(FILES)
    def get(self, request: Request, replay_id: int, format: str) -> HttpResponseBase:
        """Download a replay."""
        replay = replay_for(request.user, replay_id)
        return offered(FILES, format, slugify(replay.name) or f"replay-{replay.pk}", replay)
