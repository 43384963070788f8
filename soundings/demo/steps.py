"""The demo: the example collection taken the whole way, one function per step, by a calendar (`clock.py`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TypedDict

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User

from evaluation.canaries.watching import Alerts, CanaryDefinition, create_canary
from evaluation.indexes.stored import LatencyRequest, request_latency_report
from evaluation.models import Report
from evaluation.plans.stored_replays import ReplayRequest, request_replay
from evaluation.reports.making import ReportInput, create_report
from evaluation.scoring.config import Settings
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.figures import EvaluationResult, Figure, HeadlineEstimate, mean_as_read
from labeling.adaptive.options import AdaptiveOptions
from labeling.adjudication.settling import adjudicate
from labeling.gold.importing import import_gold
from labeling.gold.options import site_options
from labeling.judging.submissions import Submission
from labeling.models import Item, Queue, Verdict
from labeling.prelabels.stored_answers import store_answers
from labeling.qrels.releases import release_qrels
from labeling.queues.opening import open_queue
from pooling.formats import read_qrels
from pooling.jobs.running import run_job
from pooling.models import Collection, Job, Pool, Role, Run
from pooling.people.membership import add_member, create_collection
from pooling.pools.building import build_pool
from pooling.pools.versions import extend_pool
from pooling.runs.stored import import_run
from pooling.texts.importing import import_documents, import_queries
from pooling.tidying.erasing import erase_collection
from soundings.demo.annotators import DemoClock, SimulatedAnnotators
from soundings.demo.fact_judging import bring_facts, judge_facts, open_facts
from soundings.installation.first_use import (
    DEMO_ADMIN,
    DEMO_ANNOTATOR,
    SIMULATED,
    generated_password,
    nobody_is_here_yet,
)

SLUG = "demo"
SEED = 1807
# Every pair of the first pool is judged by two; of the main pool a budget by one, half of it drawn from all
# documents: there are so few relevant ones that fewer draws would tell little.
FIRST_DEPTH, MAIN_DEPTH, LATER_DEPTH = 3, 20, 25
MAIN_STRATEGY, MAIN_BUDGET, AUDIT_SHARE, REACH = "hybrid", 960, 0.5, 1_000
# Of what the second week's version of that pool brings, and the last, which waits for who opens the site.
LATER_BUDGET, LEFT_BUDGET = 72, 48
CUTOFFS, TABLE_K = (1, 5, 10), 10
LATER_RUN = "later/lsa-2.run"
TAGS = ("keyword", "question", "situation")
REPLAYED = ("rrf", "depth")
MODEL = "stand-in-model"
NO_GOLD = {"gold_first_share": 0, "gold_share": 0}
BEGAN, SECOND_WEEK, LAST_DAY = timedelta(days=9), timedelta(days=2), timedelta(hours=3)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Cast:
    admin: User
    simulated: list[User]
    passwords: dict[str, str]


@dataclass(frozen=True)
class Stage:
    examples: Path
    cast: Cast
    clock: DemoClock
    say: Say

    @property
    def admin(self) -> User:
        return self.cast.admin


@dataclass(frozen=True)
class Demo:
    collection: Collection
    report: Report
    passwords: dict[str, str]


def run_demo(say: Say) -> Demo:
    """Take the example collection the whole way, in two weeks of its calendar; `say` hears of each step."""
    forget_demo(say)
    cast = make_cast()
    with DemoClock(BEGAN) as clock:
        stage = Stage(settings.ASSETS_DIR / "examples", cast, clock, say)
        collection = start_collection(stage)
        runs = import_everything(collection, stage)
        judge_first_pool(collection, runs, stage)
        main = judge_main_pool(collection, runs, stage)
        release_and_report(collection, "v1", runs, stage)
        watch_and_replay(collection, stage)
        clock.pass_until(SECOND_WEEK)
        better = import_run(collection, stage.examples / LATER_RUN, user=stage.admin)
        _finish_jobs(collection)
        stage.say(f"A week later: imported “{better.name}”, an improved “lsa”; the canary has measured it.")
        latest = judge_what_is_new(main, better, stage)
        judge_what_answers_need(main, stage)
        clock.pass_until(LAST_DAY)
        report = release_and_report(collection, "v2", [*runs, better], stage)
        leave_some_to_judge(latest, better, stage)
    return Demo(collection, report, cast.passwords)


def forget_demo(say: Say) -> None:
    """Delete an earlier demo with its files, so that this one starts again. Accounts stay."""
    collection = Collection.objects.filter(slug=SLUG).first()
    if collection is None:
        return
    say(f"The collection “{SLUG}” exists from an earlier demo; it is deleted and created again.")
    erase_collection(collection)


def make_cast() -> Cast:
    """An admin and an annotator who can sign in, and simulated annotators who cannot."""
    passwords = {name: generated_password() for name in (DEMO_ADMIN, DEMO_ANNOTATOR)}
    # On a site that is there to be tried the admin runs it, and may open a collection.
    admin = _account(DEMO_ADMIN, passwords[DEMO_ADMIN], runs_site=nobody_is_here_yet())
    _account(DEMO_ANNOTATOR, passwords[DEMO_ANNOTATOR])
    return Cast(admin, [_account(name, None) for name in SIMULATED], passwords)


def _account(name: str, password: str | None, *, runs_site: bool = False) -> User:
    return get_user_model().objects.update_or_create(
        username=name, defaults={"password": make_password(password), "is_staff": runs_site}
    )[0]


def start_collection(stage: Stage) -> Collection:
    collection = create_collection(
        stage.admin,
        slug=SLUG,
        name="Harbour City help centre (demo)",
        question="Would a person who asks this be helped by this page?",
        guidelines=(stage.examples / "guidelines.md").read_text(encoding="utf-8"),
    )
    for name in (DEMO_ANNOTATOR, *SIMULATED):
        add_member(collection, name, Role.ANNOTATOR)
    stage.say(
        f"Created the collection “{SLUG}” with its guidelines, and {len(SIMULATED)} simulated "
        "annotators for it. It is an example: its dates, from nine days ago on, are the demo's."
    )
    return collection


def import_everything(collection: Collection, stage: Stage) -> list[Run]:
    queries = import_queries(collection, stage.examples / "queries.jsonl", user=stage.admin)
    documents = import_documents(collection, stage.examples / "corpus.jsonl")
    stage.say(f"Imported {queries.created} queries with tags and {documents.created} documents.")
    paths = sorted((stage.examples / "runs").glob("*.run"))
    runs = [import_run(collection, path, user=stage.admin) for path in paths]
    rows = sum(run.row_count for run in runs)
    gold = import_gold(collection, stage.examples / "gold.csv", user=stage.admin)
    stage.say(
        f"Imported {len(runs)} runs with {rows:,} ranked documents ({', '.join(run.name for run in runs)}) "
        f"and {gold.created} gold questions, which look like any other pair."
    )
    return runs


def judge_first_pool(collection: Collection, runs: list[Run], stage: Stage) -> None:
    """The top of all runs, each pair judged by two; where they differ, the admin settles."""
    pool = build_pool(
        collection, name=f"Top {FIRST_DEPTH}", runs=runs, depth=FIRST_DEPTH, seed=SEED, user=stage.admin
    )
    stage.say(
        f"Built the pool “{pool.name}”: the {pool.depth} first of each run make {pool.pair_count:,} pairs."
    )
    queue = open_queue(pool, name=pool.name, judgments_per_item=2, seed=SEED, user=stage.admin)
    made = _annotators(stage, SEED).judge(queue, at_most=3 * pool.pair_count)
    split = list(queue.items.filter(state=Item.State.ADJUDICATION).order_by("pk"))
    _settle(queue, split, stage)
    stage.say(
        f"The simulated annotators made {made:,} judgments in the queue “{queue.name}”, two for each pair. "
        f"The admin settled the {len(split)} pairs without agreement."
    )


def _settle(queue: Queue, items: list[Item], stage: Stage) -> None:
    relevant = _true_labels(stage)
    for item in items:
        is_relevant = relevant.get((item.query.external_id, item.document.external_id), False)
        stage.clock.pass_time(timedelta(seconds=40))
        adjudicate(
            queue,
            stage.admin,
            Submission(
                item=item.pk,
                key=f"demo-{item.pk}",
                verdict=Verdict.RELEVANT if is_relevant else Verdict.NOT_RELEVANT,
                note="Settled by the narrative of the query.",
            ),
        )


def judge_main_pool(collection: Collection, runs: list[Run], stage: Stage) -> Pool:
    """A deeper pool judged to its end: its order learns, and its audit is of the whole collection."""
    stage.clock.pass_time(timedelta(hours=20))
    pool = build_pool(
        collection,
        name=f"Top {MAIN_DEPTH}",
        runs=runs,
        depth=MAIN_DEPTH,
        strategy=MAIN_STRATEGY,
        budget=MAIN_BUDGET,
        audit_share=AUDIT_SHARE,
        reach=REACH,
        seed=SEED,
        user=stage.admin,
    )
    queue = open_queue(
        pool,
        name=pool.name,
        seed=SEED,
        user=stage.admin,
        gold=site_options(**NO_GOLD),
        adaptive=AdaptiveOptions(),
    )
    stage.say(
        f"Built the pool “{pool.name}” of {pool.pair_count:,} pairs for a budget of {pool.budget}: labels "
        f"decide what is judged next, and {100 * AUDIT_SHARE:.0f} % are drawn at random from the whole "
        "collection, so that recall can be estimated for all of it."
    )
    made = _annotators(stage, SEED + 1).judge(queue, at_most=pool.pair_count)
    stage.say(
        f"The simulated annotators judged {made} pairs in the queue “{queue.name}”, to the end of its budget."
    )
    return pool


def watch_and_replay(collection: Collection, stage: Stage) -> None:
    canary = create_canary(
        collection,
        CanaryDefinition(name="Recall of every run", measure="recall@10"),
        Alerts(threshold=0.4),
        user=stage.admin,
    )
    _finish_jobs(collection)
    request_replay(
        collection,
        ReplayRequest(name="What an order would have found", depth=MAIN_DEPTH, strategies=REPLAYED),
        stage.admin,
    )
    for path in sorted((stage.examples / "indexes").glob("*.run")):
        import_run(collection, path, user=stage.admin)
    request_latency_report(
        collection,
        LatencyRequest(
            exact="lsa",
            settings=(stage.examples / "indexes" / "settings.csv").read_text(encoding="utf-8"),
            target=0.9,
            name="lsa with fewer lists",
        ),
        stage.admin,
    )
    stage.say(
        f"Set up the canary “{canary.name}”, replayed {len(REPLAYED)} strategies on the labels, and compared "
        "three settings of an index with exact search."
    )


def judge_what_is_new(main: Pool, run: Run, stage: Stage) -> Pool:
    """The next version of the main pool, with the new run; and a model's answers from a file."""
    pool = extend_pool(
        main, runs=[run], user=stage.admin, strategy="rrf", budget=LATER_BUDGET, audit_share=AUDIT_SHARE
    )
    queue = open_queue(
        pool, name=f"With {run.name}", seed=SEED, user=stage.admin, gold=site_options(**NO_GOLD)
    )
    made = _annotators(stage, SEED + 2).judge(queue, at_most=pool.pair_count)
    stage.say(f"Extended the pool by “{run.name}”; the simulated annotators judged the {made} new pairs.")
    answers = stage.examples / "prelabels.jsonl"
    answer_count = sum(
        store_answers(one, answers, model=MODEL, by=stage.admin).pair_count
        for one in main.collection.queues.order_by("pk")
    )
    stage.say(
        f"{answer_count} stored answers stand in for the pre-labels of a model; no annotator has seen them."
    )
    return pool


