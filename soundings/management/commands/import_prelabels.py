"""`import_prelabels SLUG QUEUE FILE`: what a model said elsewhere of the pairs of a queue."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.prelabels.importing import PrelabelChoices, import_prelabels
from labeling.progress.tables import queue_named
from pooling.formats.judgments.prelabels import PRELABEL_FORMATS
from pooling.interface.commands import InputCommand
from pooling.options import add_file


class Command(InputCommand):
    help = "Import pre-labels that a model made elsewhere. If the file has an error, nothing is imported."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("queue", metavar="QUEUE", help="the queue's name")
        add_file(parser, "file", "a file of pre-labels, also with .gz")
        parser.add_argument("--format", choices=list(PRELABEL_FORMATS), default="soundings")
        parser.add_argument(
            "--model", default="", metavar="M", help="what to call it, if not as the file does"
        )
        parser.add_argument(
            "--threshold",
            type=int,
            metavar="N",
            help="umbrela: the least grade that is relevant (2); clicks: how many of 100 who look at a "
            "relevant document click on it (50)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        queue = queue_named(options["slug"], options["queue"])
        choices = PrelabelChoices(options["format"], options["model"], options["threshold"])
        done = import_prelabels(queue, options["file"], choices)
        self.stdout.write(f"Imported: {done}.")
        for note in done.notes:
            self.stderr.write(self.style.WARNING(note))
