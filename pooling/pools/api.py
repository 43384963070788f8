from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import Made, OneKind, answers, parsed, person, takes
from pooling.interface.downloads import streamed
from pooling.interface.serializers import FILE
from pooling.merging.choice import usual_choice
from pooling.models import Pool
from pooling.people.access import ADMIN, collection_for, pool_for
from pooling.pools import serializers
from pooling.pools.building import build_or_start
from pooling.pools.exports import POOL_FILES, pool_file
from pooling.pools.lists import POOLS
from pooling.pools.versions import Extension, extend_or_start
from pooling.runs.stored import runs_named
from pooling.strategies import STRATEGIES
from pooling.tables.calls import listed, lists
from pooling.tables.rows import Rows
from pooling.tidying.api import Tidied


class Pools(APIView):
    @lists(serializers.PoolSerializer, POOLS)
    def get(self, request: Request, slug: str) -> Rows:
        """List the pools."""
        collection = collection_for(request.user, slug)
        return Pool.objects.listed().filter(collection=collection).defer("diagnostics")

    @takes(serializers.PoolRequestSerializer, makes=serializers.BuiltPoolSerializer)
    def post(self, request: Request, slug: str) -> Made:
        """Build a pool from stored runs."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(serializers.PoolRequestSerializer, request)
        name, runs = body.pop("name"), runs_named(collection, body.pop("runs"))
        return build_or_start(collection, usual_choice(body), name=name, runs=runs, user=person(request))


class OnePool(Tidied):
    kind = "pool"

    @answers(serializers.PoolDetailSerializer)
    def get(self, request: Request, pool_id: int) -> object:
        """Read how a pool was chosen, and of which runs."""
        return pool_for(request.user, pool_id)


class PoolPairs(APIView):
    @lists(
        serializers.PooledPairSerializer,
        operation_id="pools_pairs_list",
        parameters=[OpenApiParameter("query", str, description="Only pairs of the query of this id.")],
    )
    def get(self, request: Request, pool_id: int) -> Response:
        """List the pairs of a pool, each query's in the order of judging, with the runs that found them."""
        pool = pool_for(request.user, pool_id)
        rows = pool.entries.select_related("query", "document").defer("document__text", "document__metadata")
        if (query := request.query_params.get("query")) is not None:
            rows = rows.filter(query__external_id=query)
        context = {"runs": pool.diagnostics.get("runs", [])}

        def as_json(some: Any) -> Any:
            return serializers.PooledPairSerializer(some, many=True, context=context).data

        return listed(request, rows.order_by("query", "position"), as_json)


class PoolFile(APIView):
    content_negotiation_class = OneKind

    @extend_schema(
        operation_id="pools_file",
        parameters=[OpenApiParameter("format", str, enum=list(POOL_FILES), default="tsv")],
        responses=FILE,
    )
    def get(self, request: Request, pool_id: int) -> HttpResponseBase:
        """Download a pool as the table that the command `pool` prints, or as tasks for another tool."""
        pool = pool_for(request.user, pool_id)
        file = pool_file(request.query_params.get("format") or "tsv")
        return streamed(file.make(pool), f"pool-{pool.pk}{file.suffix}", file.media_type)


class PoolExtension(APIView):
    @takes(serializers.ExtensionSerializer, makes=serializers.BuiltPoolSerializer)
    def post(self, request: Request, pool_id: int) -> Made:
        """Extend a pool by runs (by name) or depth: its pairs stay, and only what is new is to be judged.

        Budget and audit share are for the new pairs; what is left out is as in the pool.
        """
        pool = pool_for(request.user, pool_id, ADMIN)
        body = parsed(serializers.ExtensionSerializer, request)
        name, runs = body.pop("name"), runs_named(pool.collection, body.pop("runs"))
        return extend_or_start(pool, Extension(**body), name=name, runs=runs, user=person(request))


class Strategies(APIView):
    @answers(serializers.StrategySerializer(many=True), operation_id="strategies_list")
    def get(self, request: Request) -> object:
        """List them with what each does in a line."""
        return STRATEGIES.values()
