"""Opening a queue: at once for a small pool, by the worker for a large one."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from labeling.models import Item, Queue
from labeling.queues.opening import open_or_start
from labeling.queues.options import QueueOptions
from pooling.interface.problems import InputError
from pooling.models import Job, Pool
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import World


@pytest.fixture
def pool(world: World, settings: Settings) -> Pool:
    """A pool of six pairs, which is large here."""
    settings.BACKGROUND_QUEUE_PAIRS = 5
    pool = make_pool(world)
    pool.chosen_count = 6
    pool.save()
    return pool


def test_over_http_a_large_queue_is_a_job_whose_result_is_the_queue(
    world: World,
    client: Client,
    pool: Pool,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    client.force_login(world.ada)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(f"/api/pools/{pool.pk}/queue/", {"name": "q", "seed": 3}, "application/json")
        assert answer.status_code == 202
        assert not Queue.objects.exists()
    job = client.get(f"/api/jobs/{answer.json()['job']}/").json()
    queue = Queue.objects.get()
    assert (job["state"], job["result"]["id"], job["result"]["pairs"]) == ("done", queue.pk, 6)
    assert job["result"]["url"] == queue.get_absolute_url()
    assert (queue.name, queue.seed, queue.opened_by) == ("q", 3, world.ada)


def test_the_page_goes_on_to_the_job(world: World, client: Client, pool: Pool) -> None:
    client.force_login(world.ada)
    address = reverse("queue_new", args=["harbour"])
    answer = client.post(address, {"pool": pool.pk, "judgments_per_item": 1})
    assert answer.headers["Location"] == reverse("job", args=[Job.objects.get().pk])


def test_what_is_refused_is_refused_before_a_job_is_made(pool: Pool) -> None:
    Queue.objects.create(collection=pool.collection, pool=pool, name="pool")
    with pytest.raises(InputError, match="Queue “pool” already exists"):
        open_or_start(pool, QueueOptions())
    with pytest.raises(InputError, match="1 to 20 judgments"):
        open_or_start(pool, QueueOptions(judgments_per_item=0))
    assert not Job.objects.exists()


def test_a_queue_that_would_have_nothing_to_judge_is_refused_on_its_page_and_explained_by_the_command(
    world: World, client: Client
) -> None:
    queue = make_queue(world)
    for item in queue.items.all():
        judge(queue, world.ben, item.pk)
    pool, queues = make_pool(world, name="again"), Queue.objects.count()
    nothing = "Nothing would be left to judge: of pool “again”, 6 pairs have their judgments or are gold"
    client.force_login(world.ada)
    page = client.post(reverse("queue_new", args=["harbour"]), {"pool": pool.pk, "judgments_per_item": 1})
    assert nothing in page.content.decode()
    assert Queue.objects.count() == queues
    # A script that opens a queue in passing goes on.
    call_command("open_queue", "harbour", "again", stdout=(output := StringIO()))
    assert "“again”: 0 pairs, 1 judgment each" in output.getvalue()
    assert output.getvalue().endswith("settle them all; for second opinions, ask for more per pair.\n")
    Queue.objects.get(name="again").delete()
    call = client.post(f"/api/pools/{pool.pk}/queue/", {}, "application/json")
    assert call.status_code == 201
    call_command(
        "open_queue",
        "harbour",
        "again",
        "--name",
        "two",
        "--judgments-per-item",
        "2",
        stdout=(output := StringIO()),
    )
    assert "settle them all" not in output.getvalue()


def test_a_job_that_fails_half_way_leaves_no_queue(
    pool: Pool,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def broken(*arguments: object) -> None:
        raise InputError("Broken.")

    monkeypatch.setattr("labeling.queues.opening._items", broken)
    with django_capture_on_commit_callbacks(execute=True):
        job = open_or_start(pool, QueueOptions())
    assert isinstance(job, Job)
    job.refresh_from_db()
    assert (job.state, job.detail) == (Job.State.FAILED, "Broken.")
    assert not Queue.objects.exists()
    assert not Item.objects.exists()


def test_a_pool_at_the_bound_is_opened_at_once(pool: Pool, settings: Settings) -> None:
    settings.BACKGROUND_QUEUE_PAIRS = 6
    assert isinstance(open_or_start(pool, QueueOptions()), Queue)
