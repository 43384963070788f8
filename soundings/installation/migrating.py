"""Tables brought up to date as a whole: where one migration fails, everything is as it was before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.core.management.sql import emit_post_migrate_signal, emit_pre_migrate_signal
from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from pooling.interface.problems import InputError
from pooling.interface.results import Progress

# A migration as Django names it: the app and the file.
MigrationName = tuple[str, str]


def newest(executor: MigrationExecutor) -> Sequence[MigrationName]:
    """The migrations that this version ends with."""
    return list(executor.loader.graph.leaf_nodes())


def missing_migrations() -> int:
    """Number of migrations that the tables are behind."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(newest(executor)))


def upgrade(progress: Progress) -> int:
    """Apply what is missing in one transaction; how many migrations that were.

    `InputError` names the migration that failed; nothing of any of them stays then.
    """
    with whole_or_nothing():
        return apply_migrations(None, progress)


def apply_migrations(targets: Sequence[MigrationName] | None, progress: Progress) -> int:
    """Migrate up to `targets`, or to this version's end with the signals that Django sends then."""
    executor = MigrationExecutor(connection)
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
    """One transaction around changes of tables, which both databases take back as they do changes of rows.

    SQLite copies a table to change it and must not look at references in between; it looks at the end.
    """
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
