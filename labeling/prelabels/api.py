from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.access import prelabel_pass_for, prelabeler_for_queue, queue_for
from labeling.models import Prelabeler, PrelabelJob, Queue
from labeling.prelabels.costs import Prices
from labeling.prelabels.estimates import Estimate, estimate
from labeling.prelabels.export import FORMATS, export_prelabels, prelabels_file_name
from labeling.prelabels.importing import withdraw_prelabels
from labeling.prelabels.options import PROMPTS, allowed_url, prelabeler_for, store_key
from labeling.prelabels.page import ModelRow, ServerRow, models_of, not_set_up, passes_of, servers_of
from labeling.prelabels.passes import (
    MOST_CONCURRENCY,
    PassOptions,
    cancel_pass,
    pause_pass,
    resume_pass,
    start_pass,
)
from pooling.formats.registry import formats
from pooling.interface.api import OneKind, answers, parsed, person, takes
from pooling.interface.downloads import attachment
from pooling.interface.problems import InputError
from pooling.interface.serializers import FILE
from pooling.interface.shapes import shape, shape_of
from pooling.people.access import ADMIN

OPTIONAL: dict[str, Any] = {"required": False, "allow_null": True, "default": None}
MONEY: dict[str, Any] = {"max_digits": 20, "decimal_places": 10, "coerce_to_string": False, "min_value": 0}


class ModelRequestSerializer(serializers.Serializer[Any]):
    model = serializers.CharField(max_length=200)
    base_url = serializers.CharField(
        max_length=500, help_text="One of the site's servers; null: the first.", **OPTIONAL
    )
    budget = serializers.DecimalField(help_text="Asking stops before it costs more.", **MONEY, **OPTIONAL)
    input_price = serializers.DecimalField(**MONEY, **OPTIONAL)
    output_price = serializers.DecimalField(**MONEY, **OPTIONAL)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs["input_price"] is None) != (attrs["output_price"] is None):
            raise serializers.ValidationError({"output_price": "Give both prices or neither."})
        return attrs


class PassRequestSerializer(ModelRequestSerializer):
    """Which model to ask, in which words, and how much it may cost. Prices are for a million tokens."""

    prompt = serializers.ChoiceField(choices=PROMPTS, default=PROMPTS[0])
    threshold = serializers.IntegerField(help_text="Of the graded prompt, 1 to 3.", **OPTIONAL)
    limit = serializers.IntegerField(min_value=1, help_text="Pairs at most, a random part.", **OPTIONAL)
    concurrency = serializers.IntegerField(min_value=1, max_value=MOST_CONCURRENCY, default=8)
    retries_failed = serializers.BooleanField(default=False)


@shape_of(Prelabeler)
class PrelabelerSerializer(serializers.ModelSerializer[Prelabeler]):
    """A model asked in one exact way."""

    name = serializers.CharField(source="__str__")

    class Meta:
        model = Prelabeler
        fields = [
            *("id", "name", "source", "model", "base_url", "prompt", "prompt_version", "prompt_hash"),
            "options",
        ]


class PassSerializer(serializers.ModelSerializer[PrelabelJob]):
    """A pass: how far it is, and what it cost."""

    prelabeler = PrelabelerSerializer()
    budget = serializers.FloatField(allow_null=True)
    input_price = serializers.FloatField(allow_null=True, help_text="Of a million tokens.")
    output_price = serializers.FloatField(allow_null=True, help_text="Of a million tokens.")
    cost = serializers.FloatField(help_text="By the usage that the server reported.")
    uncertain_cost = serializers.FloatField(help_text="At most, of requests whose answer never came.")

    class Meta:
        model = PrelabelJob
        fields = [
            *("id", "prelabeler", "state", "asked", "detail", "concurrency", "pair_limit", "retries_failed"),
            *("budget", "input_price", "output_price", "currency", "pair_count"),
            *("answered_count", "cached_count", "failed_count", "request_count", "input_tokens"),
            *("output_tokens", "cost", "uncertain_cost", "created_at", "started_at", "finished_at"),
        ]


class PrelabelsSerializer(serializers.Serializer[Any]):
    """The passes of a queue, newest first, the models that were asked, and the servers that may be."""

    passes = PassSerializer(many=True)
    models = shape(ModelRow)(many=True)
    servers = shape(ServerRow, "Server")(many=True)
    not_set_up = serializers.CharField(allow_blank=True, help_text="Why no server can be asked; or empty.")


class PassActionSerializer(serializers.Serializer[Any]):
    """What is to become of a pass; a budget goes with `resume`."""

    action = serializers.ChoiceField(choices=["pause", "resume", "cancel"])
    budget = serializers.DecimalField(**MONEY, **OPTIONAL)


