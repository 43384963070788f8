"""Judging under load: people who claim and submit over HTTP, server and load generator on the same cores.

    DATABASE_URL=postgres://USER@HOST:PORT/DATABASE python -m benchmarks.bench_judging [--rounds 2] [--large]

On PostgreSQL (a database of its own is made and dropped there) or, without DATABASE_URL, on SQLite. Prints
judgments per second, the p50, p95 and p99 of a claim, of a submit and of both together, errors, pairs given
to two people, acknowledged judgments that are not stored exactly once, and the processor time of a judgment,
which a busy machine changes less than the clock. With `--rounds` also what a bare Django queue does in
the same run, and what each takes: requests, statements, transactions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections import Counter, defaultdict
from typing import Any, NamedTuple
from uuid import uuid4

from benchmarks.judging_load import Load, percentile, run_load
from benchmarks.judging_site import (
    Site,
    bare_copy,
    fill_bare_queue,
    import_all,
    make_people,
    multiply_queue,
    temporary_site,
)

PACE = (2.0, 5.0)
HEAD = f"{'scenario':<28} {'jdg/s':>7}  {'claim p50/p95/p99':>22} {'submit':>22} {'loop, ms':>22}  faults"
MOST_ANNOTATORS = 200
DEPTH = 100
WARM_UP_SECONDS = 2
GROWING = "labeling_item, labeling_lease, labeling_judgment, labeling_judgmentevent, labeling_bookmark"
# Whether a verdict is answered with the next item, by what does so.
BARE = "bare Django, two requests"
FORMS = {"Soundings, two requests": False, "Soundings, one request": True, BARE: False}


def main() -> None:
    arguments = parse()
    url = os.environ.get("DATABASE_URL")
    with temporary_site(url) as site:
        collection = make_people(site, MOST_ANNOTATORS)
        used = time.process_time()
        seconds = import_all(collection, site.folder / "files", arguments.items // DEPTH, DEPTH)
        used = time.process_time() - used
        steps = ", ".join(f"{name} {value:.2f}" for name, value in seconds.items())
        total, bare = sum(seconds.values()), bare_copy(site.folder / "files")
        print(f"import of {arguments.items:,} pairs with texts: {total:.2f} s ({steps})", end="; ")
        print(f"this process worked for {used:.2f} s of it, the making of the files included")
        print(f"a bare COPY of the texts: {bare:.2f} s, {total / bare:.1f}× less")
        analyze()
        site.start()
        print(HEAD)
        measure_all(site, collection, bool(url), arguments)
        if url and arguments.rounds:
            measure_beside_bare(site, collection, arguments)


def measure_all(site: Site, collection: Any, on_postgres: bool, arguments: argparse.Namespace) -> None:
    from labeling.models import Queue

    queue = Queue.objects.get(collection=collection, name="queue").pk
    counts = [1, 10, 50, 200] if on_postgres else [1, 20]
    scenarios = [(f"closed{count}", count, arguments.seconds, (0.0, 0.0)) for count in counts]
    scenarios.append(("pace", 50 if on_postgres else 20, arguments.pace_seconds, PACE))
    chosen = [each for each in scenarios if not arguments.only or each[0] in arguments.only]
    for name, count, seconds, pause in chosen:
        measure(site, name, queue, count, seconds, pause)
    if arguments.large:
        large = multiply_queue(collection, 10).pk
        settle_front(large, arguments.settled)
        for name, count, seconds, pause in chosen:
            measure(site, f"{name}, 1M items", large, count, seconds, pause)


def measure_beside_bare(site: Site, collection: Any, arguments: argparse.Namespace) -> None:
    """The closed loops of 10 and 50 annotators by turns with the least that Django can do.

    The bare queue has two requests for each judgment. The product is measured with the same two, and with
    the one of its judging page, whose answer has the next item.
    """
    from labeling.models import Queue

    queue = Queue.objects.get(collection=collection, name="queue").pk
    fill_bare_queue()
    print_statements(site, queue)
    totals: dict[tuple[str, int], list[Taken]] = defaultdict(list)
    for _ in range(arguments.rounds):
        for name, in_one_request in FORMS.items():
            site.stop()
            (site.start_bare if name == BARE else site.start)()
            site.settle()
            tokens = site.tokens[:10]
            asyncio.run(run_load(site.port, queue, tokens, WARM_UP_SECONDS, in_one_request=in_one_request))
            # Statements of the product are planned for tables in use, not for empty ones. Those of the bare
            # queue are best as they are: with newer statistics it looks through all that is done.
            analyze(GROWING)
            for count in (10, 50):
                loop = run_load(
                    site.port,
                    queue,
                    site.tokens[:count],
                    arguments.seconds,
                    in_one_request=in_one_request,
                )
                before = site.processor_seconds()
                load = asyncio.run(loop)
                used = [after - start for after, start in zip(site.processor_seconds(), before, strict=True)]
                judged = len(load.acknowledged)
                totals[name, count].append(Taken(judged, load.seconds, used[0] + used[1]))
                server, database = (1000 * part / max(1, judged) for part in used[:2])
                rate = f"{load.per_second():.1f} judgments/s, errors {dict(load.errors) or 0}"
                print(f"{name}, {count} annotators: {rate}, twice {load.twice()}", end=", ")
                print(f"ms each: server {server:.1f}, database {database:.1f}", flush=True)
    for (name, count), taken in totals.items():
        if name != BARE:
            ours, bare = each(taken), each(totals[BARE, count])
            share = f"{bare[0] / ours[0]:.2f} of the speed of the bare Django queue"
            print(f"{name}, {count} annotators: {share}, {bare[1] / ours[1]:.2f} by processor time")


class Taken(NamedTuple):
    """Judgments, the seconds they took, and those of the processor: the server's and the database's."""

    judged: int
    seconds: float
    used: float


def each(taken: list[Taken]) -> tuple[float, float]:
    """Seconds and processor seconds of a judgment, over all rounds."""
    judged = max(1, sum(one.judged for one in taken))
    return sum(one.seconds for one in taken) / judged, sum(one.used for one in taken) / judged


def print_statements(site: Site, queue: int) -> None:
    """Say what one judgment asks of the database in each form, counted in this process."""
    from django.db import connection
    from django.test import Client, RequestFactory
    from django.test.utils import CaptureQueriesContext

    from benchmarks import bare_queue

    client = Client(headers={"host": "127.0.0.1", "authorization": f"Token {site.tokens[0]}"})

    def send(name: str, call: str, body: Any) -> Any:
        address, kind = f"/api/queues/{queue}/{call}", "application/json"
        if name != BARE:
            return client.post(address, body, kind).json()
        view = bare_queue.claim if call == "claim/" else bare_queue.judge
        headers = {"authorization": "Token"}
        return json.loads(view(RequestFactory(headers=headers).post(address, body, kind), queue).content)

    for name, in_one_request in FORMS.items():
        (item,) = send(name, "claim/", {"count": 1})["items"]
        also = "?claim=1" if in_one_request else ""
        for _ in range(2):  # what is made once for a person comes first
            with CaptureQueriesContext(connection) as captured:
                if not also:
                    (item,) = send(name, "claim/", {"count": 1})["items"]
                verdict = {name: item[name] for name in ("item", "version", "lease")}
                verdict |= {"key": str(uuid4()), "verdict": "relevant"}
                answer = send(name, f"judgments/{also}", [verdict])
            item = answer["items"][0] if also else item
        begun = sum(query["sql"] in ("BEGIN", "COMMIT") for query in captured)
        print(f"{name}: {len(captured) - begun} statements and {begun // 2} transactions for a judgment")


def measure(
    site: Site, name: str, queue: int, annotators: int, seconds: float, pause: tuple[float, float]
) -> None:
    before = site.processor_seconds()
    load = asyncio.run(run_load(site.port, queue, site.tokens[:annotators], seconds, pause=pause))
    used = [after - start for after, start in zip(site.processor_seconds(), before, strict=True)]
    cells = [
        "/".join(f"{percentile(values, share):.1f}" for share in (0.5, 0.95, 0.99))
        for values in (load.claims, load.submits, load.loops)
    ]
    print(f"{name:<28} {load.per_second():>7.1f}  " + " ".join(f"{cell:>22}" for cell in cells), end="  ")
    print(f"errors {dict(load.errors) or 0}, twice {load.twice()}, astray {astray(load)}", end="  ")
    milliseconds = (f"{1000 * part / max(1, len(load.acknowledged)):.1f}" for part in used)
    print("ms each: server {}, database {}, generator {}".format(*milliseconds), flush=True)


def astray(load: Load) -> int:
    """Acknowledged verdicts that are not stored exactly once."""
    from labeling.models import JudgmentEvent

    stored: Counter[str] = Counter()
    for start in range(0, len(load.acknowledged), 5000):
        keys = load.acknowledged[start : start + 5000]
        stored.update(JudgmentEvent.objects.filter(key__in=keys).values_list("key", flat=True))
    return sum(1 for key in load.acknowledged if stored[key] != 1)


def settle_front(queue: int, count: int) -> None:
    """Let the first `count` items be done, as in a queue that many people have worked on."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE labeling_item SET done = 1, state = 'done' WHERE id IN (SELECT id FROM labeling_item "
            "WHERE queue_id = %s ORDER BY order_key LIMIT %s)",
            [queue, count],
        )
    analyze()


def analyze(tables: str = "") -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=10, help="of each closed loop")
    parser.add_argument("--pace-seconds", type=float, default=60)
    parser.add_argument("--only", nargs="*", default=[], help="closed1 closed10 closed50 closed200 pace")
    parser.add_argument("--rounds", type=int, default=0, help="by turns with a bare Django queue")
    parser.add_argument("--large", action="store_true", help="once more with ten times as many items")
    parser.add_argument("--settled", type=int, default=0, help="items done at the front of the large queue")
    return parser.parse_args()


if __name__ == "__main__":
    main()
