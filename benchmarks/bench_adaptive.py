"""Campaigns through the real queue code, on labels that are known: what live adaptive queues lose and keep.

    python -m benchmarks.bench_adaptive [--data dl19 covid-r3] [--seeds 3] [--hard] [--prior AUC]

Ten annotators claim batches of ten and err on one pair in ten, in pools of judged pairs alone, on SQLite or
at DATABASE_URL. Each pair is judged once: the share of the relevant documents found when a quarter of each
query's pool is judged, beside the same strategy one by one, which no queue can be; limit: 3.5 points in the
mean of the seeds. With --hard instead: two judgments of each pair and a third on a tie, an audit of a
fifth, a budget of a quarter of the pool, skips, "can't judge", revised and undone verdicts, people who
leave with what they hold and one annotator who is put into quarantine half-way, to the end of every query:
whether everything of `benchmarks/live_protocol.py` holds after each act. With --prior instead: the order
starts from scores that are drawn so that a relevant document has the higher one with that chance, stored as
pre-labels and taken up by `order_by_scores`, beside the same queue without them and the same two replays of
`simulate` in batches of ten; limit: the live queue gains at least half of what the replay gains, in the mean
of the seeds. Time is simulated; what the reordering costs is printed as processor time.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the site does, before NumPy is loaded

from benchmarks.bench_prior import scores_with
from benchmarks.judging_site import temporary_site
from evaluation.plans.replaying import (
    LabelledPool,
    labelled_pool,
    noisy,
    replay,
    rounded_up,
    with_prior_scores,
)
from pooling.formats import name_of, read_qrels, read_run
from pooling.strategies import STRATEGIES
from tests.testdata import DATA

if TYPE_CHECKING:
    import polars as pl

    from benchmarks.live_campaign import Campaign

SETS = {"dl19": {"depth": 100, "min_relevance": 2}, "covid-r3": {"depth": 50, "min_relevance": 1}}
PEOPLE, BATCH, NOISE, SHARE, MOST_LOST = 10, 10, 0.1, 0.25, 0.035
AUDIT_SHARE = 0.2
#: Everything is looked at after so many acts; after each, what it touched.
CHECK_EVERY = 500
STRATEGY = "learned"


def main() -> int:
    arguments = parse()
    fine = True
    with temporary_site(os.environ.get("DATABASE_URL")):
        make_people()
        for name in arguments.data:
            pool = labelled(name)
            print(
                f"{name}: {pool.labelled:,} judged pairs of {len(pool.candidates)} queries, "
                f"{len(pool.runs)} runs"
            )
            if arguments.prior:
                fine &= compare_prior(name, pool, arguments.prior, arguments.seeds)
            elif arguments.hard:
                for seed in range(arguments.seeds):
                    run_hard(name, pool, seed)
            else:
                lost = [measure(name, pool, seed) for seed in range(arguments.seeds)]
                print(
                    f"  lost in the mean {100 * mean(lost):+.1f} points ({100 * min(lost):+.1f} to "
                    f"{100 * max(lost):+.1f}), limit {100 * MOST_LOST:.1f}",
                    flush=True,
                )
                fine &= mean(lost) <= MOST_LOST
    return 0 if fine else 1


def measure(name: str, pool: LabelledPool, seed: int) -> float:
    """What a live queue loses against the strategy one by one, as a share."""
    from benchmarks.live_campaign import Campaign

    ideal = replay(pool, STRATEGIES[STRATEGY], seed=seed, noise=NOISE).recall_at(SHARE)
    batches = replay(pool, STRATEGIES[STRATEGY], seed=seed, noise=NOISE, batch=BATCH).recall_at(SHARE)
    told = {query: noisy(query, truth, NOISE, seed) for query, truth in pool.truth.items()}
    campaign = Campaign(opened(name, pool, seed), people(), by_document(pool, told), seed=seed)
    campaign.run(share=SHARE)
    found = found_by(campaign, pool)
    print(
        f"  seed {seed}: found at {SHARE:.0%} of the pool: one by one {ideal:.3f}, in batches of ten "
        f"{batches:.3f}, live queue {found:.3f}: {100 * (ideal - found):+.1f} points lost; "
        f"{cost_of(campaign)}",
        flush=True,
    )
    return ideal - found


def compare_prior(name: str, pool: LabelledPool, auc: float, seeds: int) -> bool:
    """Print what scores of that worth add to live queues and to replays; whether the limit is kept."""
    gains: dict[str, list[float]] = {"replay": [], "live": []}
    for seed in range(seeds):
        scores = scores_with(pool, auc, seed)
        replays = [
            replay(one, STRATEGIES[STRATEGY], seed=seed, noise=NOISE, batch=BATCH).recall_at(SHARE)
            for one in (pool, with_prior_scores(pool, scores))
        ]
        adaptive = [live_found(name, pool, seed, prior) for prior in (None, scores)]
        for kind, found in (("replay", replays), ("live", adaptive)):
            gains[kind].append(found[1] - found[0])
            print(
                f"  seed {seed}, {kind}: found at {SHARE:.0%} of the pool {found[0]:.3f} without scores, "
                f"{found[1]:.3f} with AUC {auc:.2f}: {found[1] / found[0]:.2f} times",
                flush=True,
            )
    live_gain, replay_gain = mean(gains["live"]), mean(gains["replay"])
    print(
        f"  gained in the mean {100 * live_gain:+.1f} points live, {100 * replay_gain:+.1f} in replay; "
        "limit: half of it",
        flush=True,
    )
    return live_gain >= replay_gain / 2


def live_found(name: str, pool: LabelledPool, seed: int, scores: pl.DataFrame | None) -> float:
    """What a live queue finds, whose order starts from scores if there are some."""
    from benchmarks.live_campaign import Campaign
    from labeling.queues.score_order import order_by_scores

    told = {query: noisy(query, truth, NOISE, seed) for query, truth in pool.truth.items()}
    queue = opened(name, pool, seed, slug=f"{name}-{seed}-{'runs' if scores is None else 'scores'}")
    if scores is not None:
        started = time.perf_counter()
        moved = order_by_scores(queue, stored(queue, scores))
        print(f"  {moved:,} pairs in order by scores in {time.perf_counter() - started:.1f} s")
    campaign = Campaign(queue, people(), by_document(pool, told), seed=seed)
    campaign.run(share=SHARE)
    print(f"  {cost_of(campaign)}", flush=True)
    return found_by(campaign, pool)


def stored(queue: Any, scores: pl.DataFrame) -> Any:
    """Scores as the pre-labels of a model."""
    from django.utils import timezone

    from labeling.models import Prelabel, Prelabeler

    prelabeler = Prelabeler.objects.create(collection=queue.collection, model="drawn", options_hash="drawn")
    pairs = queue.items.values_list("query__external_id", "document__external_id", "query", "document")
    keys = {tuple(pair[:2]): pair[2:] for pair in pairs}
    Prelabel.objects.bulk_create(
        (
            Prelabel(
                prelabeler=prelabeler,
                query_id=keys[query, document][0],
                document_id=keys[query, document][1],
                verdict="relevant" if score > 0 else "not_relevant",
                score=score,
                document_version=1,
                created_at=timezone.now(),
            )
            for query, document, score in scores.iter_rows()
        ),
        batch_size=500,
    )
    return prelabeler


def run_hard(name: str, pool: LabelledPool, seed: int) -> None:
    """A campaign with everything that people do, to its end; raises AssertionError where a sentence fails."""
    from benchmarks.live_campaign import RESTLESS, Campaign
    from labeling.models import QueryPlan

    queue = opened(name, pool, seed, is_hard=True)
    budget = queue.selection.budget
    habits = replace(RESTLESS, noise=NOISE, quarantine_after=budget)
    truth = by_document(pool, pool.truth)
    campaign = Campaign(queue, people(), truth, seed=seed, habits=habits, check_every=CHECK_EVERY)
    campaign.run()
    plans = QueryPlan.objects.filter(selection=queue.pk)
    ends = {by: plans.filter(finished_by=by).count() for by in ("budget", "pool")}
    print(
        f"  seed {seed}: budget {budget:,} pairs; {campaign.words()}; "
        f"finished by {ends}; {campaign.checks:,} checks, every sentence holds; {cost_of(campaign)}",
        flush=True,
    )


def cost_of(campaign: Campaign) -> str:
    """What the reordering took."""
    return (
        f"{campaign.judged:,} judgments, {campaign.orders:,} times in order anew, "
        f"{1000 * campaign.ordering / max(1, campaign.orders):.1f} ms each, "
        f"{1000 * campaign.ordering / campaign.judged:.2f} ms a judgment"
    )


def labelled(name: str) -> LabelledPool:
    """The judged pairs of a collection's runs."""
    folder = DATA / name
    runs = {name_of(path): read_run(path).frame for path in sorted((folder / "runs").iterdir())}
    options = SETS[name]
    return labelled_pool(read_qrels(folder / "qrels.txt").frame, runs, **options)


