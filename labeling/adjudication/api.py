from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.adjudication.rules import RULES, Applied, Decision, Preview, apply_rule, preview, undo_rule
from labeling.adjudication.settling import adjudicate, correct, take_back, undo_correction
from labeling.adjudication.waiting import WHY, Wanted, unsettled_items, unsettled_pairs
from labeling.consensus.rules import RULES_IN_WORDS
from labeling.judging.submissions import Submission
from labeling.models import Item, Judgment, Reason, Verdict
from labeling.qrels.explanation import Explanation, explain
from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.problems import InputError
from pooling.interface.shapes import shape, shape_of
from pooling.people.access import ADMIN, READERS, collection_for
from pooling.tables.calls import listed, lists


class JudgmentSerializer(serializers.ModelSerializer[Judgment]):
    """One person's verdict on a pair, as it stands."""

    annotator = serializers.CharField(source="annotator.username")
    reason = serializers.CharField(source="event.reason")
    note = serializers.CharField(source="event.note")
    active_ms = serializers.IntegerField(source="event.active_ms", allow_null=True)
    counts = serializers.BooleanField(source="is_counted")

    class Meta:
        model = Judgment
        fields = [
            *("annotator", "verdict", "reason", "note", "judged_at", "active_ms"),
            *("counts", "is_adjudication"),
        ]


class WaitingPairSerializer(serializers.Serializer[Any]):
    """A pair that waits for adjudication."""

    item = serializers.IntegerField(source="item.pk")
    query = serializers.CharField(source="item.query.external_id")
    document = serializers.CharField(source="item.document.external_id")
    is_tie = serializers.BooleanField()
    judgments = JudgmentSerializer(many=True)


class AdjudicationSerializer(serializers.Serializer[Any]):
    """A verdict that settles a pair; the same `key` sent again changes nothing."""

    item = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    verdict = serializers.ChoiceField(choices=Verdict.choices)
    reason = serializers.ChoiceField(choices=Reason.choices, required=False, default="", allow_blank=True)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)
    key = serializers.RegexField(r"^[!-~]{1,64}$", required=False, default="")


class CorrectionSerializer(serializers.Serializer[Any]):
    """A verdict that settles the label of a pair, whatever was said of it."""

    query = serializers.CharField()
    document = serializers.CharField()
    verdict = serializers.ChoiceField(choices=Verdict.choices)
    reason = serializers.ChoiceField(choices=Reason.choices, required=False, default="", allow_blank=True)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)
    key = serializers.RegexField(r"^[!-~]{1,64}$")


class SettledSerializer(serializers.Serializer[Any]):
    """What became of it."""

    key = serializers.CharField()
    status = serializers.CharField()
    detail = serializers.CharField()


class LabelSerializer(serializers.Serializer[Explanation]):
    """Why a pair has its label; `relevance` is null without one."""

    query = serializers.CharField(source="query.external_id")
    document = serializers.CharField(source="document.external_id")
    relevance = serializers.IntegerField(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]  # the key of the contract
    rule = serializers.CharField()
    because = serializers.CharField()
    judgments = JudgmentSerializer(many=True)


class TakenBackSerializer(serializers.Serializer[Any]):
    """How many pairs wait again."""

    taken_back = serializers.IntegerField()


class RuleSerializer(serializers.Serializer[Any]):
    """A rule for many pairs; `trusted` names annotators for the rule of that name, else gold answers do."""

    rule = serializers.ChoiceField(choices=list(RULES.items()))
    trusted = serializers.ListField(
        child=serializers.CharField(max_length=150), required=False, allow_null=True, default=None
    )
    digest = serializers.CharField(
        required=False, default="", help_text="Of a preview; settles nothing if the decisions have changed."
    )


@shape_of(Decision)
class PairDecisionSerializer(serializers.Serializer[Any]):
    """What a rule says of a pair."""

    item = serializers.IntegerField(source="item.pk")
    query = serializers.CharField(source="item.query.external_id")
    document = serializers.CharField(source="item.document.external_id")
    verdict = serializers.CharField()
    reason = serializers.CharField()


PREVIEWED = ["relevant", "not_relevant", "cannot_judge", "digest"]


def _waiting(items: Sequence[Item]) -> list[Any]:
    return list(WaitingPairSerializer(unsettled_pairs(list(items)), many=True).data)


