"""`trail`: who did what, and whether a line of that is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from pooling.formats.writing import write_pieces
from pooling.interface.commands import InputCommand
from pooling.models import AdminAction
from pooling.options import add_file
from pooling.people.chain import check_chain
from pooling.storage.storing import disk_errors_named
from soundings.trail.choosing import WHAT, TrailForm, chosen_lines
from soundings.trail.lines import trail_lines
from soundings.trail.writing import kept_of

BROKEN = 1


class Command(InputCommand):
    """A broken chain is exit code 1."""

    help = "Check the trail of who did what for missing and changed lines, or write it to a file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--kept", default="", metavar="NUMBER:CHECKSUM", help="of an earlier check: was the end cut off?"
        )
        add_file(parser, "--output", "write JSON lines, check nothing")
        parser.add_argument("--who", metavar="NAME", help="did it, or had it done to them")
        parser.add_argument("--what", choices=[one.key for one in WHAT.choices if one.key])
        parser.add_argument("--collection", metavar="SLUG")
        parser.add_argument("--since", metavar="DAY", help="such as 2027-01-31")
        parser.add_argument("--until", metavar="DAY")

    def handle(self, *args: Any, output: Path | None, **options: Any) -> None:
        if output is None:
            self.check_all(options["kept"])
        else:
            self.export(output, options)

    def check_all(self, noted: str) -> None:
        check = check_chain(kept_of(noted))
        if check.problem:
            self.stderr.write(check.sentence)
            sys.exit(BROKEN)
        self.stdout.write(check.sentence)
        if check.number:
            self.stdout.write(f"Keep this elsewhere, for --kept: {check.newest}")

    def export(self, path: Path, options: dict[str, Any]) -> None:
        rows = chosen_lines(AdminAction.objects.all(), TrailForm(options))
        with disk_errors_named():
            write_pieces(path, (line.encode() for line in trail_lines(rows)))
        self.stdout.write(f"{path}: the trail, a JSON object on each line.")
