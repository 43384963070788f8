"""Judging again what is judged already: how soon each strategy would have found the relevant documents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from evaluation.scoring.conventions import Conventions
from pooling.formats.wording import counted, plural
from pooling.heavy import Booleans, Floats, Integers, np, pl
from pooling.inputs.given import Runs, RunSource, Source
from pooling.inputs.reading import named_runs, qrels_frame, run_frame
from pooling.interface.results import Progress
from pooling.merging.merging import merge_runs, with_score_sums
from pooling.ranking.ranking import order_run
from pooling.ranking.shared_ids import Side, sentence_on, shared_fraction
from pooling.strategies import Candidates, Kind, Strategy, candidates_of
from pooling.strategies.base import stream, uniforms
from pooling.strategies.fronts import GlobalMoveToFront
from pooling.strategies.prior import with_priors


def noise_problem(noise: float) -> str:
    """The error of a share of wrong labels; empty if it will do.

    >>> noise_problem(0.1)
    ''
    """
    if 0 <= noise < 0.5:
        return ""
    return (
        f"The noise is {noise:g}; it must be a share of wrong labels from 0 to below 0.5. With half of "
        "them wrong, labels say nothing; with more, they say the opposite."
    )


BUDGETS = (0.1, 0.25, 0.5)
EFFORTS = (0.8, 0.9)


@dataclass(frozen=True)
class LabelledPool:
    """The pairs of a pool that have a label, by query; queries without a relevant one are left out.

    `truth` is parallel to the documents of `candidates`. `pairs` and `labelled` count the whole pool of the
    queries that have labels at all, and those of its pairs with a label. `notes` say what reading left out.
    """

    candidates: dict[str, Candidates]
    truth: dict[str, Booleans]
    runs: tuple[str, ...]
    depth: int
    pairs: int
    labelled: int
    queries_left_out: int
    notes: tuple[str, ...] = ()

    @property
    def unlabelled_share(self) -> float:
        """Share of the pool that cannot be replayed, since nobody knows its labels."""
        return 1 - self.labelled / self.pairs if self.pairs else 0.0


def labelled_pool(
    qrels: pl.DataFrame,
    runs: Mapping[str, pl.DataFrame],
    *,
    depth: int,
    min_relevance: int = 1,
    ties: str = "docid",
    scores: str = "float64",
) -> LabelledPool:
    """Merge runs to `depth` and keep labelled pairs; ValueError without a relevant one, or for other ids."""
    labels = qrels.filter(pl.col("relevance") >= 0)
    pooled = merge_runs(runs, depth=depth, ties=ties, scores=scores)
    merged = pooled.join(labels.select("query_id").unique(), on="query_id", how="semi", maintain_order="left")
    summed = with_score_sums(merged, runs, depth=depth, ties=ties, scores=scores)
    labelled = summed.join(labels, on=["query_id", "document_id"], how="inner", maintain_order="left")
    has_relevant = (pl.col("relevance") >= min_relevance).any().over("query_id")
    kept = labelled.filter(has_relevant)
    if not kept.height:
        problem = "No query has a relevant document in the pool, so there is nothing to find."
        raise ValueError(f"{problem} {_apart(pooled, labels)}" if labelled.is_empty() else problem)
    candidates = candidates_of(kept, runs=len(runs))
    # The order of the candidates: RRF falling, then document id falling.
    ordered = kept.sort("query_id", "rrf", "document_id", descending=[False, True, True])
    relevant = (ordered["relevance"] >= min_relevance).to_numpy()
    ends = np.cumsum([len(one) for one in candidates.values()])
    return LabelledPool(
        candidates=candidates,
        truth=dict(zip(candidates, np.split(relevant, ends[:-1]), strict=True)),
        runs=tuple(runs),
        depth=depth,
        pairs=merged.height,
        labelled=labelled.height,
        queries_left_out=labels["query_id"].n_unique() - len(candidates),
    )


def _apart(pooled: pl.DataFrame, labels: pl.DataFrame) -> str:
    """A sentence on a pool and labels without a pair in common."""
    queries, documents = (
        (Side(f"{noun} of the runs", pooled[key]), Side(f"{noun} with a label", labels[key]))
        for noun, key in (("queries", "query_id"), ("documents", "document_id"))
    )
    return sentence_on(*(documents if shared_fraction(*queries) else queries))


def with_prior_scores(pool: LabelledPool, priors: pl.DataFrame, *, votes: int | None = None) -> LabelledPool:
    """For strategies that start from a score of each document; see `with_priors`."""
    candidates = with_priors(pool.candidates, priors, votes=votes)
    truth = {
        query: pool.truth[query][[pool.candidates[query].number[document] for document in one.documents]]
        for query, one in candidates.items()
    }
    return replace(pool, candidates=candidates, truth=truth)


@dataclass(frozen=True)
class Step:
    """A judgment: which document of which query, and the share of the pool that was judged with it."""

    query_id: str
    number: int
    share: float


@dataclass
class Replay:
    """A strategy's judgments with a seed, in order, with labels given; snapshots: π, by budget and query."""

    pool: LabelledPool
    steps: list[Step]
    labels: dict[str, Booleans]
    snapshots: dict[float, dict[str, Floats]] = field(default_factory=dict)
    #: Whether the strategy chose the queries too, so that budgets are shares of all pools together.
    across_queries: bool = False

    @cached_property
    def by_query(self) -> dict[str, tuple[Integers, Floats]]:
        """The documents of each query in the order of judging, and the share judged with each."""
        split: dict[str, tuple[list[int], list[float]]] = {query: ([], []) for query in self.pool.candidates}
        for step in self.steps:
            split[step.query_id][0].append(step.number)
            split[step.query_id][1].append(step.share)
        return {query: (np.array(numbers), np.array(shares)) for query, (numbers, shares) in split.items()}

    def judged(self, query_id: str, budget: float) -> Booleans:
        """True for the documents of a query judged within a budget (share of the pool, rounded up)."""
        numbers, shares = self.by_query[query_id]
        judged = np.zeros(len(numbers), dtype=bool)
        judged[numbers[: self.count(query_id, shares, budget)]] = True
        return judged

    def count(self, query_id: str, shares: Floats, budget: float) -> int:
        if not self.across_queries:
            return rounded_up(budget, len(shares))
        total = len(self.steps)
        return int(np.searchsorted(shares, (rounded_up(budget, total) + 0.5) / total))

    def recall_at(self, budget: float) -> float:
        """Mean over queries of the share of relevant documents found within a budget."""
        shares = [
            truth[self.judged(query_id, budget)].sum() / truth.sum()
            for query_id, truth in self.pool.truth.items()
        ]
        return float(np.mean(shares))

    def curve(self, shares: Sequence[float]) -> Floats:
        """`recall_at` many budgets."""
        sums = np.zeros(len(shares))
        for query_id, truth in self.pool.truth.items():
            numbers, judged = self.by_query[query_id]
            so_far = np.append(0, np.cumsum(truth[numbers]))
            sums += so_far[[self.count(query_id, judged, share) for share in shares]] / so_far[-1]
        return np.asarray(sums / len(self.pool.truth))

    def effort(self, wanted: float) -> float:
        """Mean over queries of the least share of the pool to judge to find that much of the relevant."""
        efforts = []
        for query_id, truth in self.pool.truth.items():
            numbers, shares = self.by_query[query_id]
            relevant_so_far = np.cumsum(truth[numbers])
            efforts.append(
                shares[np.searchsorted(relevant_so_far, rounded_up(wanted, int(relevant_so_far[-1])))]
            )
        return float(np.mean(efforts))


