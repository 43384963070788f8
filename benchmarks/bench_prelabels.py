"""Pre-labels of 10,000 pairs from a server on loopback that answers in 200 ms, 64 requests at a time.

    python -m benchmarks.bench_prelabels [--pairs 10000] [--concurrency 64] [--latency 0.2]

On SQLite or at DATABASE_URL. Limits: 1.3 times the ideal time (pairs × latency / concurrency), and less than
500 MB above what the process holds before. Meanwhile another process claims ten items at a time, as it does
before and after; its times side by side tell whether a pass slows the queue's claims. The server and
everybody else share the machine, so its load is printed as well.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.judging_site import temporary_site

MOST_RATIO, MOST_MEGABYTES = 1.3, 500
DOCUMENTS = 100  # for each query
ROUNDS = 40  # of claims, before and after


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.2)
    options = parser.parse_args()
    with temporary_site(os.environ.get("DATABASE_URL")), server(options.latency) as url:
        return measure(url, options.pairs, options.concurrency, options.latency)


@contextmanager
def server(latency: float) -> Iterator[str]:
    """The address of a model server in a process of its own."""
    command = [sys.executable, "-m", "tests.labeling.model_server", "--latency", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def measure(url: str, pairs: int, concurrency: int, latency: float) -> int:
    from labeling.prelabel_costs import Prices
    from labeling.prelabel_jobs import PassOptions, run_here
    from labeling.prelabel_options import prelabeler_for

    queue = make_queue(pairs)
    prelabeler = prelabeler_for(queue.collection, "loopback", base_url=url)
    prices = Prices(Decimal("0.15"), Decimal("0.6"))
    run_here(queue, prelabeler, PassOptions(limit=1, prices=prices))  # what is loaded once
    idle, claims = resident(), Claims(queue)
    alone = claims.timed(ROUNDS)
    meanwhile: list[float] = []
    is_over = threading.Event()
    thread = threading.Thread(target=lambda: meanwhile.extend(claims.until(is_over)))
    thread.start()
    began, used = time.perf_counter(), time.process_time()
    options = PassOptions(concurrency=concurrency, budget=Decimal(1000), prices=prices)
    job = run_here(queue, prelabeler, options)
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    is_over.set()
    thread.join()
    after = claims.timed(ROUNDS)
    ideal = job.answered_count * latency / concurrency
    grown = peak() - idle
    print(
        f"{job.answered_count:,} pairs in {seconds:.1f} s, ideal {ideal:.1f} s: {seconds / ideal:.2f} times"
    )
    load = os.getloadavg()[0]
    print(f"  limit {MOST_RATIO}; {processor:.1f} s of a processor; load of the machine {load:.1f}")
    print(f"memory: at most {grown:.0f} MB above {idle:.0f} MB before; limit {MOST_MEGABYTES}")
    before = median(alone + after)
    print(
        f"claim of ten: median {1000 * before:.1f} ms alone, {1000 * median(meanwhile):.1f} ms meanwhile "
        f"({len(meanwhile)} claims): {median(meanwhile) / before:.2f} times"
    )
    is_whole = job.state == "done" and prelabeler.prelabels.count() == pairs
    return 0 if is_whole and seconds / ideal <= MOST_RATIO and grown < MOST_MEGABYTES else 1


def make_queue(pairs: int) -> Any:
    from django.contrib.auth.models import User

    from labeling.queues import open_queue
    from pooling.models import Collection, Document, Membership, Pool, PoolEntry, Query

    collection = Collection.objects.create(slug="bench", name="Bench", guidelines="Relevant helps.")
    ben = User.objects.create_user("ben")
    Membership.objects.create(collection=collection, user=ben, role="annotator")
    text = "bus " * 200
    queries = [
        Query(collection=collection, external_id=f"q{n}", text=f"bus {n}") for n in range(pairs // DOCUMENTS)
    ]
    Query.objects.bulk_create(queries)
    documents = [
        Document(collection=collection, external_id=f"d{n}", title=f"Title {n}", text=f"{n} {text}")
        for n in range(DOCUMENTS)
    ]
    Document.objects.bulk_create(documents)
    pool = Pool.objects.create(collection=collection, name="pool", depth=DOCUMENTS, strategy="rrf")
    PoolEntry.objects.bulk_create(
        [
            PoolEntry(
                pool=pool,
                query=query,
                document=document,
                position=place,
                run_count=1,
                best_rank=place,
                rrf=0.1,
                inclusion_probability=1.0,
            )
            for query in queries
            for place, document in enumerate(documents, start=1)
        ],
        batch_size=2000,
    )
    return open_queue(pool, name="bench", seed=1)


class Claims:
    """Somebody who claims ten items and gives them back, again and again, in a process of their own."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue.pk

    def timed(self, rounds: int) -> list[float]:
        """Seconds of so many claims."""
        return self._run(rounds, None)

    def until(self, is_over: threading.Event) -> list[float]:
        """Seconds of claims until then."""
        return self._run(100_000, is_over)

    def _run(self, rounds: int, is_over: threading.Event | None) -> list[float]:
        command = [sys.executable, "-m", "benchmarks.prelabel_claims", str(self._queue), str(rounds)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if is_over is not None:
            is_over.wait()
        output, _ = process.communicate("stop" if is_over is not None else None)
        return [float(line) for line in output.split()]


def resident() -> float:
    """Megabytes that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def peak() -> float:
    """The most megabytes that it ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    sys.exit(main())
