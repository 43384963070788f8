"""`drift OLD NEW`, or `drift LOG queries.jsonl`: what has changed, without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from evaluation.logs.design import sample_of
from evaluation.logs.rendering import drift_text, log_drift_text
from evaluation.logs.report import Drift, compared, drift_of
from evaluation.logs.two_logs import LogDrift, log_drift
from evaluation.logs.vectors import read_vectors
from pooling.formats.records import read_queries
from pooling.heavy import Floats
from pooling.interface.commands import InputCommand
from pooling.logs.population import LogTable
from pooling.logs.reading import is_log, log_table
from pooling.options import add_file


class Command(InputCommand):
    help = "Compare a new log with an old one, or the queries of an evaluation set with a log."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser, "log", "a table of read_log, or a log it can read", metavar="LOG")
        add_file(parser, "queries", "a newer log, or an evaluation set: queries with ids", metavar="NEW")
        add_file(
            parser,
            "--vectors",
            "vectors of queries of the log and of the set: one array each, or one called vectors",
            metavar=("LOG.npz", "SET.npz"),
            nargs=2,
        )
        parser.add_argument(
            "--looks", metavar="N", type=int, default=1, help="over how many reports 5 %% are spent (1)"
        )
        parser.add_argument("--seed", metavar="N", type=int, default=0, help="of what is drawn at random (0)")
        parser.add_argument("--format", choices=("table", "json"), default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["looks"] < 1:
            raise ValueError("--looks is a number of reports, 1 or more.")
        log = log_table(options["log"])
        if is_log(options["queries"]):
            self._two_logs(log, options)
            return
        queries = read_queries(options["queries"])
        has_draw = bool(queries) and all("sampling" in query.metadata for query in queries)
        sample = sample_of(queries).queries if has_draw else None
        vectors: tuple[Floats, Floats] | None = None
        if options["vectors"]:
            of_log, of_set = options["vectors"]
            vectors = read_vectors(of_log, of_set, (log.traffic, len(queries)))
        both = compared(log.queries, queries, sample)
        drift = drift_of(both, vectors, looks=options["looks"], seed=options["seed"])
        self._write(drift, drift_text(drift), options)

    def _two_logs(self, old: LogTable, options: dict[str, Any]) -> None:
        for name, chosen in (("--vectors", options["vectors"]), ("--looks", options["looks"] > 1)):
            if chosen:
                raise ValueError(
                    f"{name} is for a log and a set of queries with ids; leave it out for two logs."
                )
        drift = log_drift(old, log_table(options["queries"]), seed=options["seed"])
        self._write(drift, log_drift_text(drift), options)

    def _write(self, drift: Drift | LogDrift, text: str, options: dict[str, Any]) -> None:
        if options["format"] == "json":
            text = json.dumps(drift, ensure_ascii=False, indent=2, allow_nan=False)
        self.stdout.write(text)
