"""What a load balancer is told, and what site admins see."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from soundings.serving import views
from tests.world import World


@pytest.mark.django_db
def test_health_answers_without_sign_in(client: Client) -> None:
    response = client.get("/health/")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "ok", "worker": "none"}
    assert "no-store" in response["Cache-Control"]


def test_a_silent_database_is_503_and_says_so_without_naming_hosts(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OperationalError("connection to server at 10.0.0.7 failed")

    monkeypatch.setattr(connection, "cursor", refuse)
    response = client.get("/health/")
    assert response.status_code == 503
    assert response.json()["status"] == "unavailable"
    assert "does not answer" in response.json()["database"]
    assert "10.0.0.7" not in response.content.decode()


@pytest.mark.django_db
def test_work_that_nobody_does_is_told(client: Client, settings: Settings) -> None:
    from django_tasks_db.models import DBTaskResult

    from pooling.jobs.running import run_job

    settings.TASKS = {"default": settings.TASKS["default"] | {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    assert client.get("/health/").json()["worker"] == "ok"
    run_job.enqueue(1)
    assert client.get("/health/").json()["worker"] == "ok"
    DBTaskResult.objects.update(enqueued_at=timezone.now() - timedelta(minutes=5))
    assert client.get("/health/").json() == {"status": "ok", "database": "ok", "worker": "behind"}


@pytest.mark.django_db
def test_a_pass_that_is_under_way_does_not_hide_that_imports_wait(client: Client, settings: Settings) -> None:
    from django_tasks_db.models import DBTaskResult

    from labeling.prelabels.passes import run_in_background
    from pooling.jobs.running import run_job

    stored = {"BACKEND": "django_tasks_db.DatabaseBackend"}
    settings.TASKS = {"default": settings.TASKS["default"] | stored}
    run_in_background.enqueue(1)
    DBTaskResult.objects.update(status="RUNNING", started_at=timezone.now())
    run_job.enqueue(1)
    assert set(DBTaskResult.objects.values_list("queue_name", flat=True)) == {"models", "default"}
    DBTaskResult.objects.update(enqueued_at=timezone.now() - timedelta(minutes=5))
    assert client.get("/health/").json()["worker"] == "behind"


@pytest.mark.django_db
def test_a_site_whose_tables_are_behind_lives_and_is_not_ready(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/ready/").json() == {"status": "ok"}
    monkeypatch.setattr(views, "missing_migrations", lambda: 2)
    answer = client.get("/ready/")
    assert (answer.status_code, client.get("/health/").status_code) == (503, 200)
    assert "run migrate" in answer.json()["status"]


def test_a_site_without_its_database_is_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise OperationalError("connection to server at 10.0.0.7 failed")

    monkeypatch.setattr(views, "missing_migrations", refuse)
    answer = client.get("/ready/")
    assert answer.status_code == 503
    assert "10.0.0.7" not in answer.content.decode()


def test_site_admins_alone_see_how_each_part_is(world: World, client: Client) -> None:
    assert client.get("/site/health/").status_code == 302
    client.force_login(world.ada)
    refused = client.get("/site/health/")
    assert refused.status_code == 403
    assert b"create_user NAME --site-admin" in refused.content
    assert b"change your role" not in refused.content
    assert client.get("/api/site/health/").status_code == 403
    assert b"/site/health/" not in client.get("/jobs/").content

    world.dan.is_superuser = True
    world.dan.save()
    client.force_login(world.dan)
    told = client.get("/api/site/health/").json()["checks"]
    assert [one["name"] for one in told] == [
        *("Database", "Worker", "Oldest job", "File storage", "Disk", "Cache", "Mail", "Versions")
    ]
    states = {one["name"]: one["state"] for one in told}
    assert states.pop("Disk") in ("ok", "look")
    assert set(states.values()) == {"ok"}
    page = client.get("/site/health/").content.decode()
    assert "File storage" in page
    assert "written, read and deleted" in page
    assert b"/site/health/" in client.get("/jobs/").content


def test_a_part_that_fails_is_named_and_keeps_nothing_else_from_being_asked(
    world: World, client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*names: object) -> str:
        raise OSError("bucket of 10.0.0.7")

    monkeypatch.setattr(type(default_storage._wrapped), "save", refuse)  # type: ignore[attr-defined]
    world.ada.is_superuser = True
    world.ada.save()
    client.force_login(world.ada)
    told = {one["name"]: one for one in client.get("/api/site/health/").json()["checks"]}
    assert told["File storage"]["state"] == "failed"
    assert "10.0.0.7" not in told["File storage"]["detail"]
    assert told["Cache"]["state"] == "ok"
