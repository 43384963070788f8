"""Django's own table of commands, with wrong usage told as every other command tells it."""

from __future__ import annotations

import sys
from difflib import get_close_matches

from django.core.management import ManagementUtility, get_commands
from django.core.management.base import BaseCommand


class Commands(ManagementUtility):
    """A name that is no command is one line on stderr and exit code 2; Django's two lines end with 1."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        commands = get_commands()
        if subcommand not in commands:
            alike = get_close_matches(subcommand, commands, 1)
            hint = f"Did you mean {alike[0]}?" if alike else f"{self.prog_name} help lists all."
            print(f"There is no command {subcommand!r}. {hint}", file=sys.stderr)
            sys.exit(2)
        return super().fetch_command(subcommand)
