"""`quality SLUG QUEUE`: agreement, annotators and hard queries of a queue."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from labeling.progress.tables import queue_named
from labeling.quality.figures import queue_quality
from labeling.quality.tables import quality_table
from pooling.interface.commands import InputCommand


class Command(InputCommand):
    help = "Show the quality of the judgments of a queue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("queue", metavar="QUEUE", help="the queue's name")
        parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        figures = queue_quality(queue_named(options["slug"], options["queue"]))
        if options["format"] == "json":
            from labeling.quality.api import QualitySerializer  # Cut: REST framework, for JSON alone

            plain = json.loads(json.dumps(QualitySerializer(figures).data, default=str))
            self.stdout.write(json.dumps(plain, ensure_ascii=False, indent=2))
        else:
            self.stdout.write(quality_table(figures))
