"""`build_pool SLUG --name NAME --depth N`: a pool of stored runs, in the database."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from pooling.commands import InputCommand
from pooling.management.commands.pool import add_choice_arguments
from pooling.terminal import progress_bar


class Command(InputCommand):
    help = "Build a pool from imported runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--name", required=True, help="what the pool is called")
        parser.add_argument("--runs", metavar="NAME", nargs="+", help="names of runs (default: all)")
        add_choice_arguments(parser)
        parser.add_argument(
            "--diagnostics", action="store_true", help="print sizes, lone finds and families to stderr"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        from pooling.membership import collection_named
        from pooling.pools import build_pool
        from pooling.runs import runs_named

        collection = collection_named(options["slug"])
        runs = runs_named(collection, options["runs"]) if options["runs"] else list(collection.runs.all())
        names = ("name", "depth", "strategy", "budget", "audit_share", "seed", "ties", "scores")
        with progress_bar("Building") as report:
            pool = build_pool(collection, runs=runs, report=report, **{name: options[name] for name in names})
        self.stdout.write(
            f"Pool {pool.pk}, “{pool.name}”: {pool.pair_count:,} pairs of {pool.query_count:,} queries, "
            f"{pool.chosen_count:,} to judge."
        )
        if options["diagnostics"]:
            from pooling.diagnosis import as_text

            self.stderr.write(as_text(pool.diagnostics), ending="")
        for run, count in pool.diagnostics["left_out_queries"].items():
            if count:
                self.stderr.write(self.style.WARNING(f"{run}: {count:,} queries are not in the collection."))
