"""`delete_account NAME`: the person goes, the judgments stay under a pseudonym."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.people.membership import account_named
from soundings.accounts.removing import delete_account


class Command(InputCommand):
    help = "Delete an account for good. Its judgments stay under a pseudonym, because labels rest on them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="user name of the account")
        parser.add_argument("--yes", action="store_true", help="you know that this cannot be undone")

    def handle(self, *args: Any, name: str, yes: bool, **options: Any) -> None:
        user = account_named(name)
        if not yes:
            raise InputError(f"Nobody can undo this. To delete the account {name} for good, add --yes.")
        self.stdout.write(f"Deleted. Judgments of {name} are now by {delete_account(user, by=None)}.")
