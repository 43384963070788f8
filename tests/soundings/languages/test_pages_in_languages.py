"""No sentence of an annotator's page is left in English: each with every translated string in brackets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation import trans_real
from pytest_django import Settings

from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.items.numbers import number_of
from labeling.judging.leases import claim
from labeling.models import Queue
from labeling.queues.opening import open_queue
from pooling.people.invitations import invite, offer
from tests.ground import made_once
from tests.labeling.helpers import make_pool
from tests.soundings.languages.wrapped import LANGUAGE, left_outside, write_catalogues
from tests.world import DOCUMENTS, PASSWORD, QUERIES, World

pytestmark = pytest.mark.anywhere

DATA = {
    "Soundings Harbour harbour ada ben cleo vera dan first pool",
    *QUERIES.values(),
    "Is this document relevant to the query?",
}
DATA |= {word for document in DOCUMENTS.values() for word in document} | {"Relevant helps. API CSV Recall"}


@pytest.fixture(autouse=True)
def _in_brackets(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    write_catalogues(tmp_path / "locale")
    settings.LOCALE_PATHS = [tmp_path / "locale"]
    monkeypatch.setattr(trans_real, "_translations", {})
    yield
    trans_real._translations.clear()


@made_once
def queue(world: World) -> Queue:
    return open_queue(make_pool(world), name="Harbour", seed=1, user=world.ada)


@made_once
def practice(world: World) -> Queue:
    why = "It says so."
    add_question(world.collection, NewQuestion("q1", "d1", "relevant", why, practice=True))
    return open_queue(make_pool(world), name="Harbour", seed=1, gold=GoldOptions(0, 0, practice_questions=1))


def reading(user: User | None = None) -> Client:
    client = Client()
    if user:
        client.force_login(user)
    client.cookies["django_language"] = LANGUAGE
    return client


def english_on(answer: Any) -> list[str]:
    page = answer.content.decode()
    assert f'<html lang="{LANGUAGE}">' in page
    return left_outside(page, DATA)


@pytest.mark.parametrize(
    "path", ["/sign-in/", "/password/forgotten/", "/nothing/", "/password/new/MQ/set-password/"]
)
def test_pages_without_an_account(path: str, world: World) -> None:
    assert english_on(reading().get(path)) == []


def test_a_wrong_password(world: World) -> None:
    form = {"username": "ben", "password": "wrong"}
    assert english_on(reading().post("/sign-in/", form)) == []


@pytest.mark.parametrize("role", ["annotator", "viewer"])
def test_an_invitation(role: str, world: World) -> None:
    link = f"/invitations/{invite(world.collection, role, by=world.ada).token}/"
    assert english_on(reading().get(link)) == []
    assert english_on(reading(world.dan).get(link)) == []
    assert english_on(reading().get("/invitations/nonsense/")) == []


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?page=9",
        "/account/",
        "/account/work/",
        "/password/",
        "/find/",
        "/collections/harbour/",
        "/collections/harbour/queues/",
        "/collections/harbour/find/?q=q",
        "/collections/harbour/members/",
        "/queues/{queue}/",
        "/queues/{queue}/judge/",
        "/queues/{queue}/mine/",
        "/queues/{queue}/mine/?q=nothing",
        "/queues/{queue}/mine/?page=9",
        "/queues/{queue}/search/?query=q1&words=bus",
        "/queues/{queue}/search/?query=none&words=bus",
    ],
)
def test_an_annotators_pages(path: str, world: World, queue: Queue) -> None:
    client = reading(world.ben)
    give_verdicts(client, queue)
    assert english_on(client.get(path.format(queue=queue.pk))) == []


def give_verdicts(client: Client, queue: Queue) -> None:
    """One of each kind, a skip and an undo, without scripts, and a message."""
    held = claim(queue, User.objects.get(username="ben"), 6).leases
    for place, lease in enumerate(held):
        form = {"item": number_of(lease.item_id), "version": 1, "key": f"key {place}"}
        ways: list[dict[str, Any]] = [
            {"verdict": "relevant"},
            {"verdict": "not_relevant"},
            {"reason": "broken"},
        ]
        ways += [
            {"action": "skip"},
            {"verdict": "relevant", "note": "A note."},
            {"action": "undo", "undoes": "key 0"},
        ]
        answer = client.post(f"/queues/{queue.pk}/judge/", form | ways[place % len(ways)], follow=True)
        assert english_on(answer) == []


def test_a_newcomer_is_invited_at_home(world: World) -> None:
    client = reading(world.dan)
    assert english_on(client.get("/")) == []
    offer(world.collection, "dan", "annotator", by=world.ada, user=world.dan)
    assert english_on(client.get("/")) == []


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_queue_that_is_not_open(state: str, world: World, queue: Queue) -> None:
    Queue.objects.filter(pk=queue.pk).update(state=state)
    for path in (f"/queues/{queue.pk}/judge/", f"/queues/{queue.pk}/", "/collections/harbour/"):
        assert english_on(reading(world.ben).get(path)) == []


def test_an_empty_queue(world: World, queue: Queue) -> None:
    claim(queue, world.cleo, 50)
    assert english_on(reading(world.ben).get(f"/queues/{queue.pk}/judge/")) == []


def test_the_practice_round(world: World, practice: Queue) -> None:
    client = reading(world.ben)
    asked = client.get(f"/queues/{practice.pk}/practice/")
    assert english_on(asked) == []
    form = {"item": asked.context["item"]["item"], "version": 1, "key": "k"}
    incomplete = client.post(f"/queues/{practice.pk}/practice/", form, follow=True)
    assert english_on(incomplete) == []
    explained = client.post(f"/queues/{practice.pk}/practice/", form | {"verdict": "not_relevant"})
    assert english_on(explained) == []
    assert english_on(client.get(f"/queues/{practice.pk}/practice/?summary")) == []


def test_messages_and_their_answers(world: World, queue: Queue) -> None:
    client = reading(world.ben)
    asked = client.get(f"/queues/{queue.pk}/judge/")
    item = asked.context["item"]["item"]
    for text in ("", "This is broken."):
        form = {"item": item, "key": "m", "message": text}
        assert english_on(client.post(f"/queues/{queue.pk}/messages/", form, follow=True)) == []
    assert english_on(client.get("/account/work/")) == []


def test_a_form_that_expired(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.cookies["django_language"] = LANGUAGE
    assert english_on(client.post("/sign-in/", {"username": "ben", "password": PASSWORD})) == []