class Adjudication(APIView):
    @lists(
        WaitingPairSerializer,
        operation_id="queues_adjudication_list",
        parameters=[
            OpenApiParameter("why", str, enum=list(WHY), description="Only pairs that wait for this reason."),
            OpenApiParameter("annotator", str, description="Only pairs that this person judged."),
        ],
    )
    def get(self, request: Request, queue_id: int) -> Response:
        """List the pairs of a queue that wait to be settled, in its order, with what was said of each."""
        queue = queue_for(request.user, queue_id, READERS)
        wanted = Wanted(_parameter(request, "why"), _parameter(request, "annotator"))
        return listed(request, unsettled_items(queue, wanted), _waiting)

    @takes(AdjudicationSerializer, gives=SettledSerializer)
    def post(self, request: Request, queue_id: int) -> object:
        """Settle a pair."""
        queue = queue_for(request.user, queue_id, ADMIN)
        body = parsed(AdjudicationSerializer, request)
        return adjudicate(queue, person(request), Submission(**body))

    @answers(
        TakenBackSerializer,
        parameters=[OpenApiParameter("key", str, required=True, description="Of your adjudication.")],
    )
    def delete(self, request: Request, queue_id: int) -> object:
        """Take back one's own adjudication."""
        queue = queue_for(request.user, queue_id, ADMIN)
        take_back(queue, person(request), _parameter(request, "key"))
        return {"taken_back": 1}


class AdjudicationByRule(APIView):
    @answers(
        shape(Preview, more=PREVIEWED),
        parameters=[
            OpenApiParameter("rule", str, enum=list(RULES), required=True),
            OpenApiParameter("trusted", str, many=True, description="Whose votes count for `trusted`."),
        ],
    )
    def get(self, request: Request, queue_id: int) -> object:
        """Preview what a rule would decide."""
        queue = queue_for(request.user, queue_id, ADMIN)
        trusted = request.query_params.getlist("trusted") or None
        return preview(queue, _parameter(request, "rule"), trusted)

    @takes(RuleSerializer, gives=shape(Applied))
    def post(self, request: Request, queue_id: int) -> object:
        """Settle what the rule decides, at most 500 pairs at a time."""
        queue = queue_for(request.user, queue_id, ADMIN)
        body = parsed(RuleSerializer, request)
        chosen = preview(queue, body["rule"], body["trusted"])
        return apply_rule(queue, person(request), chosen, digest=body["digest"])

    @answers(
        TakenBackSerializer,
        parameters=[OpenApiParameter("batch", str, required=True, description="As POST answered it.")],
    )
    def delete(self, request: Request, queue_id: int) -> object:
        """Take back everything that you settled by a rule at one time."""
        queue = queue_for(request.user, queue_id, ADMIN)
        taken = undo_rule(queue, person(request), _parameter(request, "batch"))
        return {"taken_back": taken}


def _parameter(request: Request, name: str) -> str:
    return str(request.query_params.get(name, ""))


class Label(APIView):
    @answers(
        LabelSerializer,
        operation_id="collections_label_explained",
        parameters=[
            OpenApiParameter("query", str, required=True, description="The query's own id."),
            OpenApiParameter("document", str, required=True, description="The document's own id."),
            OpenApiParameter("rule", str, enum=list(RULES_IN_WORDS), default="majority"),
        ],
    )
    def get(self, request: Request, slug: str) -> object:
        """Say why a pair has the label it has: who judged it and when, and by which rule."""
        collection = collection_for(request.user, slug, READERS)
        ids = {name: request.query_params.get(name, "") for name in ("query", "document")}
        if not all(ids.values()):
            problem = "Name the pair by `query` and `document`."
            raise InputError(problem, fields={name: problem for name, value in ids.items() if not value})
        rule = request.query_params.get("rule", "majority")
        return explain(collection, ids["query"], ids["document"], rule)

    @takes(CorrectionSerializer, gives=LabelSerializer, operation_id="collections_label_corrected")
    def post(self, request: Request, slug: str) -> object:
        """Correct a label: your verdict settles the pair; for admins."""
        collection = collection_for(request.user, slug, ADMIN)
        given = parsed(CorrectionSerializer, request)
        pair = given.pop("query"), given.pop("document")
        correct(explain(collection, *pair, "majority"), person(request), Submission(item=0, **given))
        return explain(collection, *pair, "majority")

    @answers(
        LabelSerializer,
        operation_id="collections_label_correction_undone",
        parameters=[
            OpenApiParameter("query", str, required=True, description="The query's own id."),
            OpenApiParameter("document", str, required=True, description="The document's own id."),
        ],
    )
    def delete(self, request: Request, slug: str) -> object:
        """Take back your own correction."""
        collection = collection_for(request.user, slug, ADMIN)
        pair = _parameter(request, "query"), _parameter(request, "document")
        undo_correction(explain(collection, *pair, "majority"), person(request))
        return explain(collection, *pair, "majority")
