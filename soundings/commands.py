"""Django's own table of commands, with wrong usage told as every other command tells it."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib.util import find_spec

from django.conf import settings
from django.core import management
from django.core.management import ManagementUtility, find_commands, get_commands
from django.core.management.base import BaseCommand


class Commands(ManagementUtility):
    """A name that is no command is one line on stderr and exit code 2; Django's two lines end with 1."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        known = get_commands()
        if subcommand not in known:
            alike = get_close_matches(subcommand, known, 1)
            hint = f"Did you mean {alike[0]}?" if alike else f"{self.prog_name} help lists all."
            print(f"There is no command {subcommand!r}. {hint}", file=sys.stderr)
            sys.exit(2)
        return super().fetch_command(subcommand)


def overview(arguments: list[str]) -> str:
    """What `help` prints, without loading the apps whose commands it lists."""
    known = dict.fromkeys(find_commands(management.__path__[0]), "django.core")
    for app in reversed(settings.INSTALLED_APPS):
        for place in _folders(app):
            known |= dict.fromkeys(find_commands(os.path.join(place, "management")), app)
    groups: dict[str, list[str]] = {}
    for name, app in sorted(known.items()):
        group = "django" if app == "django.core" else app.rpartition(".")[-1]
        groups.setdefault(group, []).append(name)
    program = os.path.basename(arguments[0])
    lines = ["", f"Type '{program} help <subcommand>' for help on a specific subcommand."]
    lines += ["", "Available subcommands:"]
    for group, names in sorted(groups.items()):
        lines += ["", f"[{group}]", *(f"    {name}" for name in names)]
    return "\n".join(lines)


def _folders(package: str) -> list[str]:
    spec = find_spec(package)
    return list(spec.submodule_search_locations or ()) if spec else []
