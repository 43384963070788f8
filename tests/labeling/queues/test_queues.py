"""Opening a queue: what gets in, in which order."""

from __future__ import annotations

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from labeling.models import Queue
from labeling.queues.opening import change_state, open_queue
from pooling.interface.problems import InputError
from tests.labeling.helpers import make_pool
from tests.world import World


def pairs_in_order(queue: Queue) -> list[tuple[str, str]]:
    items = queue.items.order_by("order_key")
    return list(items.values_list("query__external_id", "document__external_id"))


def test_the_same_seed_gives_the_same_order_and_another_one_another(world: World) -> None:
    pool = make_pool(world, documents=6)
    orders = [pairs_in_order(open_queue(pool, name=f"{i}", seed=seed)) for i, seed in enumerate([7, 7, 8])]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_each_query_is_judged_in_one_go_and_not_in_the_pool_s_order(world: World) -> None:
    order = pairs_in_order(open_queue(make_pool(world, documents=6), seed=1))
    queries = [query for query, _ in order]
    assert len(dict.fromkeys(queries)) == sum(a != b for a, b in zip(queries, [None, *queries], strict=False))
    documents = [document for _, document in order[:6]]
    assert documents != sorted(documents)


def test_only_pairs_chosen_for_judging_get_in(world: World) -> None:
    pool = make_pool(world)
    pool.entries.filter(position=2).update(inclusion_probability=None)
    assert {document for _, document in pairs_in_order(open_queue(pool, seed=1))} == {"d1"}


def test_a_pool_built_from_runs_becomes_a_queue(world: World) -> None:
    pool = world.build_pool(depth=2)
    queue = open_queue(pool)
    assert queue.items.count() == pool.chosen_count
    assert queue.name == "first pool"


def test_a_seed_is_drawn_and_stored(world: World) -> None:
    pool = make_pool(world)
    seeds = {open_queue(pool, name=f"{number}").seed for number in range(3)}
    assert len(seeds) == 3


@pytest.mark.parametrize("judgments", [0, 21])
def test_a_silly_number_of_judgments_is_refused(world: World, judgments: int) -> None:
    with pytest.raises(InputError, match="A pair needs 1 to 20 judgments"):
        open_queue(make_pool(world), judgments_per_item=judgments)


def test_a_pool_with_nothing_to_judge_is_refused(world: World) -> None:
    pool = make_pool(world)
    pool.entries.update(inclusion_probability=None)
    with pytest.raises(InputError, match="already has a label"):
        open_queue(pool)
    assert not Queue.objects.exists()


def test_a_name_is_given_once_in_a_collection(world: World) -> None:
    pool = make_pool(world)
    open_queue(pool, name="one")
    with pytest.raises(InputError, match="Queue “one” already exists") as error:
        open_queue(pool, name=" one ")
    assert error.value.conflict
    assert Queue.objects.count() == 1


def test_there_is_no_fourth_state(world: World) -> None:
    queue = open_queue(make_pool(world))
    with pytest.raises(InputError, match="there is no state “gone”"):
        change_state(queue, "gone")


def test_a_larger_pool_takes_no_more_queries(
    world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    small, large = make_pool(world, "small", queries=1), make_pool(world, "large", documents=6)
    # On PostgreSQL two of them wait for whoever is judging.
    expected = 15 if connection.vendor == "postgresql" else 13
    for pool in (small, large):
        with django_assert_num_queries(expected):
            open_queue(pool)
