"""Messages of canaries: told means delivered, for a day, without holding up the worker or one another."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.canaries import deliveries
from evaluation.canaries.alerts import News
from evaluation.canaries.deliveries import (
    KEPT_UP,
    pause_after,
    resume_messages,
    send_again,
    send_messages,
    tell,
)
from evaluation.canaries.watching import Alerts, change_alerts
from evaluation.canaries.webhooks import post_signed
from evaluation.models import Canary, CanaryDelivery
from pooling.interface.problems import InputError
from pooling.tidying.doing import delete
from pooling.tidying.erasing import erase
from tests.evaluation.canary_cast import LOOPBACK, SECRET, Receiver, make_canary, receiving
from tests.patience import PATIENCE_SECONDS
from tests.world import World

Capture = DjangoCaptureOnCommitCallbacks


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_NETWORKS = LOOPBACK
    with receiving() as received:
        yield received


@pytest.fixture
def capture(django_capture_on_commit_callbacks: Capture) -> Capture:
    return django_capture_on_commit_callbacks


def told(capture: Capture, *canaries: Canary) -> CanaryDelivery:
    """The one message about these canaries, tried once."""
    with capture(execute=True):
        tell([News(canary) for canary in canaries])
    return CanaryDelivery.objects.get()


def later(capture: Capture, **changes: Any) -> CanaryDelivery:
    """The one message when the time of its next try has come, and the site has been started again."""
    CanaryDelivery.objects.update(next_try_at=timezone.now(), **changes)
    with capture(execute=True):
        resume_messages()
    return CanaryDelivery.objects.get()


def hooked(world: World, url: str, **options: Any) -> Canary:
    return make_canary(world, Alerts(0.7, webhook_url=url, secret=SECRET), **options)


@pytest.mark.parametrize("answer", [500, 429, 404, 302])
def test_what_does_not_arrive_is_tried_again_until_it_does(
    world: World, receiver: Receiver, capture: Capture, answer: int
) -> None:
    receiver.answers[:] = [answer, answer, 204]
    message = told(capture, hooked(world, receiver.url))
    assert (message.state, message.tries) == ("waiting", 1)
    assert message.detail.startswith(f"HTTP {answer}")
    assert message.give_up_at - message.created_at >= KEPT_UP - timedelta(minutes=20)

    assert later(capture).state == "waiting"
    message = later(capture)
    assert (message.state, message.tries, message.detail) == ("sent", 3, "HTTP 204")
    # Each time it is the same message, so that a receiver can tell.
    assert len({headers["webhook-id"] for headers, _ in receiver.raw}) == 1
    later(capture)
    assert len(receiver.bodies) == 3


def test_after_a_day_it_is_given_up_and_can_be_sent_again(
    world: World, receiver: Receiver, capture: Capture
) -> None:
    receiver.answers[:] = [500, 500, 204]
    told(capture, hooked(world, receiver.url))
    message = later(capture, give_up_at=timezone.now())
    assert (message.state, message.detail) == ("failed", "HTTP 500")
    later(capture)
    assert len(receiver.bodies) == 2

    with capture(execute=True):
        send_again(message)
    message.refresh_from_db()
    assert message.state == "sent"
    with pytest.raises(InputError, match="has been delivered"):
        send_again(message)


def test_a_canarys_page_asks_again_until_its_messages_were_tried(
    world: World, client: Client, receiver: Receiver, capture: Capture
) -> None:
    canary, again = hooked(world, receiver.url), b'hx-trigger="every 2s"'
    client.force_login(world.ada)
    with capture(execute=False) as sending:
        client.post(f"/canaries/{canary.pk}/test/")
    assert again in client.get(canary.get_absolute_url()).content
    part = client.get(canary.get_absolute_url(), headers={"HX-Request": "true"}).content
    assert again in part
    assert b"sending" in part
    assert b"<h1" not in part
    for send in sending:
        send()
    assert again not in client.get(canary.get_absolute_url()).content


def test_pauses_grow_and_a_day_has_some_twenty_tries() -> None:
    pauses = [pause_after(tries) for tries in range(1, 30)]
    assert pauses == sorted(pauses)
    tries = next(n for n in range(30) if sum(pauses[:n], timedelta()) > KEPT_UP)
    assert (pauses[0], pauses[-1], tries) == (timedelta(seconds=30), timedelta(hours=2), 19)


def test_the_worker_puts_a_message_back_and_does_not_see_it_before_its_time(
    world: World, receiver: Receiver, capture: Capture, settings: Settings
) -> None:
    settings.TASKS = {"default": settings.TASKS["default"] | {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    receiver.answers[:] = [503]
    hooked(world, receiver.url)
    with capture(execute=True):
        tell([News(Canary.objects.get())])
    first = DBTaskResult.objects.get(task_path__endswith="send_messages")
    with capture(execute=True):
        send_messages.call(*first.args_kwargs["args"])

    message = CanaryDelivery.objects.get()
    put_back = DBTaskResult.objects.exclude(pk=first.pk).get(task_path__endswith="send_messages")
    assert put_back.run_after == message.next_try_at > timezone.now()
    assert not DBTaskResult.objects.ready().filter(pk=put_back.pk).exists()
    assert put_back.priority < first.priority  # a new message goes first
    # Of the same message twice, as after a restart, one is sent.
    with capture(execute=True):
        send_messages.call([message.pk])
    assert len(receiver.bodies) == 1


def test_a_worker_killed_while_sending_loses_no_message(
    world: World, receiver: Receiver, capture: Capture
) -> None:
    receiver.answers[:] = [500, 204]
    told(capture, hooked(world, receiver.url))
    assert later(capture, state="sending").state == "sent"


@contextmanager
def letters(wait: threading.Event | None = None) -> Iterator[str]:
    """A server that never ends its answer: a letter now and then, or after the event the whole of it."""
    server = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            if wait is not None:
                wait.wait(PATIENCE_SECONDS)
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
            while wait is None and not over.wait(0.05):
                try:
                    connection.sendall(b"H")
                except OSError:
                    return

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/hook"
    finally:
        over.set()
        thread.join()
        server.close()


def test_an_attempt_ends_by_its_deadline_however_the_receiver_keeps_it_busy() -> None:
    with letters() as url:
        outcome = post_signed(url, b"{}", SECRET, allowed=LOOPBACK, seconds=0.5)
    assert (outcome.sent, outcome.detail) == (False, "No answer within 0.5 seconds.")


def test_a_receiver_that_hangs_holds_up_no_other(
    world: World, receiver: Receiver, capture: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first answers only when the second has its message, and both in the end.
    monkeypatch.setattr(deliveries, "SECONDS", 50.0)
    arrived = threading.Event()
    monkeypatch.setattr(receiver, "bodies", Noticed(arrived))
    with letters(arrived) as url:
        canaries = [hooked(world, url, name="slow"), hooked(world, receiver.url, name="quick")]
        with capture(execute=True):
            tell([News(canary) for canary in canaries])
    assert [one.state for one in CanaryDelivery.objects.all()] == ["sent", "sent"]


class Noticed(list[Any]):
    """A list that says when it has got something."""

    def __init__(self, event: threading.Event) -> None:
        super().__init__()
        self.event = event

    def append(self, item: Any) -> None:
        super().append(item)
        self.event.set()


def test_a_message_follows_the_canary_to_another_address(
    world: World, receiver: Receiver, capture: Capture, settings: Settings
) -> None:
    settings.WEBHOOK_PRIVATE_NETWORKS = LOOPBACK
    canary = hooked(world, "http://127.0.0.1:9/hook")
    assert told(capture, canary).state == "waiting"
    change_alerts(canary, Alerts(0.7, webhook_url=receiver.url), world.ada)
    assert later(capture).state == "sent"


def test_who_is_no_receiver_any_more_gets_nothing(
    world: World, receiver: Receiver, capture: Capture, settings: Settings
) -> None:
    settings.SENDS_MAIL = True
    receiver.answers[:] = [500]
    canary = hooked(world, receiver.url)
    told(capture, canary)
    change_alerts(canary, Alerts(0.7, mail_to=["new@example.org"]), world.ada)
    message = later(capture)
    assert (message.state, message.detail) == ("failed", "The canary no longer has a webhook.")
    assert len(receiver.bodies) == 1


def test_news_of_several_canaries_outlive_one_of_them(
    world: World, receiver: Receiver, capture: Capture
) -> None:
    receiver.answers[:] = [500, 204]
    first, second = (hooked(world, receiver.url, name=name) for name in ("first", "second"))
    told(capture, first, second)
    delete(first, by=world.ada)
    assert later(capture).state == "sent"
    assert [one["canary"]["name"] for one in receiver.bodies[-1]["alerts"]] == ["second"]
    for canary in (first, second):
        erase(canary)
    assert not CanaryDelivery.objects.exists()


class Failing(EmailBackend):
    """A mail server that is away."""

    def send_messages(self, messages: Any) -> int:
        raise ConnectionRefusedError


def test_mail_is_tried_again_too(world: World, capture: Capture, settings: Settings) -> None:
    settings.SENDS_MAIL = True
    settings.EMAIL_BACKEND = f"{__name__}.Failing"
    canary = make_canary(world, Alerts(0.7, mail_to=["ops@example.org"]))
    message = told(capture, canary)
    assert (message.state, message.tries) == ("waiting", 1)
    assert "ConnectionRefusedError" in message.detail
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    assert later(capture).state == "sent"
    assert len(mail.outbox) == 1


def test_the_page_says_what_was_delivered_what_is_tried_again_and_what_was_given_up(
    world: World, receiver: Receiver, capture: Capture, client: Client
) -> None:
    receiver.answers[:] = [500]
    canary = hooked(world, receiver.url)
    message = told(capture, canary)
    client.force_login(world.ada)

    def shown() -> str:
        return client.get(canary.get_absolute_url()).content.decode()

    until = timezone.localtime(message.give_up_at)
    assert "not delivered yet" in shown()
    assert f"last {until.day} {until:%b, %H:%M}" in shown()
    later(capture, give_up_at=timezone.now())
    assert "given up" in shown()
    CanaryDelivery.objects.update(state="sent")
    assert "delivered</span>" in shown()
