"""The quality page, the admin's page of a queue and its judged@K with 50 annotators and 100,000 judgments.

    DATABASE_URL=postgres://USER@HOST:PORT/DATABASE python -m benchmarks.bench_quality [--judgments N]

On PostgreSQL (a database of its own is made and dropped there) or, without DATABASE_URL, on SQLite. Prints
for each page the statements and the milliseconds of the first call, when nothing is kept, of one after a new
verdict, and of one when nothing has changed (median of five); then the same at a tenth of the size, which has
to take as many statements.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from datetime import timedelta
from typing import Any

from benchmarks.judging_site import temporary_site

PEOPLE, RUNS, DEPTH = 50, 8, 100
GOLD_QUESTIONS = 100
LIMIT_MS = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--judgments", type=int, default=100_000)
    judgments = parser.parse_args().judgments
    with temporary_site(os.environ.get("DATABASE_URL")):
        statements = [measure(size) for size in (judgments, judgments // 10)]
    print("as many statements at both sizes:", statements[0] == statements[1])


def measure(judgments: int) -> list[int]:
    """Print the times of the pages of a queue of this size; returns their statements."""
    from django.conf import settings
    from django.core.cache import cache
    from django.db import connection
    from django.test import Client

    settings.ALLOWED_HOSTS = ["testserver"]
    queue = make_queue(judgments)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    client = Client()
    client.force_login(queue.opened_by)
    client.get("/")
    _load_libraries()
    print(f"{connection.vendor}, {judgments:,} judgments, {PEOPLE} annotators, {RUNS} runs")
    statements = []
    for page in ("quality/", "", "judged/"):
        address = f"/queues/{queue.pk}/{page}"
        cache.clear()
        cold, count = timed(client, address)
        one_more(queue)
        after = timed(client, address)[0]
        warm = statistics.median(timed(client, address)[0] for _ in range(5))
        told = "within" if max(cold, after, warm) < LIMIT_MS else "OVER"
        print(
            f"  {address:<20} {count} statements; first {cold:>6.0f} ms, one verdict later {after:>5.0f} ms, "
            f"unchanged {warm:>6.0f} ms: {told} {LIMIT_MS} ms",
            flush=True,
        )
        statements.append(count)
    return statements


def _load_libraries() -> None:
    """What a process loads once, however many pages it serves."""
    import polars  # noqa: F401

    import labeling.consensus.agreement
    import labeling.quality.monitors  # noqa: F401


def timed(client: Any, address: str) -> tuple[float, int]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        start = time.perf_counter()
        response = client.get(address)
        elapsed = 1000 * (time.perf_counter() - start)
    assert response.status_code == 200, response.status_code
    return elapsed, len(captured)


def make_queue(judgments: int) -> Any:
    """A queue in which half of the judgments' number of pairs have two verdicts each, and gold answers."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from labeling.gold.options import GoldOptions
    from labeling.models import GoldQuestion, Item, Judgment, JudgmentEvent
    from labeling.queues.opening import open_queue
    from pooling.models import Collection, Document, Membership, Pool, PoolEntry, Query

    draw = random.Random(judgments)
    name = f"quality{judgments}"
    collection = Collection.objects.create(slug=name, name=name)
    people = User.objects.bulk_create(User(username=f"{name}-{number}") for number in range(PEOPLE))
    Membership.objects.bulk_create(
        Membership(collection=collection, user=user, role="annotator" if place else "admin")
        for place, user in enumerate(people)
    )
    pairs = judgments // 2
    queries = Query.objects.bulk_create(
        Query(collection=collection, external_id=f"q{number}", text=f"query {number}")
        for number in range(max(1, pairs // DEPTH))
    )
    documents = Document.objects.bulk_create(
        Document(collection=collection, external_id=f"d{number}", text="") for number in range(DEPTH * 2)
    )
    pool = Pool.objects.create(
        collection=collection,
        name="pool",
        depth=DEPTH,
        strategy="rrf",
        pair_count=pairs,
        chosen_count=pairs,
        query_count=len(queries),
        diagnostics={"runs": [f"run {number}" for number in range(RUNS)]},
    )
    make_runs(collection, pool)
    PoolEntry.objects.bulk_create(
        (
            PoolEntry(
                pool=pool,
                query=query,
                document=document,
                position=position,
                run_count=RUNS // 2,
                best_rank=position,
                rrf=0.1,
                inclusion_probability=1.0,
                found_by=[[run, position] for run in draw.sample(range(RUNS), RUNS // 2)],
            )
            for query in queries
            for position, document in enumerate(draw.sample(documents, DEPTH), start=1)
        ),
        batch_size=2000,
    )
    options = GoldOptions(gold_first_share=0.2, gold_share=0.05, practice_questions=0)
    queue = open_queue(pool, judgments_per_item=2, seed=1, user=people[0], gold=options)
    now = timezone.now()

    def events(rows: list[dict[str, Any]]) -> None:
        for start in range(0, len(rows), 5000):
            made = JudgmentEvent.objects.bulk_create(
                JudgmentEvent(
                    collection=collection,
                    queue=queue,
                    kind="verdict",
                    key=f"{name}-{row['query_id']}-{row['document_id']}",
                    active_ms=draw.randint(2000, 20_000),
                    **row,
                )
                for row in rows[start : start + 5000]
            )
            Judgment.objects.bulk_create(
                Judgment(
                    collection=collection,
                    query_id=event.query_id,
                    document_id=event.document_id,
                    annotator_id=event.annotator_id,
                    verdict=event.verdict,
                    event=event,
                    judged_at=event.created_at,
                    is_gold=event.gold_id is not None,
                )
                for event in made
            )

    rows = []
    for place, item in enumerate(queue.items.values("pk", "query_id", "document_id")):
        truth = draw.random() < 0.2
        for user in draw.sample(people, 2):
            said = truth ^ (draw.random() < 0.1)
            verdict = "cannot_judge" if draw.random() < 0.01 else "relevant" if said else "not_relevant"
            rows.append(
                {
                    "item_id": item["pk"],
                    "query_id": item["query_id"],
                    "document_id": item["document_id"],
                    "annotator": user,
                    "verdict": verdict,
                    "reason": "other" if verdict == "cannot_judge" else "",
                    "created_at": now - timedelta(days=20) + timedelta(seconds=place * 1_700_000 / pairs),
                }
            )
    events(rows)
    Item.objects.filter(queue=queue).update(done=2, state="done")
    Item.objects.filter(pk__in=list(queue.items.values_list("pk", flat=True)[: pairs // 10])).update(
        done=1, state="open"
    )
    outside = Document.objects.bulk_create(
        Document(collection=collection, external_id=f"g{number}", text="") for number in range(GOLD_QUESTIONS)
    )
    questions = GoldQuestion.objects.bulk_create(
        GoldQuestion(
            collection=collection,
            query=queries[0],
            document=document,
            answer="not_relevant" if place % 2 else "relevant",
        )
        for place, document in enumerate(outside)
    )
    answers = [
        {
            "query_id": queries[0].pk,
            "document_id": question.document_id,
            "annotator": user,
            "gold": question,
            "verdict": question.answer if draw.random() < 0.9 else "relevant",
            "created_at": now - timedelta(days=1),
        }
        for user in people
        for question in draw.sample(questions, min(GOLD_QUESTIONS, judgments // 1000))
    ]
    events(answers)
    return queue


def make_runs(collection: Any, pool: Any) -> None:
    """Rows of runs without files: the pages read what the pool knows of them."""
    from pooling.models import PoolRun, Run

    runs = Run.objects.bulk_create(
        Run(
            collection=collection,
            name=f"run {number}",
            source_name="",
            sha256="",
            row_count=1,
            query_count=1,
            depth=DEPTH,
        )
        for number in range(RUNS)
    )
    PoolRun.objects.bulk_create(PoolRun(pool=pool, run=run, index=index) for index, run in enumerate(runs))


def one_more(queue: Any) -> None:
    """Somebody judges one more pair."""
    from django.contrib.auth.models import User

    from labeling.judging.leases import claim
    from labeling.judging.submissions import Submission
    from labeling.judging.verdicts import record_judgment

    for user in User.objects.filter(bookmarks=None, memberships__collection=queue.collection)[:1]:
        (lease,) = claim(queue, user, 1).leases
        record_judgment(queue, user, Submission(lease.item_id, f"one-more-{user.pk}", "relevant"))


if __name__ == "__main__":
    main()
