"""Mails about canaries are within the one limit of all mails: by sender, and by receiver."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.canaries.alerts import News
from evaluation.canaries.deliveries import resume_messages, send_again, tell
from evaluation.canaries.watching import Alerts
from evaluation.models import CanaryDelivery
from pooling.account_models import Letter
from pooling.people.letters import MOST_TO_ONE
from soundings.accounts.limits import limits_of
from tests.evaluation.canary_cast import make_canary
from tests.world import World

Capture = DjangoCaptureOnCommitCallbacks
STRANGERS = [f"stranger-{number}@example.org" for number in range(8)]


@pytest.fixture(autouse=True)
def _with_mail(world: World, settings: Settings) -> None:
    settings.SENDS_MAIL, settings.LETTERS_PER_HOUR = True, 20


@pytest.fixture
def capture(django_capture_on_commit_callbacks: Capture) -> Capture:
    return django_capture_on_commit_callbacks


def an_hour_later(capture: Capture) -> None:
    """The hour is over, for limits and for what waits."""
    Letter.objects.update(at=timezone.now() - timedelta(hours=1, seconds=1))
    CanaryDelivery.objects.filter(state="waiting").update(next_try_at=timezone.now())
    with capture(execute=True):
        resume_messages()


@pytest.mark.parametrize("by", ["page", "call"])
def test_tests_of_a_canary_write_few_mails_to_strangers(
    world: World, client: Client, capture: Capture, by: str
) -> None:
    canary = make_canary(world, Alerts(0.7, mail_to=STRANGERS))
    client.force_login(world.ada)
    address = f"/canaries/{canary.pk}/test/" if by == "page" else f"/api/canaries/{canary.pk}/test/"
    for _ in range(10):
        with capture(execute=True):
            answer = client.post(address)
    if by == "call":
        assert (answer.status_code, "waiting to be sent" in answer.json()["detail"]) == (400, True)
    else:
        assert "waiting to be sent" in client.get(canary.get_absolute_url()).content.decode()
    sent = Counter(letter.to[0] for letter in mail.outbox)
    assert sum(sent.values()) == 20
    assert max(sent.values()) <= MOST_TO_ONE
    assert {limit.of.value: limit.left for limit in limits_of(world.ada)}["letters"] == 0


def test_news_that_are_too_many_come_when_the_hour_is_over(
    world: World, client: Client, capture: Capture
) -> None:
    canary = make_canary(world, Alerts(0.7, mail_to=["ops@example.org"]))
    for _ in range(MOST_TO_ONE + 2):
        with capture(execute=True):
            tell([News(canary)])
    assert len(mail.outbox) == MOST_TO_ONE
    client.force_login(world.ada)
    page = client.get(canary.get_absolute_url()).content.decode()
    assert page.count("Too many mails in this hour") == page.count("not delivered yet") == 2
    # Asking for one at once does not get around it.
    with capture(execute=True):
        send_again(CanaryDelivery.objects.filter(state="waiting")[0])
    assert len(mail.outbox) == MOST_TO_ONE
    an_hour_later(capture)
    assert len(mail.outbox) == MOST_TO_ONE + 2
    assert set(CanaryDelivery.objects.values_list("state", flat=True)) == {"sent"}


def test_news_that_are_too_many_for_a_day_are_given_up(world: World, capture: Capture) -> None:
    canary = make_canary(world, Alerts(0.7, mail_to=["ops@example.org"]))
    for _ in range(MOST_TO_ONE + 1):
        with capture(execute=True):
            tell([News(canary)])
    CanaryDelivery.objects.filter(state="waiting").update(
        give_up_at=timezone.now(), next_try_at=timezone.now()
    )
    with capture(execute=True):
        resume_messages()
    assert len(mail.outbox) == MOST_TO_ONE
    assert CanaryDelivery.objects.filter(state="failed").count() == 1


def test_mail_that_the_server_refused_counts_once(world: World, capture: Capture, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "tests.evaluation.canaries.test_deliveries.Failing"
    canary = make_canary(world, Alerts(0.7, mail_to=["ops@example.org"]))
    with capture(execute=True):
        tell([News(canary)])
    for _ in range(MOST_TO_ONE + 1):
        CanaryDelivery.objects.update(next_try_at=timezone.now())
        with capture(execute=True):
            resume_messages()
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    CanaryDelivery.objects.update(next_try_at=timezone.now())
    with capture(execute=True):
        resume_messages()
    assert len(mail.outbox) == 1


def test_news_of_canaries_keep_nobody_from_a_new_password(
    world: World, client: Client, capture: Capture
) -> None:
    world.ben.email = "ben@example.org"
    world.ben.save()
    canary = make_canary(world, Alerts(0.7, mail_to=[world.ben.email]))
    for _ in range(MOST_TO_ONE + 1):
        with capture(execute=True):
            tell([News(canary)])
    with capture(execute=True):
        client.post("/password/forgotten/", {"email": world.ben.email})
    assert mail.outbox[-1].subject == "A new password for Soundings"