def by_document(pool: LabelledPool, labels: Any) -> dict[str, dict[str, bool]]:
    """Labels by query and document."""
    return {
        query: dict(zip(one.documents, map(bool, labels[query]), strict=True))
        for query, one in pool.candidates.items()
    }


def found_by(campaign: Campaign, pool: LabelledPool) -> float:
    """As `evaluation.plans.replaying`: the mean over queries of the relevant share that the first
    judgments found.
    """
    shares = []
    for query, truth in pool.truth.items():
        first = list(campaign.sequence[query])[: rounded_up(SHARE, len(truth))]
        numbers = [pool.candidates[query].number[document] for document in first]
        shares.append(truth[numbers].sum() / truth.sum())
    return float(mean(shares))


def make_people() -> None:
    """Who judges."""
    from django.contrib.auth.models import User

    User.objects.create_user("owner", password="a long enough password")
    User.objects.bulk_create(User(username=f"annotator{number}", password="!") for number in range(PEOPLE))


def people() -> list[Any]:
    """The annotators."""
    from django.contrib.auth.models import User

    return list(User.objects.filter(username__startswith="annotator").order_by("pk"))


def opened(
    name: str, pool: LabelledPool, seed: int, *, is_hard: bool = False, slug: str | None = None
) -> Any:
    """An adaptive queue over the judged pairs, in a collection of its own."""
    from django.contrib.auth.models import User

    from labeling.adaptive.options import AdaptiveOptions
    from labeling.gold.options import GoldOptions
    from labeling.queues.opening import open_queue
    from pooling.models import Membership, Query
    from pooling.people.membership import create_collection
    from pooling.pools.building import build_pool
    from pooling.runs.stored import import_run

    owner = User.objects.get(username="owner")
    slug = slug or f"{name}-{seed}"
    collection = create_collection(owner, slug=slug, name=slug)
    Membership.objects.bulk_create(
        Membership(collection=collection, user=user, role="annotator") for user in people()
    )
    Query.objects.bulk_create(Query(collection=collection, external_id=q, text=q) for q in pool.candidates)
    runs = [import_run(collection, path) for path in sorted((DATA / name / "runs").iterdir())]
    built = build_pool(
        collection,
        name="pool",
        runs=runs,
        depth=SETS[name]["depth"],
        strategy=STRATEGY,
        audit_share=AUDIT_SHARE if is_hard else 0.0,
        seed=seed,
    )
    keep_judged(built, pool)
    adaptive = AdaptiveOptions()
    if is_hard:
        budget = sum(rounded_up(SHARE, len(truth)) for truth in pool.truth.values())
        adaptive = AdaptiveOptions(budget=budget, budget_rule="share")
    redundancy = {"judgments_per_item": 2, "most_judgments_per_item": 3} if is_hard else {}
    return open_queue(built, seed=seed, adaptive=adaptive, gold=GoldOptions(0, 0, 0), **redundancy)


def keep_judged(built: Any, pool: LabelledPool) -> None:
    """Take the pairs without a label out of the pool."""
    known = {(query, document) for query, one in pool.candidates.items() for document in one.documents}
    rows = built.entries.values_list("pk", "query__external_id", "document__external_id")
    gone = [pk for pk, *pair in rows if tuple(pair) not in known]
    for start in range(0, len(gone), 500):
        built.entries.filter(pk__in=gone[start : start + 500]).delete()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--hard", action="store_true", help="with everything that people do, and checked")
    parser.add_argument("--prior", type=float, metavar="AUC", help="with scores that are worth so much")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
