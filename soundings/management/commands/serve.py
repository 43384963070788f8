"""`serve`: the site on a production server, with its background worker, in one command."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.interface.terminal import progress_bar
from soundings.installation.data_folder import close_tree
from soundings.installation.first_use import create_first_admin, prepare_database, require_ready_database
from soundings.serving.processes import WEB, WORKER, require_free_port, serve_site, served_once, starting


class Command(InputCommand):
    """Bring the tables up to date, then serve until Ctrl+C or SIGTERM."""

    help = "Serve the site and run its background jobs."

    def add_arguments(self, parser: CommandParser) -> None:
        add_address_arguments(parser)
        parser.add_argument(
            "--only",
            choices=[WEB, WORKER],
            default="",
            help="only answer requests, or only run background work, as containers do",
        )
        parser.add_argument(
            "--no-migrate",
            action="store_true",
            help="leave the tables as they are; stop where they are not up to date",
        )

    def handle(self, *args: Any, host: str, port: int, workers: int, **options: Any) -> None:
        only = options["only"]
        with served_once(host, port, only):
            if only != WORKER:
                require_free_port(host, port)
            say(self, starting(only))
            if options["no_migrate"]:
                require_ready_database()
            prepare(self)
            created = create_first_admin() if only != WORKER else None
            if created:
                name, password = created
                say(self, f"No accounts yet, so one was created: sign in as {name} with {password}")
                once = "This password is shown only once; change it after signing in."
                say(self, f"{once} More accounts: create_user")
            serve_site(host, port, workers, only)


def add_address_arguments(parser: CommandParser) -> None:
    """Address and number of processes; `demo` takes the same arguments."""
    on_sqlite = connection.vendor == "sqlite"  # which lets one write at a time
    processes = 1 if on_sqlite else max(2, min(4, os.cpu_count() or 2))
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port",
        type=int,
        default=os.environ.get("PORT", "8000"),
        help="port to listen on (default: the variable PORT, or 8000)",
    )
    parser.add_argument(
        "--workers",
        type=_at_least_one,
        default=processes,
        help="processes for requests (default: %(default)s)",
    )


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a valid number of processes; write 1 or more.")
    return int(text)


def prepare(command: BaseCommand) -> None:
    """Close stored files to the machine's other accounts, and upgrade the tables, saying so if it did."""
    for folder in (settings.MEDIA_ROOT, settings.DERIVED_DIR, settings.LLM_JOURNAL_DIR):
        close_tree(Path(folder))
    with progress_bar("Upgrade") as progress:
        migrations = prepare_database(progress, lambda sentence: say(command, sentence))
    if migrations:
        say(command, f"The database is ready ({counted(migrations, 'migration')} applied).")


def say(command: BaseCommand, sentence: str) -> None:
    """Print a sentence at once, also into a pipe."""
    command.stdout.write(sentence)
    command.stdout.flush()
