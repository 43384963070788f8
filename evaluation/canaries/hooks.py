"""Webhooks of a collection: made, changed and tested, and what they hear of."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from evaluation.canaries.deliveries import announce, hooks_for
from evaluation.canaries.webhooks import BASE64_SECRET, problem_of
from evaluation.models import CanaryDelivery, Report, Webhook
from labeling.models import Item, QrelsRelease, Queue
from pooling.engines.connections import host_of
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.activity_log import record_action
from pooling.storage.secrets import seal

MOST_HOOKS = 20
SECRET_BYTES = 32
Event = Webhook.Event
TEST = "webhook.test"


def create_hook(
    collection: Collection, url: str, events: Sequence[str], *, by: User | None, site: str
) -> tuple[Webhook, str]:
    """A webhook and its secret, shown this once; `InputError` for an address or an event that is none."""
    checked_url, checked_events = _checked_url(url), _checked_events(events)
    if collection.webhooks.count() >= MOST_HOOKS:
        raise InputError(f"A collection has at most {MOST_HOOKS} webhooks. Remove one first.")
    secret = BASE64_SECRET + b64encode(os.urandom(SECRET_BYTES)).decode()
    with transaction.atomic():
        hook = Webhook.objects.create(
            collection=collection,
            url=checked_url,
            events=checked_events,
            sealed_secret=seal(secret),
            site=site.rstrip("/"),
            created_by=by,
        )
        record_action(collection, by, "webhook created", host_of(checked_url), events=checked_events)
    return hook, secret


@transaction.atomic
def change_hook(
    hook: Webhook, *, url: str | None = None, events: Sequence[str] | None = None, by: User | None
) -> Webhook:
    """Give a webhook another address or other events; the secret stays."""
    hook.url = hook.url if url is None else _checked_url(url)
    hook.events = hook.events if events is None else _checked_events(events)
    hook.save(update_fields=["url", "events"])
    record_action(hook.collection, by, "webhook changed", host_of(hook.url), events=hook.events)
    return hook


@transaction.atomic
def remove_hook(hook: Webhook, *, by: User | None) -> None:
    """End a webhook; its deliveries go with it."""
    record_action(hook.collection, by, "webhook removed", host_of(hook.url))
    hook.delete()


def test_hook(hook: Webhook) -> CanaryDelivery:
    (sent,) = announce([hook], TEST, {"collection": hook.collection.slug})
    return sent


def tell_of_release(release: QrelsRelease) -> None:
    data = {
        "id": release.pk,
        "name": release.name,
        "rule": release.rule,
        "pairs": release.pair_count,
        "relevant": release.relevant_count,
        "queries": release.query_count,
        "sha256": release.sha256,
    }
    _tell(release.collection, Event.RELEASE_MADE, data, release.get_absolute_url())


def tell_of_report(report: Report) -> None:
    data = {"id": report.pk, "name": report.name, "release": report.release.name}
    _tell(report.collection, Event.REPORT_MADE, data, report.get_absolute_url())


def tell_of_queue(queue: Queue) -> None:
    """Tell that no pair of a queue is left to judge, where that is so: once for each size of the queue."""
    collection = queue.collection
    if not hooks_for(collection, Event.QUEUE_FINISHED):
        return  # with one statement, of a claim that found nothing
    items = queue.items.filter(order_key__gt=0).exclude(state=Item.State.WITHDRAWN)
    if items.filter(state=Item.State.OPEN).exists():
        return
    pairs = items.count()
    data = {"id": queue.pk, "name": queue.name, "pairs": pairs}
    subject = f"queue {queue.pk} of {pairs}"
    _tell(collection, Event.QUEUE_FINISHED, data, queue.get_absolute_url(), subject=subject)


def _tell(
    collection: Collection, event: Webhook.Event, thing: dict[str, object], url: str, *, subject: str = ""
) -> None:
    noun = event.value.partition(".")[0]
    for hook in hooks_for(collection, event):
        content = {"collection": collection.slug, noun: {**thing, "url": f"{hook.site}{url}"}}
        announce([hook], event, content, subject=subject)


def _checked_url(url: str) -> str:
    url = url.strip()
    if problem := problem_of(url, settings.WEBHOOK_PRIVATE_NETWORKS):
        raise InputError(problem, field="url")
    return url


def _checked_events(events: Sequence[str]) -> list[str]:
    unknown = [event for event in events if event not in Event.values]
    if unknown or not events:
        raise InputError(f"Choose from {', '.join(Event.values)}.", field="events")
    return [str(event) for event in Event.values if event in events]
