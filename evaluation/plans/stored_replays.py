"""Replays that are kept: strategies on the labels of a collection, with what it takes to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TypedDict

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from evaluation.models import Replay
from evaluation.plans.replaying import LabelledPool, labelled_pool, noise_problem
from evaluation.plans.simulation import Simulation, simulate
from evaluation.report_store.choices import release_chosen, runs_chosen
from evaluation.report_store.links import Link, link_to
from evaluation.report_store.provenance import software_versions
from labeling.models import QrelsRelease
from labeling.qrels.labels import current_labels
from labeling.qrels.releases import read_release
from pooling.heavy import pl
from pooling.interface.problems import InputError, refuse_all
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_job
from pooling.merging.choice import Choice
from pooling.models import Collection, Job, Run
from pooling.pools.building import expected_pairs
from pooling.ranking.ranking import order_run
from pooling.runs.stored import provenance_of, read_stored_run
from pooling.storage.storing import checked_name
from pooling.strategies import STRATEGIES, strategy_named

BUDGETS = (0.1, 0.25, 0.5)
DEPTH = 50
MOST_BUDGETS = 10
MOST_SEEDS = 20
MOST_DEPTH = 10_000
MOST_BATCH = 100_000


@dataclass(frozen=True)
class ReplayRequest:
    """A request by name and in plain values, so that a job can hold it; None takes the default.

    release: the labels as they stand. runs, strategies: all. depth: 50 or the deepest run. budgets: shares
    of each query's pool, 0.1 0.25 0.5. k: the depth.
    """

    name: str | None = None
    release: str | None = None
    runs: Sequence[str] | None = None
    depth: int | None = None
    strategies: Sequence[str] | None = None
    budgets: Sequence[float] | None = None
    seeds: int = 1
    noise: float = 0.0
    batch: int = 1
    k: int | None = None


@dataclass(frozen=True)
class ReplayInputs:
    name: str
    release: QrelsRelease | None
    runs: list[Run]
    strategies: tuple[str, ...]
    depth: int
    budgets: tuple[float, ...]
    seeds: int
    noise: float
    batch: int
    k: int

    @property
    def steps(self) -> int:
        """No more judgments than this are replayed: what decides between now and the background worker."""
        repeats = [
            self.seeds if STRATEGIES[name].make.random or self.noise else 1 for name in self.strategies
        ]
        pairs = expected_pairs(self.runs, Choice(self.depth))
        return sum(repeats) * (pairs if self.release is None else min(pairs, self.release.pair_count))


def request_replay(collection: Collection, request: ReplayRequest, user: User | None) -> Replay | Job:
    """Replay at once, or by a job if that takes long; `InputError` names a refused field before that."""
    inputs = _resolved(collection, request)
    if inputs.steps > settings.BACKGROUND_REPLAY_STEPS:
        fixed = {"runs": [run.name for run in inputs.runs], "strategies": list(inputs.strategies)}
        return start_job(collection, "replay", {**asdict(request), **fixed}, user)
    return _create(collection, inputs, user)


@job_kind(
    "replay",
    title="Replaying strategies",
    stages=((0.0, "Read labels and runs"), (0.1, "Replay the strategies")),
    begins_at="replay_new",
)
def _create_in_background(job: Job, progress: Progress) -> Link:
    inputs = _resolved(job.collection, ReplayRequest(**job.arguments))
    return link_to(_create(job.collection, inputs, job.created_by, progress))


def _resolved(collection: Collection, request: ReplayRequest) -> ReplayInputs:
    if request.runs is not None and not request.runs:
        raise InputError("A replay needs at least one run.", fields={"runs": "Choose at least one run."})
    release = release_chosen(collection, request.release) if request.release else None
    runs = runs_chosen(collection, request.runs)
    depth = request.depth or min(DEPTH, max(run.depth for run in runs))
    labels = f"release {release.name}" if release else "the labels so far"
    inputs = ReplayInputs(
        name=checked_name(request.name or f"Replay on {labels}, depth {depth}", "replay"),
        release=release,
        runs=runs,
        strategies=_strategies(request.strategies),
        depth=depth,
        budgets=tuple(sorted(set(BUDGETS if request.budgets is None else request.budgets))),
        seeds=request.seeds,
        noise=request.noise,
        batch=request.batch,
        k=request.k or depth,
    )
    _check(inputs)
    return inputs


def _strategies(names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return tuple(STRATEGIES)
    problem = "" if names else "Choose at least one strategy."
    try:
        chosen = {strategy_named(name).name for name in names}
    except ValueError as error:
        problem = str(error)
    if problem:
        raise InputError(problem, field="strategies")
    return tuple(name for name in STRATEGIES if name in chosen)


def _check(inputs: ReplayInputs) -> None:
    shares = inputs.budgets and all(0 < budget <= 1 for budget in inputs.budgets)
    problems = {
        "depth": 1 <= inputs.depth <= MOST_DEPTH or f"The depth is a number from 1 to {MOST_DEPTH:,}.",
        "budgets": (shares and len(inputs.budgets) <= MOST_BUDGETS)
        or f"Name 1 to {MOST_BUDGETS} budgets, each a share of the pool above 0 and up to 1.",
        "seeds": 1 <= inputs.seeds <= MOST_SEEDS
        or f"The number of seeds must be between 1 and {MOST_SEEDS}.",
        "noise": noise_problem(inputs.noise) or True,
        "batch": 1 <= inputs.batch <= MOST_BATCH or f"A batch has 1 to {MOST_BATCH:,} labels.",
        "k": 1 <= inputs.k <= inputs.depth or f"K must be between 1 and the depth, {inputs.depth}.",
    }
    refuse_all({name: problem for name, problem in problems.items() if isinstance(problem, str)})


def _create(
    collection: Collection, inputs: ReplayInputs, user: User | None, progress: Progress | None = None
) -> Replay:
    progress = progress or (lambda share, detail: None)
    progress(0.0, "Reading labels.")
    labels = _labels(collection, inputs.release)
    read_at = timezone.now()
    pool = _labelled_pool(labels, inputs, progress)
    simulation = _simulated(pool, inputs, progress)
    made = Replay(collection=collection, name=inputs.name, release=inputs.release, created_by=user)
    part = collection.pools.filter(queues__isnull=False, chosen_count__lt=F("pair_count")).distinct()
    names = ("name", "strategy", "chosen_count", "pair_count")
    # The judged pools that a strategy took a part of: labels from there speak for that strategy.
    made.options = {
        "labels": _described(inputs.release, labels, read_at.isoformat()),
        "runs": [provenance_of(run) for run in inputs.runs],
        "strategies": list(inputs.strategies),
        "budgets": list(inputs.budgets),
        **{name: getattr(inputs, name) for name in ("depth", "seeds", "noise", "batch", "k")},
        "chosen_by": list(part.order_by("pk").values(*names)),
        "software": software_versions(),
    }
    made.result = simulation.to_dict()
    made.save()
    return made


def _labels(collection: Collection, release: QrelsRelease | None) -> pl.DataFrame:
    labels = current_labels(collection).frame if release is None else read_release(release)
    if labels.is_empty():
        problem = (
            f"“{collection.slug}” has no label yet, and a replay needs some. Judge pairs, or import labels."
        )
        raise InputError(problem, field="release")
    return labels.select("query_id", "document_id", "relevance")


def _labelled_pool(labels: pl.DataFrame, inputs: ReplayInputs, progress: Progress) -> LabelledPool:
    tops = {}
    for done, run in enumerate(inputs.runs):
        progress(0.1 * done / len(inputs.runs), f"Reading run “{run.name}”.")
        tops[run.name] = order_run(read_stored_run(run), depth=inputs.depth).drop("position")
    try:
        return labelled_pool(labels, tops, depth=inputs.depth)
    except ValueError as error:
        raise InputError(str(error)) from error


def _simulated(pool: LabelledPool, inputs: ReplayInputs, progress: Progress) -> Simulation:
    last = -1

    def moved(share: float, name: str) -> None:
        """Whole per cents only: each one is written to the database."""
        nonlocal last
        percent = int(100 * share)
        if percent != last:
            last = percent
            progress(0.1 + 0.9 * share, f"Replaying {name}.")

    return simulate(
        pool,
        inputs.strategies,
        budgets=inputs.budgets,
        seeds=inputs.seeds,
        noise=inputs.noise,
        batch=inputs.batch,
        k=inputs.k,
        progress=moved,
    )


class ReplayLabels(TypedDict):
    release: str | None
    sha256: str | None
    pairs: int
    read_at: str


def _described(release: QrelsRelease | None, labels: pl.DataFrame, read_at: str) -> ReplayLabels:
    """The labels by their release; those of none cannot be had again, so at least when and how many."""
    return {
        "release": release.name if release else None,
        "sha256": release.sha256 if release else None,
        "pairs": labels.height,
        "read_at": read_at,
    }