class Prelabels(APIView):
    @answers(PrelabelsSerializer)
    def get(self, request: Request, queue_id: int) -> object:
        """The newest passes, and what each model said, in counts."""
        queue = queue_for(request.user, queue_id, ADMIN)
        body: dict[str, Any] = {
            "passes": passes_of(queue),
            "models": models_of(queue),
            "servers": servers_of(queue, person(request)),
        }
        body["not_set_up"] = not_set_up(body["servers"])
        return body

    @takes(PassRequestSerializer, gives=PassSerializer, status=202)
    def post(self, request: Request, queue_id: int) -> object:
        """Start a pass in the background."""
        queue = queue_for(request.user, queue_id, ADMIN)
        prelabeler, options = _pass_request(queue, request)
        job = start_pass(queue, prelabeler, options, by=person(request))
        job.refresh_from_db()
        return job


class PrelabelEstimate(APIView):
    @takes(PassRequestSerializer, gives=shape(Estimate))
    def post(self, request: Request, queue_id: int) -> object:
        """What a pass would cost; the model is not asked for it."""
        queue = queue_for(request.user, queue_id, ADMIN)
        prelabeler, options = _pass_request(queue, request)
        return estimate(queue, prelabeler, options, reads_all=True)


class PrelabelPass(APIView):
    @answers(PassSerializer)
    def get(self, request: Request, pass_id: int) -> object:
        """How far it is, and what it cost so far."""
        return prelabel_pass_for(request.user, pass_id, ADMIN)

    @takes(PassActionSerializer, gives=PassSerializer)
    def post(self, request: Request, pass_id: int) -> object:
        """Pause, resume or cancel it; what was answered stays."""
        job = prelabel_pass_for(request.user, pass_id, ADMIN)
        body = parsed(PassActionSerializer, request)
        if body["action"] == "resume":
            resume_pass(job, budget=body["budget"], by=person(request))
        else:
            {"pause": pause_pass, "cancel": cancel_pass}[body["action"]](job, by=person(request))
        job.refresh_from_db()
        return job

    @answers()
    def delete(self, request: Request, pass_id: int) -> None:
        """Take imported pre-labels back; 409 for a pass that asked a model, and while a queue uses it."""
        withdraw_prelabels(prelabel_pass_for(request.user, pass_id, ADMIN), by=person(request))


class ModelKeySerializer(serializers.Serializer[dict[str, object]]):
    """A key for a server that this site may use; an empty one takes the stored key away."""

    base_url = serializers.CharField(max_length=1000)
    key = serializers.CharField(allow_blank=True, max_length=500, write_only=True)


class ModelKey(APIView):
    @takes(ModelKeySerializer)
    def put(self, request: Request, queue_id: int) -> None:
        """Keep a key for a server of the collection, encrypted; nobody can read it again."""
        queue = queue_for(request.user, queue_id, ADMIN)
        given = parsed(ModelKeySerializer, request)
        store_key(queue.collection, allowed_url(given["base_url"]), given["key"], by=person(request))


class PrelabelsDownload(APIView):
    content_negotiation_class = OneKind

    @extend_schema(
        parameters=[
            OpenApiParameter("prelabeler", int, required=True),
            OpenApiParameter("format", str, enum=list(FORMATS), default="csv"),
        ],
        responses=FILE,
    )
    def get(self, request: Request, queue_id: int) -> HttpResponseBase:
        """Download what one model said as a file whose rows name their source."""
        queue = queue_for(request.user, queue_id, ADMIN)
        number = request.query_params.get("prelabeler", "")
        if not (number.isascii() and number.isdigit() and len(number) <= 18):
            raise InputError("Name the prelabeler by its number.", field="prelabeler")
        prelabeler = prelabeler_for_queue(queue, int(number))
        format = request.query_params.get("format") or "csv"
        content = export_prelabels(queue, prelabeler, format)
        return attachment(
            content, prelabels_file_name(queue, prelabeler, format), formats()[format].media_type
        )


def _pass_request(queue: Queue, request: Request) -> tuple[Prelabeler, PassOptions]:
    body = parsed(PassRequestSerializer, request)
    names = ("model", "prompt", "threshold")
    prelabeler = prelabeler_for(
        queue.collection,
        base_url=allowed_url(body["base_url"]),
        by=person(request),
        **{name: body[name] for name in names},
    )
    prices = None if body["input_price"] is None else Prices(body["input_price"], body["output_price"])
    options = ("concurrency", "limit", "budget", "retries_failed")
    return prelabeler, PassOptions(prices=prices, **{name: body[name] for name in options})
