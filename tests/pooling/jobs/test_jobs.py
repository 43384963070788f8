"""Long work in the background, and what it leaves behind."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from pooling.interface.problems import InputError
from pooling.jobs import running as jobs
from pooling.jobs.running import LASTING, cancel_job, end_abandoned_jobs, run_job, start_job
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
