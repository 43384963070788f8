"""Audits by scores: of what a pool holds without a label, people judge a sample drawn from bands of a model's
scores; reports estimate from it.

What is drawn from are the pairs of the pool that had no final label at the draw. All others are certain:
known before the draw, they are a separate part, of which nothing has to be drawn. Given all that happened
before, the draw is random, and nothing that is judged afterwards changes it. So it may come at any time of a
campaign, and from the scores of any model, also of one that learned from the labels there are: these are
certain, and whatever else it learned from happened before the draw.

The pool of an audit by scores holds exactly the pairs that were drawn from, those drawn with `in_audit` and
their inclusion probability; its provenance says of which pool, by whose scores, in which strata, and in which
order each stratum was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypedDict

from django.contrib.auth.models import User
from django.db.models import Count, Exists, Q
from django.utils import timezone

from labeling.models import Item, Prelabel, Prelabeler, Queue
from labeling.models.prelabels import ORDER_SCORE, PrelabelQuerySet
from labeling.models.words import SAME_PAIR
from labeling.progress.tables import columns
from labeling.qrels.labels import judged_labels
from labeling.quality.blind_labels import evidence
from labeling.quality.sample_plans import stratified_design
from labeling.quality.strata import MOST_STRATA, AuditPlan, PlanFacts, StratumFacts, plan_by_scores
from labeling.queues.opening import LARGEST_SAMPLE, open_pairs, seed_or_random
from pooling.formats.wording import counted
from pooling.heavy import NDArray, pl
from pooling.interface.problems import InputError, refuse_all
from pooling.models import Collection, Pool
from pooling.pools.building import pooled_frame
from pooling.storage.frames import PAIR_IDS, rows_frame


def prelabels_of_pool(pool: Pool) -> PrelabelQuerySet:
    entries = pool.entries.filter(**SAME_PAIR)
    return Prelabel.objects.current().filter(
        Exists(entries.order_by()), prelabeler__collection=pool.collection_id
    )


def pool_scores(pool: Pool, prelabeler: Prelabeler) -> pl.DataFrame:
    """query_id, document_id, score: in [0, 1], of a pre-label without one 1 or 0 by its verdict."""
    rows = prelabels_of_pool(pool).filter(prelabeler=prelabeler).order_by("query", "document")
    return rows_frame(rows.annotate(order_score=ORDER_SCORE), **PAIR_IDS, score="order_score")


PAIR = ["query_id", "document_id"]
USUAL_PAIRS = 240
USUAL_STRATA = 5


class AuditFacts(PlanFacts):
    certain: Annotated[int, "Pairs of the pool that have a label."]


class PoolOfOrigin(TypedDict):
    id: int
    name: str
    version: int


class AuditProvenance(TypedDict):
    """An audit's plan and draw, as its pool keeps them.

    `prelabeler` and `model` say whose scores made the strata; `drawn`: of each stratum, its pairs [query id,
    document id] in the order of the draw.
    """

    pool: PoolOfOrigin
    prelabeler: int
    model: str
    draw_seed: int
    drawn_at: str
    population: int
    pairs: int
    strata: list[StratumFacts]
    half_width: float | None
    simple_half_width: float | None
    sentence: str
    certain: int
    drawn: list[list[list[str]]]


@dataclass(frozen=True)
class AuditDraw:
    """Pairs to draw from at most how many bands of scores, judgments of each, and a seed, drawn if None."""

    pairs: int
    strata: int = USUAL_STRATA
    seed: int | None = None
    judgments_per_item: int = 1


@dataclass(frozen=True)
class AuditRow:
    """An audit's own pool and queue, the name of the pool it is `of`, and how many pairs are `done`."""

    pool: Pool
    queue: Queue | None
    of: str
    model: str
    drawn_at: datetime
    pairs: int
    done: int


@dataclass(frozen=True)
class Drawable:
    """A plan with `pairs` (query_id, document_id) and their strata; `certain` pairs have a label."""

    plan: AuditPlan
    pairs: pl.DataFrame
    strata: NDArray[Any]
    certain: int

    def facts(self) -> AuditFacts:
        return {**self.plan.facts(), "certain": self.certain}


