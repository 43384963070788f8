"""The pages of webhooks: for admins alone, a secret shown once, and what became of each message."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks as Capture
from pytest_django import Settings

from evaluation.canaries.hooks import create_hook
from evaluation.models import CanaryDelivery, Webhook
from tests.evaluation.canary_cast import LOOPBACK, Receiver, receiving
from tests.world import World

LIST = "/collections/harbour/webhooks/"
RELEASE = ["release.made"]


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_NETWORKS = LOOPBACK
    with receiving() as received:
        yield received


@pytest.fixture
def pages(world: World, client: Client) -> Client:
    client.force_login(world.ada)
    return client


def make_hook(world: World, url: str = "https://hooks.example.org/soundings") -> Webhook:
    return create_hook(world.collection, url, RELEASE, by=world.ada, site="https://site.example.org/")[0]


def test_the_secret_is_on_the_page_that_adds_a_webhook_and_on_no_other(world: World, pages: Client) -> None:
    given = {"url": "https://hooks.example.org/soundings", "events": RELEASE}
    made = pages.post(f"{LIST}new/", given, follow=True).content.decode()
    hook = Webhook.objects.get()
    assert (hook.url, hook.events, hook.site) == (given["url"], RELEASE, "http://testserver")
    assert 'value="whsec_' in made
    for address in (LIST, f"/webhooks/{hook.pk}/"):
        page = pages.get(address).content.decode()
        assert "https://hooks.example.org/soundings" in page
        assert "whsec_" not in page


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"url": "hooks.example.org", "events": RELEASE}, "must begin with https:// or http://"),
        ({"url": "https://me:secret@hooks.example.org", "events": RELEASE}, "a user name or password"),
        ({"url": "https://hooks.example.org", "events": []}, "This field is required."),
        ({"url": "https://hooks.example.org", "events": ["all"]}, "Select a valid choice."),
    ],
)
def test_what_is_wrong_is_told_at_its_field(
    world: World, pages: Client, given: dict[str, object], told: str
) -> None:
    hook = make_hook(world)
    for address in (f"{LIST}new/", f"/webhooks/{hook.pk}/"):
        assert told in pages.post(address, given).content.decode()
    assert list(Webhook.objects.values_list("url", "events")) == [(hook.url, RELEASE)]


def test_a_test_is_listed_with_its_outcome_and_sent_again_until_it_arrives(
    world: World, pages: Client, receiver: Receiver, django_capture_on_commit_callbacks: Capture
) -> None:
    hook = make_hook(world, "http://127.0.0.1:1/nobody")
    page = f"/webhooks/{hook.pk}/"
    with django_capture_on_commit_callbacks(execute=True):
        pages.post(f"{page}test/")
    sent = hook.deliveries.get()
    assert sent.state != "sent"
    assert "not delivered yet" in pages.get(LIST).content.decode()
    again = f"{page}messages/{sent.pk}/again/"
    assert again in pages.get(page).content.decode()
    pages.post(page, {"url": receiver.url, "events": RELEASE})
    with django_capture_on_commit_callbacks(execute=False) as sending:
        under_way = pages.post(again, follow=True).content.decode()
    assert 'hx-trigger="every 2s"' in under_way
    assert "not delivered yet" not in under_way
    for send in sending:
        send()
    assert [body["type"] for body in receiver.bodies] == ["webhook.test"]
    shown = pages.get(page).content.decode()
    assert "delivered" in shown
    assert 'hx-trigger="every 2s"' not in shown
    assert again not in shown
    assert "has been delivered" in pages.post(again, follow=True).content.decode()


def test_a_message_of_another_webhook_is_not_found(world: World, pages: Client) -> None:
    one, other = make_hook(world), make_hook(world)
    pages.post(f"/webhooks/{one.pk}/test/")
    sent = one.deliveries.get()
    assert pages.post(f"/webhooks/{other.pk}/messages/{sent.pk}/again/").status_code == 404


def test_a_removed_webhook_is_gone_with_its_messages(world: World, pages: Client) -> None:
    hook = make_hook(world)
    pages.post(f"/webhooks/{hook.pk}/test/")
    said = pages.post(f"/webhooks/{hook.pk}/remove/", follow=True).content.decode()
    assert "Removed the webhook to hooks.example.org." in said
    assert "No webhooks yet." in said
    assert not CanaryDelivery.objects.exists()
