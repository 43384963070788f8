from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from evaluation.access import webhook_for
from evaluation.canaries import hooks
from evaluation.canaries.deliveries import send_again
from evaluation.canaries.forms import WebhookForm
from evaluation.canaries.lists import DELIVERIES, WEBHOOKS, with_newest_message
from evaluation.models import CanaryDelivery, Webhook
from pooling.engines.connections import host_of
from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on_with, made_once, secret_page, to_list
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.tables.answers import answer
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


@login_required
@require_safe
def webhooks(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, ADMIN)
    table = WEBHOOKS.shown(request, with_newest_message(collection.webhooks.all()), collection)
    context = {"collection": collection, "section": "webhooks", "table": table}
    return answer(request, "evaluation/webhooks.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def webhook_new(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for a new webhook; the page after it shows its secret, this one time."""
    collection = collection_for(request.user, slug, ADMIN)
    form = WebhookForm(request.POST or None)
    context = {"collection": collection, "section": "webhooks", "form": form}
    if request.method == "POST" and form.is_valid():
        site = request.build_absolute_uri("/")
        try:
            hook, secret = hooks.create_hook(collection, **form.cleaned_data, by=person(request), site=site)
            return go_on_with(request, {"hook": hook.pk, "secret": secret})
        except InputError as error:
            show_problem(form, error)
    made = made_once(request)
    if made:
        hook = fetch(collection.webhooks.all(), pk=made["hook"])
        return secret_page(request, "evaluation/webhook_made.html", {**context, **made, "hook": hook})
    return render(request, "evaluation/webhook_new.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: HttpRequest, webhook_id: int) -> HttpResponseBase:
    """One webhook: the messages to it and what became of them; POST changes its address or events."""
    hook = webhook_for(request.user, webhook_id)
    form = WebhookForm(request.POST or None, initial={"url": hook.url, "events": hook.events})
    if request.method == "POST" and form.is_valid():
        try:
            hooks.change_hook(hook, **form.cleaned_data, by=person(request))
            messages.success(request, "Changed. The secret stays.")
            return redirect("webhook", hook.pk)
        except InputError as error:
            show_problem(form, error)
            hook.refresh_from_db(fields=["url", "events"])
    table = DELIVERIES.shown(request, hook.deliveries.all(), hook.collection)
    context = {
        "collection": hook.collection,
        "section": "webhooks",
        "hook": hook,
        "host": host_of(hook.url),
        "form": form,
        "table": table,
        "is_sending": any(one.is_under_way for one in table.page.object_list),
    }
    return answer(request, "evaluation/webhook.html", context)


@login_required
@require_POST
def webhook_test(request: HttpRequest, webhook_id: int) -> HttpResponse:
    hook = webhook_for(request.user, webhook_id)
    hooks.test_hook(hook)
    messages.success(request, "A test message is being sent; see the list below.")
    return redirect("webhook", hook.pk)


@login_required
@require_POST
def webhook_remove(request: HttpRequest, webhook_id: int) -> HttpResponse:
    hook = webhook_for(request.user, webhook_id)
    hooks.remove_hook(hook, by=person(request))
    messages.success(request, f"Removed the webhook to {host_of(hook.url)}.")
    return redirect("webhooks", hook.collection.slug)


@login_required
@require_POST
def webhook_delivery_again(request: HttpRequest, webhook_id: int, delivery_id: int) -> HttpResponse:
    hook = webhook_for(request.user, webhook_id)
    try:
        send_again(fetch(hook.deliveries.all(), pk=delivery_id))
        messages.success(request, "Sending it again.")
    except InputError as error:
        messages.error(request, str(error))
    return to_list(request, "webhook", hook.pk)
