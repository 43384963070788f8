"""`import_gold SLUG FILE`: pairs whose answers are known."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.gold.importing import import_gold
from labeling.gold.questions import gold_balance
from pooling.interface.commands import InputCommand
from pooling.options import add_file
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Import gold questions. If the file has an error, nothing is imported."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        add_file(parser, "file", "CSV, TSV or JSON lines: query_id, document_id, answer, reason")

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        done = import_gold(collection, options["file"])
        balance = gold_balance(collection)
        practice = balance.practice_relevant, balance.practice_not_relevant
        also = "; for practice {:,} relevant and {:,} not relevant".format(*practice) if any(practice) else ""
        self.stdout.write(
            f"{done.sentence} "
            f"Now {balance.relevant:,} relevant and {balance.not_relevant:,} not relevant{also}."
        )
        if balance.is_uneven:
            self.stderr.write(self.style.WARNING("Choose about the same number for each answer."))
