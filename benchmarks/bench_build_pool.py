"""Storing a pool of 100,000 pairs: run files in, rows written; the limit is 30 seconds.

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


def main() -> int:
    """Measure each database in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = [measure_in_child("SQLite", f"sqlite:///{folder}/bench.sqlite3", folder)]
        url = os.environ.get("DATABASE_URL", "")
        if url.startswith("postgres"):
            seconds.append(measure_in_child("PostgreSQL", url, folder))
        else:
            print("PostgreSQL: set DATABASE_URL=postgres://USER@HOST:PORT/NAME to measure it too")
    return 0 if max(seconds) < LIMIT else 1


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
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "soundings.settings")
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    django.setup()
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
    sys.exit(measure() if "--child" in sys.argv else main())
