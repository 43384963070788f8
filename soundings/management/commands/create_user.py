"""`create_user`: an account with a given or a generated password."""

from __future__ import annotations

import sys
from getpass import getpass
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandParser

from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from soundings.installation.first_use import create_account, generated_password, prepare_database


class Command(InputCommand):
    """Ask for a password on a terminal; read it or generate it elsewhere."""

    help = "Create an account. Roles are given per collection, with add_member."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password's line from stdin"
        )
        parser.add_argument(
            "--site-admin", action="store_true", help="may do everything everywhere, and use /admin/"
        )

    def handle(self, *args: Any, name: str, password_stdin: bool, site_admin: bool, **options: Any) -> None:
        given = sys.stdin.readline().rstrip("\r\n") if password_stdin else _typed_password(name)
        if password_stdin or given:
            try:
                validate_password(given, get_user_model()(username=name))
            except ValidationError as error:
                raise InputError(" ".join(error.messages)) from None
        # Programs read the password from the other stream.
        prepare_database(say=lambda sentence: print(sentence, file=sys.stderr, flush=True))
        password = given or generated_password()
        create_account(name, password, site_admin=site_admin)
        self.stdout.write(f"Created the account {name}.")
        if not given:
            self.stdout.write(f"Its password, shown only now: {password}")


def _typed_password(name: str) -> str:
    """A password typed on a terminal, twice the same; empty means that one is to be generated."""
    if not sys.stdin.isatty():
        return ""
    password = getpass(f"Password for {name} (empty: one is generated): ")
    if password and getpass("Again: ") != password:
        raise InputError("The two passwords differ; nothing was created.")
    return password
