"""The planning page: a change of a parameter for 10 runs × 1,000 queries × 100 answers within 300 ms.

    python -m benchmarks.bench_plan [--rounds 5]

Runs on SQLite in a temporary folder, with labels for ten queries in a hundred. The first plan reads the runs
and numbers their pairs, which is printed apart; then one parameter after another is changed as the page does
it, through the whole request. Wall time and processor time of each, the middle of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.generate import generate_qrels, generate_runs
from benchmarks.judging_site import temporary_site

RUNS, QUERIES, DEPTH = 10, 1_000, 100
LIMIT = 0.3
SETTINGS = {
    "as it was": {},
    "depth": {"depth": 60},
    "budget": {"budget": 20_000},
    "audit share": {"budget": 20_000, "audit_share": 0.3},
    "strategy": {"budget": 20_000, "audit_share": 0.3, "strategy": "learned", "adaptive": "on"},
    "redundancy": {"judgments_per_item": 2, "most_judgments_per_item": 3},
    "price": {"price_per_judgment": 0.1},
    "annotators": {"annotators": 7},
    "relevant share": {"relevant_share": 0.1},
    "cutoff": {"k": 50},
    "runs": {"runs": []},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with temporary_site(None) as site, tempfile.TemporaryDirectory() as folder:
        client, names = prepared(Path(folder))
        SETTINGS["runs"]["runs"] = names[: RUNS - 2]
        first, processor = asked(client, {})
        print(
            f"{RUNS} runs × {QUERIES:,} queries × {DEPTH}; "
            f"the first plan {first:.2f} s ({processor:.2f} s processor)"
        )
        slowest = 0.0
        for name, change in SETTINGS.items():
            told = [asked(client, change) for _ in range(rounds)]
            wall, processor = (statistics.median(one[place] for one in told) for place in (0, 1))
            slowest = max(slowest, wall)
            print(f"  {name:15} {1000 * wall:5.0f} ms  ({1000 * processor:5.0f} ms processor)")
        site.stop()
    print(f"slowest {1000 * slowest:.0f} ms, limit {1000 * LIMIT:.0f} ms")
    return 0 if slowest < LIMIT else 1


def prepared(folder: Path):
    """Somebody signed in, and the names of the runs of a collection of theirs."""
    from django.contrib.auth.models import User
    from django.test import Client

    from labeling.qrels.imported import import_qrels
    from pooling.models import Query
    from pooling.people.membership import create_collection
    from pooling.runs.stored import import_run

    owner = User.objects.create_user("owner", password="a long enough password")
    collection = create_collection(owner, slug="bench", name="Bench")
    paths = generate_runs(folder, RUNS, QUERIES, DEPTH)
    ids = sorted({line.split(" ", 1)[0] for line in paths[0].read_text().splitlines()})
    Query.objects.bulk_create(Query(collection=collection, external_id=one, text=one) for one in ids)
    runs = [import_run(collection, path) for path in paths]
    qrels = generate_qrels(folder, QUERIES // 10, depth=DEPTH)
    import_qrels(collection, qrels)
    client = Client(headers={"host": "localhost"})
    client.force_login(owner)
    return client, [run.name for run in runs]


def asked(client, change: dict[str, object]) -> tuple[float, float]:
    """Wall and processor seconds of the figures for a change."""
    started, used = time.perf_counter(), time.process_time()
    answer = client.get(
        "/collections/bench/plan/", {"depth": DEPTH, **change}, headers={"HX-Request": "true"}
    )
    seconds = time.perf_counter() - started, time.process_time() - used
    assert answer.status_code == 200, answer.content
    assert b"Cost and days" in answer.content, answer.content
    return seconds


if __name__ == "__main__":
    sys.exit(main())
