"""`backup`: the whole installation in one file, while people judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.template.defaultfilters import filesizeformat

from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.interface.terminal import progress_bar
from pooling.people.activity_log import record_action
from soundings.installation.taking import is_read_only, take_backup


class Command(InputCommand):
    help = "Write database and files to one file; the site goes on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a new file, such as soundings.backup.zip")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        in_trail = not is_read_only()
        with progress_bar("Backup") as progress:
            taken = take_backup(file, progress)
        if in_trail:
            record_action(None, None, "backup taken", file.name, rows=taken.rows, files=taken.files)
        else:
            self.stderr.write("The database cannot be written, so the trail does not have this backup.")
        size = filesizeformat(taken.size).replace("\xa0", " ")
        self.stdout.write(
            f"{counted(taken.rows, 'row')} and {counted(taken.files, 'file')} are in {file} ({size})."
        )
        if taken.missing:
            self.stderr.write(f"Missing in the file storage: {', '.join(taken.missing)}.")
        if taken.altered:
            self.stderr.write(f"No longer what was released: {', '.join(taken.altered)}.")
