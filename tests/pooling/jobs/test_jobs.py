"""Long work in the background, and what it leaves behind."""

from __future__ import annotations

import html
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks, Settings

from pooling.interface.problems import InputError, StorageAwayError, StorageFullError
from pooling.interface.results import Result
from pooling.jobs import running as jobs
from pooling.jobs.kinds import KINDS, stages_of
from pooling.jobs.lists import time_in_words
from pooling.jobs.running import (
    RESTARTABLE,
    cancel_job,
    discard_interrupted_uploads,
    end_abandoned_jobs,
    enqueue_lost_jobs,
    resume_job,
    run_job,
    start_job,
)
from pooling.jobs.workers import this_worker
from pooling.models import Job, JobBeat
from pooling.storage.imports import IMPORTERS, take_in
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


def test_a_job_whose_worker_was_killed_ends_with_a_sentence_and_a_living_one_goes_on(
    world: World, settings: Settings
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    killed, living = (start_import(world, run_text(ALPHA), name) for name in ("a.run", "b.run"))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for job, process in ((killed, dead.pid), (living, os.getpid())):
        run_by(job, f"{socket.gethostname()}:{process}")
    assert end_abandoned_jobs() == 1
    killed.refresh_from_db()
    living.refresh_from_db()
    assert (killed.state, living.state) == (Job.State.FAILED, Job.State.RUNNING)
    assert killed.was_interrupted
    assert "Start it again" in killed.detail


def run_by(job: Job, worker: str, silent: timedelta = timedelta(0)) -> None:
    """Let `worker` run the job, which last said so some time ago."""
    Job.objects.filter(pk=job.pk).update(state=Job.State.RUNNING, worker=worker)
    JobBeat.objects.update_or_create(job=job, defaults={"seen_at": timezone.now() - silent})


@pytest.mark.parametrize(("silent", "ended"), [(timedelta(0), 0), (timedelta(minutes=11), 1)])
def test_a_worker_on_another_host_is_gone_when_it_is_silent(
    world: World, silent: timedelta, ended: int
) -> None:
    job = start_job(world.collection, "texts", {}, world.ada)
    run_by(job, "another-host:7", silent)
    assert end_abandoned_jobs() == ended


def test_a_process_that_was_started_after_the_work_is_another_one(world: World) -> None:
    job = start_job(world.collection, "texts", {}, world.ada)
    run_by(job, this_worker(), timedelta(days=1000))
    assert end_abandoned_jobs() == 1


def test_an_interrupted_import_is_started_again_with_its_file_once(
    world: World,
    client: Client,
    settings: Settings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    job = start_import(world, run_text(ALPHA))
    run_by(job, "another-host:7", timedelta(hours=1))
    client.force_login(world.ada)
    page = client.get(reverse("job", args=[job.pk])).content.decode()
    assert "Start it again" in page
    assert page.casefold().count("nothing was saved") == 1
    assert f"/jobs/{job.pk}/resume/" in page
    with django_capture_on_commit_callbacks(execute=True):
        again = client.post(f"/api/jobs/{job.pk}/resume/")
    assert again.status_code == 202
    assert Job.objects.get(pk=again.json()["job"]).state == Job.State.DONE
    assert world.collection.runs.get().name == "alpha"
    assert [path.parent.name for path in stored_files(settings)] == ["harbour"]  # the upload is gone
    assert client.post(f"/api/jobs/{job.pk}/resume/").status_code == 409
    assert "See the job that started again" in client.get(reverse("job", args=[job.pk])).content.decode()


@pytest.mark.parametrize("error", [OperationalError("the server closed the connection"), StorageAwayError()])
def test_an_import_whose_database_or_storage_went_away_is_started_again_with_its_file(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*positional: object, **named: object) -> Result:
        raise error

    upload = default_storage.save("uploads/kept", ContentFile(run_text(ALPHA).encode()))
    arguments = {"upload": upload, "file_name": "alpha.run", "options": {}}
    job = Job.objects.create(collection=world.collection, kind="run", arguments=arguments)
    with monkeypatch.context() as patched:
        patched.setitem(IMPORTERS, "run", fail)
        run_job.call(job.pk)
    job.refresh_from_db()
    assert (job.state, job.was_interrupted) == (Job.State.FAILED, True)
    assert "went away during this job; nothing was saved" in job.detail
    again = resume_job(job, world.ada)
    run_job.call(again.pk)
    again.refresh_from_db()
    assert again.state == Job.State.DONE
    assert not default_storage.exists(upload)


def test_the_file_of_an_interrupted_import_is_kept_for_a_week(world: World, settings: Settings) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    job = start_import(world, run_text(ALPHA))
    run_by(job, "another-host:7", timedelta(hours=1))
    end_abandoned_jobs()
    assert discard_interrupted_uploads() == 0
    Job.objects.update(finished_at=timezone.now() - RESTARTABLE - timedelta(minutes=1))
    assert discard_interrupted_uploads() == 1
    assert stored_files(settings) == []
    with pytest.raises(InputError, match="cannot be resumed"):
        resume_job(job, world.ada)


def test_cancelling_ends_a_job_whose_worker_is_gone(world: World) -> None:
    job = start_job(world.collection, "pool", {}, world.ada)
    run_by(job, "another-host:7")
    cancel_job(job, world.ada)
    JobBeat.objects.update(seen_at=timezone.now() - timedelta(hours=1))
    assert end_abandoned_jobs() == 1
    job.refresh_from_db()
    assert (job.state, job.detail) == (Job.State.CANCELLED, jobs.CANCELLED)


def test_a_worker_that_was_taken_for_gone_stops_at_its_next_step(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(job: Job, report: Any) -> dict[str, Any]:
        JobBeat.objects.update(seen_at=timezone.now() - timedelta(hours=1))
        Job.objects.update(worker="another-host:7")
        end_abandoned_jobs()
        report(0.5, "Half.")
        raise AssertionError("it went on")

    monkeypatch.setitem(jobs.WORK, "pool", work)
    job = start_job(world.collection, "pool", {}, world.ada)
    run_job.call(job.pk)
    job.refresh_from_db()
    assert (job.state, job.was_interrupted) == (Job.State.FAILED, True)


@pytest.mark.django_db(transaction=True)
def test_the_worker_says_that_it_lives_while_it_works(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.JOB_BEAT_SECONDS = 0.01
    beats: list[datetime] = []

    def work(job: Job, report: Any) -> dict[str, Any]:
        began = JobBeat.objects.get(job=job).seen_at
        while (seen := JobBeat.objects.get(job=job).seen_at) == began:
            threading.Event().wait(0.01)
        beats.extend((began, seen))
        return {}

    monkeypatch.setitem(jobs.WORK, "pool", work)
    run_job.call(start_job(world.collection, "pool", {}, world.ada).pk)
    assert beats[0] < beats[1]


@pytest.mark.django_db(transaction=True)
def test_a_job_whose_task_was_lost_is_handed_out_again(world: World, settings: Settings) -> None:
    settings.TASKS = {"default": settings.TASKS["default"] | {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    job = start_job(world.collection, "texts", {}, world.ada)
    Job.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    tasks = DBTaskResult.objects.order_by("enqueued_at")
    assert enqueue_lost_jobs() == 0
    tasks.update(status="RUNNING")
    assert enqueue_lost_jobs() == 1
    assert tasks.filter(status="READY", args_kwargs__args=[job.pk]).count() == 1
    assert enqueue_lost_jobs() == 0


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
    assert {KINDS[kind].can_be_cancelled for kind in ("redundancy", "texts")} == {False}
    job = Job.objects.create(collection=world.collection, kind="texts", state=Job.State.RUNNING)
    client.force_login(world.ada)
    assert b"Cancel" not in client.get(reverse("job", args=[job.pk])).content
    assert client.post(f"/api/jobs/{job.pk}/cancel/").status_code == 409


def test_an_admin_is_offered_to_cancel_a_job(world: World, client: Client) -> None:
    job = Job.objects.create(collection=world.collection, kind="run", state=Job.State.RUNNING)
    page, cancel = reverse("job", args=[job.pk]), reverse("job_cancel", args=[job.pk])
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
    assert b"others call models and send messages" in page
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


@pytest.mark.parametrize("error", [StorageFullError(), InputError("Pool P is gone.")])
def test_a_failed_job_says_why_and_where_to_start_it_again(
    world: World, client: Client, error: InputError
) -> None:
    job = Job.objects.create(
        collection=world.collection, kind="pool", state=Job.State.FAILED, detail=str(error)
    )
    client.force_login(world.ada)
    page = client.get(reverse("job", args=[job.pk])).content.decode()
    assert html.escape(str(error)) in page
    assert page.casefold().count("nothing was saved") == 1
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


def test_the_list_of_ones_own_jobs_has_nobody_elses(world: World, client: Client) -> None:
    Job.objects.create(collection=world.collection, kind="pool", created_by=world.ben, detail="Of Ben.")
    Job.objects.create(collection=world.collection, kind="pool", created_by=world.ada, detail="Of Ada.")
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
