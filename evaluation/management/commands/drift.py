"""`drift QUERIES.tsv queries.jsonl`: does the evaluation set still look like the log, without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from evaluation.logs.design import sample_of
from evaluation.logs.rendering import drift_text
from evaluation.logs.report import compared, drift_of
from evaluation.logs.vectors import read_vectors
from pooling.formats.records import read_queries
from pooling.heavy import Floats
from pooling.interface.commands import InputCommand
from pooling.logs.population import read_log_table


class Command(InputCommand):
    help = "Compare the queries of an evaluation set with those of a log."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("log", metavar="QUERIES", type=Path, help="a table with query and count")
        parser.add_argument("queries", metavar="queries.jsonl", type=Path, help="the evaluation set")
        parser.add_argument(
            "--vectors",
            metavar=("LOG.npz", "SET.npz"),
            nargs=2,
            type=Path,
            help="vectors of queries of the log and of the set: one array each, or one called vectors",
        )
        parser.add_argument(
            "--looks", metavar="N", type=int, default=1, help="over how many reports 5 %% are spent (1)"
        )
        parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the permutations (0)")
        parser.add_argument("--format", choices=("table", "json"), default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["looks"] < 1:
            raise ValueError("--looks is a number of reports, 1 or more.")
        log = read_log_table(options["log"], "none")
        queries = read_queries(options["queries"])
        has_draw = bool(queries) and all("sampling" in query.metadata for query in queries)
        sample = sample_of(queries).queries if has_draw else None
        vectors: tuple[Floats, Floats] | None = None
        if options["vectors"]:
            vectors = read_vectors(*options["vectors"])
        both = compared(log.queries, queries, sample)
        drift = drift_of(both, vectors, looks=options["looks"], seed=options["seed"])
        if options["format"] == "json":
            self.stdout.write(json.dumps(drift, ensure_ascii=False, indent=2, allow_nan=False))
        else:
            self.stdout.write(drift_text(drift))
