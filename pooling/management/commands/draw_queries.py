"""`draw_queries QUERIES --n N --output queries.jsonl`: a probability sample of a log, without a database."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from pooling.formats.wording import counted
from pooling.formats.writing import write_text
from pooling.interface.commands import InputCommand
from pooling.logs.drawing import draw
from pooling.logs.population import plan_text, read_log_table, sample_lines
from pooling.options import add_file
from pooling.storage.storing import disk_errors_named

TARGETS = ("both", "traffic", "queries")


class Command(InputCommand):
    help = "Draw queries from a log with known probabilities, so that means can be taken back to its traffic."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser, "queries", "a table with query and count", metavar="QUERIES")
        parser.add_argument("--n", metavar="N", type=int, required=True, help="how many queries")
        parser.add_argument(
            "--strata",
            metavar="WHICH",
            default="traffic",
            help="traffic (head, torso and tail), none, or a column of QUERIES (traffic)",
        )
        parser.add_argument(
            "--target", choices=TARGETS, default="both", help="what the draw must speak for (both)"
        )
        parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the permanent numbers (0)")
        parser.add_argument(
            "--window", metavar="DAYS", default="", help="the days of the log: 2026-10-01/2026-10-31"
        )
        add_file(parser, "--output", "queries.jsonl")
        parser.add_argument("--dry-run", action="store_true", help="print the plan alone")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["output"] is None and not options["dry_run"]:
            raise ValueError("Name a file with --output FILE, or print the plan alone with --dry-run.")
        log = read_log_table(options["queries"], options["strata"])
        seed, target = options["seed"], options["target"]
        sample = draw(log.queries, options["n"], seed=seed, target=target)
        self.stdout.write(plan_text(log, sample))
        if options["dry_run"]:
            return
        name = f"n {options['n']}, seed {seed}, {target}, strata {options['strata']}"
        lines = sample_lines(sample, draw=name, window=options["window"], share=log.share)
        with disk_errors_named():
            write_text(options["output"], "".join(lines))
        self.stdout.write(f"{options['output']}: {counted(len(sample), 'query')}.")
