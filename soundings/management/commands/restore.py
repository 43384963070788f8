"""`restore`: a backup put into an empty installation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.interface.terminal import progress_bar
from soundings.installation.restoring import restore_backup


class Command(InputCommand):
    """Read a file of `backup`, check it, and store all of it or nothing."""

    help = "Put a backup into an empty installation, on SQLite or PostgreSQL."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a file that the command backup has written")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        with progress_bar("Restore") as progress:
            restored = restore_backup(file, progress)
        rows, files = counted(restored.rows, "row"), counted(restored.files, "file")
        self.stdout.write(f"{rows} and {files} were restored. Sign in as before.")
        if restored.migrations:
            self.stdout.write(f"The backup was upgraded ({counted(restored.migrations, 'migration')}).")
        if restored.missing:
            self.stderr.write(f"Missing in the backup already: {', '.join(restored.missing)}.")
        if restored.altered:
            self.stderr.write(f"Not what was released, in the backup already: {', '.join(restored.altered)}.")
        if not restored.same_key:
            self.stderr.write(
                "The secret key is not the one of the backup: copy that, or save keys of model servers, "
                "engines and webhooks again."
            )