def leave_some_to_judge(pool: Pool, run: Run, stage: Stage) -> None:
    deeper = extend_pool(
        pool, user=stage.admin, depth=LATER_DEPTH, strategy="rrf", budget=LEFT_BUDGET, audit_share=AUDIT_SHARE
    )
    queue = open_queue(
        deeper, name=f"{run.name} and deeper", seed=SEED, user=stage.admin, gold=site_options(**NO_GOLD)
    )
    left = queue.items.filter(state=Item.State.OPEN).count()
    stage.say(
        f"Extended the pool to depth {LATER_DEPTH}; {left} are left for you in the queue “{queue.name}”."
    )


def judge_what_answers_need(main: Pool, stage: Stage) -> None:
    done = bring_facts(main.collection, stage.examples, stage.admin)
    queue = open_facts(main, SEED, stage.admin)
    made, left = judge_facts(queue, _annotators(stage, SEED + 3), stage.examples)
    stage.say(
        f"Imported {done.created} facts that the answers need; the simulated annotators judged {made:,} "
        f"pairs of a fact and a document. {left} documents are left for you in the queue “{queue.name}”."
    )


def _annotators(stage: Stage, seed: int) -> SimulatedAnnotators:
    return SimulatedAnnotators(stage.cast.simulated, _true_labels(stage), seed, stage.clock)


