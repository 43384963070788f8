"""Whether a pass of pre-labels slows the queue's claims, and what of it does.

    python -m benchmarks.bench_prelabel_claims [--rounds 3] [--pairs 1500] [--nice 0]

On SQLite or at DATABASE_URL. Somebody claims ten items ten times a second, in a process of their own, while
by turns nothing else happens (`alone`), a pass runs against a server on loopback (`pass`), the same pass runs
and stores nothing (`unstored`), and other processes use as much of the processors as pass, server and
database did, but no database (`spinning`). The conditions change several times within one run, so that
whatever else the machine does falls on all of them. Each line says what a claim takes at the median and at
the 95th percentile: by the clock, of the processor, waiting for a processor, for the lock of SQLite,
and for the disk; then how many times `alone` that is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from typing import Any
from unittest.mock import patch

from benchmarks.bench_prelabels import ModelProcess, make_queue, server
from benchmarks.judging_load import percentile
from benchmarks.judging_site import processor_seconds_of, temporary_site

SETTLING = 0.3  # seconds after a change of conditions whose claims are left out
CONDITIONS = ("alone", "pass", "unstored", "spinning")
CELLS = ("clock", "processor", "runnable", "lock", "disk")
Claimed = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=1500, help="in each pass")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--nice", type=int, default=0, help="priority of the pass, as the worker's")
    options = parser.parse_args()
    with temporary_site(os.environ.get("DATABASE_URL")), server(options.latency) as model:
        queue = make_queue(max(10_000, options.rounds * options.pairs + 100))
        with claims_of(queue.pk) as claims:
            spans = Spans(queue, model, options).all_rounds()
        report(spans, [json.loads(line) for line in claims])


class Spans:
    """Brings the conditions about, and keeps when each of them began and ended."""

    def __init__(self, queue: Any, model: ModelProcess, options: argparse.Namespace) -> None:
        from labeling.prelabels.options import prelabeler_for

        self._queue, self._model, self._options = queue, model, options
        self._prelabeler = prelabeler_for(queue.collection, "loopback", base_url=model.url)
        self._shares: list[float] = []  # of a processor, for each process that works for a pass
        self._seconds = 5.0
        self._found: list[tuple[str, float, float]] = []

    def all_rounds(self) -> list[tuple[str, float, float]]:
        """Condition, beginning and end by the monotonic clock, of every span."""
        self._pass(1)  # what is loaded once
        if self._options.nice:
            os.nice(self._options.nice)
        steps: dict[str, Callable[[], None]] = {
            "alone": self._wait,
            "pass": self._measured_pass,
            "unstored": self._unstored_pass,
            "spinning": self._spin,
        }
        for _ in range(self._options.rounds):
            for condition in CONDITIONS:
                time.sleep(SETTLING)
                began = time.monotonic()
                steps[condition]()
                self._found.append((condition, began + SETTLING, time.monotonic()))
        return self._found

    def _wait(self) -> None:
        time.sleep(self._seconds)

    def _pass(self, pairs: int) -> None:
        from labeling.prelabels.costs import Prices
        from labeling.prelabels.passes import PassOptions, run_here

        prices, budget = Prices(Decimal("0.15"), Decimal("0.6")), Decimal(1000)
        options = PassOptions(
            concurrency=self._options.concurrency, limit=pairs, budget=budget, prices=prices
        )
        run_here(self._queue, self._prelabeler, options)

    def _measured_pass(self) -> None:
        workers = [os.getpid(), self._model.pid, *_backend()]
        began, before = time.monotonic(), [processor_seconds_of(pid) for pid in workers]
        self._pass(self._options.pairs)
        self._seconds = time.monotonic() - began
        used = [processor_seconds_of(pid) - start for pid, start in zip(workers, before, strict=True)]
        self._shares = [seconds / self._seconds for seconds in used]
        told = ", ".join(f"{share:.2f}" for share in self._shares)
        print(
            f"{self._options.pairs:,} pairs in {self._seconds:.1f} s; shares of a processor that the pass, "
            f"the model's server and the database's process used: {told}",
            flush=True,
        )

    def _unstored_pass(self) -> None:
        with patch("labeling.prelabels.running.store_outcomes", lambda *arguments, **facts: ""):
            self._pass(self._options.pairs)

    def _spin(self) -> None:
        with ExitStack() as spinning:
            for share in self._shares:
                command = [sys.executable, "-m", "benchmarks.spin", f"{share:.3f}"]
                spinning.callback(subprocess.Popen(command).kill)
            self._wait()


def _backend() -> list[int]:
    """The database's own process that works for this one."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return list(cursor.fetchone())


@contextmanager
def claims_of(queue: int) -> Iterator[list[str]]:
    """Lines of `prelabel_claims`; they stand in the list when the context has ended."""
    command = [sys.executable, "-m", "benchmarks.prelabel_claims", str(queue)]
    lines: list[str] = []
    # Into a file: a pipe that nobody reads fills up.
    with (
        open(os.path.join(os.environ["SOUNDINGS_DATA"], "claims.jsonl"), "w+") as file,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, text=True) as process,
    ):
        yield lines
        process.communicate("stop")
        file.seek(0)
        lines += file.read().splitlines()


def report(spans: list[tuple[str, float, float]], claims: list[Claimed]) -> None:
    """Print a line for each condition, and its ratios to `alone`."""
    found: dict[str, list[Claimed]] = defaultdict(list)
    for claimed in claims:
        for condition, began, ended in spans:
            if began <= claimed["at"] and claimed["at"] + claimed["all"][0] <= ended:
                found[condition].append(claimed)
    alone = cells(found["alone"])
    head = " ".join(f"{cell:>13}" for cell in CELLS)
    print(f"{'claim of ten, ms (p50/p95)':<26} {'claims':>6} {head}   times the clock and processor alone")
    for condition in CONDITIONS:
        told = cells(found[condition])
        shown = " ".join(f"{f'{half:.2f}/{most:.2f}':>13}" for half, most in told.values())
        ratios = ", ".join(
            f"{told[cell][0] / alone[cell][0]:.2f}/{told[cell][1] / alone[cell][1]:.2f}"
            for cell in ("clock", "processor")
        )
        print(f"{condition:<26} {len(found[condition]):>6} {shown}   {ratios}")


def cells(claims: list[Claimed]) -> dict[str, tuple[float, float]]:
    """The median and the 95th percentile of each of `CELLS`, in milliseconds."""
    values = {
        "clock": [claimed["all"][0] for claimed in claims],
        "processor": [claimed["all"][1] for claimed in claims],
        "runnable": [claimed["all"][2] for claimed in claims],
        "lock": [_asleep(claimed.get("begin", [0.0] * 3)) for claimed in claims],
        "disk": [_asleep(claimed.get("commit", [0.0] * 3)) for claimed in claims],
    }
    return {name: (percentile(each, 0.5), percentile(each, 0.95)) for name, each in values.items()}


def _asleep(taken: list[float]) -> float:
    clock, processor, runnable = taken
    return max(0.0, clock - processor - runnable)


if __name__ == "__main__":
    main()
