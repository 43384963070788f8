"""The HTTP interface of replays: make them, list them, and read their numbers."""

from __future__ import annotations

from typing import cast

from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.utils.text import slugify
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import replay_for
from evaluation.models import Replay
from evaluation.replays.files import FILES, result_in_order
from evaluation.replays.serializers import (
    ReplayJobSerializer,
    ReplayRequestSerializer,
    ReplayResultSerializer,
    ReplaySerializer,
)
from evaluation.replays.stored import ReplayRequest, request_replay
from evaluation.report_store.links import link_to
from pooling.interface.api import PROBLEM, OneKind
from pooling.interface.downloads import file_call, offered
from pooling.people.access import ADMIN, collection_for
from pooling.tables.calls import listed, lists
from pooling.tidying.api import Tidied


class Replays(APIView):
    """The replays of a collection."""

    @lists(ReplaySerializer, operation_id="replays_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the replays, newest first."""
        collection = collection_for(request.user, slug)
        rows = collection.replays.listed().only("id", "name", "created_at", "collection")
        return listed(request, rows, lambda some: [link_to(replay) for replay in some])

    @extend_schema(
        operation_id="replays_create",
        request=ReplayRequestSerializer,
        responses={201: ReplaySerializer, 202: ReplayJobSerializer, 400: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Replay strategies on the collection's labels: 201, or 202 with a job to poll when it takes long."""
        collection = collection_for(request.user, slug, ADMIN)
        asked = ReplayRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        user = cast("User", request.user)
        made = request_replay(collection, ReplayRequest(**asked.validated_data), user)
        if isinstance(made, Replay):
            return Response(link_to(made), status=status.HTTP_201_CREATED)
        return Response({"job": made.pk}, status=status.HTTP_202_ACCEPTED)


class ReplayResult(Tidied):
    """The numbers of one replay."""

    kind = "replay"

    @extend_schema(operation_id="replays_retrieve", responses={200: ReplayResultSerializer, 404: PROBLEM})
    def get(self, request: Request, replay_id: int) -> Response:
        """The same object as `simulate --format json` prints, with the curves."""
        return Response(result_in_order(replay_for(request.user, replay_id)))


class ReplayFile(APIView):
    """A replay as a file."""

    content_negotiation_class = OneKind

    @file_call(FILES)
    def get(self, request: Request, replay_id: int, format: str) -> HttpResponseBase:
        """Download a replay."""
        replay = replay_for(request.user, replay_id)
        return offered(FILES, format, slugify(replay.name) or f"replay-{replay.pk}", replay)
