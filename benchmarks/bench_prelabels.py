"""Pre-labels of 10,000 pairs from a server on loopback that answers in 200 ms, 64 requests at a time.

    python -m benchmarks.bench_prelabels [--pairs 10000] [--concurrency 64] [--latency 0.2]

On SQLite or at DATABASE_URL. Limits: 1.3 times the ideal time (pairs × latency / concurrency), and less than
500 MB above what the process holds before. The server and everybody else share the machine, so its load is
printed as well. What a pass does to the queue's claims is told by `bench_prelabel_claims`.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.judging_site import temporary_site

MOST_RATIO, MOST_MEGABYTES = 1.3, 500
DOCUMENTS = 100  # for each query


class ModelProcess(NamedTuple):
    """A model server in a process of its own."""

    url: str
    pid: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.2)
    options = parser.parse_args()
    with temporary_site(os.environ.get("DATABASE_URL")), server(options.latency) as model:
        return measure(model.url, options.pairs, options.concurrency, options.latency)


@contextmanager
def server(latency: float) -> Iterator[ModelProcess]:
    """A model server that answers so many seconds after it was asked."""
    command = [sys.executable, "-m", "tests.labeling.model_server", "--latency", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield ModelProcess(process.stdout.readline().strip(), process.pid)
    finally:
        process.terminate()
        process.wait()


def measure(url: str, pairs: int, concurrency: int, latency: float) -> int:
    from labeling.prelabels.costs import Prices
    from labeling.prelabels.options import prelabeler_for
    from labeling.prelabels.passes import PassOptions, run_here

    queue = make_queue(pairs)
    prelabeler = prelabeler_for(queue.collection, "loopback", base_url=url)
    prices = Prices(Decimal("0.15"), Decimal("0.6"))
    run_here(queue, prelabeler, PassOptions(limit=1, prices=prices))  # what is loaded once
    idle = resident()
    began, used = time.perf_counter(), time.process_time()
    options = PassOptions(concurrency=concurrency, budget=Decimal(1000), prices=prices)
    job = run_here(queue, prelabeler, options)
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    ideal = job.answered_count * latency / concurrency
    grown = peak() - idle
    print(
        f"{job.answered_count:,} pairs in {seconds:.1f} s, ideal {ideal:.1f} s: {seconds / ideal:.2f} times"
    )
    load = os.getloadavg()[0]
    print(f"  limit {MOST_RATIO}; {processor:.1f} s of a processor; load of the machine {load:.1f}")
    print(f"memory: at most {grown:.0f} MB above {idle:.0f} MB before; limit {MOST_MEGABYTES}")
    is_whole = job.state == "done" and prelabeler.prelabels.count() == pairs
    return 0 if is_whole and seconds / ideal <= MOST_RATIO and grown < MOST_MEGABYTES else 1


def make_queue(pairs: int) -> Any:
    from django.contrib.auth.models import User

    from labeling.queues.opening import open_queue
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


def resident() -> float:
    """Megabytes that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def peak() -> float:
    """The most megabytes that it ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    sys.exit(main())
