"""Storing a pool of 100,000 pairs: run files in, rows written; the limit is 30 seconds. Then a pool with a
reach of 1,000 over 100,000 documents with texts: below 60 seconds and 4 GB.

Runs on SQLite in a temporary folder, and also on PostgreSQL when DATABASE_URL names a server: a database of
its own is made there and dropped again.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUERIES, RUNS, DEPTH, SHIFT = 500, 5, 100, 25
PAIRS = QUERIES * (DEPTH + SHIFT * (RUNS - 1))
LIMIT = 30.0
REACH, DOCUMENTS, WORDS, LONG = 1_000, 100_000, 20_000, 100
REACH_LIMIT, REACH_MEMORY = 60.0, 4_000


def main() -> int:
    """Measure each database in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = [measure_in_child("SQLite", f"sqlite:///{folder}/bench.sqlite3", folder)]
        url = os.environ.get("DATABASE_URL", "")
        if url.startswith("postgres"):
            seconds.append(measure_in_child("PostgreSQL", url, folder))
        else:
            print("PostgreSQL: set DATABASE_URL=postgres://USER@HOST:PORT/NAME to measure it too")
        reached, memory = measure_reach(folder)
    kept = max(seconds) < LIMIT and reached < REACH_LIMIT and memory < REACH_MEMORY
    return 0 if kept else 1


def measure_reach(folder: str) -> tuple[float, float]:
    """Seconds and MB of the pool with a reach, on SQLite."""
    url = f"sqlite:///{folder}/reach.sqlite3"
    environment = {**os.environ, "DATABASE_URL": url, "SOUNDINGS_DATA": folder}
    command = [sys.executable, __file__, "--reach"]
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    built, worked, memory, pairs = map(float, output.split())
    print(
        f"Reach {REACH:,}, {DOCUMENTS:,} documents, {QUERIES} queries, {RUNS} runs: {pairs:,.0f} pairs in "
        f"{built:.1f} s (limit {REACH_LIMIT:.0f} s), {worked:.1f} s of the processor; "
        f"peak memory {memory:.0f} MB (limit {REACH_MEMORY:,} MB)"
    )
    return built, memory


def build_reach() -> None:
    """Print seconds, those of the processor, the peak memory in MB and the pairs of a pool with a reach."""
    prepare()
    import numpy as np
    from django.core.management import call_command

    from pooling.models import Document, Query
    from pooling.people.membership import create_collection
    from pooling.pools.building import build_pool
    from pooling.runs.stored import import_run

    call_command("migrate", verbosity=0)
    collection = create_collection(None, slug="bench", name="Bench")
    draw = np.random.default_rng(1)
    words = [f"word{number}" for number in range(WORDS)]

    def text(count: int) -> str:
        return " ".join(words[number] for number in draw.zipf(1.3, count) % WORDS)

    Query.objects.bulk_create(
        Query(collection=collection, external_id=f"q{number}", text=text(5)) for number in range(QUERIES)
    )
    made = (
        Document(collection=collection, external_id=f"d{number}", title="", text=text(LONG))
        for number in range(DOCUMENTS)
    )
    Document.objects.bulk_create(made, batch_size=5_000)
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for run in range(RUNS):
            path = Path(folder) / f"run{run}.run"
            with path.open("w") as file:
                for query in range(QUERIES):
                    for rank, document in enumerate(draw.choice(DOCUMENTS, REACH, replace=False), 1):
                        file.write(f"q{query} Q0 d{document} {rank} {1 / rank:.6f} run{run}\n")
            runs.append(import_run(collection, path))
    start, worked = time.perf_counter(), time.process_time()
    pool = build_pool(
        collection, name="pool", runs=runs, depth=10, reach=REACH, budget=QUERIES * 20, audit_share=0.5
    )
    built = time.perf_counter() - start
    worked = time.process_time() - worked
    print(built, worked, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, pool.pair_count)


def measure_in_child(name: str, url: str, folder: str) -> float:
    environment = {**os.environ, "DATABASE_URL": url, "SOUNDINGS_DATA": folder}
    command = [sys.executable, __file__, "--child"]
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    imported, built, memory = map(float, output.split())
    rate, margin = PAIRS / built, LIMIT / built
    print(f"{name}: {PAIRS:,} pairs in {built:.1f} s ({rate:,.0f} a second), {margin:.1f}× below the limit")
    print(f"{name}: {RUNS} runs imported in {imported:.1f} s; peak memory {memory:.0f} MB")
    return built


def measure() -> None:
    """Print seconds of import and build, and the peak memory in MB."""
    prepare()
    from django.core.management import call_command
    from django.db import connection

    sqlite = connection.vendor == "sqlite"
    if sqlite:
        call_command("migrate", verbosity=0)
    else:
        connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        imported, built = import_and_build()
    finally:
        if not sqlite:
            connection.creation.destroy_test_db(verbosity=0)
    print(imported, built, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def prepare() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "soundings.settings")
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    django.setup()


def import_and_build() -> tuple[float, float]:
    from pooling.models import Query
    from pooling.people.membership import create_collection
    from pooling.pools.building import build_pool
    from pooling.runs.stored import import_run

    collection = create_collection(None, slug="bench", name="Bench")
    Query.objects.bulk_create(
        Query(collection=collection, external_id=f"q{number}", text="x") for number in range(QUERIES)
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = [write_run(Path(folder) / f"run{run}.run", run) for run in range(RUNS)]
        start = time.perf_counter()
        runs = [import_run(collection, path) for path in paths]
        imported = time.perf_counter() - start
    start = time.perf_counter()
    pool = build_pool(collection, name="pool", runs=runs, depth=DEPTH, audit_share=0.1)
    built = time.perf_counter() - start
    assert pool.entries.count() == PAIRS
    return imported, built


def write_run(path: Path, run: int) -> Path:
    """Each run shares three quarters of its documents with the next one; no two queries share any."""
    with path.open("w") as file:
        for query in range(QUERIES):
            for rank in range(1, DEPTH + 1):
                document = f"document-{query:05d}-{run * SHIFT + rank:04d}"
                file.write(f"q{query} Q0 {document} {rank} {1 / rank:.6f} run{run}\n")
    return path


if __name__ == "__main__":
    if "--reach" in sys.argv:
        build_reach()
    else:
        sys.exit(measure() if "--child" in sys.argv else main())
