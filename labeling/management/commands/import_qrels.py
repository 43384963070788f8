"""`import_qrels SLUG FILE`: labels that exist already."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.qrels.imported import import_qrels
from pooling.interface.commands import InputCommand
from pooling.options import add_file
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Import a qrels file. If it has an error, nothing is imported."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        add_file(parser, "file", "a qrels file")
        parser.add_argument(
            "--complete",
            action="store_true",
            help="the file names all that is relevant to its queries: unlisted documents are not relevant",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        done = import_qrels(collection_named(options["slug"]), options["file"], complete=options["complete"])
        self.stdout.write(done.sentence)
        for note in done.notes:
            self.stderr.write(self.style.WARNING(note))
