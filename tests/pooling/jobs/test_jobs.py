"""Long work in the background, and what it leaves behind."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from pooling.interface.problems import InputError
from pooling.jobs import running as jobs
from pooling.jobs.kinds import KINDS, LASTING, stages_of
from pooling.jobs.lists import time_in_words
from pooling.jobs.running import cancel_job, end_abandoned_jobs, run_job, start_job
from pooling.models import Job
from pooling.storage.imports import take_in
from tests.world import ALPHA, World, run_text


def upload(name: str, text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def start_import(world: World, text: str, name: str = "alpha.run") -> Job:
    job = take_in(world.collection, "run", upload(name, text), user=world.ada)
    assert isinstance(job, Job)
    return job


def stored_files(settings: Settings) -> list[Path]:
    return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def test_a_large_upload_is_imported_by_the_worker_and_then_gone(
    world: World, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    with django_capture_on_commit_callbacks(execute=True):
        job = start_import(world, run_text(ALPHA))
        assert job.state == Job.State.QUEUED
    job.refresh_from_db()
    run = world.collection.runs.get(name="alpha")
    assert (job.state, job.progress, job.result["id"]) == (Job.State.DONE, 1.0, run.pk)
    assert run.imported_by == world.ada
    assert [path.parent.name for path in stored_files(settings)] == ["harbour"]  # the upload is gone


def test_refused_input_ends_the_job_with_its_sentence_and_stores_nothing(
    world: World, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    with django_capture_on_commit_callbacks(execute=True):
        job = start_import(world, "q1 Q0 d1 1 2\nq1 Q0 d2 2 1\n")
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert job.detail.startswith("alpha.run, line 1: 5 fields")
    assert stored_files(settings) == []


def test_an_error_of_ours_is_logged_and_not_shown(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(job: Job, report: Any) -> dict[str, Any]:
        raise ZeroDivisionError("secret inside")

    monkeypatch.setitem(jobs.WORK, "pool", fail)
    job = start_job(world.collection, "pool", {}, world.ada)
    with caplog.at_level(logging.ERROR):
        run_job.call(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "secret" not in job.detail
    assert "secret inside" in caplog.text


def test_a_finished_job_is_not_done_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def work(job: Job, report: Any) -> dict[str, Any]:
        calls.append(job.pk)
        return {}

    monkeypatch.setitem(jobs.WORK, "pool", work)
    job = start_job(world.collection, "pool", {}, world.ada)
    run_job.call(job.pk)
    run_job.call(job.pk)
    assert calls == [job.pk]


def test_progress_is_stored_while_the_work_runs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def work(job: Job, report: Any) -> dict[str, Any]:
        report(0.25, "A quarter.")
        seen.append(Job.objects.values_list("state", "progress", "detail").get(pk=job.pk))
        return {}

    monkeypatch.setitem(jobs.WORK, "pool", work)
    run_job.call(start_job(world.collection, "pool", {}, world.ada).pk)
    assert seen == [(Job.State.RUNNING, 0.25, "A quarter.")]


@pytest.mark.parametrize(
    ("state", "polls"), [("running", True), ("done", False), ("failed", False), ("cancelled", False)]
)
def test_the_page_polls_until_the_job_is_finished(
    world: World, client: Client, state: str, polls: bool
) -> None:
    client.force_login(world.ada)
    job = Job.objects.create(
        collection=world.collection, kind="run", state=state, progress=0.4, detail="Reading <b>.", result={}
    )
    page = client.get(reverse("job", args=[job.pk]))
    assert (b"hx-get" in page.content) is polls
    assert b"<b>" not in page.content
    part = client.get(reverse("job", args=[job.pk]), headers={"HX-Request": "true"})
    assert part.status_code == (200 if polls else 286)
    assert b"<html" not in part.content


def test_who_may_see_a_job(world: World, client: Client) -> None:
    job = Job.objects.create(collection=world.collection, kind="run")
    address = reverse("job", args=[job.pk])
    assert client.get(address).status_code == 302
    for person, status in ((world.dan, 404), (world.ben, 403), (world.vera, 200), (world.ada, 200)):
        client.force_login(person)
        assert client.get(address).status_code == status
        assert client.get(f"/api/jobs/{job.pk}/").status_code == status


def test_a_job_whose_worker_was_killed_ends_with_a_sentence_and_a_living_one_goes_on(
    world: World, settings: Settings
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    killed, living = (start_import(world, run_text(ALPHA), name) for name in ("a.run", "b.run"))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for job, process in ((killed, dead.pid), (living, os.getpid())):
        job.state, job.worker = Job.State.RUNNING, f"{socket.gethostname()}:{process}"
        job.save()
    assert end_abandoned_jobs() == 1
    killed.refresh_from_db()
    living.refresh_from_db()
    assert (killed.state, living.state) == (Job.State.FAILED, Job.State.RUNNING)
    assert "Start it again" in killed.detail
    assert [path.name for path in stored_files(settings)] == [Path(living.arguments["upload"]).name]


def cancel_while_running(monkeypatch: pytest.MonkeyPatch, cancel: Callable[[], object]) -> None:
    """Have `cancel` called once, when the work first tells how far it is."""
    tell, told = jobs._go_on, []

    def go_on(job: Job, share: float, detail: str) -> None:
        if not told:
            told.append(cancel())
        tell(job, share, detail)

    monkeypatch.setattr(jobs, "_go_on", go_on)


def test_a_job_that_waits_is_cancelled_at_once_and_never_begun(world: World, settings: Settings) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    job = start_import(world, run_text(ALPHA))
    cancel_job(job, world.ada)
    run_job.call(job.pk)
    job.refresh_from_db()
    assert (job.state, job.detail) == (Job.State.CANCELLED, jobs.CANCELLED)
    assert not world.collection.runs.exists()
    assert stored_files(settings) == []


def test_a_running_job_is_cancelled_at_its_next_step_and_leaves_nothing(
    world: World, client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    job = start_import(world, run_text(ALPHA))
    client.force_login(world.ada)
    address = f"/api/jobs/{job.pk}/cancel/"
    answers = []
    cancel_while_running(monkeypatch, lambda: answers.append(client.post(address)))
    run_job.call(job.pk)
    job.refresh_from_db()
    assert [answer.json()["state"] for answer in answers] == ["running"]
    assert client.get(f"/api/jobs/{job.pk}/").json()["state"] == "cancelled"
    assert job.finished_at is not None
    assert not world.collection.runs.exists()
    assert stored_files(settings) == []
    assert client.post(address).json()["detail"].startswith("This job is already cancelled")


def test_work_that_is_done_before_it_looks_stays_done(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(job: Job, report: Any) -> dict[str, Any]:
        cancel_job(job, world.ada)
        return {"id": 1}

    monkeypatch.setitem(jobs.WORK, "pool", work)
    job = start_job(world.collection, "pool", {}, world.ada)
    run_job.call(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.DONE, {"id": 1})
    with pytest.raises(InputError, match="already done"):
        cancel_job(job, world.ada)


def test_work_that_is_stored_in_steps_is_not_cancelled(world: World, client: Client) -> None:
    assert {"redundancy", "texts"} <= LASTING
    job = Job.objects.create(collection=world.collection, kind="texts", state=Job.State.RUNNING)
    client.force_login(world.ada)
    assert b"Cancel" not in client.get(reverse("job", args=[job.pk])).content
    assert client.post(f"/api/jobs/{job.pk}/cancel/").status_code == 409


def test_who_may_cancel_a_job(world: World, client: Client) -> None:
    job = Job.objects.create(collection=world.collection, kind="run", state=Job.State.RUNNING)
    page, cancel = reverse("job", args=[job.pk]), reverse("job_cancel", args=[job.pk])
    for person, status in ((world.dan, 404), (world.ben, 403), (world.vera, 403)):
        client.force_login(person)
        assert client.post(cancel).status_code == status
        assert client.post(f"/api/jobs/{job.pk}/cancel/").status_code == status
    client.force_login(world.vera)
    assert b">Cancel<" not in client.get(page).content
    client.force_login(world.ada)
    assert b">Cancel<" in client.get(page).content
    shown = client.post(cancel, follow=True).content
    assert b"Cancelling: the job stops" in shown
    assert b">Cancel<" not in shown


def test_the_page_of_a_waiting_job_says_what_is_done_first(
    world: World, client: Client, settings: Settings
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    first, second = (start_import(world, run_text(ALPHA)) for _ in range(2))
    client.force_login(world.ada)
    assert b"done first" not in client.get(f"/jobs/{first.pk}/").content
    page = client.get(f"/jobs/{second.pk}/").content
    assert b"1 other job of this site runs first." in page
    assert b"another calls models" in page
    Job.objects.update(state=Job.State.DONE)
    assert b"another calls models" not in client.get(f"/jobs/{second.pk}/").content


def test_who_waits_for_a_job_is_sent_on_to_its_result_and_who_looks_it_up_is_not(
    world: World, client: Client
) -> None:
    result = {"detail": "Pool “p”: 7 pairs.", "url": "/collections/harbour/pools/"}
    job = Job.objects.create(collection=world.collection, kind="pool", state=Job.State.DONE, result=result)
    client.force_login(world.ada)
    address = reverse("job", args=[job.pk])
    part = client.get(address, headers={"HX-Request": "true"})
    assert part["HX-Redirect"] == result["url"]
    assert "Pool “p”: 7 pairs." in client.get(result["url"]).content.decode()
    assert client.get(f"{address}?follow").headers["Location"] == result["url"]
    assert client.get(address).status_code == 200


def test_the_page_of_a_job_says_what_is_done_and_what_is_next(world: World, client: Client) -> None:
    job = Job.objects.create(
        collection=world.collection, kind="pool", state=Job.State.RUNNING, progress=0.45, detail="Merging."
    )
    assert [stage.state for stage in stages_of(job)] == ["done", "now", "next"]
    client.force_login(world.ada)
    page = client.get(reverse("job", args=[job.pk])).content.decode()
    assert "Merge their lists" in page
    assert '<noscript><meta http-equiv="refresh" content="2; url=?follow"></noscript>' in page
    job.state = Job.State.QUEUED
    assert {stage.state for stage in stages_of(job)} == {"next"}


def test_every_kind_of_job_has_a_title_and_a_page_to_start_it_again() -> None:
    assert set(KINDS) == set(jobs.WORK)
    for kind in KINDS.values():
        assert kind.title
        assert not kind.begins_at or reverse(kind.begins_at, args=["harbour"])


def test_a_failed_job_says_why_and_where_to_start_it_again(world: World, client: Client) -> None:
    job = Job.objects.create(
        collection=world.collection, kind="pool", state=Job.State.FAILED, detail="The disk is full."
    )
    client.force_login(world.ada)
    page = client.get(reverse("job", args=[job.pk])).content.decode()
    assert "The disk is full." in page
    assert reverse("pool_new", args=["harbour"]) in page
    client.force_login(world.vera)
    assert "Start it again" not in client.get(reverse("job", args=[job.pk])).content.decode()


def test_the_list_of_jobs_has_states_people_times_and_errors(
    world: World, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make = partial(Job.objects.create, collection=world.collection, created_by=world.ada)
    make(kind="pool", state=Job.State.FAILED, detail="The disk is full.")
    make(kind="run", state=Job.State.RUNNING, progress=0.5, detail="Checking <b> rows.")
    client.force_login(world.vera)
    address = reverse("jobs", args=["harbour"])
    page = client.get(address).content.decode()
    for words in ("Building a pool", "The disk is full.", "failed", "running", "ada", "Importing a run"):
        assert words in page
    assert "<b>" not in page
    assert "every 2s" in page
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    for _ in range(5):
        make(kind="report", state=Job.State.DONE, result={"detail": "Made.", "url": "/reports/1/"})
    with django_assert_num_queries(len(few)):
        page = client.get(address).content.decode()
    assert '<a href="/reports/1/">Made.</a>' in page
    Job.objects.update(state=Job.State.DONE)
    assert "every 2s" not in client.get(address).content.decode()
    assert client.get(address, headers={"HX-Request": "true"}).status_code == 286


def test_who_may_see_the_lists_of_jobs(world: World, client: Client) -> None:
    Job.objects.create(collection=world.collection, kind="pool", created_by=world.ben, detail="Of Ben.")
    Job.objects.create(collection=world.collection, kind="pool", created_by=world.ada, detail="Of Ada.")
    address = reverse("jobs", args=["harbour"])
    for person, status in ((world.dan, 404), (world.ben, 403), (world.vera, 200), (world.ada, 200)):
        client.force_login(person)
        assert client.get(address).status_code == status
    own = reverse("own_jobs")
    client.force_login(world.ada)
    page = client.get(own).content.decode()
    assert "Of Ada." in page
    assert "Of Ben." not in page
    client.force_login(world.ben)  # an annotator may not see jobs, not even those started as an admin
    assert "No jobs yet" in client.get(own).content.decode()


def test_times_of_jobs_are_told_in_two_units() -> None:
    assert [time_in_words(timedelta(seconds=seconds)) for seconds in (0.2, 59, 61, 3900, 93_900)] == [
        "under a second",
        "59 s",
        "1 min 1 s",
        "1 h 5 min",
        "1 day 2 h",
    ]
