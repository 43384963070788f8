"""Measures over facts: which each query's first K documents hold, how early, and how often again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from evaluation.facts.query import QueryFacts, Retrieved
from pooling.heavy import Floats, Integers, np

Denominator = Literal["all", "findable"]


class Counting(NamedTuple):
    """denominator: all facts, or those a judged document supports. partial: a part of a fact counts half."""

    denominator: Denominator = "all"
    partial: bool = False


Function: TypeAlias = Callable[[Retrieved, Counting], Floats]


@dataclass(frozen=True)
class FactMeasure:
    """`function` gives (C,) values of a query, NaN where undefined. whole: of the whole run, without K."""

    name: str
    title: str
    definition: str
    formula: str
    reference: str
    function: Function
    whole: bool = False


def fact_count(facts: QueryFacts, counting: Counting) -> int:
    if counting.denominator == "all":
        return facts.fact_count
    return int(np.count_nonzero(facts.findable(partial=counting.partial)))


def fact_recall(run: Retrieved, counting: Counting) -> Floats:
    return _share(run.shares(partial=counting.partial).sum(axis=1), fact_count(run.facts, counting))


def recall_bounds(run: Retrieved, counting: Counting, strangers_outside: Integers) -> tuple[Floats, Floats]:
    """(C,) least and largest fact recall over all verdicts that the unjudged pairs can get.

    With C the facts held now and P those not wholly held that an unjudged document in the first K could
    hold, all facts give [C/F, (C + P)/F]. Where only findable facts count, O are those not findable now that
    an unjudged document outside the first K could make so: [C/(A + O), (C + P)/(A + P)]. With parts, a fact
    that only documents in the first K can make findable lowers the mean by being held in part, where the
    mean is above a half. `strangers_outside` as in `Retrieved.open_outside`.
    """
    shares = run.shares(partial=counting.partial)
    could = (run.first_open <= run.cutoffs[:, None]) & (shares < 1)
    most = np.where(could, 1.0, shares).sum(axis=1)
    if counting.denominator == "all":
        return _share(shares.sum(axis=1), run.facts.fact_count), _share(most, run.facts.fact_count)
    findable = run.facts.findable(partial=counting.partial)[None, :]
    outside = ~findable & run.open_outside(strangers_outside)
    above, below = shares.sum(axis=1), (findable | outside).sum(axis=1).astype(np.float64)
    if counting.partial:
        half = (could & ~findable & ~outside).sum(axis=1)
        lowers = above > 0.5 * below
        above, below = above + np.where(lowers, 0.5 * half, 0), below + np.where(lowers, half, 0)
    return _ratio(above, below), _ratio(most, (findable | could).sum(axis=1).astype(np.float64))


def alpha_ndcg(run: Retrieved, counting: Counting) -> Floats:
    return _normalised(run, lambda place: 1 / np.log2(place + 1))


def err_ia(run: Retrieved, counting: Counting) -> Floats:
    return _normalised(run, lambda place: 1 / place)


def _normalised(run: Retrieved, discount: Callable[[Floats], Floats]) -> Floats:
    """Discounted gains as a share of those of the best order."""
    best = run.facts.ideal_gains(int(run.cutoffs[-1]))
    sums = np.concatenate(([0.0], np.cumsum(best * discount(np.arange(1.0, len(best) + 1)))))
    ideal = sums[np.minimum(run.cutoffs, len(best))]
    gains = run.up_to(run.gains() * discount(run.places[run.order]))
    return _ratio(gains, ideal)


def p_ia(run: Retrieved, counting: Counting) -> Floats:
    findable = int(np.count_nonzero(run.facts.findable(partial=False)))
    return _share(run.up_to(run.supported()) / run.cutoffs, findable)


def map_ia(run: Retrieved, counting: Counting) -> Floats:
    supports = run.facts.supports
    all_of = np.count_nonzero(supports, axis=0)
    findable = all_of > 0
    there = supports[run.order].astype(np.float64)
    precision = np.cumsum(there, axis=0) / run.places[run.order][:, None]
    sums = (there * precision).sum(axis=0)[findable] / all_of[findable]
    mean = float(sums.mean()) if findable.any() else np.nan
    return np.full(len(run.cutoffs), mean)


def redundancy(run: Retrieved, counting: Counting) -> Floats:
    facts, times = run.shares(partial=False).sum(axis=1), run.up_to(run.supported())
    return 1 - _ratio(facts, times)


def _share(above: Floats, below: int) -> Floats:
    return above / below if below else np.full(len(above), np.nan)


def _ratio(above: Floats, below: Floats) -> Floats:
    """NaN where `below` is 0."""
    result: Floats = np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
    return result


_CLARKE = "Clarke and others, Novelty and diversity in information retrieval evaluation (2008)"

FACT_MEASURES = {
    measure.name: measure
    for measure in (
        FactMeasure(
            "fact_recall",
            "Fact recall",
            "The share of the query's facts that the first K documents support, each counted once.",
            "facts supported in the first K / facts of the query",
            "ndeval's strec, of findable facts; nuggetizer's scores, where parts count half",
            fact_recall,
        ),
        FactMeasure(
            "alpha_ndcg",
            "α-nDCG",
            "The facts that the first K documents support, discounted by rank and halved each time one comes "
            "again, as a share of the best order.",
            "Σ gain / log2(rank + 1), gain = Σ over supported facts of 0.5^(times supported above)",
            f"{_CLARKE}; ndeval alpha-nDCG",
            alpha_ndcg,
        ),
        FactMeasure(
            "err_ia",
            "nERR-IA",
            "The same, discounted by 1/rank.",
            "Σ gain / rank, as a share of the best order",
            "Chapelle and others, Intent-based diversification of web search results (2011); ndeval nERR-IA",
            err_ia,
        ),
        FactMeasure(
            "p_ia",
            "P-IA",
            "The precision of the first K for a fact, as a mean over the findable facts.",
            "supports in the first K / (K · findable facts)",
            "Agrawal and others, Diversifying search results (2009); ndeval P-IA",
            p_ia,
        ),
        FactMeasure(
            "map_ia",
            "MAP-IA",
            "The average precision for a fact over the whole run, as a mean over the findable facts.",
            "mean over findable facts of Σ precision(rank of each support) / supports",
            "Agrawal and others, Diversifying search results (2009); ndeval MAP-IA",
            map_ia,
            whole=True,
        ),
        FactMeasure(
            "redundancy",
            "Redundancy",
            "The share of the supports in the first K that only repeat a fact. Undefined without a support.",
            "1 − facts supported / supports, in the first K",
            "Soundings",
            redundancy,
        ),
    )
}
