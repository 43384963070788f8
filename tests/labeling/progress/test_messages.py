"""Messages from a pair to the admins: sent once, answered in the app, seen by nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from labeling.items.numbers import number_of
from labeling.models import Item, PairMessage, Queue
from tests.labeling.helpers import judge, make_queue, only_lease
from tests.world import World, signed_in

BROKEN = "This document is <b>broken</b>."


def send(user: User, queue: Queue, item: int, text: str = BROKEN, key: str = "one") -> Any:
    body = {"item": number_of(item), "text": text, "key": key}
    return signed_in(user).post(f"/api/queues/{queue.pk}/messages/", body, content_type="application/json")


def test_a_message_is_stored_once_and_answered_in_the_app(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    assert send(world.ben, queue, item).status_code == 201
    assert send(world.ben, queue, item).status_code == 200
    (message,) = PairMessage.objects.all()
    ada, page = signed_in(world.ada), "/collections/harbour/messages/"
    assert "This document is &lt;b&gt;broken&lt;/b&gt;." in ada.get(page).content.decode()
    done = ada.post(f"/messages/{message.pk}/answer/", {"answer": "Mended, thanks."}, follow=True)
    assert "Answered. ben sees it with their work." in done.content.decode()
    judge(queue, world.ben, item)
    assert "Mended, thanks." in signed_in(world.ben).get("/account/work/").content.decode()
    (own,) = signed_in(world.ben).get(f"/api/queues/{queue.pk}/messages/").json()
    assert (own["text"], own["answer"]) == (BROKEN, "Mended, thanks.")
    (listed,) = ada.get("/api/collections/harbour/messages/").json()
    assert listed["author"] == "ben"


def test_another_annotator_sees_no_messages_of_ones_own(world: World) -> None:
    queue = make_queue(world)
    send(world.ben, queue, only_lease(queue, world.ben).item_id)
    assert signed_in(world.cleo).get(f"/api/queues/{queue.pk}/messages/").json() == []


def test_an_item_that_was_never_handed_out_is_answered_like_none(world: World) -> None:
    queue = make_queue(world)
    held = only_lease(queue, world.ben).item_id
    other = Item.objects.exclude(pk=held).values_list("pk", flat=True)[0]
    answers = [send(world.ben, queue, item) for item in (other, held + 10**9)]
    answers.append(send(world.cleo, queue, held))
    assert [one.status_code for one in answers] == [404] * 3
    assert answers[0].json() == answers[1].json()
    assert not PairMessage.objects.exists()


@pytest.mark.parametrize(
    ("text", "key", "field"), [(" ", "k", "text"), ("x" * 501, "k", "text"), ("x", "k" * 65, "key")]
)
def test_a_message_that_will_not_do_is_refused(world: World, text: str, key: str, field: str) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    refused = send(world.ben, queue, item, text, key)
    assert refused.status_code == 400
    assert field in refused.json()["fields"]
    assert not PairMessage.objects.exists()


def test_without_scripts_a_message_is_sent_from_the_judging_page(world: World) -> None:
    queue = make_queue(world)
    item = only_lease(queue, world.ben).item_id
    ben, address = signed_in(world.ben), f"/queues/{queue.pk}/messages/"
    sent = {"item": str(number_of(item)), "key": "page", "message": BROKEN}
    assert "Sent to the admins." in ben.post(address, sent, follow=True).content.decode()
    empty = ben.post(address, {**sent, "key": "next", "message": ""}, follow=True)
    assert "Write a message first." in empty.content.decode()
    assert PairMessage.objects.get().text == BROKEN


@pytest.mark.parametrize("answer", ["", "x" * 501])
def test_an_answer_that_will_not_do_is_refused(world: World, answer: str) -> None:
    queue = make_queue(world)
    send(world.ben, queue, only_lease(queue, world.ben).item_id)
    message = PairMessage.objects.get()
    ada = signed_in(world.ada)
    refused = ada.post(
        f"/api/messages/{message.pk}/answer/", {"answer": answer}, content_type="application/json"
    )
    assert (refused.status_code, "answer" in refused.json()["fields"]) == (400, True)
    ada.post(f"/messages/{message.pk}/answer/", {"answer": answer})
    message.refresh_from_db()
    assert message.answer == ""
