"""`measure SLUG`: the labels released and every run measured on them, in one step."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from evaluation.models import Report
from evaluation.reports.measuring import Measuring, request_measuring
from labeling.consensus.rules import RULES_IN_WORDS
from pooling.interface.commands import InputCommand
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Release the labels of a collection and measure its runs on them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--name", help="what the release is called (v1, v2 and so on)")
        parser.add_argument(
            "--rule", default="majority", help=f"how verdicts become a label: {', '.join(RULES_IN_WORDS)}"
        )
        parser.add_argument("--run", nargs="+", metavar="RUN", help="names of runs (all)")

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        choice = Measuring(options["name"], options["rule"], options["run"])
        made = request_measuring(collection, choice, None)
        if isinstance(made, Report):
            self.stdout.write(f"Made release “{made.release.name}” and report “{made.name}”.")
        else:
            self.stdout.write(f"Job {made.pk} releases and measures.")
