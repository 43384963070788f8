"""`plan SLUG …`: what a campaign will be, cost and tell, before its pool is built."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from evaluation.plans.planning import plan
from evaluation.plans.settings import settings_from
from evaluation.plans.words import as_text
from labeling.adaptive.arguments import add_live_arguments
from pooling.interface.commands import InputCommand
from pooling.merging.choice import Choice
from pooling.options.arguments import add_option_arguments, count, share
from pooling.options.option import options_of
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = (
        "Plan a campaign: pool, cost, days, width of the recall interval and power, before anything is built."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--runs", metavar="NAME", nargs="+", help="names of runs (default: all)")
        parser.add_argument(
            "--depth", metavar="N", type=count, help="ranks taken from each run (default: 10)"
        )
        add_option_arguments(parser, [options_of(Choice)["depths"]])
        parser.add_argument("--strategy", metavar="S", help="the order of judging (default: rrf)")
        parser.add_argument("--budget", metavar="B", type=count, help="pairs in all (default: every pair)")
        parser.add_argument("--audit-share", metavar="F", type=share, help="part of the budget at random")
        add_live_arguments(parser, but=["budget", "prior"])
        parser.add_argument("--judgments-per-item", metavar="N", type=count, help="default: 1")
        parser.add_argument(
            "--most-judgments-per-item", metavar="N", type=count, help="one more while judgments tie"
        )
        parser.add_argument("--gold-first-share", metavar="F", type=share, help="gold in the first 25 items")
        parser.add_argument("--gold-share", metavar="F", type=share, help="gold in later items")
        parser.add_argument(
            "--practice", metavar="N", type=int, dest="practice_questions", help="questions before"
        )
        parser.add_argument("--repeat-share", metavar="F", type=share, help="own earlier items again")
        parser.add_argument(
            "--price", metavar="P", type=float, dest="price_per_judgment", help="default: site"
        )
        parser.add_argument("--overhead", metavar="F", type=float, help="share added to the price")
        parser.add_argument("--annotators", metavar="N", type=count, help="default: 5")
        parser.add_argument("--seconds", metavar="S", type=float, dest="seconds_per_judgment", help="each")
        parser.add_argument("--hours-per-week", metavar="H", type=float, help="of one person (default: 20)")
        parser.add_argument("--tie-share", metavar="F", type=share, help="pairs that tie")
        parser.add_argument("--relevant-share", metavar="F", type=share, help="relevant pairs of the pool")
        parser.add_argument("-k", "--k", metavar="K", type=count, help="cutoff of the recalls (default: 10)")
        parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        planned = plan(collection, settings_from(options))
        if options["format"] == "json":
            self.stdout.write(json.dumps(planned, ensure_ascii=False, indent=2))
        else:
            self.stdout.write(as_text(planned), ending="")
