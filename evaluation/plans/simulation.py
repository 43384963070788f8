"""Strategies side by side on the same labels: what they find, what it costs, and what it does to Recall@K."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypedDict, cast

from evaluation.plans.replaying import BUDGETS, EFFORTS, LabelledPool, Replay, all_knowing, replay
from pooling.formats.wording import aligned, counted
from pooling.heavy import Floats, np
from pooling.interface.results import Progress
from pooling.strategies import strategy_named

#: Shares of the pool at which a curve has its points.
CURVE = tuple(step / 40 for step in range(1, 41))


# By share (of the pool, or of the relevant documents) as text such as "0.25"; None is what is undefined.
ByShare = dict[str, float | None]


class OutcomeResult(TypedDict):
    """The fields of `Outcome` in JSON."""

    found: ByShare
    spread: ByShare
    effort: ByShare
    tau: ByShare
    recall_error: ByShare
    micro_recall_error: ByShare
    estimated_recall_error: ByShare


class LimitsResult(TypedDict):
    """Finds and effort of an order that knows the labels."""

    found: dict[str, float]
    effort: dict[str, float]


class CurvesResult(TypedDict):
    """Shares found at each share of the pool, by strategy and by the order that knows the labels."""

    share: list[float]
    found: dict[str, list[float]]
    all_knowing: list[float]


class LabelledPoolResult(TypedDict):
    """The replayed pool; labelled: pairs with a label, without which a pair is left out."""

    runs: int
    depth: int
    pairs: int
    labelled: int
    unlabelled_share: float
    queries: int
    queries_left_out: int
    relevant: int


class SimulationSettings(TypedDict):
    """Settings apart from labels and runs."""

    seeds: int
    noise: float
    batch: int
    k: int


class SimulationResult(TypedDict):
    """The object that `simulate --format json` prints."""

    strategies: Annotated[
        dict[str, OutcomeResult],
        "Name to `found`, `spread`, `effort`, `tau` and errors of recall, each by share.",
    ]
    all_knowing: Annotated[LimitsResult, "`found` and `effort` of an order that knows the labels."]
    curves: Annotated[
        CurvesResult, "`share`: points of the pool; `found`: by strategy what was found there; `all_knowing`."
    ]
    pool: Annotated[LabelledPoolResult, "Runs, depth, pairs, labelled pairs, queries, relevant pairs."]
    settings: Annotated[SimulationSettings, "Seeds, noise, batch and K."]


@dataclass(frozen=True)
class Outcome:
    """Means over seeds for one strategy; keys are budgets (or, for `effort`, shares of the relevant
    documents).

    `spread` is the standard deviation over seeds of `found`. `tau` is Kendall's tau-b between the order of
    the runs by mean Recall@K from the labels so far and the order by all labels. The errors are means over
    runs of the absolute error: of mean recall and of micro recall as computed from the labels so far, and
    of micro recall estimated by 1/π where the strategy samples. None where a value is undefined.
    """

    found: dict[float, float | None]
    spread: dict[float, float | None]
    effort: dict[float, float | None]
    tau: dict[float, float | None]
    recall_error: dict[float, float | None]
    micro_recall_error: dict[float, float | None]
    estimated_recall_error: dict[float, float | None]

    def to_dict(self) -> OutcomeResult:
        """Plain values, fit for JSON; budgets become strings like "0.25"."""
        return cast("OutcomeResult", {name: _by_share(values) for name, values in vars(self).items()})


def _by_share(values: Mapping[float, float | None]) -> ByShare:
    return {f"{share:g}": value for share, value in values.items()}


@dataclass(frozen=True, repr=False)
class Simulation:
    """Outcomes by strategy, and what they were computed from.

    `curves` has what each strategy found at the shares `CURVE`, a mean over queries and seeds; `best` is the
    replay of an order that knows the labels, which none can beat query by query.
    """

    pool: LabelledPool
    outcomes: dict[str, Outcome]
    curves: dict[str, Floats]
    best: Replay
    settings: SimulationSettings

    def __repr__(self) -> str:
        return as_table(self)

    def to_dict(self) -> SimulationResult:
        """The object that `simulate --format json` prints."""
        pool = self.pool
        return {
            "strategies": {name: outcome.to_dict() for name, outcome in self.outcomes.items()},
            "all_knowing": self.limits(),
            "curves": {
                "share": list(CURVE),
                "found": {name: curve.tolist() for name, curve in self.curves.items()},
                "all_knowing": self.best.curve(CURVE).tolist(),
            },
            "pool": {
                "runs": len(pool.runs),
                "depth": pool.depth,
                "pairs": pool.pairs,
                "labelled": pool.labelled,
                "unlabelled_share": pool.unlabelled_share,
                "queries": len(pool.candidates),
                "queries_left_out": pool.queries_left_out,
                "relevant": sum(int(truth.sum()) for truth in pool.truth.values()),
            },
            "settings": self.settings,
        }

    def limits(self) -> LimitsResult:
        """Finds and effort of the order that knows the labels, at the same shares."""
        budgets = next(iter(self.outcomes.values())).found
        return {
            "found": {f"{budget:g}": self.best.recall_at(budget) for budget in budgets},
            "effort": {f"{wanted:g}": self.best.effort(wanted) for wanted in EFFORTS},
        }


def simulate(
    pool: LabelledPool,
    strategies: Sequence[str],
    *,
    budgets: Sequence[float] = BUDGETS,
    seeds: int = 1,
    noise: float = 0.0,
    batch: int = 1,
    k: int | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Replay each strategy with the seeds 0 … seeds - 1; a strategy without chance in it needs only one.

    `k` is the cutoff of the recalls (default: the depth of the pool). Raises ValueError for an unknown
    strategy and for values out of range.
    """
    kinds = [strategy_named(name) for name in strategies]
    for budget in budgets:
        if not 0 < budget <= 1:
            raise ValueError(f"A budget is {budget:g}; it is a share of the pool above 0 and up to 1.")
    if seeds < 1:
        raise ValueError(f"The number of seeds is {seeds}; it must be 1 or more.")
    if k is not None and not 1 <= k <= pool.depth:
        raise ValueError(f"K is {k}; it must lie between 1 and the depth of the pool, {pool.depth}.")
    work = [(kind, seed) for kind in kinds for seed in range(seeds if kind.make.random or noise else 1)]
    truth = Recalls.of(pool, k or pool.depth)
    measured: dict[str, list[dict[str, dict[float, float | None]]]] = {kind.name: [] for kind in kinds}
    curves: dict[str, list[Floats]] = {kind.name: [] for kind in kinds}
    for place, (kind, seed) in enumerate(work):
        moved = None if progress is None else moving(progress, place, len(work))
        replayed = replay(pool, kind, seed=seed, noise=noise, batch=batch, budgets=budgets, progress=moved)
        measured[kind.name].append(measure(replayed, budgets, truth))
        curves[kind.name].append(replayed.curve(CURVE))
    outcomes = {name: Outcome(**over_seeds(many)) for name, many in measured.items()}
    settings: SimulationSettings = {"seeds": seeds, "noise": noise, "batch": batch, "k": k or pool.depth}
    means = {name: np.mean(many, axis=0) for name, many in curves.items()}
    return Simulation(pool, outcomes, means, all_knowing(pool), settings)


