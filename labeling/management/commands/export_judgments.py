"""`export_judgments SLUG --output FILE`: every judgment event as a row, with what was seen of pre-labels."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.progress.tables import queue_named
from labeling.qrels.judgments import export_judgments, format_of
from pooling.formats.writing import write_pieces
from pooling.interface.commands import InputCommand
from pooling.options import add_file
from pooling.people.activity_log import record_action
from pooling.people.membership import collection_named
from pooling.storage.storing import disk_errors_named


class Command(InputCommand):
    help = "Write all verdicts (including replaced and undone ones), undos and skips to a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--queue", metavar="QUEUE", help="only judgments of this queue")
        parser.add_argument("--anonymous", action="store_true", help="pseudonyms instead of names")
        add_file(parser, "--output", ".csv, .tsv or .jsonl, also with .gz", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        collection, path = collection_named(options["slug"]), options["output"]
        queue = queue_named(collection.slug, options["queue"]) if options["queue"] else None
        pieces = export_judgments(collection, format_of(path), queue, anonymous=options["anonymous"])
        with disk_errors_named():
            write_pieces(path, pieces)
        record_action(collection, None, "file exported", path.name, anonymous=options["anonymous"])
        source = f"“{queue.name}”" if queue else f"“{collection.slug}”"
        names = "; people have pseudonyms" if options["anonymous"] else ""
        self.stdout.write(f"{path}: the judgments of {source}, event by event{names}.")
