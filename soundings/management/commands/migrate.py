"""`migrate`: Django's own, but it creates new models together and says what an empty database waits for."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from soundings.installation.migrating import QuickExecutor

# The only name by which Django's command finds what applies the migrations.
migrate.MigrationExecutor = QuickExecutor  # type: ignore[attr-defined]  # the stubs lack it


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> Any:
        """On an empty database Django would print nothing before it has planned everything."""
        creates = options["verbosity"] and not (options["plan"] or options["check_unapplied"])
        if creates and not MigrationRecorder(connections[options["database"]]).has_table():
            self.stdout.write("Creating the tables in an empty database, which takes some seconds …")
            self.stdout.flush()
        return super().handle(*args, **options)
