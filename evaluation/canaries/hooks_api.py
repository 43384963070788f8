"""Webhooks of a collection, over HTTP, for its admins."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.access import webhook_for
from evaluation.canaries import hooks
from evaluation.canaries.deliveries import send_again
from evaluation.models import CanaryDelivery, Webhook
from pooling.interface.api import PROBLEM, parsed, person
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.tables.calls import listed, lists


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A webhook; `secret` is only in the answer that makes it."""

    url = serializers.CharField(max_length=1000)
    events = serializers.ListField(child=serializers.ChoiceField(choices=Webhook.Event.choices))
    secret = serializers.CharField(read_only=True, required=False)

    class Meta:
        model = Webhook
        fields = ["id", "url", "events", "secret", "created_at"]
        read_only_fields = ["created_at"]


class WebhookChangeSerializer(serializers.Serializer[dict[str, Any]]):
    """What is changed about a webhook; what is left out stays."""

    url = serializers.CharField(max_length=1000, required=False)
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=Webhook.Event.choices), required=False
    )


class WebhookDeliverySerializer(serializers.ModelSerializer[CanaryDelivery]):
    """A message to a webhook, and what became of it."""

    event = serializers.CharField(source="body.type")

    class Meta:
        model = CanaryDelivery
        fields = [
            *("id", "event", "receiver", "state", "tries", "detail"),
            *("created_at", "next_try_at", "ended_at"),
        ]


class Webhooks(APIView):
    """The webhooks of a collection."""

    @lists(WebhookSerializer, operation_id="webhooks_list", responses={403: PROBLEM})
    def get(self, request: Request, slug: str) -> Response:
        """List them, without their secrets."""
        collection = collection_for(request.user, slug, ADMIN)
        return listed(request, collection.webhooks.all(), WebhookSerializer)

    @extend_schema(
        operation_id="webhooks_create",
        request=WebhookSerializer,
        responses={201: WebhookSerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Have an address told of events; the answer has the secret, this one time."""
        collection = collection_for(request.user, slug, ADMIN)
        given = parsed(WebhookSerializer, request)
        site = request.build_absolute_uri("/")
        hook, secret = hooks.create_hook(
            collection, given["url"], given["events"], by=person(request), site=site
        )
        hook.secret = secret  # type: ignore[attr-defined]
        return Response(WebhookSerializer(hook).data, status=status.HTTP_201_CREATED)


class OneWebhook(APIView):
    """One webhook."""

    @extend_schema(
        operation_id="webhooks_partial_update",
        request=WebhookChangeSerializer,
        responses={200: WebhookSerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM},
    )
    def patch(self, request: Request, webhook_id: int) -> Response:
        """Change its address or what it hears of; the secret stays."""
        hook = webhook_for(request.user, webhook_id)
        changes = parsed(WebhookChangeSerializer, request)
        return Response(WebhookSerializer(hooks.change_hook(hook, by=person(request), **changes)).data)

    @extend_schema(operation_id="webhooks_destroy", responses={204: None, 403: PROBLEM, 404: PROBLEM})
    def delete(self, request: Request, webhook_id: int) -> Response:
        """Remove it."""
        hooks.remove_hook(webhook_for(request.user, webhook_id), by=person(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookTest(APIView):
    """A test of a webhook."""

    @extend_schema(
        operation_id="webhooks_test",
        request=None,
        responses={202: WebhookDeliverySerializer, 403: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, webhook_id: int) -> Response:
        """Send a test message; `webhooks_deliveries_list` tells what became of it."""
        sent = hooks.test_hook(webhook_for(request.user, webhook_id))
        return Response(WebhookDeliverySerializer(sent).data, status=status.HTTP_202_ACCEPTED)


class WebhookDeliveries(APIView):
    """The messages to a webhook."""

    @lists(WebhookDeliverySerializer, operation_id="webhooks_deliveries_list", responses={403: PROBLEM})
    def get(self, request: Request, webhook_id: int) -> Response:
        """List them, newest first."""
        rows = webhook_for(request.user, webhook_id).deliveries.all()
        return listed(request, rows, WebhookDeliverySerializer)


class WebhookDeliveryAgain(APIView):
    """A message sent again."""

    @extend_schema(
        operation_id="webhooks_deliveries_again",
        request=None,
        responses={202: WebhookDeliverySerializer, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM},
    )
    def post(self, request: Request, webhook_id: int, delivery_id: int) -> Response:
        """Try a message that has not arrived again at once, and for another day."""
        delivery = fetch(webhook_for(request.user, webhook_id).deliveries.all(), pk=delivery_id)
        send_again(delivery)
        delivery.refresh_from_db()
        return Response(WebhookDeliverySerializer(delivery).data, status=status.HTTP_202_ACCEPTED)
