"""Webhooks of a collection: what they are told of, once each, signed, and who may see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.canaries.alerts import News
from evaluation.canaries.deliveries import tell
from evaluation.canaries.webhooks import signature
from evaluation.models import CanaryDelivery, Webhook
from labeling.judging.leases import claim
from tests.evaluation.canary_cast import LOOPBACK, Receiver, import_with_recall, make_canary, receiving
from tests.evaluation.cast import make_release, make_report
from tests.labeling.helpers import judge, make_queue
from tests.world import World

Capture = DjangoCaptureOnCommitCallbacks
HOOKS = "/api/collections/harbour/webhooks/"
EVERY = list(Webhook.Event.values)


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_NETWORKS = LOOPBACK
    with receiving() as received:
        yield received


@pytest.fixture
def http(world: World, client: Client) -> Client:
    client.force_login(world.ada)
    return client


def make_hook(http: Client, url: str, events: list[str] | None = None) -> dict[str, Any]:
    made = http.post(HOOKS, {"url": url, "events": events or EVERY}, content_type="application/json")
    assert made.status_code == 201, made.content
    return dict(made.json())


def told(receiver: Receiver) -> list[str]:
    return [body["type"] for body in receiver.bodies]


def test_the_secret_is_shown_once_and_signs_what_arrives(
    http: Client, receiver: Receiver, django_capture_on_commit_callbacks: Capture
) -> None:
    hook = make_hook(http, receiver.url)
    assert hook["secret"].startswith("whsec_")
    assert "secret" not in http.get(HOOKS).json()[0]
    assert hook["secret"] not in Webhook.objects.get().sealed_secret
    with django_capture_on_commit_callbacks(execute=True):
        assert http.post(f"/api/webhooks/{hook['id']}/test/").status_code == 202
    ((headers, body),) = receiver.raw
    signed = signature(hook["secret"], headers["webhook-id"], headers["webhook-timestamp"], body)
    assert headers["webhook-signature"] == signed
    (delivery,) = http.get(f"/api/webhooks/{hook['id']}/deliveries/").json()
    assert (delivery["event"], delivery["state"], delivery["tries"]) == ("webhook.test", "sent", 1)
    assert http.post(f"/api/webhooks/{hook['id']}/deliveries/{delivery['id']}/again/").status_code == 409


def test_a_webhooks_page_asks_again_until_its_messages_were_tried(
    http: Client, receiver: Receiver, django_capture_on_commit_callbacks: Capture
) -> None:
    page = f"/webhooks/{make_hook(http, receiver.url)['id']}/"
    again = 'hx-trigger="every 2s"'
    assert again not in http.get(page).content.decode()
    with django_capture_on_commit_callbacks(execute=False) as sending:
        assert http.post(f"{page}test/").status_code == 302
    assert again in http.get(page).content.decode()
    for send in sending:
        send()
    sent = http.get(page).content.decode()
    assert (again in sent, "delivered" in sent) == (False, True)


def test_releases_and_reports_are_told_with_their_addresses(
    world: World, http: Client, receiver: Receiver, django_capture_on_commit_callbacks: Capture
) -> None:
    make_hook(http, receiver.url)
    with django_capture_on_commit_callbacks(execute=True):
        release = make_release(world)
        report = make_report(world)
    assert told(receiver) == ["release.made", "report.made"]
    data = receiver.bodies[0]["data"]
    assert (data["collection"], data["release"]["sha256"]) == ("harbour", release.sha256)
    assert receiver.bodies[1]["data"]["report"]["url"] == f"http://testserver{report.get_absolute_url()}"


def test_a_finished_queue_is_told_once(
    world: World, http: Client, receiver: Receiver, django_capture_on_commit_callbacks: Capture
) -> None:
    make_hook(http, receiver.url)
    queue = make_queue(world, pairs=2)
    with django_capture_on_commit_callbacks(execute=True):
        claim(queue, world.ben, 1)
        for item in queue.items.all():
            judge(queue, world.ben, item.pk)
        for annotator in (world.ben, world.cleo):
            claim(queue, annotator, 1)
    assert told(receiver) == ["queue.finished"]
    assert receiver.bodies[0]["data"]["queue"]["pairs"] == 2


def test_a_queue_with_pairs_left_for_others_is_not_finished(
    world: World, http: Client, receiver: Receiver, django_capture_on_commit_callbacks: Capture
) -> None:
    make_hook(http, receiver.url)
    queue = make_queue(world, needed=2, pairs=2)
    with django_capture_on_commit_callbacks(execute=True):
        for item in queue.items.all():
            judge(queue, world.ben, item.pk)
        claim(queue, world.ben, 1)
    assert told(receiver) == []


def test_a_canary_that_falls_is_told_beside_its_own_receivers(
    world: World, http: Client, receiver: Receiver, django_capture_on_commit_callbacks: Capture
) -> None:
    canary = make_canary(world)
    import_with_recall(world, "dense-v1", 2)
    value = canary.values.first() or _measured(canary)
    make_hook(http, receiver.url, ["canary.fell"])
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(2):  # what was told is not told again
            tell([News(canary, value, ("below",))])
    assert told(receiver) == ["canary.fell"]
    about = receiver.bodies[0]["data"]["canary"]
    assert about["name"] == "nightly"
    # A command made it, which knows no address of the site; the webhook was made on a page of it.
    assert about["url"] == f"http://testserver/canaries/{canary.pk}/"


def _measured(canary: Any) -> Any:
    from evaluation.models import CanaryValue

    run = canary.collection.runs.get()
    return CanaryValue.objects.create(
        canary=canary, stretch=canary.stretches.get(), run=run, family="dense", mean=0.1, queries=20
    )


def test_a_webhook_hears_only_what_it_asked_for(
    world: World, http: Client, receiver: Receiver, django_capture_on_commit_callbacks: Capture
) -> None:
    hook = make_hook(http, receiver.url, ["report.made"])
    changed = http.patch(
        f"/api/webhooks/{hook['id']}/", {"events": ["canary.fell"]}, content_type="application/json"
    )
    assert changed.json()["events"] == ["canary.fell"]
    with django_capture_on_commit_callbacks(execute=True):
        make_release(world)
    assert http.delete(f"/api/webhooks/{hook['id']}/").status_code == 204
    assert CanaryDelivery.objects.count() == len(receiver.bodies) == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "ftp://hooks.example.org", "events": EVERY}, "url"),
        ({"url": "http://10.0.0.1/x", "events": EVERY}, "url"),
        ({"url": "https://hooks.example.org", "events": []}, "events"),
        ({"url": "https://hooks.example.org", "events": ["coffee.made"]}, "events"),
    ],
)
def test_what_cannot_be_a_webhook_is_refused_by_name(http: Client, body: dict[str, Any], field: str) -> None:
    refused = http.post(HOOKS, body, content_type="application/json")
    assert refused.status_code == 400
    assert list(refused.json()["fields"]) == [field]
