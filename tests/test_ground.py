"""What is made once for many tests is as it was made for each of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from evaluation.models import Report
from tests.world import World


@pytest.mark.parametrize("time", ["the first", "the next"])
def test_what_one_test_changes_the_next_does_not_see(world: World, report: Report, time: str) -> None:
    assert Report.objects.get().name == report.name == "labels, 2 runs"
    assert world.collection.name == world.collection.runs.latest("pk").collection.name == "Harbour"
    files = [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]
    assert files
    assert (world.folder / "alpha.run").exists()

    report.name = world.collection.name = time
    world.collection.save()
    Report.objects.all().delete()
    shutil.rmtree(settings.MEDIA_ROOT)
    shutil.rmtree(world.folder)


@pytest.mark.parametrize("time", ["the first", "the next"])
def test_a_test_that_closes_the_connection_leaves_the_next_a_world_of_its_own(
    world: World, time: str
) -> None:
    assert User.objects.count() == 5
    connection.close()


def test_who_asks_for_the_world_alone_sees_nothing_made_of_it(world: World) -> None:
    assert (User.objects.count(), Report.objects.count(), world.collection.runs.count()) == (5, 0, 0)
    assert not Path(settings.MEDIA_ROOT).exists()


@pytest.mark.django_db
def test_who_asks_for_neither_sees_no_row() -> None:
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_test_that_commits_makes_its_world_for_itself(report: Report) -> None:
    assert Report.objects.get() == report
