"""`judge_interleaving SERVED.jsonl CLICKS.jsonl`: which run users prefer, without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from pooling.formats.writing import write_run, write_text
from pooling.interface.commands import InputCommand
from pooling.interleaving.outcomes import clear_lines, served_run
from pooling.interleaving.served import read_impressions, read_served
from pooling.interleaving.verdicts import judge, verdict_text
from pooling.options import add_file
from pooling.storage.storing import disk_errors_named


class Command(InputCommand):
    help = "What the clicks on interleaved lists say, with numbers that may be looked at at any time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser, "served", "the lists, as interleave wrote them", metavar="SERVED")
        about = "JSON lines: served, user, clicks (ids of documents, as text)"
        add_file(parser, "clicks", about, metavar="CLICKS")
        parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the resampling (0)")
        add_file(parser, "--clear-queries", "the queries that one run wins clearly, as TSV")
        add_file(parser, "--run", "all documents that users were shown, as a run to pool")
        parser.add_argument("--format", choices=("table", "json"), default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        served = read_served(options["served"])
        impressions, strangers = read_impressions(options["clicks"], served)
        if not impressions:
            raise ValueError(
                "No row of the clicks is of a list that was served; compare the ids of both files."
            )
        verdict = judge(served, impressions, unknown_lists=strangers, seed=options["seed"])
        with disk_errors_named():
            if options["clear_queries"] is not None:
                write_text(options["clear_queries"], "".join(clear_lines(verdict["clear_queries"])))
            if options["run"] is not None:
                write_run(served_run(served, impressions), options["run"], tag="interleaved")
        if options["format"] == "json":
            self.stdout.write(json.dumps(verdict, ensure_ascii=False, indent=2, allow_nan=False))
        else:
            self.stdout.write(verdict_text(verdict))
