"""A campaign planned: what a pool and its queue will be, take and tell, before either is made.

Everything is counted from the numbered tops of the runs (`pooling/numbered.py`) and the labels that exist;
nothing is stored. What is supposed is said beside what follows from it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings as site
from django.core.cache import cache
from django.utils import timezone

from evaluation.plan_settings import PlanSettings
from evaluation.plan_words import interval_sentence, power_sentence, supposed
from evaluation.pool_finds import state_of_labels
from labeling.experience import gold_questions, seconds_taken, share_of_ties
from labeling.gold_options import site_options
from labeling.labels import current_labels
from labeling.workload import Terms, judgments_needed, team_work, whole_days
from pooling.models import Collection, Run
from pooling.numbered import numbered_tops, pairs_of
from pooling.problems import InputError
from pooling.runs import runs_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evaluation.expected_width import RelevanceCurve
    from pooling.outlook import NumberedTops, Tops

TEAMS = (1, 2, 5, 10, 20)
#: The curve of size goes on to this depth where runs are as deep.
CURVE_DEPTH = 100
DIFFERENCE = 0.05
#: Supposed where nothing is known: active seconds for a judgment, and the share of relevant pairs.
SECONDS, RELEVANT = 20.0, 0.2
#: Deviations of differences of recall by query, as measured on DL 2021 (at 10) and Robust 2003 (at 100).
DEVIATIONS = (0.11, 0.19)
FEWEST_QUERIES = 5
CACHED_SECONDS = 3_600
UNKNOWN = -1


def plan(collection: Collection, settings: PlanSettings, *, now: datetime | None = None) -> dict[str, Any]:
    """Everything that the page shows, in plain values fit for JSON: see `PlanSerializer`.

    `InputError` for a run that does not exist, and where no run has a query of the collection.
    """
    now = now or timezone.now()
    planned = _Planned.of(collection, settings)
    spent = planned.budgets()
    work = _work(planned, now)
    return {
        "settings": _resolved(planned),
        "supposed": supposed(planned.terms, planned.bases),
        "pool": {
            "pairs": int(planned.sizes.sum()),
            "chosen": int(spent.chosen.sum()),
            "audit": int(planned.audits.sum()),
            "labelled": planned.labelled,
            "to_judge": planned.to_judge,
            "queries": int((planned.sizes > 0).sum()),
            "size_by_depth": planned.growth,
        },
        **_by_run(planned),
        **_by_query(planned),
        "work": work,
        "recall_interval": _interval(planned),
        "power": _power(planned),
    }


@dataclass(frozen=True)
class _Labels:
    """label (P,): 1, 0 or UNKNOWN by number of the pair; relevant (Q,): relevant labels of each query."""

    label: NDArray[np.int8]
    relevant: NDArray[np.int64]


@dataclass(frozen=True)
class _Planned:
    """What the parts of a plan start from."""

    collection: Collection
    settings: PlanSettings
    runs: list[Run]
    indexes: list[int]
    numbered: NumberedTops
    all_tops: Tops
    tops: Tops
    labels: _Labels

    @classmethod
    def of(cls, collection: Collection, settings: PlanSettings) -> _Planned:
        every = list(collection.runs.defer("preflight").order_by("pk"))
        runs = runs_named(collection, settings.runs) if settings.runs else every
        if not runs:
            problem = f"A plan needs runs, and “{collection.slug}” has none yet. Import some first."
            raise InputError(problem, fields={"runs": problem})
        place = {run.pk: index for index, run in enumerate(every)}
        indexes = [place[run.pk] for run in runs]
        deepest = max(run.depth for run in runs)
        shown = max(min(CURVE_DEPTH, deepest), min(settings.depth, deepest))
        numbered, folder = numbered_tops(collection, every, shown)
        all_tops = numbered.chosen(indexes, shown)
        if not len(all_tops.pair):
            raise InputError("Nothing to plan: none of these runs has a query of the collection.")
        labels = _labels(collection, numbered, folder)
        tops = all_tops.to_depth(settings.depth)
        return cls(collection, settings, runs, indexes, numbered, all_tops, tops, labels)

    @cached_property
    def growth(self) -> list[int]:
        """Pairs at depth 1, 2, …, as deep as the runs go."""
        deepest = int(self.all_tops.rank[-1])
        return [int(pairs) for pairs in self.all_tops.size_by_depth(deepest)]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        return self.tops.query_sizes()

    @cached_property
    def pooled(self) -> NDArray[np.bool_]:
        pooled: NDArray[np.bool_] = self.tops.found_by() > 0
        return pooled

    @cached_property
    def places(self) -> NDArray[np.float64]:
        return self.tops.fused_places()

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Pairs of the pool that have a label."""
        known: NDArray[np.bool_] = self.pooled & (self.labels.label != UNKNOWN)
        return known

    @property
    def labelled(self) -> int:
        return int(self.known.sum())

    @cached_property
    def chosen(self) -> NDArray[np.int64]:
        """(Q,) the budget of each query."""
        from pooling.audit import spread_budget

        budget, some = self.settings.budget, self.sizes > 0
        if budget is None:
            return self.sizes
        chosen = self.sizes.copy()
        chosen[some] = spread_budget(self.sizes[some], budget)
        return chosen

    @cached_property
    def audits(self) -> NDArray[np.int64]:
        """(Q,) the audit documents of each query; a strategy that samples is taken as all audit."""
        import numpy as np

        from pooling.audit import audit_size
        from pooling.strategies import strategy_named

        share = self.settings.choice.audit_share
        if strategy_named(self.settings.strategy).samples:
            return self.chosen
        by_budget = {size: audit_size(share, size) for size in np.unique(self.chosen).tolist()}
        return np.array([by_budget[size] for size in self.chosen.tolist()], dtype=np.int64)

    def budgets(self) -> Any:
        return self._design

    @cached_property
    def _design(self) -> Any:
        from evaluation.expected_width import design_of

        return design_of(self.sizes, self.chosen, self.audits)

    @cached_property
    def to_judge(self) -> int:
        """Chosen pairs without a label. Where a budget leaves some out, those reached are counted in RRF
        order and the audit's by their share; a live order goes past what has a label, at no cost.
        """
        import numpy as np

        free = int(self.sizes.sum()) - self.labelled
        if self.settings.adaptive:
            return min(int(self.chosen.sum()), free)
        query = self.tops.query[self.known]
        is_reached = self.places[self.known] <= self._design.reached[query]
        probability = np.nan_to_num(self._design.probability)[query]
        met = float(np.where(is_reached, 1.0, probability).sum())
        return max(0, round(int(self.chosen.sum()) - met))

    @cached_property
    def curve(self) -> RelevanceCurve:
        """Where relevant pairs stand: by the labels, if there are enough and nobody says otherwise."""
        from evaluation.expected_width import FEWEST_LABELS, curve_with, fitted_curve

        share = self.settings.relevant_share
        if self.labelled >= FEWEST_LABELS:
            fitted = fitted_curve(self.places[self.known], self.labels.label[self.known] == 1)
            return fitted if share is None else curve_with(share, max(fitted.b, 0.0))
        return curve_with(RELEVANT if share is None else share)

    @cached_property
    def terms(self) -> Terms:
        """How pairs are judged and paid: what is given, else shown by the collection, else supposed."""
        chosen, gold = self.settings, site_options()
        there = self.gold_there
        given = {name: getattr(chosen, name) for name in ("gold_first_share", "gold_share")}
        usual = {name: getattr(gold, name) if there else 0.0 for name in given}
        practice = gold.practice_questions if there else 0
        seconds, ties = self._seconds, self._ties[0]
        price = site.PRICE_PER_JUDGMENT if chosen.price_per_judgment is None else chosen.price_per_judgment
        return Terms(
            judgments_per_item=chosen.judgments_per_item,
            most_judgments_per_item=chosen.most_judgments_per_item,
            tie_share=ties if chosen.tie_share is None else chosen.tie_share,
            **{name: usual[name] if value is None else value for name, value in given.items()},
            practice_questions=practice if chosen.practice_questions is None else chosen.practice_questions,
            repeat_share=chosen.repeat_share,
            price=float(price),
            overhead=site.COST_OVERHEAD if chosen.overhead is None else chosen.overhead,
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
    def bases(self) -> dict[str, Any]:
        """What each supposed value rests on."""
        from evaluation.expected_width import FEWEST_LABELS

        share, many = self.settings.relevant_share, self.labelled >= FEWEST_LABELS
        return {
            "relevant_share": self.curve.share,
            "relevant_basis": "given" if share is not None else "labels" if many else "assumed",
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
    found: _Labels | None = cache.get(key)
    if found is None:
        found = _numbered_labels(collection, numbered, folder)
        cache.set(key, found, CACHED_SECONDS)
    return found


def _numbered_labels(collection: Collection, numbered: NumberedTops, folder: Path) -> _Labels:
    import numpy as np
    import polars as pl

    label = np.full(len(numbered.query), UNKNOWN, dtype=np.int8)
    relevant = np.zeros(len(numbered.query_ids), dtype=np.int64)
    frame = current_labels(collection).frame.filter(pl.col("relevance") >= 0)
    if frame.height:
        pairs = pairs_of(folder).with_row_index("pair")
        inside = pairs.join(frame, on=["query_id", "document_id"])
        label[inside["pair"].to_numpy()] = (inside["relevance"] >= 1).to_numpy()
        counted = frame.filter(pl.col("relevance") >= 1)["query_id"].value_counts()
        by_query = dict(counted.rows())
        relevant = np.array([by_query.get(query, 0) for query in numbered.query_ids], dtype=np.int64)
    return _Labels(label, relevant)


def _resolved(planned: _Planned) -> dict[str, Any]:
    """The settings with every value that was left open."""
    terms = planned.terms
    return {
        **asdict(planned.settings),
        "runs": [run.name for run in planned.runs],
        "audit_share": planned.settings.choice.audit_share,
        "gold_first_share": terms.gold_first_share,
        "gold_share": terms.gold_share,
        "practice_questions": terms.practice_questions,
        "price_per_judgment": terms.price,
        "overhead": terms.overhead,
        "currency": site.CURRENCY,
        "seconds_per_judgment": terms.seconds,
        "tie_share": terms.tie_share,
        "relevant_share": planned.curve.share,
        "k": planned.settings.cutoff,
    }


def _by_run(planned: _Planned) -> dict[str, Any]:
    tops, indexes = planned.tops, planned.indexes
    found, alone = tops.by_run(indexes), tops.alone(indexes)
    relevant = tops.alone(indexes, planned.labels.label == 1) if planned.labelled else None
    rows = [
        {
            "run": run.name,
            "pairs": int(found[place]),
            "alone": int(alone[place]),
            "relevant_alone": None if relevant is None else int(relevant[place]),
        }
        for place, run in enumerate(planned.runs)
    ]
    return {"runs": rows, "overlap": tops.overlap(indexes).tolist()}


def _by_query(planned: _Planned) -> dict[str, Any]:
    import polars as pl

    from pooling.diagnosis import binned, thin_among

    ids = pl.Series("query_id", planned.numbered.query_ids, dtype=pl.String)
    sizes = pl.DataFrame({"query_id": ids, "len": planned.sizes})
    some = sizes.filter(pl.col("len") > 0)
    nothing = planned.collection.queries.count() - some.height
    return {"sizes": binned(some["len"]), "thin": {**thin_among(some), "without": nothing}}


def _work(planned: _Planned, now: datetime) -> dict[str, Any]:
    terms = planned.terms
    needed = judgments_needed(planned.to_judge, terms)
    people = sorted({*TEAMS, planned.settings.annotators})
    rows = []
    for team in (team_work(needed, terms, annotators) for annotators in people):
        days = None if team.days is None else whole_days(team.days)
        end = None if days is None or days > 36_500 else (now + timedelta(days=days)).date().isoformat()
        rows.append({**asdict(team), "end_date": end})
    return {
        "judgments_needed": needed,
        "for_ties": needed - planned.to_judge * terms.judgments_per_item,
        "gold_there": planned.gold_there,
        "currency": site.CURRENCY,
        "by_annotators": rows,
    }


def _interval(planned: _Planned) -> dict[str, Any]:
    """The interval of micro recall that is expected for each run; see `evaluation/expected_width.py`."""
    import numpy as np

    from evaluation.expected_width import LEARNING, PACE, effective_reach, expected_intervals
    from evaluation.recall_intervals import COMPLETE

    design, settings = planned.budgets(), planned.settings
    whole = bool((planned.chosen == planned.sizes).all())
    undrawn = not whole and not planned.audits.any()
    pooled = np.flatnonzero(planned.pooled)
    query = planned.tops.query[pooled]
    chance = planned.curve.at(planned.places[pooled])
    known = planned.known[pooled]
    chance[known] = planned.labels.label[pooled][known] == 1
    pace = LEARNING if settings.adaptive else PACE.get(settings.strategy, 1.0)
    reach = effective_reach(planned.curve, design.reached, pace)
    certain = known | (planned.places[pooled] <= reach[query]) | np.isnan(design.probability)[query]
    number = np.full(len(planned.tops.query), -1)
    number[pooled] = np.arange(len(pooled))
    top = planned.tops.to_depth(settings.cutoff)
    place = top.place_of(planned.indexes)
    found = [number[top.pair[place == at]] for at in range(len(planned.runs))]
    intervals = [] if undrawn else expected_intervals(chance, certain, design.probability[query], found)
    widths = [one.width for one in intervals if one.width is not None]
    result = {
        "k": settings.cutoff,
        "confidence": 0.95,
        "mean_width": float(np.mean(widths)) if widths else None,
        "by_run": [
            {"run": run.name, "value": one.value, "low": one.low, "high": one.high, "width": one.width}
            for run, one in zip(planned.runs, intervals, strict=False)
        ],
        "method": COMPLETE if whole else intervals[0].method if intervals else None,
        "relevant": float(chance.sum()),
        "relevant_drawn": float((chance * design.probability[query])[~certain].sum()) if intervals else 0.0,
    }
    return {**result, "sentence": interval_sentence(result, undrawn)}


def _power(planned: _Planned) -> dict[str, Any]:
    """How many queries tell two systems apart by 0.05: by the spread of the labels, else a range."""
    from evaluation.significance import queries_needed

    deviation, queries = _deviation(planned)
    there = int((planned.sizes > 0).sum())
    spread = DEVIATIONS if deviation is None else (deviation, deviation)
    result = {
        "difference": DIFFERENCE,
        "power": 0.8,
        "k": planned.settings.cutoff,
        "deviation": deviation,
        "labelled_queries": queries,
        "queries_needed": [queries_needed(one, DIFFERENCE) for one in spread],
        "queries": there,
    }
    return {**result, "sentence": power_sentence(result)}


def _deviation(planned: _Planned) -> tuple[float | None, int]:
    """(the deviation of differences of recall@k by query, the queries it is from).

    The root of the mean variance over all pairs of runs; None with fewer than five queries that have a
    relevant label, or a single run.
    """
    import numpy as np

    relevant = planned.labels.relevant
    some = relevant > 0
    if some.sum() < FEWEST_QUERIES or len(planned.runs) < 2:
        return None, int(some.sum())
    top = planned.tops.to_depth(planned.settings.cutoff)
    hits = planned.labels.label[top.pair] == 1
    place, query = top.place_of(planned.indexes)[hits], top.query[top.pair[hits]]
    shape = (len(planned.runs), len(relevant))
    counts = np.bincount(place * shape[1] + query, minlength=shape[0] * shape[1]).reshape(shape)
    recall = counts[:, some] / relevant[some]
    covariance = np.cov(recall)
    variances = [
        covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]
        for one, other in combinations(range(shape[0]), 2)
    ]
    return float(np.sqrt(np.mean(variances))), int(some.sum())
