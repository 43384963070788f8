"""The demo: the example collection taken the whole way, from run files to Recall@K, one function per step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypedDict

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.core.files.storage import default_storage
from django.db.models import Model

from evaluation.models import Canary, LatencyReport, Report
from evaluation.reports.making import ReportInput, create_report
from evaluation.scoring.conventions import Conventions
from labeling.models import ImportedLabel, Item, Judgment, JudgmentEvent, QrelsRelease, Queue
from labeling.qrels.releases import release_qrels
from labeling.queues.opening import open_queue
from pooling.models import Collection, Pool, Role, Run
from pooling.people.membership import add_member, create_collection
from pooling.pools.building import build_pool
from pooling.runs.stored import import_run
from pooling.texts.importing import import_documents, import_queries
from soundings.demo.annotators import SimulatedAnnotators
from soundings.installation.first_use import DEMO_ADMIN, DEMO_ANNOTATOR, SIMULATED, generated_password

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from evaluation.scoring.figures import EvaluationResult, Figure

SLUG = "demo"
SEED = 1807
# Every pair of the first pool is judged by two; of the second, deeper pool this share is judged by one.
FIRST_DEPTH, SECOND_DEPTH = 5, 20
JUDGED_SHARE = 0.7
ERROR, CANNOT = 0.02, 0.005
CUTOFFS = (1, 5, 10, 20)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Cast:
    """The demo's people; the passwords are new each time."""

    admin: User
    simulated: list[User]
    passwords: dict[str, str]


@dataclass(frozen=True)
class Judges:
    """Who judges, and the folder with the labels that they go by."""

    examples: Path
    cast: Cast


@dataclass(frozen=True)
class Demo:
    """What the demo leaves behind."""

    collection: Collection
    report: Report
    passwords: dict[str, str]


def run_demo(say: Say) -> Demo:
    """Take the example collection the whole way; `say` hears of each step in a sentence."""
    examples = settings.ASSETS_DIR / "examples"
    forget_demo(say)
    cast = make_cast()
    collection = start_collection(examples, cast, say)
    runs = import_everything(collection, examples, cast.admin, say)
    judge_first_pool(collection, runs, Judges(examples, cast), say)
    judge_second_pool(collection, runs, Judges(examples, cast), say)
    report = release_and_report(collection, runs, cast.admin, say)
    return Demo(collection, report, cast.passwords)


def forget_demo(say: Say) -> None:
    """Delete an earlier demo with its files, so that this one starts again. Accounts stay."""
    collection = Collection.objects.filter(slug=SLUG).first()
    if collection is None:
        return
    say(f"The collection “{SLUG}” exists from an earlier demo; it is deleted and created again.")
    files = _stored_files(collection)
    _delete_rows(collection)
    for name in files:
        default_storage.delete(name)


def _stored_files(collection: Collection) -> list[str]:
    """The names of every file that belongs to rows of the collection."""
    reports = Report.objects.filter(collection=collection).values_list("per_query", flat=True)
    releases = QrelsRelease.objects.filter(collection=collection).values_list("file", flat=True)
    runs = Run.objects.filter(collection=collection).values_list("file", flat=True)
    # A report has a separate folder, with what people download next to the values per query.
    folders = [str(PurePosixPath(name).parent) for name in reports if name]
    beside = [f"{folder}/{name}" for folder in folders for name in default_storage.listdir(folder)[1]]
    return [*beside, *(name for name in (*releases, *runs) if name)]


def _delete_rows(collection: Collection) -> None:
    """From the end of the way to its beginning: each kind of row protects those it rests on."""
    undoing = JudgmentEvent.objects.filter(collection=collection, undoes__isnull=False)
    later: list[type[Model]] = [Report, LatencyReport, Canary, QrelsRelease, ImportedLabel, Judgment]
    earlier: list[type[Model]] = [JudgmentEvent, Queue, Pool, Run]
    for model in later:
        model._default_manager.filter(collection=collection).delete()
    undoing.delete()
    for model in earlier:
        model._default_manager.filter(collection=collection).delete()
    collection.delete()


def make_cast() -> Cast:
    """An admin and an annotator who can sign in, and simulated annotators who cannot."""
    passwords = {name: generated_password() for name in (DEMO_ADMIN, DEMO_ANNOTATOR)}
    admin = _account(DEMO_ADMIN, passwords[DEMO_ADMIN])
    _account(DEMO_ANNOTATOR, passwords[DEMO_ANNOTATOR])
    return Cast(admin, [_account(name, None) for name in SIMULATED], passwords)


def _account(name: str, password: str | None) -> User:
    return get_user_model().objects.update_or_create(
        username=name, defaults={"password": make_password(password)}
    )[0]


