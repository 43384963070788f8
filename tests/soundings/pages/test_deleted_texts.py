"""A deleted query or document stops no page and no call: what speaks of it leaves it out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from labeling.exposure.use import PrelabelUse, change_use
from labeling.models import PrelabelJob, PrelabelMode, Queue
from pooling.models import Document, Query
from pooling.tidying.doing import delete
from tests.ground import made_once
from tests.labeling.facts.helpers import bring_facts, fact_queue
from tests.labeling.helpers import judge, make_prelabels, make_queue, only_lease
from tests.soundings.pages.test_navigation import campaign
from tests.soundings.test_pages_and_calls import patterns
from tests.world import World


def every_address(known: dict[str, int | str]) -> Iterator[str]:
    """The pages and calls that need no more than `known`, for each queue."""
    for pattern in patterns():
        wanted = set(pattern.pattern.regex.groupindex)
        if not wanted or not wanted <= {*known, "queue_id"}:
            continue
        queues = Queue.objects.values_list("pk", flat=True) if "queue_id" in wanted else [0]
        for queue in queues:
            values = {**known, "queue_id": queue}
            yield reverse(str(pattern.name), kwargs={name: values[name] for name in wanted})


@made_once
def judged(world: World) -> dict[str, int | str]:
    """A collection with everything in it, of which a query and a document were judged and then deleted."""
    queue = make_queue(world, needed=2)
    small = make_prelabels(world, "large")
    change_use(queue, PrelabelUse(PrelabelMode.BLIND, small), understood=True)
    for person in (world.ben, world.cleo):
        for _ in range(4):
            judge(queue, person, only_lease(queue, person).item_id)
    known = campaign(world)
    bring_facts(world)
    fact_queue(world)
    done = PrelabelJob.objects.create(queue=queue, prelabeler=small, state=PrelabelJob.State.PAUSED)
    return known | {"prelabeler_id": small.pk, "pass_id": done.pk}


@pytest.mark.anywhere
@pytest.mark.slow
def test_no_page_and_no_call_fails_after_deletions(world: World, judged: dict[str, int | str]) -> None:
    """Pages speak of pairs that lack the query, the document, or both."""
    for thing in (Query.objects.get(external_id="q1"), Document.objects.get(external_id="d1")):
        delete(thing, by=world.ada)
    client = Client(raise_request_exception=False)
    client.force_login(world.ada)
    failed = {}
    for address in every_address(judged):
        response = client.get(address)
        if response.status_code >= 500:
            failed[address] = response.status_code
        list(response)  # a file is closed behind it
    assert failed == {}