def moving(progress: Progress, place: int, pieces: int) -> Progress:
    return lambda share, detail: progress((place + share) / pieces, detail)


@dataclass(frozen=True)
class Recalls:
    """Documents of each run's top `k`, to turn labels into recalls of all runs at once."""

    pool: LabelledPool
    k: int
    full: dict[str, Floats]

    @classmethod
    def of(cls, pool: LabelledPool, k: int) -> Recalls:
        recalls = cls(pool, k, {})
        recalls.full.update(
            recalls.from_weights({query: truth.astype(np.float64) for query, truth in pool.truth.items()})
        )
        return recalls

    def from_weights(self, weights: Mapping[str, Floats]) -> dict[str, Floats]:
        """Mean and micro recall of every run, from one weight per document (relevant: 1 or 1/π, else 0)."""
        hits, totals = [], []
        for query_id, one in self.pool.candidates.items():
            # A prior's votes stand behind the runs, and are none.
            runs = len(self.pool.runs)
            top = (one.rank <= self.k) & (one.run < runs)
            weight = weights[query_id]
            hits.append(np.bincount(one.run[top], weights=weight[one.document[top]], minlength=runs))
            totals.append(weight.sum())
        hit, total = np.array(hits), np.array(totals)
        some = total > 0
        if not some.any():
            nowhere = np.full(hit.shape[1], np.nan)
            return {"mean": nowhere, "micro": nowhere}
        return {"mean": (hit[some] / total[some, None]).mean(axis=0), "micro": hit.sum(axis=0) / total.sum()}


