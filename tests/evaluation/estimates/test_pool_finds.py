"""What labels say of a pool: on its page's part, and with everything else over HTTP."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from evaluation.estimates.views import pool_finds
from tests.evaluation.cast import make_release
from tests.evaluation.reports.test_report_api import client_of
from tests.evaluation.reports.test_report_views import get
from tests.world import World

pytestmark = pytest.mark.anywhere


def test_relevant_documents_by_run_are_those_it_alone_found(world: World) -> None:
    pool = world.build_pool(depth=2)
    assert pool_finds(pool) is None
    make_release(world)
    found = pool_finds(pool)
    # alpha: q1 d1 d4, q2 d2 d6, q3 d3 d5; beta: q1 d4 d1, q2 d6 d3, q3 d5 d4. Alone: alpha d2, d3.
    assert found is not None
    assert found["relevant_alone"] == {"alpha": 2, "beta": 0}
    assert (found["labelled"], found["relevant"], found["dry_depth"]) == (8, 4, 2)
    assert found["by_rank"]["pairs"] == [6, 2]


def test_a_new_label_is_counted_at_once(world: World) -> None:
    pool = world.build_pool(depth=2)
    make_release(world, "q1 0 d1 1\n", name="one")
    assert (pool_finds(pool) or {})["relevant"] == 1
    make_release(world, "q1 0 d4 1\n", name="two")
    assert (pool_finds(pool) or {})["relevant"] == 2


def test_the_page_and_its_part_say_it_in_words(world: World, client: Client) -> None:
    pool = world.build_pool(depth=2)
    address = reverse("pool_finds", args=["harbour", pool.pk])
    client.force_login(world.vera)
    assert "No pair of this pool has a label yet" in get(client, address)
    assert f'hx-get="{address}"' in get(client, pool.get_absolute_url())
    make_release(world)
    page = get(client, address)
    assert "8 of 8 pairs have a label, 4 of them relevant" in page
    assert "Runs still find relevant documents at depth 2" in page
    part = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "Without that run, recall would miss them" in part


def test_a_pool_is_found_in_its_own_collection_alone(world: World, client: Client) -> None:
    pool = world.build_pool()
    client.force_login(world.ada)
    assert client.get(reverse("pool_finds", args=["elsewhere", pool.pk])).status_code == 404


def test_everything_is_there_over_http_in_constant_queries(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    pool = world.build_pool(depth=2)
    make_release(world)
    client = client_of(world.vera)
    with django_assert_max_num_queries(22):
        told = client.get(f"/api/pools/{pool.pk}/diagnostics/").json()
    assert told["queries"] == [["q1", 2, 0], ["q2", 3, 2], ["q3", 3, 2]]
    assert told["contributed"] == {"alpha": 6, "beta": 6}
    assert told["families"] == []
    assert told["labels"]["relevant_alone"] == {"alpha": 2, "beta": 0}
