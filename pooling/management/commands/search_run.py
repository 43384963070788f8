"""`search_run SLUG ENGINE`: ask a live engine for every query, and store its answers as a run."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from pooling.engines.options import DEEPEST
from pooling.engines.running import begin_asking, finish_asking, unfinished
from pooling.engines.stored import engine_named
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.interface.terminal import progress_bar
from pooling.people.membership import collection_named
from pooling.runs.stored import RunPreflight


class Command(InputCommand):
    help = "Ask an engine for every query of a collection and store its answers as a run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("engine", metavar="ENGINE", help="the engine's name")
        parser.add_argument(
            "--k",
            type=int,
            metavar="N",
            help=f"documents per query, up to {DEEPEST:,} (default: the engine's)",
        )
        parser.add_argument("--name", help="name of the run (default: the engine's name and the day)")
        parser.add_argument(
            "--resume", action="store_true", help="continue an interrupted run with the queries that are left"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        engine = engine_named(collection_named(options["slug"]), options["engine"])
        name, depth = options["name"], options["k"]
        if options["resume"] and (name or depth):
            raise InputError("--resume keeps the name and --k of the interrupted run. Leave them out.")
        if depth is not None and not 1 <= depth <= DEEPEST:
            raise InputError(f"--k is from 1 to {DEEPEST:,}.")
        asking = unfinished(engine) if options["resume"] else begin_asking(engine, name=name, depth=depth)
        with progress_bar(engine.name) as progress:
            done = finish_asking(asking, progress=progress)
        self.stdout.write(done["detail"])
        preflight: RunPreflight = done["preflight"]
        latency = preflight["engine"]["latency_ms"]
        self.stdout.write(
            f"Latency: mean {latency['mean']:.1f} ms, median {latency['p50']:.1f}, 95 % within "
            f"{latency['p95']:.1f}, longest {latency['max']:.1f}."
        )
        for note in preflight["notes"]:
            self.stderr.write(self.style.WARNING(f"{done['name']}: {note}"))