def all_knowing(pool: LabelledPool) -> Replay:
    """The replay of somebody who knows the labels beforehand: what is relevant first, in each query."""
    steps = [
        Step(query_id, int(number), place / len(truth))
        for query_id, truth in pool.truth.items()
        for place, number in enumerate(np.argsort(~truth, kind="stable"), start=1)
    ]
    return Replay(pool, steps, dict(pool.truth))


def rounded_up(share: float, size: int) -> int:
    """ceil(share × size), free of the dust of binary fractions; at least 1, at most `size`."""
    return min(size, max(1, math.ceil(round(share * size, 9))))


def replay(
    pool: LabelledPool,
    kind: Kind,
    *,
    seed: int = 0,
    noise: float = 0.0,
    batch: int = 1,
    budgets: Sequence[float] = BUDGETS,
    progress: Progress | None = None,
) -> Replay:
    """Let a strategy judge the whole pool, all queries side by side at equal shares.

    It gets the labels `batch` at a time. `noise` is the chance that such a label is wrong; the seed decides
    which. Strategies that choose the query themselves do so.
    """
    if problem := noise_problem(noise):
        raise ValueError(problem)
    if batch < 1:
        raise ValueError(f"The batch is {batch}; it must be 1 or more.")
    strategy = kind.start(pool.candidates, seed=seed)
    labels = {query_id: noisy(query_id, truth, noise, seed) for query_id, truth in pool.truth.items()}
    result = Replay(pool, [], labels)
    if isinstance(strategy, GlobalMoveToFront):
        result.across_queries = True
        steps = one_after_the_other(strategy, labels)
    else:
        steps = all_queries_in_turn(strategy, result, batch, budgets)
    total = sum(map(len, pool.truth.values()))
    if progress:
        progress(0.0, kind.name)
    for step in steps:
        result.steps.append(step)
        if progress and len(result.steps) % 500 == 0:
            progress(len(result.steps) / total, kind.name)
    return result


