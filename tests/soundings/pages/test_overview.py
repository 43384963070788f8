"""The home page and a collection's overview: who sees what, and what is next."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from labeling.models import Item, Queue
from pooling.models import Collection, Document, Membership, Pool, Query, Role, Run
from soundings.pages.overview import next_step, steps_of, with_counts
from tests.world import World, make_user


def make_queue(world: World, closed: int = 2) -> Queue:
    """A queue over every pair, without a pool's machinery, of which `closed` pairs are done."""
    pool = Pool.objects.create(collection=world.collection, name="all", depth=3, strategy="rrf")
    queue = Queue.objects.create(collection=world.collection, pool=pool, name="first round")
    pairs = [(query, document) for query in Query.objects.all() for document in Document.objects.all()]
    for place, (query, document) in enumerate(pairs):
        state = Item.State.DONE if place < closed else Item.State.OPEN
        Item.objects.create(
            queue=queue,
            query=query,
            document=document,
            order_key=place + 1,
            needed=1,
            needed_at_least=1,
            needed_at_most=1,
            state=state,
        )
    return queue


def next_of(collection: Collection) -> str | None:
    step = next_step(steps_of(with_counts(Collection.objects.filter(pk=collection.pk)).get()))
    return step.name if step else None


def page(client: Client, user: User, path: str) -> str:
    client.force_login(user)
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_the_home_page_needs_a_sign_in(client: Client) -> None:
    assert client.get("/")["Location"] == "/sign-in/?next=/"


def test_a_first_visit_is_told_the_way_and_how_to_be_invited(world: World, client: Client) -> None:
    text = page(client, world.dan, "/")
    assert "From run files to Recall@K" in text
    assert "<strong>dan</strong>" in text
    assert "Harbour" not in text


def test_the_home_page_shows_role_progress_and_the_next_step(world: World, client: Client) -> None:
    make_queue(world)
    assert "2 of 18 items closed (11 %)" in page(client, world.ada, "/")
    assert "Import a run" in page(client, world.ada, "/")
    assert "Import a run" not in page(client, world.ben, "/")
    assert "Your queues" in page(client, world.ben, "/")


def test_the_home_page_asks_as_often_for_one_collection_as_for_many(
    world: World, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(5):
        more = Collection.objects.create(slug=f"more-{number}", name=f"More {number}")
        Membership.objects.create(collection=more, user=world.ada, role=Role.VIEWER)
    client.force_login(world.ada)
    with django_assert_num_queries(4):  # session, user, everything about the collections, offers
        client.get("/")


@pytest.mark.parametrize(
    ("name", "code"), [("ada", 200), ("ben", 200), ("vera", 200), ("dan", 404), (None, 302)]
)
def test_the_overview_is_for_members(world: World, client: Client, name: str | None, code: int) -> None:
    if name:
        client.force_login(getattr(world, name))
    assert client.get("/collections/harbour/").status_code == code


def test_an_admin_gets_the_button_of_the_next_step_and_a_viewer_does_not(
    world: World, client: Client
) -> None:
    button = 'class="button primary" href="/collections/harbour/runs/'
    assert button in page(client, world.ada, "/collections/harbour/")
    assert button not in page(client, world.vera, "/collections/harbour/")


def test_an_annotator_sees_their_queues_and_the_guidelines_but_not_the_way(
    world: World, client: Client
) -> None:
    queue = make_queue(world)
    text = page(client, world.ben, "/collections/harbour/")
    assert f"/queues/{queue.pk}/judge/" in text
    assert "you judged 0" in text
    assert "closed" not in text
    assert "Relevant <em>helps</em>." in text
    assert "From queries to a report" not in text


def test_guidelines_cannot_carry_a_script(world: World, client: Client) -> None:
    world.collection.guidelines = "<script>alert(1)</script> [x](javascript:alert(2))"
    world.collection.save(update_fields=["guidelines"])
    text = page(client, world.ada, "/collections/harbour/")
    assert "<script>alert" not in text
    assert 'href="javascript:' not in text


def test_the_overview_asks_as_often_for_one_queue_as_for_many(
    world: World, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    queue = make_queue(world)
    for number in range(4):
        Queue.objects.create(collection=world.collection, pool=queue.pool, name=f"more {number}")
        Membership.objects.create(collection=world.collection, user=make_user(f"u{number}"), role=Role.VIEWER)
    client.force_login(world.ada)
    with django_assert_num_queries(8):  # session, user, collection, role twice, queues, counts, members
        client.get("/collections/harbour/")


def test_the_next_step_follows_the_data(world: World) -> None:
    empty = Collection.objects.create(slug="empty", name="Empty")
    assert next_of(empty) == "Queries"
    Query.objects.create(collection=empty, external_id="q", text="text")
    assert next_of(empty) == "Documents"
    Document.objects.create(collection=empty, external_id="d", text=None)
    assert next_of(empty) == "Documents"
    Document.objects.create(collection=empty, external_id="e", text="")
    assert next_of(empty) == "Runs"
    assert next_of(world.collection) == "Runs"
    Run.objects.create(collection=world.collection, name="r", row_count=1, query_count=1, depth=1)
    assert next_of(world.collection) == "Pool"
    queue = make_queue(world)
    assert next_of(world.collection) == "Judgments"
    queue.items.update(state=Item.State.DONE)
    assert next_of(world.collection) == "Qrels release"
