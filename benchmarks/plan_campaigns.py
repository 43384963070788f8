"""Plans beside what simulated campaigns then take: cost, end date and width of the recall interval.

    python -m benchmarks.plan_campaigns [--set dl19 covid-r3] [--seeds 40] [--pilots 10] [--widths-only]

The judged pairs of `dl19` (depth 100) and `covid-r3` (depth 50), a quarter of them as budget, two judgments
and a third on a tie; `dl19:3` and `covid-r3:2` count from that grade on, so that relevance is rarer. The plan
of the width knows the labels of a pilot of 100 drawn pairs, and campaigns of other draws then follow; printed
beside it are the range that a plan without the pilot tells, the pilots whose width is within the limit, and
those whose range holds the mean width. The plan of the work is told the mean time of 200 judgments of one
annotator, and supposes one tie in ten and equal people. The campaign goes through the page's own button and
the real queue: five annotators of unequal speed who work unequal hours (both by 30 %), time by time
log-normal, one verdict in ten wrong, on SQLite in simulated time. Widths are means over many campaigns in
memory, of the intervals that a report shows, for some runs at K = 10, with the fixed order and with an order
that learns.

Limit: 15 % off in the mean over pilots. Exit code 1 where one is missed, which is printed.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import math
import random
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.bench_honesty import SETS, InLeases, label_of
from benchmarks.judging_site import temporary_site
from evaluation.estimates.intervals import interval_of_micro_recall
from evaluation.plans.replaying import LabelledPool, labelled_pool
from pooling.formats import name_of, read_qrels, read_run
from pooling.ranking.ranking import order_run
from pooling.ranking.sample import audit_size, choose_in_query, spread_budget
from pooling.strategies.audited import Audited, campaign
from tests.testdata import DATA

SHARE, AUDITS, K = 0.25, (0.2, 0.5), 10
PEOPLE, BATCH, NOISE = 5, 10, 0.1
SECONDS, UNEQUAL, PILOT = 20.0, 0.3, 200
HOURS_PER_WEEK, PRICE = 2.0, 0.1
LIMIT = 0.15
START = datetime(2026, 1, 5, tzinfo=UTC)
#: Runs whose widths are measured, evenly among all.
MEASURED = 6
WIDTHS = (*SETS, "dl19:3", "covid-r3:2")
PILOT_PAIRS, PILOT_SEED = 100, 1_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--set", nargs="+", choices=WIDTHS, default=list(WIDTHS))
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--pilots", type=int, default=10)
    parser.add_argument("--widths-only", action="store_true", help="no campaign through the queue")
    options = parser.parse_args()
    if len(options.set) == 1:
        return 0 if one_set(options.set[0], options) else 1
    # Django is set up on one database in a process.
    command = [sys.executable, "-m", "benchmarks.plan_campaigns", "--seeds", str(options.seeds)]
    command += ["--pilots", str(options.pilots)]
    command += ["--widths-only"] * options.widths_only
    codes = [subprocess.run([*command, "--set", name], check=False).returncode for name in options.set]
    return max(codes)


def one_set(name: str, options: argparse.Namespace) -> bool:
    frames, pool = judged_runs(name)
    pairs = sum(map(len, pool.candidates.values()))
    true = sum(int(truth.sum()) for truth in pool.truth.values()) / pairs
    print(
        f"\n{name}: {pairs:,} judged pairs, {len(pool.candidates)} queries, {len(frames)} runs; "
        f"{true:.1%} relevant"
    )
    kept = True
    with temporary_site(None) as site, tempfile.TemporaryDirectory() as folder:
        owner = made_people()
        collection = stored("widths", owner, frames, pool, Path(folder))
        people = unequal_people(random.Random(7))
        chance = random.Random(11)
        pilot = sum(taken(people[0], chance) for _ in range(PILOT)) / PILOT
        depth, budget = depth_and_grade(name)[0], math.ceil(SHARE * pairs)
        for audit in AUDITS:
            for strategy in ("rrf", "learned"):
                settings = chosen(
                    depth=depth,
                    budget=budget,
                    audit_share=audit,
                    strategy=strategy,
                    adaptive=strategy == "learned",
                    seconds_per_judgment=round(pilot, 2),
                )
                kept = compare_widths(collection, settings, pool, options, Path(folder)) and kept
        if not options.widths_only and name in SETS:
            for strategy in ("rrf", "learned"):
                settings = chosen(
                    depth=depth,
                    budget=budget,
                    audit_share=AUDITS[0],
                    strategy=strategy,
                    adaptive=strategy == "learned",
                    seconds_per_judgment=round(pilot, 2),
                )
                other = stored(strategy, owner, frames, pool, Path(folder))
                kept = compare_work(other, owner, settings, pool, people) and kept
        site.stop()
    return kept


def depth_and_grade(name: str) -> tuple[int, int]:
    """Of a set, with a colon and the least relevant grade where it is another than the set's own."""
    name, _, grade = name.partition(":")
    return SETS[name][0], int(grade or SETS[name][1])