def plan_audit(pool: Pool, prelabeler: Prelabeler, pairs: int, *, strata: int = USUAL_STRATA) -> Drawable:
    """A plan that spreads `pairs` pairs of the pool over at most `strata` bands of a model's scores.

    The rate of a band comes from blind labels where there are enough. `InputError` for a pool whose pairs
    were picked, numbers out of range, no scores, and fewer pairs than the strata need.
    """

    _check(pool, prelabeler, pairs, strata)
    everything = pooled_frame(pool).sort(PAIR)
    labels = judged_labels(pool.collection)
    rest = everything.join(labels, on=PAIR, how="anti", maintain_order="left")
    if rest.is_empty():
        raise InputError(f"Every pair of pool “{pool.name}” has a label; there is nothing to draw from.")
    scored = rest.join(pool_scores(pool, prelabeler), on=PAIR, how="left", maintain_order="left")
    if scored["score"].null_count() == scored.height:
        problem = f"There are no pre-labels by {prelabeler} of what pool “{pool.name}” holds without a label."
        raise InputError(problem, field="prelabeler", conflict=True)
    scores, relevant = _blind_scores(prelabeler)
    try:
        plan, numbers = plan_by_scores(
            scored["score"].fill_null(float("nan")).to_numpy(),
            pairs,
            strata,
            labelled_scores=scores,
            labelled_relevant=relevant,
        )
    except ValueError as error:
        raise InputError(str(error), field="pairs") from error
    return Drawable(plan, rest.select(PAIR), numbers, everything.height - rest.height)


def draw_audit(pool: Pool, prelabeler: Prelabeler, draw: AuditDraw, *, by: User | None = None) -> Queue:
    """Draw a planned audit and open it as a queue, shuffled and blind, in parts random within strata."""
    drawable = plan_audit(pool, prelabeler, draw.pairs, strata=draw.strata)
    seed = seed_or_random(draw.seed)
    sizes = [one.drawn for one in drawable.plan.strata]
    design = stratified_design(drawable.pairs, drawable.strata, sizes, seed=seed)
    sample = design.select(*PAIR, "inclusion_probability", in_audit=pl.lit(True))
    population = drawable.pairs.join(sample, on=PAIR, how="left", maintain_order="left").with_columns(
        pl.col("in_audit").fill_null(False), rank=pl.lit(1)
    )
    provenance: AuditProvenance = {
        "pool": {"id": pool.pk, "name": pool.name, "version": pool.version},
        "prelabeler": prelabeler.pk,
        "model": str(prelabeler),
        "draw_seed": seed,
        "drawn_at": timezone.now().isoformat(),
        **drawable.facts(),
        "drawn": [
            [list(pair) for pair in design.filter(stratum=f"{number}").sort("place").select(PAIR).rows()]
            for number in range(len(sizes))
        ],
    }
    return open_pairs(
        pool.collection,
        population,
        strategy=Pool.STRATA,
        provenance=provenance,
        judgments_per_item=draw.judgments_per_item,
        by=by,
    )


def audits_of(collection: Collection) -> list[AuditRow]:
    """The audits by scores of a collection, newest first, in a constant number of statements."""
    pools = collection.pools.filter(strategy=Pool.STRATA).defer("diagnostics")
    queues = {
        queue.pool_id: queue
        for queue in Queue.objects.filter(pool__in=pools).annotate(
            settled=Count("items", filter=Q(items__state=Item.State.DONE, items__repeats=None))
        )
    }
    return [
        AuditRow(
            pool=pool,
            queue=queues.get(pool.pk),
            of=pool.provenance["pool"]["name"],
            model=pool.provenance["model"],
            drawn_at=pool.built_at,
            pairs=pool.provenance["pairs"],
            done=queues[pool.pk].settled if pool.pk in queues else 0,
        )
        for pool in pools
    ]


def _blind_scores(prelabeler: Prelabeler) -> tuple[Any, Any]:
    basis = evidence(prelabeler.collection, prelabeler.pk).get(prelabeler.pk)
    if basis is None:
        return (), ()
    return basis.compared.score, basis.compared.relevant


def _check(pool: Pool, prelabeler: Prelabeler, pairs: int, strata: int) -> None:
    problems = {
        "pool": f"The pairs of pool “{pool.name}” were picked individually. Choose a pool built from runs."
        if pool.is_picked
        else "",
        "prelabeler": "These pre-labels belong to another collection."
        if prelabeler.collection_id != pool.collection_id
        else "",
        "pairs": ""
        if 1 <= pairs <= LARGEST_SAMPLE
        else f"An audit by scores draws 1 to {LARGEST_SAMPLE:,} pairs.",
        "strata": ""
        if 1 <= strata <= MOST_STRATA
        else f"The number of strata must be from 1 to {MOST_STRATA}.",
    }
    refuse_all(problems)


def audit_table(plan: AuditFacts | AuditProvenance) -> str:
    head = ("score", "pairs", "relevant, supposed", "from", "drawn")
    rows = [
        (
            one["name"],
            f"{one['pairs']:,}",
            f"{100 * one['rate']:.1f} %",
            rate_source(one),
            f"{one['drawn']:,}",
        )
        for one in plan["strata"]
    ]
    without = f"{counted(plan['population'], 'pair')} without a label, {plan['certain']:,} with one."
    return "\n".join([*columns([head, *rows]), without, plan["sentence"]])


def rate_source(stratum: StratumFacts) -> str:
    if stratum["rests_on"] == "labels":
        return f"{counted(stratum['labels'], 'blind label')}"
    return "mean score" if stratum["rests_on"] == "scores" else stratum["rests_on"]
