"""What grows with a site: claims and pages at many pairs beside few, and what is stored of a pair.

    [DATABASE_URL=postgres://USER@HOST:PORT/DATABASE] python -m benchmarks.bench_scale [--pairs 1000000]

Two collections get a pool and a queue by the product's own functions, one of 10,000 pairs and one of
`--pairs`. Printed are, for each, claims and an admin's pages (median of five, once warm, with their
statements), the ratio of large to small, and where a page is over its limit; then, on PostgreSQL, the seconds
in which the pool was built and the queue opened beside a bare COPY of the same rows (limit: 6 times) and
beside one that follows indexes and references as well; then the pages of somebody with 2,000 collections,
500 members and 300 queues; then a report of 10,000 queries × 50 runs, made by its job and opened, beside one
of 1,000 queries: `--only report` and `--only pairs` do one of the two.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.bench_report import make_collection, make_report, timed
from benchmarks.judging_site import temporary_site

SMALL, DEPTH, DOCUMENTS = 10_000, 100, 20_000
LIMIT_MS, MOST_TIMES = 300, 6.0
COLLECTIONS, MEMBERS, QUEUES = 2_000, 500, 300
RUNS, FEW_QUERIES, QUERIES = 50, 1_000, 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--only", choices=["pairs", "report"])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, temporary_site(os.environ.get("DATABASE_URL")):
        from django.conf import settings

        settings.ALLOWED_HOSTS = ["testserver"]
        settings.MEDIA_ROOT, settings.BACKGROUND_REPORT_ROWS = Path(folder) / "files", 0
        if asked.only != "report":
            measure_pairs(Path(folder), asked.pairs)
        if asked.only != "pairs":
            measure_report(Path(folder))


def measure_pairs(folder: Path, pairs: int) -> None:
    """Print what storing, claims and pages take at many pairs beside few, and the pages of a crowd."""
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client

    owner = User.objects.create_user("owner", password="!")
    print(f"{connection.vendor}, {pairs:,} pairs beside {SMALL:,}")
    small, _ = filled(owner, folder, "small", SMALL // DEPTH)
    large, seconds = filled(owner, folder, "large", pairs // DEPTH)
    beside_copy("pool built", "pooling_poolentry", "pool_id", large.pool_id, seconds["pool"])
    beside_copy("queue opened", "labeling_item", "queue_id", large.pk, seconds["queue"])
    claims = [claim_ms(queue) for queue in (small, large)]
    print(f"claim of ten: {claims[0]:.1f} and {claims[1]:.1f} ms, ratio {claims[1] / claims[0]:.2f}")
    client = Client()
    client.force_login(owner)
    for name, page in (
        ("overview", lambda queue: queue.collection.get_absolute_url()),
        ("queue", lambda queue: queue.get_absolute_url()),
        ("queue over HTTP", lambda queue: f"/api/queues/{queue.pk}/progress/"),
        ("pool", lambda queue: queue.pool.get_absolute_url()),
        ("queries", lambda queue: f"{queue.collection.get_absolute_url()}queries/"),
    ):
        compared(client, name, page(small), page(large))
    crowd(owner, large)
    for name, page in (
        (f"home with {COLLECTIONS:,} collections", "/"),
        (f"{MEMBERS} members", f"{large.collection.get_absolute_url()}members/"),
        (f"{QUEUES} queues", f"{large.collection.get_absolute_url()}queues/"),
    ):
        ms, statements = opened(client, page)
        print(f"{name}: {ms:.0f} ms, {statements} statements{over(ms)}")


def measure_report(folder: Path) -> None:
    """Print what a report takes to make and to open, with many queries beside few."""
    from django.test import Client

    client, taken = Client(), []
    for queries in (FEW_QUERIES, QUERIES):
        collection, admin = make_collection(folder, RUNS, queries, DEPTH, slug=f"report{queries}")
        print(f"report of {RUNS} runs × {queries:,} queries, depth {DEPTH}")
        started = time.perf_counter()
        report = make_report(collection, admin)
        seconds = time.perf_counter() - started
        client.force_login(admin)
        taken.append((seconds, opened(client, f"/reports/{report}/")[0]))
    (few, few_ms), (many, many_ms) = taken
    print(
        f"report made: {few:.1f} and {many:.1f} s, ratio {many / few:.1f} at {QUERIES // FEW_QUERIES} times"
    )
    print(f"its page: {few_ms:.0f} and {many_ms:.0f} ms, ratio {many_ms / few_ms:.2f}{over(many_ms)}")


def filled(owner: Any, folder: Path, name: str, queries: int) -> tuple[Any, dict[str, float]]:
    """A queue of `queries` × 100 pairs in a collection of its own; prints and returns what each step took."""
    from labeling.queues.opening import open_queue
    from pooling.people.membership import create_collection
    from pooling.pools.building import build_pool
    from pooling.runs.stored import import_run
    from pooling.texts.importing import import_queries

    collection = create_collection(owner, slug=name, name=name)
    texts, run = folder / f"{name}.jsonl", folder / f"{name}.run"
    with texts.open("w") as file:
        file.writelines(f'{{"_id": "q{query}", "text": "night ferry {query}"}}\n' for query in range(queries))
    with run.open("w") as file:
        for query in range(queries):
            first = query * 7919
            for rank in range(DEPTH):
                file.write(f"q{query} Q0 d{(first + rank) % DOCUMENTS} {rank + 1} {DEPTH - rank} only\n")
    seconds: dict[str, float] = {}

    def stepped(what: str, step: Any) -> Any:
        started = time.perf_counter()
        made = step()
        seconds[what] = time.perf_counter() - started
        return made

    stepped("queries", lambda: import_queries(collection, texts))
    stored = stepped("run", lambda: import_run(collection, run))
    pool = stepped("pool", lambda: build_pool(collection, name="pool", runs=[stored], depth=DEPTH))
    queue = stepped("queue", lambda: open_queue(pool, name="queue", seed=1, user=owner))
    print(f"{name}: " + ", ".join(f"{what} {one:.1f} s" for what, one in seconds.items()))
    return queue, seconds


def claim_ms(queue: Any) -> float:
    """The median of ten first claims, each by another annotator."""
    from django.contrib.auth.models import User

    from labeling.judging.leases import claim
    from pooling.models import Membership

    times = []
    for number in range(10):
        user = User.objects.create(username=f"{queue.collection.slug}-{number}", password="!")
        Membership.objects.create(collection=queue.collection, user=user, role="annotator")
        started = time.perf_counter()
        claim(queue, user)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def opened(client: Any, page: str) -> tuple[float, int]:
    """Milliseconds of a page once warm, the median of five, and its statements."""
    _, statements, _ = timed(client, page)
    return statistics.median(timed(client, page)[0] for _ in range(5)), statements


def compared(client: Any, name: str, small: str, large: str) -> None:
    """Print one page of both collections."""
    (few, _), (many, statements) = opened(client, small), opened(client, large)
    print(f"{name}: {few:.0f} and {many:.0f} ms, ratio {many / few:.2f}, {statements} statements{over(many)}")


def over(ms: float) -> str:
    return f" (over {LIMIT_MS} ms)" if ms > LIMIT_MS else ""


def beside_copy(name: str, table: str, key: str, value: int, seconds: float) -> None:
    """Print what storing took beside one COPY of the same rows into a bare table without indexes, and beside
    one into a table with the indexes and references of the real one, which no way of storing does without.

    The rows are in memory as Python values, as when they are computed; all columns are sent (PostgreSQL).
    """
    from django.db import connection

    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_name = %s ORDER BY ordinal_position",
            [table],
        )
        columns = ", ".join(f"{one}::text" if kind == "jsonb" else one for one, kind in cursor.fetchall())
        cursor.execute(f"SELECT {columns} FROM {table} WHERE {key} = %s ORDER BY id", [value])
        rows = cursor.fetchall()
        cursor.execute(f"CREATE TABLE bare_copy (LIKE {table})")
        cursor.execute(f"CREATE TABLE whole_copy (LIKE {table} INCLUDING ALL)")
        cursor.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE conrelid = %s::regclass AND contype = 'f'",
            [table],
        )
        for (reference,) in cursor.fetchall():
            cursor.execute(f"ALTER TABLE whole_copy ADD {reference}")
        bare, whole = copied(cursor, "bare_copy", rows), copied(cursor, "whole_copy", rows)
        cursor.execute("DROP TABLE bare_copy, whole_copy")
        cursor.execute("SELECT pg_total_relation_size(%s::regclass)", [table])
        megabytes = int(cursor.fetchone()[0]) / 1e6
    ratio = seconds / bare
    told = f" (over {MOST_TIMES:g})" if ratio > MOST_TIMES else ""
    print(
        f"{name}: {seconds:.1f} s, a bare COPY {bare:.2f} s, ratio {ratio:.1f}{told}; one with indexes and "
        f"references {whole:.1f} s, ratio {seconds / whole:.2f}; {megabytes:.0f} MB"
    )


def copied(cursor: Any, table: str, rows: list[tuple[Any, ...]]) -> float:
    """Seconds of one COPY of rows into a table, its references checked."""
    started = time.perf_counter()
    with cursor.copy(f"COPY {table} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    return time.perf_counter() - started


def crowd(owner: Any, queue: Any) -> None:
    """Many collections, members and queues, by rows alone."""
    from django.contrib.auth.models import User

    from labeling.models import Queue
    from pooling.models import Collection, Membership

    others = Collection.objects.bulk_create(
        Collection(slug=f"c{number}", name=f"Collection {number}") for number in range(COLLECTIONS)
    )
    Membership.objects.bulk_create(Membership(collection=one, user=owner, role="admin") for one in others)
    people = User.objects.bulk_create(User(username=f"m{number}", password="!") for number in range(MEMBERS))
    Membership.objects.bulk_create(
        Membership(collection=queue.collection, user=one, role="annotator") for one in people
    )
    Queue.objects.bulk_create(
        Queue(collection=queue.collection, pool=queue.pool, name=f"queue {number}", seed=1)
        for number in range(QUEUES)
    )


if __name__ == "__main__":
    main()
