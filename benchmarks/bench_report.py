"""A report of 50 runs × 7,000 queries: how long it takes to make, and its pages to open.

    [DATABASE_URL=postgres://USER@HOST:PORT/DATABASE] python -m benchmarks.bench_report [--runs N]

On SQLite, or with DATABASE_URL on PostgreSQL (a database of its own is made and dropped there). The report is
made by a job, whose every sign of progress is timed: the longest silence is how long cancelling waits. Then
each page and picture is opened: the first time in this process, and the median of five, which is held against
the limit for pages; with the number of statements. "Where it fails" is opened before its intervals are drawn,
with them (the only part that may take longer), and when they are kept.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.generate import generate_qrels, generate_runs
from benchmarks.judging_site import temporary_site
from evaluation.charts.kinds import KINDS

# What a page may take once its process is warm; the first time it may take what starting costs.
LIMIT_MS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--queries", type=int, default=7_000)
    parser.add_argument("--depth", type=int, default=100)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, temporary_site(os.environ.get("DATABASE_URL")):
        measure(Path(folder), asked.runs, asked.queries, asked.depth)


def measure(folder: Path, runs: int, queries: int, depth: int) -> None:
    """Print how long the report and its pages take."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.MEDIA_ROOT, settings.BACKGROUND_REPORT_ROWS = folder / "files", 0
    collection, admin = make_collection(folder, runs, queries, depth)
    print(f"{connection.vendor}, {runs} runs × {queries:,} queries, depth {depth}")
    report = make_report(collection, admin)
    client = Client()
    client.force_login(admin)
    worst = 0.0
    address = f"/reports/{report}/"
    _load_libraries()
    for page in ("/", collection.get_absolute_url()):
        worst = max(worst, told(client, page))
    own = [f"charts/{name}/" for name in KINDS]
    for page in ("", "?measure=precision", "?part=worst", "queries/", "comparisons/", "charts/", *own):
        worst = max(worst, told(client, address + page))
    for where in ("where/", "where/?run=*"):
        worst = max(worst, told(client, address + where))
        follow = address + where + ("&" if "?" in where else "?") + "intervals=1"
        told(client, follow, limit=None)  # what the page asks for by itself
        worst = max(worst, told(client, address + where))
    for file in ("charts/curve/light.svg", "charts/coverage/light.svg", "download/html/"):
        told(client, address + file, limit=None)
    print("all pages within the limit:", worst < LIMIT_MS)


def _load_libraries() -> None:
    """What a process loads once, however many pages it serves."""
    import pandas  # noqa: F401
    import polars  # noqa: F401
    import scipy.stats  # noqa: F401

    import evaluation.charts.drawing
    import evaluation.measures
    import evaluation.scoring.results  # noqa: F401


def make_collection(
    folder: Path, runs: int, queries: int, depth: int, slug: str = "large"
) -> tuple[Any, Any]:
    """A collection with runs and a release, as imports bring them."""
    from django.contrib.auth.models import User

    from labeling.qrels.imported import import_qrels
    from labeling.qrels.releases import release_qrels
    from pooling.models import Collection, Query, Role
    from pooling.people.membership import add_member
    from pooling.runs.stored import import_run

    admin, _ = User.objects.get_or_create(username="ada")
    collection = Collection.objects.create(slug=slug, name=slug.capitalize())
    add_member(collection, admin.username, Role.ADMIN)
    names = [Query(collection=collection, external_id=str(at + 1), text=f"q {at}") for at in range(queries)]
    Query.objects.bulk_create(names, batch_size=1_000)
    import_qrels(collection, generate_qrels(folder, queries, depth=depth), user=admin)
    release_qrels(collection, name="labels", user=admin)
    for number in range(runs):
        path = generate_runs(folder, number + 1, queries, depth)[-1]
        import_run(collection, path, name=f"run{number:02}", user=admin)
        path.write_bytes(b"")  # it is stored now, and the disk is not without end
    return collection, admin


def make_report(collection: Any, admin: Any) -> int:
    """Make the report as the worker does, and print where its time goes."""
    from evaluation.reports.making import ReportRequest, request_report
    from pooling.jobs import running as jobs

    signs: list[tuple[float, str]] = []
    tell = jobs._go_on

    def timed(job: Any, share: float, detail: str) -> None:
        signs.append((time.perf_counter(), detail))
        tell(job, share, detail)

    jobs._go_on = timed
    job: Any = request_report(collection, ReportRequest(), admin)
    start = time.perf_counter()
    jobs.run_job.call(job.pk)
    end = time.perf_counter()
    job.refresh_from_db()
    assert job.state == "done", job.detail
    moments = [*signs, (end, "")]
    silences = [(after[0] - now[0], now[1]) for now, after in itertools.pairwise(moments)]
    print(f"  made in {end - start:.1f} s, {len(signs)} signs of progress; the longest silences:")
    for seconds, detail in sorted(silences, reverse=True)[:5]:
        print(f"    {seconds:6.1f} s after “{detail}”")
    return int(job.result["id"])


def told(client: Any, address: str, limit: int | None = LIMIT_MS) -> float:
    """Open an address six times and print how long that took; returns the median."""
    first, statements, size = timed(client, address)
    again = statistics.median(timed(client, address)[0] for _ in range(5))
    verdict = "" if limit is None else f": {'within' if again < limit else 'OVER'} {limit:,} ms"
    print(
        f"  {address:<36} {statements:>3} statements, {size / 1000:>6.0f} kB; "
        f"first {first:>6.0f} ms, then {again:>6.0f} ms{verdict}",
        flush=True,
    )
    return again


def timed(client: Any, address: str) -> tuple[float, int, int]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        start = time.perf_counter()
        response = client.get(address)
        elapsed = 1000 * (time.perf_counter() - start)
    assert response.status_code == 200, (address, response.status_code)
    content = response.getvalue() if response.streaming else response.content
    return elapsed, len(captured), len(content)


if __name__ == "__main__":
    main()
