"""What stands out in documents: a setting of the queue, and stored with each verdict."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from labeling.items.numbers import number_of
from labeling.models import JudgmentEvent, Queue
from tests.labeling.helpers import make_queue
from tests.world import World


def call(world: World, queue: Queue, path: str, body: Any, *, method: str = "post") -> dict[str, Any]:
    client = Client()
    client.force_login(world.ada)
    answer = getattr(client, method)(f"/api/queues/{queue.pk}/{path}", body, content_type="application/json")
    return dict(answer.json())


def offered(world: World, queue: Queue) -> tuple[bool, bool]:
    """Whether the claimed document has marks, and whether a sentence."""
    (item,) = call(world, queue, "claim/", {"count": 1})["items"]
    return bool(item["document"]["marks"]), item["document"]["sentence"] is not None


@pytest.fixture
def queue(world: World) -> Queue:
    queue = make_queue(world, pairs=2)
    for item in queue.items.select_related("query", "document"):
        item.document.text = f"This is about {item.query.text}."
        item.document.save(update_fields=["text"])
    return queue


def test_no_sentence_stands_out_unless_an_admin_chose_so(world: World, queue: Queue) -> None:
    assert offered(world, queue) == (True, False)


@pytest.mark.parametrize(
    ("highlight", "shown"), [("sentence", (True, True)), ("terms", (True, False)), ("none", (False, False))]
)
def test_a_queue_highlights_what_its_admin_chose(
    world: World, queue: Queue, highlight: str, shown: tuple[bool, bool]
) -> None:
    assert call(world, queue, "", {"highlight": highlight}, method="patch")["highlight"] == highlight
    assert offered(world, queue) == shown


def test_what_was_highlighted_is_stored_with_the_verdict(world: World, queue: Queue) -> None:
    first, second = (number_of(item.pk) for item in queue.items.all())
    verdicts = [
        {"item": first, "key": "k1", "verdict": "relevant", "highlight": "terms"},
        {"item": second, "key": "k2", "verdict": "relevant", "highlight": "rainbow"},
    ]
    results = call(world, queue, "judgments/", verdicts)["results"]
    assert [result["status"] for result in results] == ["stored", "rejected"]
    assert JudgmentEvent.objects.get().highlight == "terms"


def test_an_unknown_highlight_is_refused_and_nothing_changes(world: World, queue: Queue) -> None:
    answer = call(world, queue, "", {"highlight": "rainbow"}, method="patch")
    assert "rainbow" in str(answer)
    assert Queue.objects.get().highlight == "terms"
