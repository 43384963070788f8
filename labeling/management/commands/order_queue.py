"""`order_queue SLUG QUEUE --by MODEL`: what is left of a queue in the order of a model's scores."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.prelabels.export import prelabeler_named
from labeling.progress.tables import queue_named
from labeling.queues.score_order import order_by_scores, order_without_scores
from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.interface.terminal import progress_bar


class Command(InputCommand):
    help = "Order the remaining pairs of a queue by a model's scores, likely relevant pairs first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("queue", metavar="QUEUE", help="the queue's name")
        order = parser.add_mutually_exclusive_group(required=True)
        order.add_argument("--by", metavar="MODEL", help="whose scores")
        order.add_argument(
            "--without-scores",
            action="store_true",
            help="for an adaptive queue that started from scores: continue from its runs alone",
        )
        parser.add_argument("--prompt", metavar="NAME", help="of --by; default: the newest")

    def handle(self, *args: Any, **options: Any) -> None:
        queue = queue_named(options["slug"], options["queue"])
        if options["without_scores"]:
            if options["prompt"] is not None:
                raise InputError("--prompt belongs to --by; leave it out to order without scores.")
            with progress_bar("Ordering") as progress:
                moved = order_without_scores(queue, progress=progress)
            outcome = f"{counted(moved, 'pair')} that nobody had judged, in order without scores again"
        else:
            prelabeler = prelabeler_named(queue, options["by"], options["prompt"])
            with progress_bar("Ordering") as progress:
                moved = order_by_scores(queue, prelabeler, progress=progress)
            outcome = f"{counted(moved, 'pair')} that nobody had judged, in the order of {prelabeler}"
        self.stdout.write(f"“{queue.name}”: {outcome}.")
