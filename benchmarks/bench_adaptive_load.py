"""What a live order costs those who judge: claims and submits beside a queue with a fixed order.

    DATABASE_URL=postgres://USER@HOST:PORT/DATABASE python -m benchmarks.bench_adaptive_load [--seconds 50]

Fifty annotators at a person's pace, by turns in a fixed queue and in an adaptive one over as many pairs of
their own, on the same server; then, with --closed, as fast as they can. Limit: the p95 of a claim in the
adaptive queue is not above 1.2 times that in the fixed one, all turns together.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.bench_judging import analyze, astray
from benchmarks.judging_load import Load, percentile, run_load
from benchmarks.judging_site import make_people, temporary_site, text_of

ANNOTATORS, PACE, MOST = 50, (2.0, 5.0), 1.2
RUNS, DEPTH = 4, 60


def main() -> int:
    arguments = parse()
    with temporary_site(os.environ.get("DATABASE_URL")) as site:
        first = make_people(site, ANNOTATORS)
        queues = {
            "fixed": open_one(first, site.folder / "fixed", arguments.queries, adaptive=False),
            "live": open_one(
                second_collection(first), site.folder / "live", arguments.queries, adaptive=True
            ),
        }
        analyze()
        site.start()
        worked = compare(site, queues, arguments.rounds, arguments.seconds, PACE)
        share = told("at a person's pace", worked)
        if arguments.closed:
            told("as fast as they can", compare(site, queues, arguments.rounds, arguments.closed, (0.0, 0.0)))
        from labeling.models import QueryPlan

        begun = QueryPlan.objects.filter(judged__gt=0).count()
        print(f"queries of the live queue that were ordered anew: {begun}")
    return 0 if share <= MOST else 1


def compare(
    site: Any, queues: dict[str, int], rounds: int, seconds: float, pace: tuple[float, float]
) -> dict[str, list[Load]]:
    """Turns in each queue."""
    worked = defaultdict(list)
    for _ in range(rounds):
        for name, queue in queues.items():
            before = site.processor_seconds()
            load = asyncio.run(run_load(site.port, queue, site.tokens[:ANNOTATORS], seconds, pause=pace))
            used = [after - start for after, start in zip(site.processor_seconds(), before, strict=True)]
            each = [1000 * part / max(1, len(load.acknowledged)) for part in used]
            claims, submits = (
                "/".join(f"{percentile(values, at):.1f}" for at in (0.5, 0.95, 0.99))
                for values in (load.claims, load.submits)
            )
            print(
                f"{name:<6} {load.per_second():6.1f} judgments/s  claim {claims} ms  submit {submits} ms  "
                f"server {each[0]:.1f}, database {each[1]:.1f} ms each  errors {dict(load.errors) or 0}, "
                f"twice {load.twice()}, astray {astray(load)}",
                flush=True,
            )
            worked[name].append(load)
    return worked


def told(words: str, worked: dict[str, list[Load]]) -> float:
    """The ratio of the two p95 of a claim, printed."""
    p95 = {
        name: percentile([seconds for load in loads for seconds in load.claims], 0.95)
        for name, loads in worked.items()
    }
    share = p95["live"] / p95["fixed"]
    print(
        f"{words}, {ANNOTATORS} annotators: claim p95 {p95['live']:.1f} ms in the live queue, "
        f"{p95['fixed']:.1f} ms in the fixed one: {share:.2f} (limit {MOST})"
    )
    return share


def second_collection(first: Any) -> Any:
    """Another collection with the same annotators."""
    from pooling.models import Membership
    from pooling.people.membership import create_collection

    owner = first.memberships.get(role="admin").user
    collection = create_collection(owner, slug="bench-live", name="Bench, live")
    Membership.objects.bulk_create(
        Membership(collection=collection, user_id=member.user_id, role=member.role)
        for member in first.memberships.exclude(user=owner)
    )
    return collection


def open_one(collection: Any, folder: Path, queries: int, *, adaptive: bool) -> int:
    """A queue over a pool of some runs that find the same documents in other orders."""
    from labeling.adaptive.options import AdaptiveOptions
    from labeling.gold.options import GoldOptions
    from labeling.queues.opening import open_queue
    from pooling.models import Document, Query
    from pooling.pools.building import build_pool
    from pooling.runs.stored import import_run

    folder.mkdir()
    Query.objects.bulk_create(
        Query(collection=collection, external_id=f"q{n}", text=f"night ferry {n}") for n in range(queries)
    )
    Document.objects.bulk_create(
        (
            Document(collection=collection, external_id=f"d{n}", title=f"Document {n}", text=text_of(n))
            for n in range(queries * DEPTH)
        ),
        batch_size=5000,
    )
    runs = []
    for run in range(RUNS):
        source, path = random.Random(run), folder / f"run{run}.run"
        with path.open("w") as file:
            for query in range(queries):
                order = source.sample(range(DEPTH), DEPTH)
                file.writelines(
                    f"q{query} Q0 d{query * DEPTH + document} {rank} {DEPTH - rank} run{run}\n"
                    for rank, document in enumerate(order, start=1)
                )
        runs.append(import_run(collection, path))
    pool = build_pool(collection, name="pool", runs=runs, depth=DEPTH, strategy="learned", audit_share=0.2)
    options = AdaptiveOptions() if adaptive else None
    return int(open_queue(pool, name="queue", seed=1, gold=GoldOptions(0, 0, 0), adaptive=options).pk)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=50, help="of each turn at a person's pace")
    parser.add_argument("--closed", type=float, default=0, help="seconds of each turn without pauses")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
