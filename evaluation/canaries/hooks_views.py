"""The pages of a collection's webhooks, for its admins: the list, a new one, and one with its messages."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.access import webhook_for
from evaluation.canaries import hooks
from evaluation.canaries.deliveries import send_again
from evaluation.canaries.forms import WebhookForm
from evaluation.canaries.lists import DELIVERIES, WEBHOOKS, with_newest_message
from pooling.engines.connections import host_of
from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on_with, made_once, person, secret_page
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.tables.answers import answer


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
    context = {
        "collection": hook.collection,
        "section": "webhooks",
        "hook": hook,
        "host": host_of(hook.url),
        "form": form,
        "table": DELIVERIES.shown(request, hook.deliveries.all(), hook.collection),
    }
    return answer(request, "evaluation/webhook.html", context)


@login_required
@require_POST
def webhook_test(request: HttpRequest, webhook_id: int) -> HttpResponse:
    hook = webhook_for(request.user, webhook_id)
    hooks.test_hook(hook)
    messages.success(request, "A test message is being sent. Refresh this page to see what became of it.")
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
    return redirect("webhook", hook.pk)
