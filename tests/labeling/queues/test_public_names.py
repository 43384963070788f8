"""The name of a queue that annotators read."""

from __future__ import annotations

from typing import Any

from labeling.models import Queue
from labeling.queues.opening import open_queue
from tests.labeling.helpers import make_pool
from tests.labeling.judging.test_api import Api
from tests.world import World


def change(world: World, queue: Queue, name: str) -> Any:
    client = Api(world.ada).client
    return client.patch(f"/api/queues/{queue.pk}/", {"public_name": name}, content_type="application/json")


def test_a_queue_called_after_its_pool_has_a_number_for_annotators(world: World) -> None:
    first, second = (open_queue(make_pool(world, name), user=world.ada) for name in ("bm25", "e5"))
    named = open_queue(make_pool(world, "splade"), name="Spring", user=world.ada)
    assert [queue.public_name for queue in (first, second, named)] == ["Queue 1", "Queue 2", "Spring"]
    rows = Api(world.ben).get("collections/harbour/queues/").json()
    assert {row["name"] for row in rows} == {"Queue 1", "Queue 2", "Spring"}
    assert {row["name"] for row in Api(world.ada).get("collections/harbour/queues/").json()} > {"bm25", "e5"}


def test_an_admin_chooses_what_annotators_read(world: World) -> None:
    queue = open_queue(make_pool(world), public_name="Round 1", user=world.ada)
    assert queue.public_name == "Round 1"
    changed = change(world, queue, "Round 2").json()
    assert changed["public_name"] == "Round 2"
    assert change(world, queue, "a\nb").json()["fields"].keys() == {"public_name"}
    assert Api(world.ben).get(f"queues/{queue.pk}/progress/").json()["name"] == "Round 2"
