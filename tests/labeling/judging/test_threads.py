"""Many people at once, on real connections: the sentences of `labeling/queues/opening.py` under
concurrency.
"""

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

from labeling.adaptive import reordering
from labeling.adaptive.options import AdaptiveOptions
from labeling.gold.quarantine import impose
from labeling.judging.leases import claim, release, renew
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import record_judgment
from labeling.models import Item, Judgment, JudgmentEvent, Lease, QueryPlan, Queue
from labeling.queues.opening import open_queue
from pooling.models import Membership
from tests.labeling.helpers import judge, make_adaptive_queue, make_queue, only_lease
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


def disagree(queue: Queue, user: User) -> int:
    """Judge all that there is, every other person the other way; returns the verdicts stored."""
    said, verdict = 0, "relevant" if user.pk % 2 else "not_relevant"
    while leases := claim(queue, user, 2).leases:
        for lease in leases:
            submission = Submission(lease.item_id, f"{user.pk}-{lease.item_id}", verdict)
            said += record_judgment(queue, user, submission).status == "stored"
    return said


def test_ties_are_given_to_a_third_person_once_and_no_further(file_world: World) -> None:
    queue = make_queue(file_world, needed=2, most_judgments_per_item=3, pairs=6)
    users = people(file_world)
    said = sum(all_at_once(lambda user: disagree(queue, user), users))
    said += sum(disagree(queue, user) for user in users)  # what tied after somebody had looked
    items = list(queue.items.all())
    votes = Counter(Judgment.objects.values_list("query", "document", "verdict"))
    for item in items:
        sides = [votes[item.query_id, item.document_id, side] for side in ("relevant", "not_relevant")]
        assert (item.state, item.done, item.needed) == ("done", sum(sides), 3 if min(sides) else 2)
    assert said == Judgment.objects.count() == sum(item.needed for item in items)


def test_a_pause_while_that_person_submits_lets_nothing_of_theirs_count(file_world: World) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("On SQLite whoever writes is alone: a pause comes before a verdict or after it.")
    queue = make_queue(file_world, needed=2, most_judgments_per_item=3, pairs=6)
    ben, cleo = file_world.ben, file_world.cleo
    for user, verdict in ((ben, "relevant"), (cleo, "not_relevant")):
        for lease in claim(queue, user, 3).leases:
            judge(queue, user, lease.item_id, verdict)
    held = [lease.item_id for lease in claim(queue, ben, 3).leases]
    acts: list[Callable[[], Any]] = [lambda item=item: judge(queue, ben, item).status for item in held]
    acts += [lambda: impose(queue, ben, by=file_world.ada), lambda: claim(queue, cleo, 6)]
    outcomes = all_at_once(lambda act: act(), acts)
    assert set(outcomes[: len(held)]) <= {"stored", "extra"}
    assert not Lease.objects.filter(annotator=ben).exists()
    assert Judgment.objects.filter(annotator=ben).count() == 3 + len(held)
    assert not Judgment.objects.counted().filter(annotator=ben).exists()
    said = Counter(Judgment.objects.counted().values_list("query", "document"))
    for item in queue.items.all():
        leases = Lease.objects.filter(item=item).count()
        assert (item.done, item.leased) == (said[item.query_id, item.document_id], leases)
        assert (item.needed, item.state) == (2, "open")


def test_the_database_lets_writers_wait(file_world: World) -> None:
    if connection.vendor == "sqlite":
        assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    else:
        assert connection.features.has_select_for_update_skip_locked


def test_what_is_judged_while_a_queue_is_being_opened_counts_in_it(
    file_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("On SQLite whoever writes is alone: nobody can judge meanwhile.")
    old = make_queue(file_world)
    lease = only_lease(old, file_world.ben)

    def judged_meanwhile(queue: Queue) -> None:
        all_at_once(lambda user: judge(old, user, lease.item_id), [file_world.ben])

    monkeypatch.setattr("labeling.queues.opening.follow_gold_in", judged_meanwhile)
    new = open_queue(old.pool, name="second thoughts", seed=2)
    item = new.items.get(query=lease.item.query_id, document=lease.item.document_id)
    assert (item.done, item.state) == (1, Item.State.DONE)
    assert new.items.filter(done=0).count() == 5


@pytest.mark.parametrize(("needed", "how"), [(1, "equal"), (2, "equal"), (1, "greedy")])
def test_an_order_that_moves_meanwhile_hands_everything_out_once(
    file_world: World,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    needed: int,
    how: str,
) -> None:
    monkeypatch.setattr(reordering, "BATCH", 2)
    adaptive = AdaptiveOptions(budget=15, budget_rule=how, budget_floor=2)
    queue = make_adaptive_queue(file_world, needed=needed, documents=6, adaptive=adaptive)
    done = all_at_once(lambda user: work_through(queue, user), people(file_world))
    keys = [key for keys in done for key in keys]
    assert sorted(JudgmentEvent.objects.values_list("key", flat=True)) == sorted(keys)
    assert len(keys) == Judgment.objects.count() == 15 * needed
    assert Item.objects.filter(done=F("needed"), leased=0, state="done", order_key__gt=0).count() == 15
    assert Item.objects.filter(done=0, order_key__lt=0, state="open").count() == 3
    assert set(QueryPlan.objects.values_list("finished_by", flat=True)) <= {"budget", "pool"}
    assert "could not be ordered again" not in caplog.text
