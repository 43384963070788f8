"""Tables brought up to date as a whole: where one migration fails, everything is as it was before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import groupby
from typing import Any

from django.core.management.sql import emit_post_migrate_signal, emit_pre_migrate_signal
from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.migration import Migration
from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from pooling.interface.problems import InputError
from pooling.interface.results import Progress

# A migration as Django names it: the app and the file.
MigrationName = tuple[str, str]


class CreateModels(Operation):
    """Several new models, for which Django draws its picture of all once; most of an upgrade otherwise."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)


class QuickExecutor(MigrationExecutor):
    def apply_migration(
        self, state: ProjectState, migration: Migration, fake: bool = False, fake_initial: bool = False
    ) -> Any:
        """Apply it, with each row of new models as one step."""
        if fake or fake_initial:  # Django looks for the single models
            return super().apply_migration(state, migration, fake, fake_initial)
        steps: list[Operation] = []
        for kind, operations in groupby(migration.operations, type):
            alike = list(operations)
            steps += [CreateModels(alike)] if kind is CreateModel else alike
        together = copy(migration)
        vars(together)["operations"] = steps
        return super().apply_migration(state, together)


def newest(executor: MigrationExecutor) -> Sequence[MigrationName]:
    return list(executor.loader.graph.leaf_nodes())


def missing_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(newest(executor)))


def upgrade(progress: Progress) -> int:
    """Apply what is missing in one transaction; how many. `InputError` names a migration that failed."""
    with whole_or_nothing():
        return apply_migrations(None, progress)


def apply_migrations(targets: Sequence[MigrationName] | None, progress: Progress) -> int:
    """Migrate up to `targets`, or to this version's end with the signals that Django sends then."""
    executor = QuickExecutor(connection)
    ends = newest(executor) if targets is None else targets
    plan = executor.migration_plan(ends)
    current = ""
    done = 0

    def report(action: str, migration: object = None, fake: bool = False) -> None:
        nonlocal current, done
        if action == "apply_start":
            current = str(migration)
            progress(done / len(plan), current)
        elif action == "apply_success":
            done += 1

    executor.progress_callback = report  # type: ignore[assignment]  # the stubs want one of two actions
    try:
        if targets is None:
            before = executor.loader.project_state(list(executor.loader.applied_migrations)).apps
            emit_pre_migrate_signal(0, False, DEFAULT_DB_ALIAS, apps=before, plan=plan)
        state = executor.migrate(ends, plan=plan)
        if targets is None:
            state.clear_delayed_apps_cache()
            emit_post_migrate_signal(0, False, DEFAULT_DB_ALIAS, apps=state.apps, plan=plan)
    except InputError:
        raise
    except Exception as error:
        at = f"migration {current}" if current else "the migration"
        raise InputError(
            f"The upgrade failed at {at}: {error}. Nothing was changed; the version before still runs."
        ) from error
    return len(plan)


@contextmanager
def whole_or_nothing() -> Iterator[None]:
    """One transaction around changes of tables; SQLite, which copies tables, checks references at the end."""
    on_sqlite = connection.vendor == "sqlite"
    if on_sqlite:
        connection.disable_constraint_checking()
    try:
        with transaction.atomic():
            if not on_sqlite:
                check_references_at_once()
            yield
            if on_sqlite:
                connection.check_constraints()
    finally:
        if on_sqlite:
            connection.enable_constraint_checking()


def check_references_at_once() -> None:
    """`IntegrityError` where a row refers to one that is not there.

    PostgreSQL changes no table with references that it has still to check; SQLite would blame the migration.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    else:
        connection.check_constraints()
