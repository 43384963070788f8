"""The name of a queue that annotators read."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.models import Queue
from labeling.queues.opening import open_queue
from tests.labeling.helpers import make_pool
from tests.labeling.judging.test_api import Api
from tests.world import World, signed_in


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


@pytest.mark.anywhere
@pytest.mark.parametrize(("language", "title"), [("es", "Cola 1"), ("hi", "कतार 1"), ("ja", "キュー1")])
def test_a_name_that_nobody_chose_is_in_the_language_of_the_page(
    world: World, language: str, title: str
) -> None:
    queue = open_queue(make_pool(world), user=world.ada)
    ben = signed_in(world.ben)
    ben.cookies["django_language"] = language
    pages = ("/collections/harbour/", "/collections/harbour/queues/", f"/queues/{queue.pk}/")
    for page in (*pages, f"/queues/{queue.pk}/mine/", f"/queues/{queue.pk}/judge/"):
        content = ben.get(page).content.decode()
        assert title in content, page
        assert "Queue 1" not in content, page
    open_queue(make_pool(world, "second"), name="Queue A", user=world.ada)
    assert "Queue A" in ben.get("/collections/harbour/queues/").content.decode()


def test_an_admin_chooses_what_annotators_read(world: World) -> None:
    queue = open_queue(make_pool(world), public_name="Round 1", user=world.ada)
    assert queue.public_name == "Round 1"
    changed = change(world, queue, "Round 2").json()
    assert changed["public_name"] == "Round 2"
    assert change(world, queue, "a\nb").json()["fields"].keys() == {"public_name"}
    assert Api(world.ben).get(f"queues/{queue.pk}/progress/").json()["name"] == "Round 2"
