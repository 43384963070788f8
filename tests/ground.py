"""What many tests begin with is made once, in a transaction around them, and each test is rolled back to it.

A fixture that `made_once` makes stands on the world. Tests that ask for the same ones follow each other in a
file, and each gets its own copies of the objects and of the stored files.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import override_settings

from tests.world import World, make_world

T = TypeVar("T")
Make = Callable[[World], Any]
STORED = ("files", "world")


def settings_of(folder: Path) -> override_settings:
    """What every test has, for what is made before a test."""
    quick = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return override_settings(
        MEDIA_ROOT=folder / "files", DERIVED_DIR=folder / "derived", PASSWORD_HASHERS=quick
    )


@contextmanager
def rolled_back() -> Iterator[None]:
    """Nothing of what is stored inside is left."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


class Ground:
    """Of one worker: what is made now, one level on another; the lowest is the world.

    A level is its functions so far, what they made, and the folder of their files.
    """

    def __init__(self, unblocked: Callable[[], AbstractContextManager[None]]) -> None:
        self._unblocked = unblocked
        self._levels: list[tuple[ExitStack, list[Make], list[Any], Path]] = []
        self._given: list[Any] = []

    def stand_on(self, makes: Sequence[Make]) -> None:
        """For the next test: the world with what these functions make of it, or no rows at all."""
        self._given = []
        cache.clear()  # names of keys are of rows, which tests share
        with self._unblocked():
            # A test that closes the connection takes with it all that was made.
            is_lost = connection.closed_in_transaction
            while self._levels and (is_lost or self._levels[-1][1] != list(makes[: len(self._levels)])):
                self._levels.pop()[0].close()
            for make in makes[len(self._levels) :]:
                self._enter(make)

    def give(self, make: Make, folder: Path) -> Any:
        """What `make` made, for a test whose files are in `folder`."""
        if not self._given:
            _, _, made, kept = self._levels[-1]
            self._given = deepcopy(made)
            self._given[0].folder = folder / "world"
            copy_stored(kept, folder)
        return self._given[self._levels[-1][1].index(make)]

    def has(self, make: Make) -> bool:
        return bool(self._levels) and make in self._levels[-1][1]

    def _enter(self, make: Make) -> None:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            stack.enter_context(rolled_back())
            makes, made = [], []
            if self._levels:
                _, makes, made, below = self._levels[-1]
                copy_stored(below, folder)
            else:
                (folder / "world").mkdir()
            made = deepcopy(made)
            with settings_of(folder):
                if made:
                    made[0].folder = folder / "world"
                made.append(make(made[0]) if made else make_world(folder / "world"))
            self._levels.append((stack.pop_all(), [*makes, make], made, folder))


def copy_stored(kept: Path, folder: Path) -> None:
    for name in STORED:
        if (kept / name).exists():
            shutil.copytree(kept / name, folder / name)


def made_once(make: Callable[[World], T]) -> Callable[..., T]:
    """A fixture: what `make` stores and returns, on a world that has nothing else."""

    def made(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> T:
        ground: Ground = request.getfixturevalue("ground")
        return ground.give(make, tmp_path) if ground.has(make) else make(world)

    made.make = make  # type: ignore[attr-defined]
    return pytest.fixture(made)


def makes_of(item: pytest.Item) -> list[Make]:
    """What this test begins with. A test that commits makes it for itself."""
    names = list(getattr(item, "fixturenames", ()))
    marker = item.get_closest_marker("django_db")
    commits = {"transactional_db", "live_server"} & set(names) or (marker and marker.kwargs)
    fixtures = item._fixtureinfo.name2fixturedefs if names else {}  # type: ignore[attr-defined]
    functions = [fixtures[name][-1].func for name in names if name in fixtures]
    makes = [function.make for function in functions if hasattr(function, "make")]
    return sorted(makes, key=lambda make: make is not make_world) if makes and not commits else []
