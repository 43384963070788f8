"""`export_prelabels SLUG QUEUE --model M --output FILE`: what a model proposed, never mixed with labels."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from labeling.prelabels.export import FORMATS, export_prelabels, prelabeler_named
from labeling.progress.tables import queue_named
from pooling.formats.registry import format_of, line_writers
from pooling.formats.sources import without_gz
from pooling.formats.writing import packed, replaced
from pooling.interface.commands import InputCommand
from pooling.people.activity_log import record_action
from pooling.storage.storing import disk_errors_named


class Command(InputCommand):
    help = "Write the pre-labels of a model in a queue to a file, with their provenance in each row."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("queue", metavar="QUEUE", help="the queue's name")
        parser.add_argument("--model", metavar="M", required=True)
        parser.add_argument("--prompt", metavar="NAME", help="default: the newest")
        parser.add_argument("--format", choices=FORMATS, help="default: as the suffix of FILE says, else csv")
        parser.add_argument("--output", metavar="FILE", type=Path, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        queue = queue_named(options["slug"], options["queue"])
        prelabeler = prelabeler_named(queue, options["model"], options["prompt"])
        path = options["output"]
        name = format_of(without_gz(path.name)).name
        format = options["format"] or (name if name in line_writers() else "csv")
        content = export_prelabels(queue, prelabeler, format)
        with disk_errors_named(), replaced(path) as temporary:
            temporary.write_bytes(packed(path, content))
        record_action(queue.collection, None, "file exported", path.name, queue=queue.name)
        self.stdout.write(f"{path}: the pre-labels of {prelabeler} in “{queue.name}”.")
