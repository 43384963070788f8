"""Facts over HTTP: list, write, change, decide, merge; files in and out."""

from __future__ import annotations

from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.fact_keeping import serializers as shapes
from labeling.fact_keeping.files import FACT_FILES
from labeling.facts.editing import (
    FactDraft,
    add_fact,
    change_fact,
    decide_facts,
    fact_named,
    merge_facts,
)
from labeling.models import Fact
from pooling.interface.api import PROBLEM, OneKind, made, making, parsed, person
from pooling.interface.downloads import file_call, offered
from pooling.interface.problems import InputError
from pooling.models import Role
from pooling.people.access import ADMIN, READERS, collection_for, fetch, require_role
from pooling.storage.imports import take_in
from pooling.tables.calls import listed, lists


class Facts(APIView):
    """The facts of a collection."""

    @lists(shapes.FactSerializer, responses={403: PROBLEM})
    def get(self, request: Request, slug: str) -> Response:
        """List the facts, by query and in their order, in whatever state."""
        collection = collection_for(request.user, slug, READERS)
        rows = collection.facts.select_related("query").order_by("query__external_id", "position", "pk")
        return listed(request, rows, shapes.FactSerializer)

    @extend_schema(
        request=shapes.FactRequestSerializer,
        responses={201: shapes.FactSerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Write a fact down."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(shapes.FactRequestSerializer, request)
        query = collection.queries.filter(external_id=body["query"]).first()
        if query is None:
            problem = f"There is no query “{body['query']}” in “{slug}”."
            raise InputError(problem, field="query", missing=True)
        draft = FactDraft(body["text"], body["importance"], body["group"], body["fact_id"])
        fact = add_fact(query, draft, user=person(request), confirmed=body["confirmed"])
        return Response(shapes.FactSerializer(fact).data, status=status.HTTP_201_CREATED)


class FactsFile(APIView):
    """Facts in."""

    parser_classes = [MultiPartParser, FormParser]

    @extend_schema(
        request=shapes.FactsFileSerializer,
        responses={**making(shapes.FactsImportedSerializer), 403: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a file of facts or supports, whole or not at all."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(shapes.FactsFileSerializer, request)
        upload = body.pop("file")
        return made(take_in(collection, "facts", upload, user=person(request), **body))


class FactsDownload(APIView):
    """Facts out."""

    content_negotiation_class = OneKind

    @file_call(FACT_FILES)
    def get(self, request: Request, slug: str, format: str) -> HttpResponseBase:
        """Confirmed facts, or the labels of judged pairs of a fact and a document, as a file."""
        collection = collection_for(request.user, slug, READERS)
        return offered(FACT_FILES, format, slug, collection)


class OneFact(APIView):
    """A fact."""

    @extend_schema(responses={200: shapes.FactSerializer, 403: PROBLEM, 404: PROBLEM})
    def get(self, request: Request, fact_id: int) -> Response:
        """Read a fact."""
        return Response(shapes.FactSerializer(_fact(request, fact_id, READERS)).data)

    @extend_schema(
        request=shapes.FactChangeSerializer,
        responses={200: shapes.FactSerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM},
    )
    def patch(self, request: Request, fact_id: int) -> Response:
        """Change its words, importance or group; confirm it, reject it, or propose it again."""
        fact = _fact(request, fact_id, ADMIN)
        body = parsed(shapes.FactChangeSerializer, request)
        state = body.pop("state", None)
        change_fact(fact, user=person(request), **body)
        if state is not None:
            decide_facts([fact], state, user=person(request))
        fact.refresh_from_db()
        return Response(shapes.FactSerializer(fact).data)


class Merge(APIView):
    """Two facts that say the same."""

    @extend_schema(
        request=shapes.MergeSerializer,
        responses={200: shapes.FactSerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, fact_id: int) -> Response:
        """Merge a fact into another one of its query: it is judged and counted no more."""
        fact = _fact(request, fact_id, ADMIN)
        into = parsed(shapes.MergeSerializer, request)["into"]
        other = fact_named(fact.collection, fact.query.external_id, into)
        merge_facts(fact, other, user=person(request))
        return Response(shapes.FactSerializer(fact).data)


def _fact(request: Request, fact_id: int, roles: tuple[Role, ...]) -> Fact:
    fact = fetch(Fact.objects.select_related("collection", "query"), pk=fact_id)
    require_role(request.user, fact.collection, roles)
    return fact
