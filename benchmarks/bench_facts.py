"""Facts of a large collection: what freezing, a report and the pages cost.

    [DATABASE_URL=postgres://USER@HOST:PORT/DATABASE] python -m benchmarks.bench_facts [--queries 1000]

Each query has 60 facts and 50 documents, and every pair of them an imported support (3,000 a query); five
runs rank the documents. Printed is this process's processor time, which other programs do not change: of the
import (limit: 60 s), the release, the report (limit: 10 s), a report on the same labels without facts, and
the pages (limit: 300 ms); and the most memory that was in use (limit: 1.5 GB).
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.bench_report import timed
from benchmarks.judging_site import temporary_site

FACTS, DOCUMENTS, RUNS, DEPTH = 60, 50, 5, 20
SUPPORTED, IMPORT_S, REPORT_S, PAGE_MS, MEMORY_MB = 0.04, 60, 10, 300, 1_500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=1000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, temporary_site(os.environ.get("DATABASE_URL")):
        measure(Path(folder), asked.queries)


def measure(folder: Path, queries: int) -> None:
    """Fill a collection and print the figures."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client

    from evaluation.reports.making import ReportRequest, create_requested
    from labeling.qrels.releases import release_qrels

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.MEDIA_ROOT = folder / "files"
    owner = User.objects.create_user("owner", password="!")
    print(f"{connection.vendor}: {queries:,} queries × {FACTS} facts × {DOCUMENTS} documents, {RUNS} runs")
    collection = filled(owner, folder, queries)
    bare = release_qrels(collection, name="without facts", user=owner)
    request = ReportRequest(release=bare.name, k=[1, 5, 10, 20])
    without = seconds(lambda: create_requested(collection, request, user=owner))
    supported(owner, collection, folder, queries)
    frozen = seconds(lambda: release_qrels(collection, name="with facts", user=owner))
    request = ReportRequest(release="with facts", k=[1, 5, 10, 20])
    started = time.process_time()
    report = create_requested(collection, request, user=owner)
    spent = time.process_time() - started
    print(f"release with facts: {frozen:.1f} s")
    print(f"report: {spent:.1f} s{beyond(spent, REPORT_S)}, without facts {without:.1f} s")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"most memory: {most:,} MB{beyond(most, MEMORY_MB)}", flush=True)
    client = Client()
    client.force_login(owner)
    for name, page in (
        ("facts", f"/collections/{collection.slug}/facts/"),
        ("facts of a query", f"/collections/{collection.slug}/facts/query/?query=q1"),
        ("report", report.get_absolute_url()),
        ("facts of a report", f"/reports/{report.pk}/facts/?k=10"),
    ):
        _, statements, _ = timed(client, page)
        spent_ms = 1000 * seconds(lambda: client.get(page))  # noqa: B023
        print(f"page {name}: {spent_ms:.0f} ms, {statements} statements{beyond(spent_ms, PAGE_MS)}")


def seconds(work: Callable[[], object]) -> float:
    """The processor time of a call."""
    started = time.process_time()
    work()
    return time.process_time() - started


def beyond(figure: float, limit: int) -> str:
    """A remark on a figure above its limit."""
    return f" (over {limit:,})" if figure > limit else ""


def filled(owner, folder: Path, queries: int):  # type: ignore[no-untyped-def]
    """A collection with queries, documents, runs and labels."""
    from labeling.qrels.imported import import_qrels
    from pooling.people.membership import create_collection
    from pooling.runs.stored import import_run
    from pooling.texts.importing import import_documents, import_queries

    chance = random.Random(1)
    collection = create_collection(owner, slug="facts", name="Facts", question="Does it help?")
    (folder / "queries.jsonl").write_text(
        "".join(f'{{"_id": "q{q}", "text": "question {q}"}}\n' for q in range(queries))
    )
    import_queries(collection, folder / "queries.jsonl", user=owner)
    (folder / "corpus.jsonl").write_text(
        "".join(
            f'{{"_id": "q{q}d{d}", "title": "", "text": "{"word " * 60}"}}\n'
            for q in range(queries)
            for d in range(DOCUMENTS)
        )
    )
    import_documents(collection, folder / "corpus.jsonl")
    for run in range(RUNS):
        lines = []
        for q in range(queries):
            order = chance.sample(range(DOCUMENTS), DOCUMENTS)
            lines += [f"q{q} Q0 q{q}d{d} {r} {100 - r} run{run}\n" for r, d in enumerate(order, 1)]
        (folder / f"run{run}.run").write_text("".join(lines))
        import_run(collection, folder / f"run{run}.run", user=owner)
    labels = [
        f"q{q} 0 q{q}d{d} {int(chance.random() < 0.3)}\n" for q in range(queries) for d in range(DOCUMENTS)
    ]
    (folder / "labels.txt").write_text("".join(labels))
    import_qrels(collection, folder / "labels.txt", user=owner)
    return collection


def supported(owner, collection, folder: Path, queries: int) -> None:  # type: ignore[no-untyped-def]
    """Facts, and a support of every pair."""
    from labeling.facts.importing import import_facts

    chance = random.Random(2)
    with (folder / "facts.txt").open("w") as file:
        for q in range(queries):
            for fact in range(1, FACTS + 1):
                file.writelines(
                    f"q{q} {fact} q{q}d{d} {int(chance.random() < SUPPORTED)}\n" for d in range(DOCUMENTS)
                )
    pairs = queries * FACTS * DOCUMENTS
    spent = seconds(lambda: import_facts(collection, folder / "facts.txt", user=owner))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"import of {pairs:,} supports: {spent:.0f} s{beyond(spent, IMPORT_S)}, {most:,} MB", flush=True)


if __name__ == "__main__":
    main()