def _true_labels(stage: Stage) -> dict[tuple[str, str], bool]:
    labels = read_qrels(stage.examples / "qrels.txt").frame.iter_rows()
    return {(query, document): relevance > 0 for query, document, relevance in labels}


def _finish_jobs(collection: Collection) -> None:
    """Do here what the worker would do: the demo begins before there is one."""
    for job in collection.jobs.filter(state=Job.State.QUEUED).order_by("pk"):
        run_job.call(job.pk)


def release_and_report(collection: Collection, name: str, runs: list[Run], stage: Stage) -> Report:
    release = release_qrels(collection, name=name, user=stage.admin)
    report = create_report(
        collection,
        ReportInput(
            name=f"Report on {name}",
            release=release,
            runs=runs,
            k=CUTOFFS,
            measures=("recall", "precision", "f1", "success", "judged"),
            conventions=Conventions(),
            settings=Settings(tags=TAGS),
        ),
        user=stage.admin,
    )
    stage.say(
        f"Released the qrels “{release.name}”: {release.pair_count:,} labels for {release.query_count} "
        f"queries, {release.relevant_count:,} of them relevant; and measured {len(runs)} runs on them."
    )
    return report


class DemoRow(TypedDict):
    """One run at `TABLE_K`: its recall as it is estimated for the whole collection, what it truly is there,
    what it is of the documents found, and the share of its documents that was judged."""

    run: str
    estimate: HeadlineEstimate
    truth: float
    found: Figure
    judged: float | None


