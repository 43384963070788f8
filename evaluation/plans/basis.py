"""Input of a plan's figures: the pool that would be built, its labels, and what is supposed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from django.conf import settings as site
from django.core.cache import cache

from evaluation.plans.expected_width import (
    FEWEST_LABELS,
    LEARNING,
    PACE,
    SHARES,
    Design,
    RelevanceCurve,
    curve_with,
    design_of,
    fitted_curve,
)
from evaluation.plans.results import Bases
from evaluation.plans.settings import PlanSettings
from labeling.adaptive.options import AdaptiveOptions, checked_adaptive
from labeling.consensus.shares import share_of
from labeling.gold.options import site_options
from labeling.models import Selection
from labeling.progress.of_collection import gold_questions, seconds_taken, share_of_ties
from labeling.qrels.labels import judged_labels, state_of_labels
from labeling.queues.workload import Terms
from pooling.heavy import NDArray, np, pl
from pooling.interface.problems import InputError
from pooling.merging.preview import NumberedTops, Tops
from pooling.models import Collection, Pool, Run
from pooling.pools.building import checked_choice
from pooling.ranking.frame import expected_draws, reserve_size, whole_sizes
from pooling.ranking.sample import audit_sizes
from pooling.ranking.selection import floor_of, spread
from pooling.runs.frames import PlannedFrame, planned_frame
from pooling.runs.numbered import numbered_tops, pairs_of
from pooling.runs.stored import runs_named
from pooling.strategies import strategy_named

#: The curve of size goes on to this depth where runs are as deep.
CURVE_DEPTH = 100
#: Supposed where nothing is known: active seconds for a judgment.
SECONDS = 20.0
CACHED_SECONDS = 3_600
UNKNOWN = -1
#: What a plan with another budget has too.
OF_RUNS = ("sizes", "pooled", "places", "has_label", "curve", "curves")


@dataclass(frozen=True)
class _Labels:
    """label (P,): 1, 0 or UNKNOWN by number of the pair; relevant (Q,): relevant labels of each query."""

    label: NDArray[np.int8]
    relevant: NDArray[np.int64]


@dataclass(frozen=True)
class Planned:
    collection: Collection
    settings: PlanSettings
    every: list[Run]
    runs: list[Run]
    indexes: list[int]
    own_depths: dict[int, int]
    numbered: NumberedTops
    all_tops: Tops
    tops: Tops
    labels: _Labels
    #: By reach; plans with another budget have the same.
    frame_of: dict[int, PlannedFrame] = field(default_factory=dict)

    @classmethod
    def of(cls, collection: Collection, settings: PlanSettings) -> Planned:
        every = list(collection.runs.defer("preflight").order_by("pk"))
        listed = [run for run in every if not run.archived_at]
        runs = runs_named(collection, settings.runs) if settings.runs else listed
        if not runs:
            problem = f"A plan needs runs, and “{collection.slug}” has none yet. Import some first."
            raise InputError(problem, field="runs")
        place = {run.pk: index for index, run in enumerate(every)}
        indexes = [place[run.pk] for run in runs]
        choice = checked_choice(settings.choice, runs)
        deepest = max(run.depth for run in runs)
        depth = max(min(CURVE_DEPTH, deepest), min(choice.deepest, deepest))
        own = {place[run.pk]: choice.depths[run.name] for run in runs if run.name in choice.depths}
        numbered, folder = numbered_tops(collection, every, depth)
        all_tops = numbered.chosen(indexes, depth)
        if not len(all_tops.pair):
            raise InputError("Nothing to plan: none of these runs has a query of the collection.")
        labels = _labels(collection, numbered, folder)
        tops = all_tops.to_depths(settings.depth, own)
        planned = cls(collection, settings, every, runs, indexes, own, numbered, all_tops, tops, labels)
        if settings.queue.adaptive:
            checked_adaptive(planned.pool, settings.queue.adaptive)
        return planned

    @property
    def pool(self) -> Pool:
        """The pool as it would be, in memory alone."""
        choice = self.settings.choice
        return Pool(
            collection=self.collection,
            name="of this plan",
            strategy=choice.strategy,
            budget=self.settings.budget,
            audit_share=choice.share,
            query_count=int((self.sizes > 0).sum()),
        )

    @cached_property
    def growth(self) -> list[int]:
        """Pairs at depth 1, 2, …, as deep as the runs go."""
        deepest = int(self.all_tops.rank[-1])
        return [int(pairs) for pairs in self.all_tops.size_by_depth(deepest, self.own_depths)]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return self.tops.query_sizes()

    def instead(self, **settings: Any) -> Planned:
        """With other settings of budget, audit or reach; what only runs and labels decide is kept."""
        other = replace(self, settings=replace(self.settings, **settings))
        other.__dict__.update({name: getattr(self, name) for name in OF_RUNS})
        return other

    @cached_property
    def frame(self) -> PlannedFrame:
        """The pool without a reach."""
        reach = self.settings.reach
        if reach is None:
            return PlannedFrame(self.sizes, False)
        if reach not in self.frame_of:
            self.frame_of[reach] = planned_frame(self.collection, self.every, self.indexes, reach)
        return self.frame_of[reach]

    @cached_property
    def frames(self) -> NDArray[np.int64]:
        """(Q,) documents of each query's frame, not fewer than those of its pool."""
        return np.where(self.sizes > 0, np.maximum(self.frame.sizes, self.sizes), 0)

    @cached_property
    def limits(self) -> NDArray[np.int64]:
        """(Q,) the documents that may be judged: a queue that learns draws as it goes, from a reserve."""
        if not self.settings.adaptive or self.settings.reach is None:
            return self.frames
        share = self.settings.choice.share
        by_size = {size: reserve_size(share, size) for size in np.unique(self.sizes).tolist()}
        reserve = np.array([by_size[size] for size in self.sizes.tolist()], dtype=np.int64)
        limits: NDArray[np.int64] = np.minimum(self.frames, self.sizes + reserve)
        return limits

    @cached_property
    def pooled(self) -> NDArray[np.bool_]:
        pooled: NDArray[np.bool_] = self.tops.run_counts() > 0
        return pooled

    @cached_property
    def places(self) -> NDArray[np.float64]:
        return self.tops.fused_places()

    @cached_property
    def has_label(self) -> NDArray[np.bool_]:
        """Pairs of the pool that have a label."""
        has_label: NDArray[np.bool_] = self.pooled & (self.labels.label != UNKNOWN)
        return has_label

    @property
    def labelled(self) -> int:
        return int(self.has_label.sum())

    @cached_property
    def chosen(self) -> NDArray[np.int64]:
        """(Q,) the budget of each query. One that goes where relevant documents turn up is taken as the same
        share of each pool beyond the floor: by the curve, that is where the chances are equal."""
        budget, some = self.settings.budget, np.flatnonzero(self.sizes)
        if budget is None:
            share = self.settings.choice.share
            return self.limits if self.settings.adaptive else whole_sizes(self.sizes, self.frames, share)
        adaptive = self.settings.queue.adaptive or AdaptiveOptions()
        floor = floor_of(len(some), budget, adaptive.budget_rule, adaptive.budget_floor)
        rule = Selection.Rule.SHARE if adaptive.budget_rule == Selection.Rule.GREEDY else adaptive.budget_rule
        sizes = {str(query): int(self.limits[query]) for query in some}
        chosen = np.zeros_like(self.sizes)
        chosen[some] = list(spread(sizes, budget, rule=rule, floor=floor).values())
        return chosen

    @cached_property
    def audits(self) -> NDArray[np.int64]:
        """(Q,) the audit documents of each query; a strategy that samples is taken as all audit."""
        if strategy_named(self.settings.strategy).samples:
            return self.chosen
        is_whole = self.settings.budget is None and not self.settings.adaptive
        return audit_sizes(self.settings.choice.share, self.sizes if is_whole else self.chosen)

    @property
    def drawn(self) -> int:
        return round(expected_draws(self.sizes, self.frames, self.chosen, self.audits)[0])

    @cached_property
    def design(self) -> Design:
        """Depth of each query's order, and π beyond it."""
        return design_of(self.sizes, self.chosen, self.audits, self.frames)

    @cached_property
    def to_judge(self) -> int:
        """Chosen pairs without a label. Where a budget leaves some out, those reached are counted in RRF
        order and the audit's by their share; a live order goes past what has a label, at no cost."""
        free = int(self.frames.sum()) - self.labelled
        if self.settings.adaptive:
            return min(int(self.chosen.sum()), free)
        query = self.tops.query[self.has_label]
        is_reached = self.places[self.has_label] <= self.design.reached[query]
        probability = np.nan_to_num(self.design.probability)[query]
        met = float(np.where(is_reached, 1.0, probability).sum())
        return max(0, round(int(self.chosen.sum()) - met))

    @property
    def relevant_basis(self) -> str:
        """`given`, `labels` or `assumed`."""
        if self.settings.relevant_share is not None:
            return "given"
        return "labels" if self.labelled >= FEWEST_LABELS else "assumed"

    @cached_property
    def curve(self) -> RelevanceCurve | None:
        """By the labels, if there are enough and nobody says otherwise; None where nobody knows."""
        share = self.settings.relevant_share
        if share is None:
            return self._fitted
        return curve_with(share) if self._fitted is None else curve_with(share, max(self._fitted.b, 0.0))

    @cached_property
    def curves(self) -> list[RelevanceCurve]:
        """The curves that may hold: the known one with its open ends, or those of a range of shares."""
        if self.curve is None:
            return [curve_with(share) for share in SHARES]
        if self.relevant_basis == "given":
            return [self.curve]
        hits = self.labels.label[self.has_label] == 1
        estimate = share_of(hits, self._weights, groups=self.tops.query[self.has_label])
        if not estimate.value or estimate.low is None or estimate.high is None:
            return [self.curve]
        ends = [self.curve.share * end / estimate.value for end in (estimate.low, estimate.high)]
        return [self.curve, *(curve_with(end, max(self.curve.b, 0.0)) for end in ends)]

    @cached_property
    def _fitted(self) -> RelevanceCurve | None:
        if self.labelled < FEWEST_LABELS:
            return None
        return fitted_curve(
            self.places[self.has_label], self.labels.label[self.has_label] == 1, self._weights
        )

    @property
    def _weights(self) -> NDArray[np.float64]:
        """A label stands for its part of its query's pool: a pilot draws as many from a small one."""
        query = self.tops.query[self.has_label]
        weights: NDArray[np.float64] = self.sizes[query] / np.bincount(query)[query]
        return weights

    @property
    def pace(self) -> float:
        """Steepness of the chosen order, in that of RRF order."""
        return LEARNING if self.settings.adaptive else PACE.get(self.settings.strategy, 1.0)

    @cached_property
    def terms(self) -> Terms:
        """Terms as given, else as the collection shows, else supposed."""
        chosen, gold = self.settings, site_options()
        there = self.gold_there
        given = {name: getattr(chosen, name) for name in ("gold_first_share", "gold_share")}
        usual = {name: getattr(gold, name) if there else 0.0 for name in given}
        practice = min(gold.practice_questions, gold_questions(self.collection, practice=True))
        seconds, ties = self._seconds, self._ties[0]
        price = site.PRICE_PER_JUDGMENT if chosen.price_per_judgment is None else chosen.price_per_judgment
        return Terms(
            judgments_per_item=chosen.judgments_per_item,
            most_judgments_per_item=chosen.most_judgments_per_item,
            tie_share=ties if chosen.tie_share is None else chosen.tie_share,
            **{name: usual[name] if value is None else value for name, value in given.items()},
            gold_questions=there or None,
            practice_questions=practice if chosen.practice_questions is None else chosen.practice_questions,
            repeat_share=chosen.repeat_share,
            price=float(price),
            overhead=chosen.overhead or 0.0,
            seconds=chosen.seconds_per_judgment or seconds or SECONDS,
            hours_per_week=chosen.hours_per_week,
        )

    @cached_property
    def gold_there(self) -> int:
        return gold_questions(self.collection)

    @cached_property
    def _seconds(self) -> float | None:
        return seconds_taken(self.collection)

    @cached_property
    def _ties(self) -> tuple[float, int]:
        return share_of_ties(self.collection)

    @cached_property
    def bases(self) -> Bases:
        return {
            "relevant_share": self.curve.share if self.curve else None,
            "relevant_basis": self.relevant_basis,
            "relevant_range": (SHARES[0], SHARES[-1]),
            "labelled": self.labelled,
            "fewest_labels": FEWEST_LABELS,
            "seconds_basis": "given"
            if self.settings.seconds_per_judgment
            else "measured"
            if self._seconds
            else "assumed",
            "ties_basis": "given"
            if self.settings.tie_share is not None
            else "measured"
            if self._ties[1]
            else "assumed",
            "can_tie": self.terms.judgments_a_pair > self.terms.judgments_per_item
            or (self.terms.judgments_per_item % 2 == 0 and bool(self.terms.most_judgments_per_item)),
            "gold_there": self.gold_there,
        }


def _labels(collection: Collection, numbered: NumberedTops, folder: Path) -> _Labels:
    """The labels as they stand, by number of the pair; kept until a label changes."""
    key = f"plan-labels-{folder.name}-{state_of_labels(collection)}"
    labels: _Labels | None = cache.get(key)
    if labels is None:
        labels = _numbered_labels(collection, numbered, folder)
        cache.set(key, labels, CACHED_SECONDS)
    return labels


def _numbered_labels(collection: Collection, numbered: NumberedTops, folder: Path) -> _Labels:
    label = np.full(len(numbered.query), UNKNOWN, dtype=np.int8)
    relevant = np.zeros(len(numbered.query_ids), dtype=np.int64)
    frame = judged_labels(collection)
    if frame.height:
        pairs = pairs_of(folder).with_row_index("pair")
        inside = pairs.join(frame, on=["query_id", "document_id"])
        label[inside["pair"].to_numpy()] = (inside["relevance"] >= 1).to_numpy()
        counted = frame.filter(pl.col("relevance") >= 1)["query_id"].value_counts()
        by_query = dict(counted.rows())
        relevant = np.array([by_query.get(query, 0) for query in numbered.query_ids], dtype=np.int64)
    return _Labels(label, relevant)