def noisy(query_id: str, truth: Booleans, noise: float, seed: int) -> Booleans:
    """The labels, each turned round with a chance of `noise`."""
    if not noise:
        return truth
    return truth ^ (uniforms(stream(seed, "noise", query_id), len(truth)) <= noise)


def all_queries_in_turn(
    strategy: Strategy, result: Replay, batch: int, budgets: Sequence[float]
) -> Iterator[Step]:
    """Batches of all queries by the share of the pool that is judged before each."""
    candidates = strategy.candidates
    turns = [
        (done / len(one), place, query_id, done)
        for place, (query_id, one) in enumerate(candidates.items())
        for done in range(0, len(one), batch if strategy.learns else len(one))
    ]
    for _, _, query_id, done in sorted(turns):
        one, size = candidates[query_id], batch if strategy.learns else len(candidates[query_id])
        picked = strategy.pick(one, strategy.open_documents(one), size)
        for place, number in enumerate(picked, start=done + 1):
            strategy.tell_number(one, number, bool(result.labels[query_id][number]))
            yield Step(query_id, number, place / len(one))
            if not strategy.learns or place == done + len(picked):
                first = place if not strategy.learns else done + 1
                reached = [budget for budget in budgets if first <= rounded_up(budget, len(one)) <= place]
                take_snapshots(strategy, one, result, reached)


def take_snapshots(strategy: Strategy, one: Candidates, result: Replay, budgets: Sequence[float]) -> None:
    """Keep the inclusion probabilities of a query once it has learned from the batch that spent a budget."""
    for budget in budgets:
        probabilities = strategy.probabilities(one)
        if probabilities is not None:
            result.snapshots.setdefault(budget, {})[one.query_id] = probabilities


def one_after_the_other(strategy: GlobalMoveToFront, labels: Mapping[str, Booleans]) -> Iterator[Step]:
    """The pairs in the order in which the strategy chooses queries and documents."""
    total = sum(map(len, labels.values()))
    done = 0
    while (pair := strategy.next_pair()) is not None:
        one = strategy.candidates[pair[0]]
        number = one.number[pair[1]]
        strategy.tell_number(one, number, bool(labels[pair[0]][number]))
        done += 1
        yield Step(pair[0], number, done / total)


def read_labelled_pool(
    qrels: Source,
    runs: Runs,
    *,
    depth: int,
    min_relevance: int = 1,
    ties: str = "docid",
    scores: str = "float64",
    prior: RunSource | None = None,
) -> LabelledPool:
    """The labelled pool of files, dicts or frames; each run is cut to `depth` right after it is read.

    prior: the scores of a model, as a run, for strategies that start from them. Raises ValueError for a
    `min_relevance` that `Conventions` refuses.
    """
    Conventions(min_relevance=min_relevance)
    notes: list[str] = []
    labels = qrels_frame(qrels, notes)
    if negative := int((labels["relevance"] < 0).sum()):
        notes.append(f"Labels below 0 ({negative:,}) count as pooled, not judged.")
    tops = {}
    for name, source in named_runs(runs, use="A replay").items():
        frame = run_frame(name, source, notes, with_rank=ties == "rank")
        tops[name] = order_run(frame, ties=ties, scores=scores, depth=depth).drop("position")
    pool = labelled_pool(labels, tops, min_relevance=min_relevance, ties=ties, scores=scores, depth=depth)
    notes += _notes_on_queries(tops, labels)
    if prior is not None:
        priors = run_frame("prior", prior, notes)
        notes += _notes_on_prior(pool, priors)
        pool = with_prior_scores(pool, priors)
    return replace(pool, notes=tuple(notes))


def _notes_on_queries(tops: Mapping[str, pl.DataFrame], labels: pl.DataFrame) -> list[str]:
    """A sentence on each run that has queries without a label."""
    labelled = Side("queries with a label", labels["query_id"])
    sides = [Side(f"queries of run {name}", top["query_id"]) for name, top in tops.items()]
    return [sentence_on(side, labelled) for side in sides if shared_fraction(side, labelled) < 1]


def _notes_on_prior(pool: LabelledPool, priors: pl.DataFrame) -> list[str]:
    """A sentence where the scores do not cover the pairs that are replayed."""
    pairs = [(query, document) for query, one in pool.candidates.items() for document in one.documents]
    scored = set(priors.select("query_id", "document_id").iter_rows())
    without = [pair for pair in pairs if pair not in scored]
    if not without:
        return []
    query, document = without[0]
    have = plural(len(without), "has", "have")
    return [
        f"{len(without):,} of {counted(len(pairs), 'pair')} with a label {have} no prior score, such as "
        f"query “{query}”, document “{document}”."
    ]
