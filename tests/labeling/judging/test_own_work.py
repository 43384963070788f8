"""What an annotator sees of their own work."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from labeling.judging.leases import claim
from labeling.judging.own_work import nearly_same, own_verdicts, own_verdicts_of_query, own_work
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import record_judgment, undo
from labeling.models import JudgmentEvent, Queue
from labeling.queues.opening import open_queue
from tests.labeling.helpers import make_pool
from tests.world import World


@pytest.fixture
def queue(world: World) -> Queue:
    return open_queue(make_pool(world, documents=6), seed=1, user=world.ada)


def judge_some(queue: Queue, world: World, *seconds: float) -> list[str]:
    """Ben judges one pair after another, in as many seconds."""
    keys = []
    for lease, spent in zip(claim(queue, world.ben, len(seconds)).leases, seconds, strict=True):
        keys.append(f"key {lease.item_id}")
        verdict = Submission(lease.item_id, keys[-1], "relevant", active_ms=int(spent * 1000), note="<b>why")
        record_judgment(queue, world.ben, verdict)
    return keys


def test_pace_and_days_by_hand(queue: Queue, world: World) -> None:
    judge_some(queue, world, *range(1, 11))
    newest = JudgmentEvent.objects.order_by("-pk").values_list("pk", flat=True)[:4]
    JudgmentEvent.objects.filter(pk__in=list(newest)).update(created_at=timezone.now() - timedelta(days=1))
    work = own_work(queue, world.ben)
    assert [count for _, count in work.per_day] == [0] * 12 + [4, 6]
    assert (work.median_seconds, work.slow_seconds) == (5, 9)


def test_without_a_verdict_there_is_no_pace(queue: Queue, world: World) -> None:
    work = own_work(queue, world.cleo)
    assert (work.median_seconds, work.slow_seconds, work.busiest) == (None, None, 0)


def test_a_verdict_taken_back_stays_in_the_list_and_is_said_to_be(queue: Queue, world: World) -> None:
    keys = judge_some(queue, world, 1, 2)
    undo(queue, world.ben, keys[-1])
    assert [event.undone for event in own_verdicts(queue, world.ben)] == [True, False]  # type: ignore[attr-defined]


def test_the_page_shows_ones_own_verdicts_and_nobody_elses(
    queue: Queue, world: World, client: Client
) -> None:
    judge_some(queue, world, 1, 2, 3)
    client.force_login(world.ben)
    page = client.get(f"/queues/{queue.pk}/mine/").content.decode()
    assert page.count("&lt;b&gt;why") == 3
    client.force_login(world.cleo)
    assert "You have not judged anything" in client.get(f"/queues/{queue.pk}/mine/").content.decode()


def test_the_page_asks_as_often_for_many_verdicts_as_for_one(
    queue: Queue, world: World, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(world.ben)
    judge_some(queue, world, 1)
    client.get(f"/queues/{queue.pk}/mine/")  # what is left is counted, and stands for a while
    with CaptureQueriesContext(connection) as few:
        client.get(f"/queues/{queue.pk}/mine/")
    judge_some(queue, world, *range(1, 12))
    with django_assert_num_queries(len(few.captured_queries)):
        client.get(f"/queues/{queue.pk}/mine/")


def test_what_one_said_of_a_query_is_ones_own_and_stands(queue: Queue, world: World) -> None:
    first, second, third = judge_some(queue, world, 1, 2, 3)
    undo(queue, world.ben, second)
    events = {event.key: event for event in own_verdicts(queue, world.ben)}
    query = events[first].query.external_id
    said = own_verdicts_of_query(queue, world.ben, query)
    assert [one["document"] for one in said] == [events[key].document.external_id for key in (first, third)]
    assert {one["verdict"] for one in said} == {"relevant"}
    assert own_verdicts_of_query(queue, world.cleo, query) == []


def test_a_verdict_on_a_pair_shown_again_is_one_more(queue: Queue, world: World) -> None:
    (key,) = judge_some(queue, world, 1)
    event = JudgmentEvent.objects.get(key=key)
    event.pk, event.key, event.repeats_id = None, "again", event.pk
    event.save()
    assert len(own_verdicts_of_query(queue, world.ben, event.query.external_id)) == 2


COPY = "The night bus leaves the square every hour until five in the morning, except on public holidays. " * 3


def test_documents_to_come_are_compared_with_what_one_judged(queue: Queue, world: World) -> None:
    first, second = judge_some(queue, world, 1, 2)
    events = {event.key: event for event in own_verdicts(queue, world.ben)}
    one, other = events[first], events[second]
    query, judged = one.query.external_id, one.document.external_id
    coming = world.collection.documents.exclude(pk__in=[one.document_id, other.document_id]).first()
    assert coming is not None
    for document, text in ((one.document, COPY + "Leaflet one."), (coming, COPY + "Leaflet two.")):
        document.text = text
        document.save()
    ids = [coming.external_id, judged, "unknown"]
    (found,) = nearly_same(queue, world.ben, query, ids)
    assert (found["document"], found["like"]) == (coming.external_id, judged)
    assert found["share"] >= 0.8
    assert nearly_same(queue, world.cleo, query, ids) == []
    undo(queue, world.ben, first)
    assert nearly_same(queue, world.ben, query, ids) == []


def test_comparing_takes_as_many_statements_whatever_was_judged(
    queue: Queue, world: World, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(world.ben)
    address = f"/api/queues/{queue.pk}/own-verdicts/?query=q1&document=d1&document=d2"
    with CaptureQueriesContext(connection) as none:
        assert client.get(address).json() == {"verdicts": [], "alike": []}
    judge_some(queue, world, *range(1, 8))
    with django_assert_num_queries(len(none.captured_queries)):
        client.get(address)
