"""What a load balancer is told."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings


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

    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
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
