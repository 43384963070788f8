from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.fact_pages.files import FACT_FILES
from labeling.fact_pages.forms import FILES
from labeling.facts.editing import (
    LONGEST_FACT_ID,
    LONGEST_GROUP,
    FactDraft,
    add_fact,
    change_fact,
    decide_facts,
    fact_named,
    merge_facts,
)
from labeling.facts.importing import FactImport
from labeling.models import Fact
from pooling.formats.facts.records import LONGEST_FACT
from pooling.interface.api import Made, OneKind, answers, file_call, parsed, person, takes
from pooling.interface.downloads import offered
from pooling.interface.problems import InputError
from pooling.interface.shapes import shape
from pooling.models import Role
from pooling.people.access import ADMIN, READERS, collection_for, fetch, require_role
from pooling.storage.imports import take_in
from pooling.tables.calls import lists
from pooling.tables.rows import Rows

DECISIONS = [Fact.State.PROPOSED, Fact.State.CONFIRMED, Fact.State.REJECTED]


class FactSerializer(serializers.ModelSerializer[Fact]):
    """A fact. `id` is its number here; `fact_id` is unique among the facts of its query."""

    query = serializers.CharField(source="query.external_id")
    fact_id = serializers.CharField(source="external_id")
    merged_into = serializers.IntegerField(source="merged_into_id", allow_null=True)

    class Meta:
        model = Fact
        fields = [
            *("id", "query", "fact_id", "text", "importance", "group", "state", "version", "meaning"),
            *("merged_into", "origin", "edited", "created_at", "confirmed_at"),
        ]
        read_only_fields = fields


class FactRequestSerializer(serializers.Serializer[Any]):
    """A fact to write down; without an id it gets the next one of its query."""

    query = serializers.CharField(max_length=500)
    text = serializers.CharField(max_length=LONGEST_FACT)
    importance = serializers.ChoiceField(choices=Fact.Importance.choices, default=Fact.Importance.VITAL)
    group = serializers.CharField(max_length=LONGEST_GROUP, required=False, allow_blank=True, default="")
    fact_id = serializers.CharField(max_length=LONGEST_FACT_ID, required=False, allow_blank=True, default="")
    confirmed = serializers.BooleanField(required=False, default=True)


class FactChangeSerializer(serializers.Serializer[Any]):
    """What of a fact is to change. Another text asks for its supports again unless it means the same."""

    text = serializers.CharField(max_length=LONGEST_FACT, required=False)
    importance = serializers.ChoiceField(choices=Fact.Importance.choices, required=False)
    group = serializers.CharField(max_length=LONGEST_GROUP, required=False, allow_blank=True)
    same_meaning = serializers.BooleanField(required=False, default=False)
    state = serializers.ChoiceField(choices=DECISIONS, required=False)


class MergeSerializer(serializers.Serializer[Any]):
    """The fact that says the same: `fact_id` of another one of the query."""

    into = serializers.CharField(max_length=LONGEST_FACT_ID)


class FactsFileSerializer(serializers.Serializer[Any]):
    """A file of facts or supports."""

    file = serializers.FileField()
    of = serializers.ChoiceField(choices=list(FILES.items()), default="facts")
    proposed = serializers.BooleanField(
        required=False, default=False, help_text="They count once somebody confirms them."
    )


class Facts(APIView):
    @lists(FactSerializer)
    def get(self, request: Request, slug: str) -> Rows:
        """List the facts, by query and in their order, in whatever state."""
        collection = collection_for(request.user, slug, READERS)
        return collection.facts.select_related("query").order_by("query__external_id", "position", "pk")

    @takes(FactRequestSerializer, gives=FactSerializer, status=201)
    def post(self, request: Request, slug: str) -> object:
        """Write a fact down."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(FactRequestSerializer, request)
        query = collection.queries.filter(external_id=body["query"]).first()
        if query is None:
            problem = f"There is no query “{body['query']}” in “{slug}”."
            raise InputError(problem, field="query", missing=True)
        draft = FactDraft(body["text"], body["importance"], body["group"], body["fact_id"])
        return add_fact(query, draft, user=person(request), confirmed=body["confirmed"])


class FactsFile(APIView):
    parser_classes = [MultiPartParser, FormParser]

    @takes(FactsFileSerializer, makes=shape(FactImport, "FactsImported", more=("detail", "url")))
    def post(self, request: Request, slug: str) -> Made:
        """Import a file of facts or supports, whole or not at all."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(FactsFileSerializer, request)
        upload = body.pop("file")
        return take_in(collection, "facts", upload, user=person(request), **body)


class FactsDownload(APIView):
    content_negotiation_class = OneKind

    @file_call(FACT_FILES)
    def get(self, request: Request, slug: str, format: str) -> HttpResponseBase:
        """Confirmed facts, or the labels of judged pairs of a fact and a document, as a file."""
        collection = collection_for(request.user, slug, READERS)
        return offered(FACT_FILES, format, slug, collection)


class OneFact(APIView):
    """A fact."""

    @answers(FactSerializer)
    def get(self, request: Request, fact_id: int) -> object:
        """Read a fact."""
        return _fact(request, fact_id, READERS)

    @takes(FactChangeSerializer, gives=FactSerializer)
    def patch(self, request: Request, fact_id: int) -> object:
        """Change its words, importance or group; confirm it, reject it, or propose it again."""
        fact = _fact(request, fact_id, ADMIN)
        body = parsed(FactChangeSerializer, request)
        state = body.pop("state", None)
        change_fact(fact, user=person(request), **body)
        if state is not None:
            decide_facts([fact], state, user=person(request))
        fact.refresh_from_db()
        return fact


class Merge(APIView):
    @takes(MergeSerializer, gives=FactSerializer)
    def post(self, request: Request, fact_id: int) -> object:
        """Merge a fact into another one of its query: it is judged and counted no more."""
        fact = _fact(request, fact_id, ADMIN)
        into = parsed(MergeSerializer, request)["into"]
        other = fact_named(fact.collection, fact.query.external_id, into)
        merge_facts(fact, other, user=person(request))
        return fact


def _fact(request: Request, fact_id: int, roles: tuple[Role, ...]) -> Fact:
    fact = fetch(Fact.objects.select_related("collection", "query"), pk=fact_id)
    require_role(request.user, fact.collection, roles)
    return fact