def report_rows(report: Report) -> list[DemoRow]:
    result: EvaluationResult = report.result
    recall, truth = f"recall@{TABLE_K}", true_recall()
    rows: list[DemoRow] = []
    for name, of_run in result["runs"].items():
        estimate = of_run[recall]["estimate"]
        if estimate is None:  # pragma: no cover  the seed decides it
            raise RuntimeError("The audit of the demo is not answered.")
        rows.append(
            {
                "run": name,
                "estimate": estimate,
                "truth": truth[name][0 if estimate["average"] == "macro" else 1],
                "found": of_run[recall],
                "judged": mean_as_read(of_run[f"judged@{TABLE_K}"]),
            }
        )
    return sorted(rows, key=lambda row: (-(row["found"]["mean"] or 0), row["run"]))


def true_recall() -> dict[str, tuple[float, float]]:
    """Macro and micro recall of each run with the labels of `examples/`, which are complete."""
    from evaluation import evaluate

    examples = settings.ASSETS_DIR / "examples"
    paths = [*sorted((examples / "runs").glob("*.run")), examples / LATER_RUN]
    measured = evaluate(examples / "qrels.txt", paths, k=(TABLE_K,))
    figures = {name: measured.figure(name, "recall", TABLE_K) for name in measured.runs}
    return {name: (figure["mean"] or 0.0, figure["micro"] or 0.0) for name, figure in figures.items()}
