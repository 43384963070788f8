"""`read_log LOG… --output QUERIES.tsv`: a search log to counted queries, without a database."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from pooling.formats.wording import counted
from pooling.formats.writing import note_on_tabs, write_pieces, write_run
from pooling.interface.commands import InputCommand
from pooling.logs.reading import (
    MINIMUM_CLIENTS,
    checked_days,
    production_run,
    queries_lines,
    read_log,
    summary,
)
from pooling.logs.rows import checked_pattern
from pooling.options import add_file
from pooling.storage.storing import disk_errors_named


class Command(InputCommand):
    help = "Count the queries of a search log (User Behavior Insights, a table, or text by a pattern)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser, "logs", "files of one log, plain or .gz", metavar="LOG", nargs="+")
        add_file(parser, "--output", "QUERIES.tsv", required=True)
        parser.add_argument(
            "--minimum-clients",
            metavar="N",
            type=int,
            default=MINIMUM_CLIENTS,
            help="leave out queries that fewer people asked (2)",
        )
        parser.add_argument(
            "--days", metavar="DAYS", help="of a longer log: 2026-10-01/2026-10-31, both included, in UTC"
        )
        add_file(parser, "--run", "the production system's lists, as a run")
        parser.add_argument(
            "--pattern",
            metavar="REGEX",
            help="of lines of text: groups query, and perhaps client, time and search",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        least = options["minimum_clients"]
        if least < 0:
            raise ValueError("--minimum-clients is a number of people, 0 or more.")
        pattern = checked_pattern(options["pattern"]) if options["pattern"] else None
        days = checked_days(options["days"]) if options["days"] else None
        log = read_log(options["logs"], pattern, days)
        queries = log.common_queries(least)
        for line in summary(log, queries, least):
            self.stdout.write(line)
        if not queries:
            who = "" if log.has_clients else " No row says who asked."
            raise ValueError(
                f"No query was asked by {least} people or more, so nothing was written.{who} "
                "Choose a smaller --minimum-clients."
            )
        if options["run"] is not None and not any(query.key in log.lists for query in queries):
            raise ValueError(
                "The log has no lists of documents for these queries (query_response_hit_ids), so --run has "
                "nothing to write. Leave it out."
            )
        with disk_errors_named():
            lines = queries_lines(queries, log.share(queries))
            write_pieces(options["output"], (line.encode() for line in lines))
            self.stdout.write(f"{options['output']}: {counted(len(queries), 'query')}.")
            if note := note_on_tabs(options["output"]):
                self.stderr.write(self.style.WARNING(note), ending="")
            if options["run"] is not None:
                write_run(production_run(log, queries), options["run"], tag="production")
                lists = sum(query.key in log.lists for query in queries)
                self.stdout.write(f"{options['run']}: {counted(lists, 'list')}.")
