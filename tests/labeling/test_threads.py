"""Many people at once, on real connections: the sentences of `labeling/queues.py` under concurrency."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.db.models import F

from labeling.models import Item, Judgment, JudgmentEvent, Lease, Queue
from labeling.queues import Submission, claim, record_judgment, release, renew
from pooling.models import Membership
from tests.labeling.helpers import make_queue, only_lease
from tests.world import World, make_user, make_world

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 6


@pytest.fixture
def file_world(tmp_path: Path, transactional_db: None) -> Iterator[World]:
    """The world in a database with real locks: on SQLite a file, because one in memory knows no waiting."""
    if connection.vendor != "sqlite":
        yield make_world(tmp_path)
        return
    connection.ensure_connection()
    memory, name = connection.connection, connection.settings_dict["NAME"]
    with closing(sqlite3.connect(tmp_path / "threads.sqlite3")) as file:
        memory.backup(file)
    # The settings are one dictionary for the connections of all threads.
    connection.connection, connection.settings_dict["NAME"] = None, str(tmp_path / "threads.sqlite3")
    try:
        yield make_world(tmp_path)
    finally:
        connection.close()
        connection.connection, connection.settings_dict["NAME"] = memory, name


def people(world: World, count: int = THREADS) -> list[User]:
    users = [make_user(f"annotator{number}") for number in range(count)]
    Membership.objects.bulk_create(
        Membership(collection=world.collection, user=user, role="annotator") for user in users
    )
    return users


def all_at_once(act: Callable[[Any], Any], arguments: list[Any]) -> list[Any]:
    """Call `act` with each argument in a thread of its own, starting together; errors are raised here."""
    barrier = Barrier(len(arguments))

    def run(argument: Any) -> Any:
        try:
            barrier.wait()
            return act(argument)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(arguments)) as executor:
        return list(executor.map(run, arguments))


@pytest.mark.parametrize("needed", [1, 2])
def test_claims_never_give_more_than_is_needed(file_world: World, needed: int) -> None:
    queue = make_queue(file_world, needed=needed, pairs=6)
    claims = all_at_once(lambda user: claim(queue, user, 4), people(file_world))
    given = Counter(lease.item_id for claimed in claims for lease in claimed.leases)
    assert sum(given.values()) == 6 * needed
    assert set(given.values()) == {needed}
    assert set(Item.objects.values_list("leased", flat=True)) == {needed}


def test_two_tabs_of_one_person_hold_the_same_items(file_world: World) -> None:
    queue = make_queue(file_world, pairs=6)
    claims = all_at_once(lambda user: claim(queue, user, 3), [file_world.ben] * 4)
    assert len({frozenset(lease.token for lease in claimed.leases) for claimed in claims}) == 1
    assert Lease.objects.count() == 3


def test_the_same_submit_ten_times_at_once_is_one_judgment(file_world: World) -> None:
    queue = make_queue(file_world)
    item = only_lease(queue, file_world.ben).item_id
    verdict = Submission(item, "k", "relevant")
    outcomes = all_at_once(lambda user: record_judgment(queue, user, verdict), [file_world.ben] * 10)
    assert Counter(outcome.status for outcome in outcomes) == {"stored": 1, "duplicate": 9}
    assert JudgmentEvent.objects.count() == Judgment.objects.count() == 1


def test_one_key_for_two_items_at_once_is_one_judgment(file_world: World) -> None:
    queue = make_queue(file_world, pairs=6)
    items = [lease.item_id for lease in claim(queue, file_world.ben, 6).leases]
    outcomes = all_at_once(
        lambda item: record_judgment(queue, file_world.ben, Submission(item, "k", "relevant")), items
    )
    assert Counter(outcome.status for outcome in outcomes) == {"stored": 1, "duplicate": 5}


def work_through(queue: Queue, user: User) -> list[str]:
    """Claim, renew, judge and give back until nothing is left; returns the keys that were acknowledged."""
    keys = []
    while leases := claim(queue, user, 3).leases:
        renew(queue, user, [lease.token for lease in leases])
        for lease in leases[:2]:
            key = f"{user.pk}-{lease.item_id}"
            outcome = record_judgment(queue, user, Submission(lease.item_id, key, "relevant"))
            assert outcome.status == "stored"
            keys.append(key)
        release(queue, user, [lease.token for lease in leases[2:]])
    return keys


def test_every_acknowledged_verdict_is_there_once_and_none_above_the_need(file_world: World) -> None:
    queue = make_queue(file_world, needed=2, pairs=6)
    done = all_at_once(lambda user: work_through(queue, user), people(file_world))
    keys = [key for keys in done for key in keys]
    assert sorted(JudgmentEvent.objects.values_list("key", flat=True)) == sorted(keys)
    assert len(keys) == Judgment.objects.count() == 12
    assert not Lease.objects.exists()
    assert Item.objects.filter(done=F("needed"), leased=0, state="done").count() == 6


def test_the_database_lets_writers_wait(file_world: World) -> None:
    if connection.vendor == "sqlite":
        assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    else:
        assert connection.features.has_select_for_update_skip_locked