def start_collection(examples: Path, cast: Cast, say: Say) -> Collection:
    """The collection with its guidelines and members."""
    collection = create_collection(
        cast.admin,
        slug=SLUG,
        name="Harbour City help centre (demo)",
        question="Would a person who asks this be helped by this page?",
        guidelines=(examples / "guidelines.md").read_text(encoding="utf-8"),
    )
    for name in (DEMO_ANNOTATOR, *SIMULATED):
        add_member(collection, name, Role.ANNOTATOR)
    say(
        f"Created the collection “{SLUG}” with its guidelines, and {len(SIMULATED)} simulated "
        "annotators for it."
    )
    return collection


def import_everything(collection: Collection, examples: Path, admin: User, say: Say) -> list[Run]:
    """Queries, documents and runs, through the functions behind the pages and commands."""
    queries = import_queries(collection, examples / "queries.jsonl", user=admin)
    documents = import_documents(collection, examples / "corpus.jsonl")
    say(f"Imported {queries.created} queries and {documents.created} documents.")
    paths = sorted((examples / "runs").glob("*.run"))
    runs = [import_run(collection, path, user=admin) for path in paths]
    rows = sum(run.row_count for run in runs)
    say(f"Imported {len(runs)} runs with {rows:,} ranked documents: {', '.join(run.name for run in runs)}.")
    return runs


def judge_first_pool(collection: Collection, runs: list[Run], judges: Judges, say: Say) -> None:
    """The top of all runs, each pair judged by two."""
    pool = _pool(collection, runs, FIRST_DEPTH, judges.cast.admin)
    _say_built(pool, say)
    queue = _queue(pool, 2, judges.cast.admin)
    made = _annotators(judges, SEED).judge(queue, at_most=3 * pool.pair_count)
    split = queue.items.filter(state=Item.State.ADJUDICATION).count()
    say(
        f"The simulated annotators made {made:,} judgments in the queue “{queue.name}”, two for each pair; "
        f"{split} pairs without agreement stay open for a decision."
    )


def judge_second_pool(collection: Collection, runs: list[Run], judges: Judges, say: Say) -> None:
    """A deeper pool, judged once and only in part: the rest waits for people who open the site."""
    pool = _pool(collection, runs, SECOND_DEPTH, judges.cast.admin)
    _say_built(pool, say)
    queue = _queue(pool, 1, judges.cast.admin)
    waiting = queue.items.filter(state=Item.State.OPEN).count()
    made = _annotators(judges, SEED + 1).judge(queue, at_most=int(waiting * JUDGED_SHARE))
    known, left = pool.pair_count - waiting, queue.items.filter(state=Item.State.OPEN).count()
    say(
        f"Of its pairs {known} were judged before; the simulated annotators judged {made} more, once each. "
        f"{left} are left for you in the queue “{queue.name}”."
    )


def _pool(collection: Collection, runs: list[Run], depth: int, admin: User) -> Pool:
    return build_pool(collection, name=f"Top {depth}", runs=runs, depth=depth, seed=SEED, user=admin)


def _say_built(pool: Pool, say: Say) -> None:
    say(f"Built the pool “{pool.name}”: the {pool.depth} first of each run make {pool.pair_count:,} pairs.")


def _queue(pool: Pool, judgments_per_item: int, admin: User) -> Queue:
    return open_queue(pool, name=pool.name, judgments_per_item=judgments_per_item, seed=SEED, user=admin)


def _annotators(judges: Judges, seed: int) -> SimulatedAnnotators:
    from pooling.formats import read_qrels

    labels = read_qrels(judges.examples / "qrels.txt").frame.iter_rows()
    relevant = {(query, document): relevance > 0 for query, document, relevance in labels}
    return SimulatedAnnotators(judges.cast.simulated, relevant, ERROR, CANNOT, seed)


def release_and_report(collection: Collection, runs: list[Run], admin: User, say: Say) -> Report:
    """Freeze the labels under a name and measure the runs with them."""
    release = release_qrels(collection, name="demo-1", user=admin)
    say(
        f"Released the qrels “{release.name}”: {release.pair_count:,} labels for {release.query_count} "
        f"queries, {release.relevant_count:,} of them relevant; pairs without a label stay unjudged."
    )
    return create_report(
        collection,
        ReportInput(
            name="Demo",
            release=release,
            runs=runs,
            k=CUTOFFS,
            measures=("recall", "precision", "f1", "success", "judged"),
            conventions=Conventions(),
        ),
        user=admin,
    )


class DemoRow(TypedDict):
    """One run: its recall, and the share of its documents that was judged, by cutoff."""

    run: str
    recall: dict[int, Figure]
    judged: dict[int, float | None]


def report_rows(report: Report) -> list[DemoRow]:
    """One row per run, best Recall@10 first."""
    result: EvaluationResult = report.result
    rows: list[DemoRow] = [
        {
            "run": name,
            "recall": {k: of_run[f"recall@{k}"] for k in CUTOFFS},
            "judged": {k: of_run[f"judged@{k}"]["mean"] for k in CUTOFFS},
        }
        for name, of_run in result["runs"].items()
    ]
    return sorted(rows, key=lambda row: (-(row["recall"][10]["mean"] or 0), row["run"]))
