"""`decide SLUG REPORT A B`: what would decide which of two runs is better, and a queue of it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from evaluation.comparisons.deciding_queue import decision, open_deciding_queue
from evaluation.comparisons.stored import chosen_comparisons
from labeling.models import Queue
from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.options import count
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Say which labels would decide which of two runs of a report is better; --open queues them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("report", metavar="REPORT", help="the report's name; of several, the newest")
        parser.add_argument("first", metavar="A", help="a run of the report")
        parser.add_argument("second", metavar="B", help="another")
        parser.add_argument("--k", metavar="N", type=count, default=10, help="a K of the report (10)")
        parser.add_argument("--open", action="store_true", help="open a queue of these pairs")

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        report = collection.reports.filter(name=options["report"]).order_by("-pk").first()
        if report is None:
            raise InputError(f"There is no report “{options['report']}” in “{collection.slug}”.")
        pair = options["first"], options["second"], options["k"]
        chosen_comparisons(report, *pair)
        self.stdout.write(decision(report, *pair).sentence)
        if options["open"]:
            opened = open_deciding_queue(report, *pair)
            if isinstance(opened, Queue):
                self.stdout.write(
                    f"Queue {opened.pk}, “{opened.name}”: {counted(opened.items.count(), 'pair')}."
                )
            else:
                self.stdout.write(f"Job {opened.pk} opens the queue.")
