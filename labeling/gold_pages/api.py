from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.gold.questions import LONGEST_REASON, pair_of
from labeling.gold_pages.proposals import accept_proposals, decline_proposals, proposals, set_size
from labeling.gold_pages.separation import balanced_set
from pooling.interface.api import parsed, person, takes
from pooling.interface.serializers import optional_text
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for
from pooling.tables.calls import lists
from pooling.tables.rows import Rows

MOST_SUGGESTIONS = 200


class SuggestionSerializer(serializers.Serializer[Any]):
    """A pair that several people judged, all alike, or that an admin settled."""

    query = serializers.CharField(source="query_id")
    document = serializers.CharField(source="document_id")
    answer = serializers.CharField()
    votes = serializers.IntegerField(help_text="Verdicts that agree with the answer.")
    origin = serializers.CharField(source="origin_in_words", help_text="“unanimous” or “adjudicated”.")
    separation = serializers.FloatField(
        help_text="How well an answer would separate careful from careless annotators: the log likelihood "
        "ratio that it is expected to bring."
    )


class PairSerializer(serializers.Serializer[Any]):
    """A pair by the collection's own ids."""

    query = serializers.CharField(max_length=500)
    document = serializers.CharField(max_length=500)


class DecisionSerializer(serializers.Serializer[Any]):
    """Suggestions to accept and to decline."""

    accept = PairSerializer(many=True, required=False, default=list)
    reason = optional_text("For those accepted.", max_length=LONGEST_REASON)
    decline = PairSerializer(many=True, required=False, default=list)


class DecidedSerializer(serializers.Serializer[Any]):
    """How many suggestions were decided."""

    accepted = serializers.IntegerField()
    declined = serializers.IntegerField()


class GoldSuggestions(APIView):
    @lists(
        SuggestionSerializer,
        parameters=[OpenApiParameter("set", int, description="The size of a balanced set.")],
    )
    def get(self, request: Request, slug: str) -> Rows:
        """Pairs that at least two people judged, all alike, or that an admin settled: first those whose
        answers would separate careful from careless annotators most. `set` asks for that many of the first
        200, balanced by answer and query."""
        collection = collection_for(request.user, slug, ADMIN)
        candidates = proposals(collection)
        if size := request.query_params.get("set", ""):
            candidates = balanced_set(candidates[:MOST_SUGGESTIONS], set_size(size, MOST_SUGGESTIONS))
        return candidates

    @takes(DecisionSerializer, gives=DecidedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Accept some as gold questions, and decline others for good."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(DecisionSerializer, request)
        accept, decline = (_pairs(collection, body[name]) for name in ("accept", "decline"))
        return Response(
            {
                "accepted": accept_proposals(collection, accept, user=person(request), reason=body["reason"]),
                "declined": decline_proposals(collection, decline, user=person(request)),
            }
        )


def _pairs(collection: Collection, named: list[dict[str, str]]) -> list[tuple[int, int]]:
    pairs = [pair_of(collection, pair["query"], pair["document"]) for pair in named[:MOST_SUGGESTIONS]]
    return [(query.pk, document.pk) for query, document in pairs]
