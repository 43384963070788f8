"""`draft_facts SLUG --model M`: a language model proposes facts, for people to confirm."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.fact_pages.drafting import DraftOptions, draft_facts
from labeling.prelabels.costs import parse_budget, parse_prices
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.interface.terminal import progress_bar
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Ask a language model for the facts that answers need. People confirm them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--model", metavar="M", required=True, help="as the server calls it")
        parser.add_argument("--queries", nargs="+", metavar="ID", help="these queries alone")
        parser.add_argument("--base-url", metavar="U", help="the server (default: the first of the settings)")
        parser.add_argument("--budget", metavar="X", help="maximum cost")
        parser.add_argument(
            "--price", metavar="IN/OUT", help="prices per million tokens read and written (default: settings)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            budget = parse_budget(options["budget"])
            prices = parse_prices(options["price"]) if options["price"] else None
        except ValueError as error:
            raise InputError(str(error)) from error
        collection = collection_named(options["slug"])
        chosen = DraftOptions(options["model"], options["base_url"], options["queries"], budget, prices)
        with progress_bar("Drafting") as progress:
            done = draft_facts(collection, chosen, progress)
        self.stdout.write(f"{done.sentence} Confirm them on the page “Facts”.")
        for remark in done.remarks:
            self.stderr.write(self.style.WARNING(remark))
