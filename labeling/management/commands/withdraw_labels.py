"""`withdraw_labels SLUG [IMPORT]`: an import of labels taken back, or the list of imports."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.qrels.imported import label_files, withdraw_labels
from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Take back an import of labels, or list the imports."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument(
            "file", metavar="IMPORT", type=int, nargs="?", help="the number of the import; without it, a list"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        files: Any = label_files(collection_named(options["slug"]))  # with counts
        if options["file"] is None:
            if not files:
                self.stdout.write(f"No labels were imported into “{options['slug']}”.")
            for file in files:
                state = "taken back" if file.withdrawn_at else f"{file.imported_at:%Y-%m-%d}"
                self.stdout.write(f"{file.pk}\t{counted(file.label_count, 'label')}\t{state}\t{file.name}")
            return
        file = files.filter(pk=options["file"]).first()
        if file is None:
            raise InputError(
                f"“{options['slug']}” has no import of labels with the number {options['file']}."
            )
        self.stdout.write(f"Taken back: {counted(withdraw_labels(file), 'label')} of {file.name}.")
