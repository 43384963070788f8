"""Webhooks of a collection, over HTTP, for its admins."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from evaluation.access import webhook_for
from evaluation.canaries import hooks
from evaluation.canaries.deliveries import send_again
from evaluation.models import CanaryDelivery, Webhook
from pooling.interface.api import answers, parsed, person, takes
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


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
    @lists(WebhookSerializer, operation_id="webhooks_list")
    def get(self, request: Request, slug: str) -> Rows:
        """List them, without their secrets."""
        collection = collection_for(request.user, slug, ADMIN)
        return collection.webhooks.all()

    @takes(WebhookSerializer, gives=WebhookSerializer, status=201, operation_id="webhooks_create")
    def post(self, request: Request, slug: str) -> object:
        """Have an address told of events; the answer has the secret, this one time."""
        collection = collection_for(request.user, slug, ADMIN)
        given = parsed(WebhookSerializer, request)
        site = request.build_absolute_uri("/")
        hook, secret = hooks.create_hook(
            collection, given["url"], given["events"], by=person(request), site=site
        )
        hook.secret = secret  # type: ignore[attr-defined]
        return hook


class OneWebhook(APIView):
    @takes(WebhookChangeSerializer, gives=WebhookSerializer, operation_id="webhooks_partial_update")
    def patch(self, request: Request, webhook_id: int) -> object:
        """Change its address or what it hears of; the secret stays."""
        hook = webhook_for(request.user, webhook_id)
        changes = parsed(WebhookChangeSerializer, request)
        return hooks.change_hook(hook, by=person(request), **changes)

    @answers(operation_id="webhooks_destroy")
    def delete(self, request: Request, webhook_id: int) -> None:
        """Remove it."""
        hooks.remove_hook(webhook_for(request.user, webhook_id), by=person(request))


class WebhookTest(APIView):
    @answers(WebhookDeliverySerializer, status=202, operation_id="webhooks_test")
    def post(self, request: Request, webhook_id: int) -> object:
        """Send a test message; `webhooks_deliveries_list` tells what became of it."""
        return hooks.test_hook(webhook_for(request.user, webhook_id))


class WebhookDeliveries(APIView):
    @lists(WebhookDeliverySerializer, operation_id="webhooks_deliveries_list")
    def get(self, request: Request, webhook_id: int) -> Rows:
        """List them, newest first."""
        return webhook_for(request.user, webhook_id).deliveries.all()


class WebhookDeliveryAgain(APIView):
    @answers(WebhookDeliverySerializer, status=202, operation_id="webhooks_deliveries_again")
    def post(self, request: Request, webhook_id: int, delivery_id: int) -> object:
        """Try a message that has not arrived again at once, and for another day."""
        delivery = fetch(webhook_for(request.user, webhook_id).deliveries.all(), pk=delivery_id)
        send_again(delivery)
        delivery.refresh_from_db()
        return delivery
