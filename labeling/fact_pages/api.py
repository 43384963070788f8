"""Facts over HTTP: list, write, change, decide, merge; files in and out."""

from __future__ import annotations

from django.http.response import HttpResponseBase
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.fact_pages import serializers as shapes
from labeling.fact_pages.files import FACT_FILES
from labeling.facts.editing import (
    FactDraft,
    add_fact,
    change_fact,
    decide_facts,
    fact_named,
    merge_facts,
)
from labeling.models import Fact
from pooling.interface.api import Made, OneKind, answers, parsed, person, takes
from pooling.interface.downloads import file_call, offered
from pooling.interface.problems import InputError
from pooling.models import Role
from pooling.people.access import ADMIN, READERS, collection_for, fetch, require_role
from pooling.storage.imports import take_in
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class Facts(APIView):
    """The facts of a collection."""

    @lists(shapes.FactSerializer)
    def get(self, request: Request, slug: str) -> Rows:
        """List the facts, by query and in their order, in whatever state."""
        collection = collection_for(request.user, slug, READERS)
        return collection.facts.select_related("query").order_by("query__external_id", "position", "pk")

    @takes(shapes.FactRequestSerializer, gives=shapes.FactSerializer, status=201)
    def post(self, request: Request, slug: str) -> object:
        """Write a fact down."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(shapes.FactRequestSerializer, request)
        query = collection.queries.filter(external_id=body["query"]).first()
        if query is None:
            problem = f"There is no query “{body['query']}” in “{slug}”."
            raise InputError(problem, field="query", missing=True)
        draft = FactDraft(body["text"], body["importance"], body["group"], body["fact_id"])
        return add_fact(query, draft, user=person(request), confirmed=body["confirmed"])


class FactsFile(APIView):
    """Facts in."""

    parser_classes = [MultiPartParser, FormParser]

    @takes(shapes.FactsFileSerializer, makes=shapes.FactsImportedSerializer)
    def post(self, request: Request, slug: str) -> Made:
        """Import a file of facts or supports, whole or not at all."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(shapes.FactsFileSerializer, request)
        upload = body.pop("file")
        return take_in(collection, "facts", upload, user=person(request), **body)


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

    @answers(shapes.FactSerializer)
    def get(self, request: Request, fact_id: int) -> object:
        """Read a fact."""
        return _fact(request, fact_id, READERS)

    @takes(shapes.FactChangeSerializer, gives=shapes.FactSerializer)
    def patch(self, request: Request, fact_id: int) -> object:
        """Change its words, importance or group; confirm it, reject it, or propose it again."""
        fact = _fact(request, fact_id, ADMIN)
        body = parsed(shapes.FactChangeSerializer, request)
        state = body.pop("state", None)
        change_fact(fact, user=person(request), **body)
        if state is not None:
            decide_facts([fact], state, user=person(request))
        fact.refresh_from_db()
        return fact


class Merge(APIView):
    """Two facts that say the same."""

    @takes(shapes.MergeSerializer, gives=shapes.FactSerializer)
    def post(self, request: Request, fact_id: int) -> object:
        """Merge a fact into another one of its query: it is judged and counted no more."""
        fact = _fact(request, fact_id, ADMIN)
        into = parsed(shapes.MergeSerializer, request)["into"]
        other = fact_named(fact.collection, fact.query.external_id, into)
        merge_facts(fact, other, user=person(request))
        return fact


def _fact(request: Request, fact_id: int, roles: tuple[Role, ...]) -> Fact:
    fact = fetch(Fact.objects.select_related("collection", "query"), pk=fact_id)
    require_role(request.user, fact.collection, roles)
    return fact
