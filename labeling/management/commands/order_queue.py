"""`order_queue SLUG QUEUE --by MODEL`: what is left of a queue in the order of a model's scores."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from pooling.commands import InputCommand


class Command(InputCommand):
    help = "Put what is left of a queue in the order of a model's scores, likely relevant pairs first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("queue", metavar="QUEUE", help="the queue's name")
        parser.add_argument("--by", metavar="MODEL", required=True, help="whose scores")
        parser.add_argument("--prompt", metavar="NAME", help="default: the newest")

    def handle(self, *args: Any, **options: Any) -> None:
        from labeling.prelabel_export import prelabeler_named
        from labeling.prelabel_order import order_by_scores
        from labeling.queue_tables import queue_named

        queue = queue_named(options["slug"], options["queue"])
        prelabeler = prelabeler_named(queue, options["by"], options["prompt"])
        moved = order_by_scores(queue, prelabeler)
        told = f"{moved:,} pairs that nobody had judged, in the order of {prelabeler}"
        self.stdout.write(f"“{queue.name}”: {told}.")
