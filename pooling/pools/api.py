"""Pools, over HTTP."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import PROBLEM, made, making, parsed, person
from pooling.merging.choice import Choice
from pooling.models import Pool
from pooling.people.access import ADMIN, collection_for, pool_for
from pooling.pools import serializers
from pooling.pools.building import build_or_start
from pooling.pools.versions import Extension, extend_or_start
from pooling.runs.stored import runs_named


class Pools(APIView):
    """The pools of a collection."""

    @extend_schema(responses={200: serializers.PoolSerializer(many=True), 404: PROBLEM})
    def get(self, request: Request, slug: str) -> Response:
        """List the pools."""
        collection = collection_for(request.user, slug)
        rows = Pool.objects.listed().filter(collection=collection).defer("diagnostics")
        return Response(serializers.PoolSerializer(rows, many=True).data)

    @extend_schema(
        request=serializers.PoolRequestSerializer, responses=making(serializers.BuiltPoolSerializer)
    )
    def post(self, request: Request, slug: str) -> Response:
        """Build a pool from stored runs."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(serializers.PoolRequestSerializer, request)
        name, runs = body.pop("name"), runs_named(collection, body.pop("runs"))
        return made(build_or_start(collection, Choice(**body), name=name, runs=runs, user=person(request)))


class PoolExtension(APIView):
    """The next version of a pool."""

    @extend_schema(request=serializers.ExtensionSerializer, responses=making(serializers.BuiltPoolSerializer))
    def post(self, request: Request, pool_id: int) -> Response:
        """Extend a pool by runs (by name) or depth: its pairs stay, and only what is new is to be judged.

        Budget and audit share are for the new pairs; what is left out is as in the pool.
        """
        pool = pool_for(request.user, pool_id, ADMIN)
        body = parsed(serializers.ExtensionSerializer, request)
        name, runs = body.pop("name"), runs_named(pool.collection, body.pop("runs"))
        return made(extend_or_start(pool, Extension(**body), name=name, runs=runs, user=person(request)))
