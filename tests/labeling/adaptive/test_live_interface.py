"""Adaptive queues by page, HTTP interface and command."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from labeling.adaptive.finishing import finish_queries
from labeling.adaptive.options import AdaptiveOptions
from labeling.judging.leases import claim
from labeling.models import QueryPlan, Queue, Selection
from pooling.models import Query
from tests.labeling.helpers import judge, make_adaptive_pool, make_adaptive_queue
from tests.world import World

pytestmark = pytest.mark.django_db

LOOK_THAT_STOPS = {
    "look": 1,
    "level": 0.05,
    "found": 20,
    "remainder": 9,
    "sampled": 5,
    "relevant": 0,
    "at_most_missing": 1,
    "missing_share": 0.05,
    "stops": True,
}


@pytest.fixture
def api(world: World) -> APIClient:
    client = APIClient()
    client.force_authenticate(world.ada)
    return client


def test_a_call_opens_an_adaptive_queue_and_tells_how_it_stands(world: World, api: APIClient) -> None:
    pool = make_adaptive_pool(world)
    body = {"adaptive": True, "budget": 6, "stop_missing": 0.1, "stop_looks": 2}
    opened = api.post(f"/api/pools/{pool.pk}/queue/", body, format="json")
    assert opened.status_code == 201, opened.json()
    assert opened.json()["is_adaptive"]
    assert opened.json()["item_count"] == 6
    told = api.get(f"/api/queues/{opened.json()['id']}/selection/").json()
    assert told["strategy"] == "learned"
    assert (told["budget"], told["stop_looks"], told["level"]) == (6, 2, 0.025)
    assert [(row["query_id"], row["budget"], row["pool"]) for row in told["queries"]] == [
        ("q1", 2, 3),
        ("q2", 2, 3),
        ("q3", 2, 3),
    ]


def test_a_call_finishes_queries_by_hand(world: World, api: APIClient) -> None:
    queue = make_adaptive_queue(world)
    answer = api.post(f"/api/queues/{queue.pk}/finish/", {"queries": ["q1"]}, format="json")
    assert answer.json() == {"finished": 1}
    assert api.post(f"/api/queues/{queue.pk}/finish/", {}, format="json").json() == {"finished": 2}
    assert api.post(f"/api/queues/{queue.pk}/finish/", {"queries": ["x"]}, format="json").status_code == 400
    assert claim(queue, world.ben, 9).leases == []


def test_what_will_not_do_is_one_sentence(world: World, api: APIClient) -> None:
    pool = make_adaptive_pool(world, strategy="rrf")
    refused = api.post(f"/api/pools/{pool.pk}/queue/", {"adaptive": True}, format="json")
    assert refused.status_code == 400
    assert "does not learn" in refused.json()["detail"]
    refused = api.post(f"/api/pools/{pool.pk}/queue/", {"budget": 3}, format="json")
    assert "adaptive" in refused.json()["detail"]
    assert not Queue.objects.exists()
    fixed = api.post(f"/api/pools/{pool.pk}/queue/", {}, format="json").json()["id"]
    assert api.get(f"/api/queues/{fixed}/selection/").status_code == 404
    assert api.post(f"/api/queues/{fixed}/finish/", {}, format="json").status_code == 409


def test_the_page_opens_shows_and_finishes(world: World, client: Client) -> None:
    client.force_login(world.ada)
    pool = make_adaptive_pool(world)
    form = {
        "pool": pool.pk,
        "judgments_per_item": 1,
        "adaptive": "on",
        "budget": 6,
        "budget_rule": "share",
        "stop_missing": 0.2,
        "stop_looks": "",
        "stop_over": "query",
    }
    opened = client.post("/collections/harbour/queues/new/", form)
    queue = Queue.objects.get()
    assert opened["Location"] == queue.get_absolute_url()
    page = client.get(queue.get_absolute_url()).content.decode()
    assert "Live order" in page
    assert "3 queries: 3 not finished." in page
    assert "20 % of the relevant documents are missing" in page
    client.post(f"/queues/{queue.pk}/finish/", {"query": "q1"})
    page = client.get(queue.get_absolute_url()).content.decode()
    assert "1 query finished by hand." in page
    assert "1 by hand, 2 not finished." in page
    refused = client.post("/collections/harbour/queues/new/", {**form, "name": "x", "stop_missing": 2})
    assert "above 0 and below 1" in refused.content.decode()


def test_the_table_of_queries_is_paged_with_as_many_statements_for_a_full_page_as_for_three_rows(
    world: World, client: Client, django_assert_num_queries: Any
) -> None:
    client.force_login(world.ada)
    queue = make_adaptive_queue(world)
    address = queue.get_absolute_url()
    client.get(address)
    with CaptureQueriesContext(connection) as few:
        assert client.get(address).content.decode().count('name="query"') == 3
    add_queries(queue, 60)
    with django_assert_num_queries(len(few)):
        first = client.get(address).content.decode()
    assert first.count('name="query"') == 50
    assert 'href="?page=2#order"' in first
    second = client.get(address, {"page": 2}).content.decode()
    assert second.count('name="query"') == 13
    assert "63 queries: 63 not finished." in second


def test_a_queue_that_has_stopped_says_that_its_queries_are_being_finished(
    world: World, client: Client, api: APIClient
) -> None:
    client.force_login(world.ada)
    adaptive = AdaptiveOptions(stop_missing=0.1, stop_looks=1, stop_over="queue")
    queue = make_adaptive_queue(world, adaptive=adaptive)
    assert b"being finished" not in client.get(queue.get_absolute_url()).content
    Selection.objects.update(looks=[LOOK_THAT_STOPS])
    page = client.get(queue.get_absolute_url()).content.decode()
    assert "The queue has stopped; 3 queries are still being finished in the background." in page
    assert api.get(f"/api/queues/{queue.pk}/selection/").json()["finishing"] == 3


def add_queries(queue: Queue, count: int) -> None:
    """Queries of an adaptive queue of which nothing was handed out yet."""
    made = Query.objects.bulk_create(
        Query(collection=queue.collection, external_id=f"r{number:03}", text="") for number in range(count)
    )
    QueryPlan.objects.bulk_create(
        QueryPlan(selection=queue.selection, query=query, place=place, size=3, budget=3)
        for place, query in enumerate(made, start=3)
    )


def test_the_page_of_a_fixed_queue_says_nothing_of_a_live_order(world: World, client: Client) -> None:
    client.force_login(world.vera)
    queue = make_adaptive_queue(world)
    assert b"Finish all" not in client.get(queue.get_absolute_url()).content
    Selection.objects.all().delete()
    assert b"Live order" not in client.get(queue.get_absolute_url()).content


def test_the_release_page_says_what_finished_the_queries(world: World, client: Client) -> None:
    queue = make_adaptive_queue(world, adaptive=AdaptiveOptions(budget=3))
    while leases := claim(queue, world.ben, 5).leases:
        for lease in leases:
            judge(queue, world.ben, lease.item_id)
    client.force_login(world.ada)
    made = client.post("/collections/harbour/qrels/new/", {"name": "r", "rule": "majority"})
    page = client.get(made["Location"]).content.decode()
    assert "3 queries: 3 by its budget." in page


def test_progress_says_what_moves_a_live_order_but_not_to_annotators(world: World, api: APIClient) -> None:
    adaptive = AdaptiveOptions(budget=6, budget_rule="share", stop_missing=0.2, stop_looks=1)
    queue = make_adaptive_queue(world, adaptive=adaptive)
    for lease in claim(queue, world.ben, 2).leases[:1]:
        judge(queue, world.ben, lease.item_id)
    finish_queries(queue, ["q3"])
    address = f"/api/queues/{queue.pk}/progress/"
    order = api.get(address).json()["order"]
    assert (order["strategy"], order["budget_rule"], order["budget"]) == ("learned", "share", 6)
    assert (order["used"], order["settled"], order["finished"]["hand"]) == (2, 1, 1)
    assert order["sentences"] == [
        "Labels move the order of what is left, by the strategy learned; a budget of 6 pairs, the same share "
        "of each query's pool: 2 used, 1 of them settled.",
        "A query stops when its audit, looked at once, says that at most 20 % of what is relevant is "
        "missing.",
        "3 queries: 1 by hand, 2 not finished.",
    ]
    said = io.StringIO()
    call_command("queue_status", "harbour", queue.name, stdout=said)
    assert "\n".join(order["sentences"]) in said.getvalue()
    api.force_authenticate(world.ben)
    assert api.get(address).json()["order"] is None


def test_the_command_opens_an_adaptive_queue(world: World) -> None:
    make_adaptive_pool(world)
    said = io.StringIO()
    call_command("open_queue", "harbour", "live pool", "--adaptive", "--budget", "6", stdout=said)
    assert "6 pairs" in said.getvalue()
    assert "labels move their order, by learned" in said.getvalue()
    assert Selection.objects.get().budget == 6