def measure(
    replayed: Replay, budgets: Sequence[float], truth: Recalls
) -> dict[str, dict[float, float | None]]:
    """Every figure of an `Outcome` for one replay, without the spread."""
    raw = {
        budget: truth.from_weights(
            {
                query: (labels & replayed.judged(query, budget)).astype(np.float64)
                for query, labels in replayed.labels.items()
            }
        )
        for budget in budgets
    }
    return {
        "found": {budget: replayed.recall_at(budget) for budget in budgets},
        "effort": {wanted: replayed.effort(wanted) for wanted in EFFORTS},
        "tau": {budget: tau(raw[budget]["mean"], truth.full["mean"]) for budget in budgets},
        "recall_error": {budget: error(raw[budget]["mean"], truth.full["mean"]) for budget in budgets},
        "micro_recall_error": {
            budget: error(raw[budget]["micro"], truth.full["micro"]) for budget in budgets
        },
        "estimated_recall_error": {budget: estimated_error(replayed, budget, truth) for budget in budgets},
    }


def estimated_error(replayed: Replay, budget: float, truth: Recalls) -> float | None:
    """Mean absolute error of the estimated micro recalls; None when the strategy does not sample."""
    snapshot = replayed.snapshots.get(budget)
    if snapshot is None:
        return None
    weights = {
        query: np.nan_to_num(replayed.labels[query] / probability) for query, probability in snapshot.items()
    }
    return error(truth.from_weights(weights)["micro"], truth.full["micro"])


def error(values: Floats, truth: Floats) -> float | None:
    return defined(float(np.abs(values - truth).mean()))


def tau(values: Floats, truth: Floats) -> float | None:
    """Kendall's tau-b; None when there is no order to compare."""
    if np.isnan(values).any() or len(set(values)) < 2 or len(set(truth)) < 2:
        return None
    ours, theirs = (np.sign(column[:, None] - column) for column in (values, truth))
    return float((ours * theirs).sum() / np.sqrt((ours**2).sum() * (theirs**2).sum()))


def defined(value: float) -> float | None:
    return None if np.isnan(value) else value


def over_seeds(many: list[dict[str, dict[float, float | None]]]) -> dict[str, dict[float, float | None]]:
    """Means over seeds of each figure, and the spread of what was found."""
    means = {
        name: {share: mean_of([one[name][share] for one in many]) for share in values}
        for name, values in many[0].items()
    }
    spread = {
        share: float(np.std([one["found"][share] or 0.0 for one in many])) for share in many[0]["found"]
    }
    return {**means, "spread": {**spread}}


def mean_of(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return float(np.mean(numbers)) if numbers else None


def as_table(simulation: Simulation) -> str:
    """One line per strategy, best first by what it found at the middle budget, and what was replayed."""
    budgets = list(next(iter(simulation.outcomes.values())).found)
    middle = budgets[len(budgets) // 2]
    ranked = sorted(simulation.outcomes.items(), key=lambda item: -(item[1].found[middle] or 0.0))
    rows = [headings(simulation, budgets), *(outcome_cells(name, outcome) for name, outcome in ranked)]
    return "\n".join([*aligned(rows, numbers=True), "", *notes(simulation)]) + "\n"


def headings(simulation: Simulation, budgets: Sequence[float]) -> list[str]:
    shares = [f"{budget:.4g}" for budget in budgets]
    efforts = [f"{wanted:g}" for wanted in next(iter(simulation.outcomes.values())).effort]
    return [
        "strategy",
        *(f"found@{share}" for share in shares),
        *(f"effort@{wanted}" for wanted in efforts),
        *(f"tau@{share}" for share in shares),
        *(f"error@{share}" for share in shares),
        *(f"estimated@{share}" for share in shares),
    ]


def outcome_cells(name: str, outcome: Outcome) -> list[str]:
    figures = (outcome.found, outcome.effort, outcome.tau, outcome.micro_recall_error)
    columns = [value for values in (*figures, outcome.estimated_recall_error) for value in values.values()]
    return [name, *("–" if value is None else f"{value:.3f}" for value in columns)]


def notes(simulation: Simulation) -> list[str]:
    pool, settings = simulation.pool, simulation.settings
    relevant = sum(int(truth.sum()) for truth in pool.truth.values())
    return [
        f"{counted(len(pool.runs), 'run')} to depth {pool.depth}: {pool.labelled:,} of "
        f"{counted(pool.pairs, 'pair')} "
        f"have a label; the others ({100 * pool.unlabelled_share:.1f} %) are left out.",
        f"{counted(len(pool.candidates), 'query')} with {counted(relevant, 'relevant pair')}; "
        f"{pool.queries_left_out} without any are left out.",
        "found, effort: means over queries. tau: the order of the runs against that by all labels.",
        f"error, estimated: of micro Recall@{settings['k']} from the labels so far, and weighted by 1/π.",
        f"seeds {settings['seeds']} · noise {settings['noise']:g} · batch {settings['batch']}",
    ]
