"""`queue_status SLUG QUEUE`: how far a queue is, what it costs, and when it ends."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from labeling.progress.counts import queue_progress
from labeling.progress.judged_share import judged_share
from labeling.progress.tables import queue_named, status_table
from pooling.interface.commands import InputCommand


class Command(InputCommand):
    help = "Show the progress of a queue: pairs by state, pace, cost and end date."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("queue", metavar="QUEUE", help="the queue's name")
        parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        queue = queue_named(options["slug"], options["queue"])
        progress, judged_at = queue_progress(queue), judged_share(queue)
        if options["format"] == "json":
            answer = {**progress, "judged_at": judged_at}
            self.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2, default=str))
        else:
            self.stdout.write(status_table(progress, judged_at))
