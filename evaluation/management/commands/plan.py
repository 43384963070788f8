"""`plan SLUG …`: what a campaign will be, cost and tell, before its pool is built."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from evaluation.plans.planning import plan
from evaluation.plans.settings import OF_ADAPTIVE, PlanSettings, settings_from
from evaluation.plans.words import plan_text
from labeling.adaptive.options import add_adaptive_arguments
from pooling.interface.commands import InputCommand
from pooling.options import add_option_arguments, options_of
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = (
        "Plan a campaign: pool, cost, days, width of the recall interval and power, before anything is built."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--runs", metavar="NAME", nargs="+", help="names of runs (default: all)")
        of_order = ("adaptive", *OF_ADAPTIVE)
        options = [one for one in options_of(PlanSettings).values() if one.name not in of_order]
        add_option_arguments(parser, options, filled=False)
        add_adaptive_arguments(parser, but=["budget", "prior"])
        parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        planned = plan(collection, settings_from(options))
        if options["format"] == "json":
            self.stdout.write(json.dumps(planned, ensure_ascii=False, indent=2))
        else:
            self.stdout.write(plan_text(planned), ending="")
