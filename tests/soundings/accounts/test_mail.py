"""Letters: sent by the worker, so many in an hour, and nobody learns from them who has an account."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from django.utils.module_loading import import_string
from pytest_django import Settings

import soundings.accounts.mail
from docs.rooms import ROOT
from pooling.account_models import Letter
from pooling.people.letters import MOST_TO_ONE
from tests.world import World

INVITE = "/collections/harbour/invitations/"


@pytest.fixture(autouse=True)
def _with_mail(world: World, settings: Settings) -> None:
    settings.SENDS_MAIL = True
    world.ben.email = "ben@example.org"
    world.ben.save()


def forgot(email: str, address: str = "192.0.2.1") -> str:
    client = Client(REMOTE_ADDR=address)
    return client.post("/password/forgotten/", {"email": email}, follow=True).content.decode()


def an_hour_later() -> None:
    Letter.objects.update(at=timezone.now() - timedelta(hours=1, seconds=1))


def test_whatever_sends_mail_asks_for_the_limit() -> None:
    senders = [
        path.relative_to(ROOT).as_posix()
        for stage in ("pooling", "labeling", "evaluation", "soundings")
        for path in (ROOT / stage).rglob("*.py")
        if "send_mail(" in path.read_text(encoding="utf-8")
    ]
    assert sorted(senders) == ["evaluation/canaries/deliveries.py", "soundings/accounts/mail.py"]
    assert all("may_send(" in (ROOT / name).read_text(encoding="utf-8") for name in senders)


@pytest.mark.parametrize("name", ["send_password_letter", "send_invitation_letter"])
def test_a_letter_that_was_waiting_while_the_site_was_updated_is_sent(name: str) -> None:
    assert import_string(f"soundings.mail.{name}") is getattr(soundings.accounts.mail, name)


def test_one_receiver_gets_so_many_letters_an_hour_and_nobody_sees_the_difference(world: World) -> None:
    answers = {
        forgot(email, address=f"192.0.2.{number}").replace(email, "")
        for number in range(MOST_TO_ONE + 2)
        for email in ("ben@example.org", "BEN@example.org", "nobody@example.org")
    }
    assert len({answer.partition("csrfmiddlewaretoken")[0] for answer in answers}) == 1
    assert len(mail.outbox) == MOST_TO_ONE
    an_hour_later()
    forgot("ben@example.org")
    assert len(mail.outbox) == MOST_TO_ONE + 1


def test_one_address_causes_so_many_letters_an_hour(world: World, settings: Settings) -> None:
    settings.LETTERS_PER_HOUR = 2
    for number in range(2):
        forgot(f"nobody-{number}@example.org")
    forgot("ben@example.org")
    assert mail.outbox == []
    forgot("ben@example.org", address="192.0.2.2")
    assert len(mail.outbox) == 1


def test_one_account_has_so_many_invitations_mailed_an_hour(
    world: World, client: Client, settings: Settings
) -> None:
    settings.LETTERS_PER_HOUR = 2
    client.force_login(world.ada)
    pages = [
        client.post(
            INVITE, {"role": "viewer", "days": 3, "email": f"eve-{number}@example.org"}, follow=True
        ).content.decode()
        for number in range(3)
    ]
    assert [("being emailed" in page, "hourly limit" in page) for page in pages] == [
        (True, False),
        (True, False),
        (False, True),
    ]
    assert [letter.to for letter in mail.outbox] == [["eve-0@example.org"], ["eve-1@example.org"]]


@pytest.mark.django_db(transaction=True)
def test_letters_wait_for_the_worker_and_betray_no_link_meanwhile(
    world: World, client: Client, settings: Settings
) -> None:
    from django_tasks_db.models import DBTaskResult

    settings.TASKS = {"default": settings.TASKS["default"] | {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    client.force_login(world.ada)
    page = client.post(
        INVITE, {"role": "viewer", "days": 3, "email": "eve@example.org"}, follow=True
    ).content.decode()
    forgot("ben@example.org")
    forgot("nobody@example.org")
    link = page.partition('value="http://testserver')[2].partition('"')[0]
    waiting: list[Any] = list(DBTaskResult.objects.values())
    assert mail.outbox == []
    assert len(waiting) == 3
    assert link.startswith("/invitations/")
    assert link.strip("/").rpartition("/")[2] not in str(waiting)
