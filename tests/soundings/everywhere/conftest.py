"""One world for all tests of this folder: it is made once, and rolled back after the last of them."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker, Settings

from tests.ground import rolled_back, settings_of
from tests.soundings.everywhere.five_of_each import make_five_of_each
from tests.soundings.everywhere.one_of_each import OneOfEach, make_one_of_each
from tests.world import make_world


@pytest.fixture(scope="package")
def _made_once(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OneOfEach]:
    folder = tmp_path_factory.mktemp("everywhere")
    with django_db_blocker.unblock(), rolled_back():
        with settings_of(folder):
            made = make_one_of_each(make_world(folder))
        yield made


@pytest.fixture(scope="module", params=["one", "five"])
def one_or_five(request: pytest.FixtureRequest, _made_once: OneOfEach) -> Iterator[OneOfEach]:
    """One of each thing, and then five."""
    if request.param == "one":
        yield _made_once
        return
    before = transaction.savepoint()
    with settings_of(_made_once.world.folder):
        made = make_five_of_each(_made_once)
    yield made
    transaction.savepoint_rollback(before)


@pytest.fixture
def one_of_each(_made_once: OneOfEach, db: None, settings: Settings) -> OneOfEach:
    """One of each thing; what a test does to it is rolled back after the test."""
    settings.MEDIA_ROOT = _made_once.world.folder / "files"
    return _made_once


@pytest.fixture
def people(
    one_of_each: OneOfEach, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[dict[str, Client]]:
    """A browser of each person, which keeps no message for the next test. Pictures, their script and the list
    of all calls are others' to test.
    """
    script = tmp_path / "script.js.gz"
    script.write_bytes(gzip.compress(b""))
    monkeypatch.setattr("pooling.interface.chart_library.chart_library", lambda: script)
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda *_, **__: "<svg/>")
    monkeypatch.setattr("drf_spectacular.generators.SchemaGenerator.get_schema", lambda *_, **__: {})
    cookies = {name: deepcopy(client.cookies) for name, client in one_of_each.people.items()}
    yield one_of_each.people
    for name, client in one_of_each.people.items():
        client.cookies = cookies[name]
