"""An upgrade is whole or has not happened."""

from __future__ import annotations

import pytest
from django.db import connection
from pytest_django import Settings

from pooling.interface.problems import InputError
from pooling.models import Collection
from soundings.installation.first_use import missing_migrations, prepare_database
from tests.world import World

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_migration_that_fails_leaves_the_version_before(world: World, settings: Settings) -> None:
    settings.MIGRATION_MODULES = {"evaluation": "tests.soundings.installation.failing_migrations"}
    told: list[str] = []
    with pytest.raises(InputError, match=r"evaluation\.m0901_fails: a row that nobody thought of\. Nothing"):
        prepare_database(lambda share, migration: told.append(migration))
    assert told == ["evaluation.m0900_another_table", "evaluation.m0901_fails"]
    assert missing_migrations() == 2
    assert "evaluation_another" not in connection.introspection.table_names()
    assert Collection.objects.get().name == world.collection.name
