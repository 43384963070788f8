"""Engines that are asked by themselves: canaries measure their answers, and tell when there are none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.canaries.watching import Alerts
from evaluation.models import CanaryDelivery, CanaryNews
from pooling.engine_models import Engine
from pooling.engines.schedule import ask_when_due, begin_schedule, resume_schedules
from pooling.engines.stored import create_engine
from pooling.models import Run
from pooling.tidying.doing import delete, restore
from tests.evaluation.canary_cast import LOOPBACK, make_canary, make_queries
from tests.pooling.engines.cast import settings_at
from tests.pooling.engines.server import Asked, answering
from tests.world import World

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.ENGINE_PRIVATE_NETWORKS = LOOPBACK


def finding_half(asked: Asked) -> Any:
    """The first of the two relevant documents of every query."""
    return {"hits": {"hits": [{"_id": "d1", "_score": 2.0}, {"_id": "d6", "_score": 1.0}]}}


def due(engine: Engine) -> None:
    Engine.objects.filter(pk=engine.pk).update(next_at=timezone.now() - timedelta(minutes=1))


def test_an_engine_is_asked_when_its_time_has_come_and_the_canaries_measure_the_run(
    world: World, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    make_queries(world)
    canary = make_canary(world, Alerts(0.7, mail_to=["ada@example.org"]))
    with answering(finding_half) as server, django_capture_on_commit_callbacks(execute=True):
        engine = create_engine(world.collection, "shop", settings_at(server.url, every_hours=24))
        ask_when_due.call(engine.pk)
        assert server.requests == []  # not yet
    due(engine)
    with answering(finding_half) as server:
        Engine.objects.update(address=settings_at(server.url).address)
        with django_capture_on_commit_callbacks(execute=True):
            ask_when_due.call(engine.pk)
        with django_capture_on_commit_callbacks(execute=True):
            ask_when_due.call(engine.pk)  # the same task, handed over twice
    run = Run.objects.get()
    assert run.name.startswith("shop-20")
    value = canary.values.get(run=run)
    assert (value.mean, value.family, value.reasons) == (0.5, "shop", ["below"])
    engine.refresh_from_db()
    assert engine.next_at is not None
    assert engine.next_at > timezone.now() + timedelta(hours=23)


def test_an_engine_that_is_away_is_news_once_until_a_run_is_measured(
    world: World, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    make_queries(world)
    canary = make_canary(world, Alerts(0.2, mail_to=["ada@example.org"]))
    with answering(lambda asked: b"<html>") as server:
        engine = create_engine(world.collection, "shop", settings_at(server.url, every_hours=1))
        for _ in range(2):
            due(engine)
            with django_capture_on_commit_callbacks(execute=True):
                ask_when_due.call(engine.pk)
        (news,) = CanaryNews.objects.all()
        assert "The engine “shop” gave no run: 127.0.0.1 answers with a web page" in news.trouble
        server.answer = finding_half
        due(engine)
        with django_capture_on_commit_callbacks(execute=True):
            ask_when_due.call(engine.pk)
    canary.refresh_from_db()
    assert canary.trouble == ""
    assert CanaryDelivery.objects.count() == 1


def test_what_was_due_while_the_site_was_down_is_asked_when_it_starts(
    world: World, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with answering(finding_half) as server:
        engine = create_engine(world.collection, "shop", settings_at(server.url, every_hours=24))
        due(engine)
        with django_capture_on_commit_callbacks(execute=True):
            assert resume_schedules() == 1
    assert Run.objects.count() == 1


def test_a_deleted_engine_is_not_asked_and_a_restored_one_has_a_time_again(world: World) -> None:
    engine = create_engine(world.collection, "shop", settings_at("http://127.0.0.1:9", every_hours=2))
    due(engine)
    delete(engine, by=world.ada)
    ask_when_due.call(engine.pk)
    assert not world.collection.jobs.exists()
    restore(engine, by=world.ada)
    engine.refresh_from_db()
    assert engine.next_at is not None
    assert engine.next_at > timezone.now()


def test_an_engine_without_an_interval_has_no_time(world: World) -> None:
    engine = create_engine(world.collection, "shop", settings_at("http://127.0.0.1:9", every_hours=2))
    engine.every_hours = None
    begin_schedule(engine)
    assert engine.next_at is None
    assert resume_schedules() == 0
