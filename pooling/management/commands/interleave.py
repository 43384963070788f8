"""`interleave A.run B.run --k 10 --seed S --output SERVED.jsonl`: lists to serve, without a database."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from pooling.formats.wording import counted
from pooling.formats.writing import write_pieces
from pooling.inputs.reading import named_runs, run_frame
from pooling.interface.commands import InputCommand
from pooling.interleaving.lists import LONGEST_OPTIMIZED
from pooling.interleaving.served import interleaved_lists, served_line, tops_by_query
from pooling.options import add_file
from pooling.ranking.ranking import order_run
from pooling.storage.storing import disk_errors_named

METHODS = ("team-draft", "optimized", "pairwise-preference")


class Command(InputCommand):
    help = "Mix the lists of two or more runs, so that clicks say which run users prefer."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser, "runs", "two or more; NAME=FILE names one", metavar="RUN", nargs="+")
        parser.add_argument("--k", metavar="N", type=int, default=10, help="places of a list (10)")
        parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the lists (0)")
        parser.add_argument("--method", choices=METHODS, default="team-draft", help="default: team-draft")
        parser.add_argument("--per-query", metavar="N", type=int, default=1, help="lists for each query (1)")
        parser.add_argument("--output", metavar="FILE", type=Path, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        if len(options["runs"]) < 2:
            raise ValueError("Interleaving needs two runs or more.")
        for name in ("k", "per_query"):
            if options[name] < 1:
                raise ValueError(f"--{name.replace('_', '-')} is {options[name]}; it must be at least 1.")
        sources, k = named_runs(options["runs"]), options["k"]
        tops = {
            name: tops_by_query(order_run(run_frame(name, one), depth=k), k) for name, one in sources.items()
        }
        method = options["method"]
        if method == "optimized" and k > LONGEST_OPTIMIZED:
            method = "team-draft"
            note = (
                f"Lists of more than {LONGEST_OPTIMIZED} places cannot be optimized: these are team drafts."
            )
            self.stderr.write(self.style.WARNING(note))
        settings = {"method": method, "seed": options["seed"], "per_query": options["per_query"]}
        lists = list(interleaved_lists(tops, k, **settings))
        if not lists:
            raise ValueError("The runs have no query in common; compare the query ids of all.")
        with disk_errors_named():
            write_pieces(options["output"], (served_line(one).encode() for one in lists))
        interleaved, every = {one.query_id for one in lists}, set().union(*tops.values())
        if left_out := sorted(every - interleaved):
            count = f"{counted(len(left_out), 'query')} of {len(every):,}"
            note = f"Left out: {count} that a run does not answer, such as “{left_out[0]}”."
            self.stderr.write(self.style.WARNING(note))
        same = sum(one.is_same for one in lists)
        alike = f" In {same:,} of them the runs agree, so that no click can tell them apart." if same else ""
        self.stdout.write(f"{options['output']}: {counted(len(lists), 'list')}.{alike}")