def judged_runs(name: str) -> tuple[dict[str, pl.DataFrame], LabelledPool]:
    """The tops of a set's runs without what nobody judged, so that every pair of the pool has a label."""
    depth, grade = depth_and_grade(name)
    name = name.partition(":")[0]
    qrels = read_qrels(DATA / name / "qrels.txt").frame
    judged = qrels.filter(pl.col("relevance") >= 0).select("query_id", "document_id")
    some = qrels.filter(pl.col("relevance") >= grade).select("query_id").unique()
    frames = {}
    for path in sorted((DATA / name / "runs").iterdir()):
        top = order_run(read_run(path).frame, depth=depth)
        kept = top.join(judged, on=["query_id", "document_id"], how="semi", maintain_order="left")
        kept = kept.join(some, on="query_id", how="semi", maintain_order="left")
        frames[name_of(path)] = kept.select("query_id", "document_id", "score")
    return frames, labelled_pool(qrels, frames, depth=depth, min_relevance=grade)


def made_people() -> Any:
    """An admin, and the annotators."""
    from django.contrib.auth.models import User

    User.objects.bulk_create(User(username=f"annotator{n}", password="!") for n in range(PEOPLE))
    return User.objects.create_user("owner", password="a long enough password")


def stored(slug: str, owner: Any, frames: dict[str, pl.DataFrame], pool: LabelledPool, folder: Path) -> Any:
    """A collection of its own with the runs."""
    from django.contrib.auth.models import User

    from pooling.models import Membership, Query
    from pooling.people.membership import create_collection
    from pooling.runs.stored import import_run

    collection = create_collection(owner, slug=slug, name=slug)
    users = User.objects.filter(username__startswith="annotator")
    Membership.objects.bulk_create(
        Membership(collection=collection, user=user, role="annotator") for user in users
    )
    Query.objects.bulk_create(Query(collection=collection, external_id=q, text=q) for q in pool.candidates)
    for run, frame in frames.items():
        path = folder / f"{run}.parquet"
        frame.write_parquet(path)
        import_run(collection, path, name=run)
    return collection


def chosen(**values: Any) -> Any:
    from evaluation.plans.settings import settings_from

    usual = {
        "judgments_per_item": 2,
        "most_judgments_per_item": 3,
        "price_per_judgment": PRICE,
        "annotators": PEOPLE,
        "hours_per_week": HOURS_PER_WEEK,
        "k": K,
    }
    return settings_from({**usual, **values})


