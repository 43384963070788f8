"""Verification samples: people judge some of a model's negatives and of its positives, each drawn at random
and sized for a stated bound, in a queue like any other; and what came of it.

The plans and the draw are those of `labeling/quality/sample_plans.py`. Drawn is from all current pre-labels
of a model of pairs without an imported label, also those that somebody judged already: their labels then
count at once. Which stratum a pair belongs to is what the model said before the draw.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TypedDict

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Subquery

from labeling.models import ImportedLabel, Prelabel, Prelabeler, Queue, Verdict
from labeling.models.words import SAME_PAIR
from labeling.quality.blind_labels import blind_labels
from labeling.quality.sample_plans import (
    HALF_WIDTH,
    PAIR,
    Plan,
    checked,
    half_width_plan,
    verification_design,
    zero_failure_plan,
)
from labeling.quality.worth_facts import SampleRow, StratumOfSample
from labeling.queues.opening import LARGEST_SAMPLE, open_pairs, seed_or_random
from pooling.formats.wording import plural
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Pool, PoolEntry
from pooling.storage.frames import PAIR_IDS, rows_frame

CONFIDENCE = 0.95
METHODS = ("zero_failures", "half_width")
STRATA = ("negatives", "positives")


@dataclass(frozen=True)
class Wanted:
    """Size of a stratum: by `method`, one of METHODS, for `bound`: the greatest failure rate that a clean
    sample leaves, or the half-width of the interval; both shares. Without a method it is left out."""

    method: str | None
    bound: float


USUAL = {"negatives": Wanted("zero_failures", 0.05), "positives": Wanted("half_width", 0.1)}


def open_sample(
    prelabeler: Prelabeler,
    negatives: Wanted = USUAL["negatives"],
    positives: Wanted = USUAL["positives"],
    *,
    judgments_per_item: int = 1,
    by: User | None = None,
    seed: int | None = None,
) -> Queue:
    """Draw two samples into one shuffled, blind queue; `InputError` for a bad bound or number of pairs."""
    wanted = dict(zip(STRATA, (negatives, positives), strict=True))
    for name, one in wanted.items():
        _check(name, one)
    labelled = ImportedLabel.objects.filter(**SAME_PAIR, relevance__gte=0)
    rows = Prelabel.objects.current().filter(~Exists(labelled), prelabeler=prelabeler)
    frame = rows_frame(rows, "verdict", **PAIR_IDS)
    if frame.is_empty():
        raise InputError(f"There are no pre-labels by {prelabeler} to draw from.", conflict=True)
    is_relevant = (frame["verdict"] == Verdict.RELEVANT).to_numpy()
    sizes = {"negatives": int((~is_relevant).sum()), "positives": int(is_relevant.sum())}
    plans = {name: _plan(sizes[name], one) for name, one in wanted.items()}
    count = sum(plan.size for plan in plans.values())
    if not 0 < count <= LARGEST_SAMPLE:
        problem = (
            f"The samples would be {count:,} pairs; they are 1 to {LARGEST_SAMPLE:,}. Choose another bound."
        )
        raise InputError(problem)
    seed = seed_or_random(seed)
    design = verification_design(
        frame.select(PAIR), is_relevant, plans["negatives"], plans["positives"], seed=seed
    ).sort("place", *PAIR)
    facts = {
        "prelabeler": prelabeler.pk,
        "model": str(prelabeler),
        "draw_seed": seed,
        **{stratum: asdict(plan) for stratum, plan in plans.items()},
    }
    return open_pairs(
        prelabeler.collection,
        design.select(*PAIR, rank=pl.lit(1)),
        strategy=Pool.VERIFICATION,
        provenance=facts,
        judgments_per_item=judgments_per_item,
        by=by,
    )


def samples_of(prelabeler: Prelabeler) -> list[SampleRow]:
    """The verification samples of a model, newest first, in a constant number of statements."""
    pools = list(
        Pool.objects.filter(
            collection=prelabeler.collection_id,
            strategy=Pool.VERIFICATION,
            provenance__prelabeler=prelabeler.pk,
        ).prefetch_related("queues")
    )
    if not pools:
        return []
    entries = PoolEntry.objects.filter(pool__in=pools)
    labels = blind_labels(prelabeler.collection, Exists(entries.filter(**SAME_PAIR)))
    prelabels = Prelabel.objects.current().filter(prelabeler=prelabeler, **SAME_PAIR)
    labels_by_stratum: dict[tuple[int, str], list[bool | None]] = defaultdict(list)
    fields = ("pool", "query", "document", "verdict")
    before = prelabels.filter(created_at__lte=OuterRef("pool__built_at"))
    marked = entries.annotate(verdict=Subquery(before.values("verdict")[:1]))
    for pool, query, document, verdict in marked.order_by("pk").values_list(*fields):
        label = labels.get((query, document))
        stratum = "positives" if verdict == Verdict.RELEVANT else "negatives"
        if verdict:
            labels_by_stratum[pool, stratum].append(None if label is None else label.relevant)
    return [
        {
            "queue": next(iter(pool.queues.all()), None),
            "name": pool.name,
            "opened_at": pool.built_at,
            "negatives": _stratum(
                "negatives", pool.provenance["negatives"], labels_by_stratum[pool.pk, "negatives"]
            ),
            "positives": _stratum(
                "positives", pool.provenance["positives"], labels_by_stratum[pool.pk, "positives"]
            ),
        }
        for pool in pools
    ]


class StoredPlan(TypedDict):
    """A `labeling.quality.sample_plans.Plan` as the pool of a sample keeps it."""

    population: int
    size: int
    method: str
    bound: float
    confidence: float


def _stratum(name: str, plan: StoredPlan, labels: list[bool | None]) -> StratumOfSample:
    failing = name == "negatives"
    labelled = sum(label is not None for label in labels)
    failed = sum(label is failing for label in labels)
    stratum: StratumOfSample = {
        "population": plan["population"],
        "drawn": plan["size"],
        "labelled": labelled,
        "failed": failed,
        "most": None,
        "low": None,
        "high": None,
        "sentence": "",
    }
    if not plan["size"]:
        return {**stratum, "sentence": f"No {name} were drawn."}
    word = "relevant" if failing else "not relevant"
    waiting = plan["size"] - labelled
    if not labelled:
        return {**stratum, "sentence": f"{plan['size']:,} {name} drawn; none has a blind label yet."}
    outcome = checked(plan["population"], plan["size"], failed + waiting, plan["confidence"])
    sentence = f"{failed:,} of {labelled:,} {name} {plural(failed, 'was', 'were')} {word}"
    if waiting:
        low, high = None, None
        rate = f"{waiting:,} more have no blind label; if all of these were {word} too, "
        sentence = f"{sentence} so far. {rate}{'elusion' if failing else 'the failure rate'} would be"
    else:
        low, high = outcome.interval
        sentence = f"{sentence}: {'elusion' if failing else 'failure rate'}"
    stratum = {**stratum, "most": outcome.highest_rate, "low": low, "high": high}
    sure = f"at {plan['confidence'] * 100:g} %"
    if plan["method"] == HALF_WIDTH and low is not None and high is not None:
        rate, least, greatest = (f"{share * 100:.0f}" for share in (failed / labelled, low, high))
        return {**stratum, "sentence": f"{sentence} {rate} % ({least} to {greatest} %) {sure}."}
    return {**stratum, "sentence": f"{sentence} ≤ {_ceiling(outcome.highest_rate or 0.0)} {sure}."}


def _plan(population: int, wanted: Wanted) -> Plan:
    if wanted.method is None or not population:
        return Plan(population, 0, HALF_WIDTH, wanted.bound, CONFIDENCE)
    make = zero_failure_plan if wanted.method == "zero_failures" else half_width_plan
    return make(population, wanted.bound, confidence=CONFIDENCE)


def _check(name: str, wanted: Wanted) -> None:
    problem = ""
    if wanted.method is not None and wanted.method not in METHODS:
        problem = f"A sample is sized by {' or '.join(METHODS)}, not “{wanted.method}”."
    elif not 0.001 <= wanted.bound <= 0.5:
        problem = "A bound must be a share from 0.001 to 0.5."
    if problem:
        raise InputError(problem, field=f"{name}_bound")


def _ceiling(share: float) -> str:
    """Percent with one decimal at most, rounded up: a bound must not shrink."""
    return f"{math.ceil(round(share * 1000, 6)) / 10:g} %"
