"""`canary SLUG list|check`: what the canaries say, for people and for continuous integration."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.canaries.checks import canaries_named, check_run
from evaluation.canaries.page import describe_canary
from pooling.interface.commands import InputCommand
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "List the canaries of a collection, or check a run against them: exit code 1 when one is below."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("action", choices=("list", "check"), help="what to do")
        parser.add_argument("names", metavar="CANARY", nargs="*", help="only these canaries")
        parser.add_argument("--run", metavar="RUN", help="the run to check (default: the newest)")
        parser.add_argument("--format", choices=("table", "json"), default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 when a value is below its threshold."""
        collection = collection_named(options["slug"])
        chosen = canaries_named(collection, options["names"])
        if options["action"] == "list":
            if options["run"]:
                raise ValueError("--run belongs to check; leave it out to list.")
            rows = [describe_canary(canary, for_admin=True) for canary in chosen]
            line = "{name}: {measure} ≥ {threshold:g} on {release}, queries {queries}{trouble}"
            named = [
                {**row, "queries": row["tag"] or "all", "trouble": row["trouble"] and f". {row['trouble']}"}
                for row in rows
            ]
            self._print(named if options["format"] == "table" else rows, options["format"], line)
            return
        results = [check.to_dict() for check in check_run(collection, chosen, options["run"])]
        self._print(results, options["format"], "{sentence}")
        if any(result["below"] for result in results):
            sys.exit(1)

    def _print(self, rows: Sequence[Mapping[str, object]], form: str, line: str) -> None:
        if form == "json":
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2))
            return
        for row in rows:
            self.stdout.write(line.format(**row))