def compare_widths(
    collection: Any, settings: Any, pool: LabelledPool, options: argparse.Namespace, folder: Path
) -> bool:
    """The widths that are planned after a pilot beside the mean ones of simulated campaigns."""
    from evaluation.plans.planning import plan
    from labeling.models import ImportedLabel
    from labeling.qrels.imported import import_qrels

    blind = plan(collection, settings)["recall_interval"]
    runs = sorted(pool.runs)[:: -(-len(pool.runs) // MEASURED)]
    rows = []
    for seed in range(options.pilots):
        known = pilot_of(pool, PILOT_SEED + seed)
        path = folder / "pilot.qrels"
        path.write_text(
            "".join(
                f"{query} 0 {one.documents[number]} {int(pool.truth[query][number])}\n"
                for query, one in pool.candidates.items()
                for number in np.flatnonzero(known[query])
            )
        )
        import_qrels(collection, path)
        by_run = {row["run"]: row for row in plan(collection, settings)["recall_interval"]["by_run"]}
        rows.append(
            [np.mean([by_run[run][end] for run in runs]) for end in ("width", "width_low", "width_high")]
        )
        ImportedLabel.objects.filter(collection=collection).delete()
    width, low, high = np.array(rows).T
    widths = np.array(
        [
            simulated_widths(pool, runs, settings, seed, pilot_of(pool, PILOT_SEED + seed % options.pilots))
            for seed in range(options.seeds)
        ]
    )
    simulated = widths.mean()
    error = widths.mean(axis=1).std() / np.sqrt(options.seeds)
    close = np.mean(np.abs(width / simulated - 1) <= LIMIT)
    holds = np.mean((low <= simulated) & (simulated <= high))
    return said(
        f"width, {settings.strategy}, audit {settings.audit_share:.0%}",
        width.mean(),
        simulated,
        f"± {error:.3f}; without a pilot {blind['width_low']:.3f} to {blind['width_high']:.3f}; "
        f"within the limit {close:.0%} of pilots, their range holds {holds:.0%}",
    )


def pilot_of(pool: LabelledPool, seed: int) -> dict[str, np.ndarray]:
    """The pairs of a pilot, by query: what a pool with that budget, all of it audit, draws."""
    queries = sorted(pool.candidates)
    budgets = spread_budget(np.array([len(pool.candidates[query]) for query in queries]), PILOT_PAIRS)
    drawn = {}
    for query, budget in zip(queries, budgets.tolist(), strict=True):
        documents = pl.Series(pool.candidates[query].documents, dtype=pl.String)
        drawn[query] = choose_in_query(query, documents, budget=budget, audit_share=1.0, seed=seed)[0]
    return drawn


def after_pilot(probability: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The inclusion probabilities of a query where the pilot's labels were known before the draw."""
    certain = known | (probability == 1)
    drawn = ~certain & ~np.isnan(probability)
    share = drawn.sum() / max(int((~certain).sum()), 1)
    if not drawn.any() and not certain.all():
        return np.full(len(probability), np.nan)
    return np.where(certain, 1.0, np.where(drawn, share, np.nan))


def simulated_widths(
    pool: LabelledPool, runs: list[str], settings: Any, seed: int, known: dict[str, np.ndarray]
) -> list[float]:
    probability = draw(pool, settings, seed)
    probability = {query: after_pilot(one, known[query]) for query, one in probability.items()}
    parts = []
    for query, one in pool.candidates.items():
        parts.append(
            pl.DataFrame(
                {
                    "query_id": [query] * len(one),
                    "document_id": one.documents,
                    "relevant": pool.truth[query],
                    "inclusion_probability": probability[query],
                }
            )
        )
    pairs = pl.concat(parts)
    sample = pairs.filter(pl.col("inclusion_probability").is_not_nan())
    widths = []
    for run in runs:
        found = interval_of_micro_recall(sample, top_of(pool, run))
        widths.append((found.high or 0.0) - (found.low or 0.0))
    return widths


def top_of(pool: LabelledPool, run: str) -> pl.DataFrame:
    place = pool.runs.index(run)
    rows = [
        (query, one.documents[number])
        for query, one in pool.candidates.items()
        for number in one.document[(one.run == place) & (one.rank <= K)]
    ]
    return pl.DataFrame(rows, schema=["query_id", "document_id"], orient="row")


def draw(pool: LabelledPool, settings: Any, seed: int) -> dict[str, np.ndarray]:
    """The inclusion probabilities after one campaign of the fixed order, or of the one that learns."""
    queries = sorted(pool.candidates)
    sizes = np.array([len(pool.candidates[query]) for query in queries])
    budgets = dict(zip(queries, spread_budget(sizes, settings.budget).tolist(), strict=True))
    if settings.adaptive:
        strategy = Audited(pool.candidates, seed=seed, greedy=InLeases)
        for query, one in pool.candidates.items():
            audit = audit_size(settings.audit_share, budgets[query])
            answer = partial(label_of, pool.truth[query])
            campaign(strategy, one, budget=budgets[query], audit=audit, answer=answer)
        return {query: strategy.probabilities(one) for query, one in pool.candidates.items()}
    drawn = {}
    for query, one in pool.candidates.items():
        order = np.argsort(-fused(one), kind="stable")
        documents = pl.Series([one.documents[number] for number in order])
        probability = np.empty(len(one))
        probability[order] = choose_in_query(
            query, documents, budget=budgets[query], audit_share=settings.audit_share, seed=seed
        )[1]
        drawn[query] = probability
    return drawn


def fused(one: Any) -> np.ndarray:
    return np.bincount(one.document, weights=1 / (60 + one.rank), minlength=len(one))


def unequal_people(chance: random.Random) -> list[tuple[float, float]]:
    """(seconds a judgment, hours a day) of each, around the means; what the first takes is what is known."""
    return [
        (
            SECONDS * (1 if place == 0 else chance.uniform(1 - UNEQUAL, 1 + UNEQUAL)),
            HOURS_PER_WEEK / 7 * chance.uniform(1 - UNEQUAL, 1 + UNEQUAL),
        )
        for place in range(PEOPLE)
    ]


def taken(person: tuple[float, float], chance: random.Random) -> float:
    """Seconds of one judgment: log-normal around the person's mean."""
    return person[0] * chance.lognormvariate(-0.18, 0.6)


def compare_work(collection: Any, owner: Any, settings: Any, pool: LabelledPool, people: Any) -> bool:
    """The planned cost and end beside those of a campaign through the queue."""
    from django.conf import settings as site

    from evaluation.plans.launch import begin
    from evaluation.plans.planning import plan
    from labeling.models import Queue
    from labeling.progress.counts import queue_progress

    found = plan(collection, settings, now=START)
    team = next(row for row in found["work"]["by_annotators"] if row["annotators"] == PEOPLE)
    site.BACKGROUND_POOL_PAIRS = site.BACKGROUND_QUEUE_PAIRS = 10**9
    begun = begin(collection, settings, "campaign", owner)
    assert isinstance(begun, dict)
    queue = Queue.objects.get(pk=begun["queue"])
    started = time.process_time()
    days = worked(queue, pool, people)
    cost = queue_progress(queue, now=START + timedelta(days=1))["cost"]
    order = settings.strategy
    print(f"  campaign through the queue, {order}: {time.process_time() - started:.0f} s processor")
    kept = said(f"cost, {order}", team["cost"], cost["spent"], f"{cost['paid_judgments']:,} judgments")
    end = (START + timedelta(days=days)).date()
    return said(f"days, {order}", team["days"], days, f"planned {team['end_date']}, ends {end}") and kept


def worked(queue: Any, pool: LabelledPool, people: list[tuple[float, float]]) -> float:
    """Have everybody judge, once a day as long as they do, until nothing is left: days to the last verdict.

    Whoever finds nothing to claim comes back the next day; what they hold at the end of their time runs out.
    """
    from django.contrib.auth.models import User

    from labeling.judging.leases import claim
    from labeling.judging.submissions import Submission
    from labeling.judging.verdicts import record_judgment

    users = list(User.objects.filter(username__startswith="annotator").order_by("pk"))
    chance, keys, last = random.Random(3), itertools.count(), 0.0
    waiting = [(at(0.0, place, people), 0.0, place) for place in range(len(users))]
    hands: dict[int, list[Any]] = {place: [] for place in range(len(users))}
    empty_handed = 0
    while empty_handed < 3 * len(users):
        day, active, place = heapq.heappop(waiting)
        now = START + timedelta(days=day)
        hands[place] = [lease for lease in hands[place] if lease.expires_at > now]
        if not hands[place]:
            hands[place] = list(claim(queue, users[place], BATCH, now=now).leases)
        if not hands[place]:
            empty_handed += 1
            active = (active // seconds_a_day(people[place]) + 1) * seconds_a_day(people[place])
            heapq.heappush(waiting, (at(active, place, people), active, place))
            continue
        empty_handed, last = 0, day
        lease = hands[place].pop(0)
        query, document = lease.item.query.external_id, lease.item.document.external_id
        relevant = bool(pool.truth[query][pool.candidates[query].number[document]])
        verdict = "relevant" if relevant ^ (chance.random() < NOISE) else "not_relevant"
        given = Submission(lease.item.pk, f"{queue.pk} {next(keys)}", verdict, lease=lease.token)
        outcome = record_judgment(queue, users[place], given, now=now)
        assert outcome.status in ("stored", "extra"), outcome
        active += taken(people[place], chance)
        heapq.heappush(waiting, (at(active, place, people), active, place))
    return last


def seconds_a_day(person: tuple[float, float]) -> float:
    return person[1] * 3600


def at(active: float, place: int, people: list[tuple[float, float]]) -> float:
    """The days since the start after so many seconds of work; each has an hour of the day of their own."""
    whole, rest = divmod(active, seconds_a_day(people[place]))
    return whole + (9 + place) / 24 + rest / 86_400


def said(what: str, planned: float, simulated: float, more: str) -> bool:
    off = planned / simulated - 1
    kept = abs(off) <= LIMIT
    print(
        f"  {what:28} planned {planned:9.3f}  simulated {simulated:9.3f}  {off:+7.1%}"
        f"{'' if kept else '  MISSED'}  ({more})",
        flush=True,
    )
    return kept


if __name__ == "__main__":
    sys.exit(main())
