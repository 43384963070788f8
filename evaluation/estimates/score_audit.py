"""From an audit by scores and its labels to the sample that estimates rest on, and what it says. No Django.

The audit was drawn from the pairs of a pool that had no label then, by strata that run across queries; all
other pairs of the pool are *certain* (π = 1), with the label that they have now. Of each stratum the labelled
beginning of its draw order is a simple random sample of all its pairs, so that π is (pairs in that
beginning) / (pairs of the stratum). What came to other pairs later is counted and not used. A stratum of
which nothing is labelled is undefined, and with it the whole, never 0. Pairs that nobody could judge, and
certain ones that lost their label, count as relevant and as not, and intervals span all of this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evaluation.estimates.from_audit import Places, spanned
from evaluation.estimates.intervals import (
    LabelInterval,
    alone,
    interval_of_hits,
    interval_of_micro_recall,
    interval_of_micro_recall_difference,
    interval_of_total,
)
from evaluation.estimates.sample import extremes_of
from evaluation.estimates.totals import Remainder, most_missing_in_all
from evaluation.measures.intervals import LEVEL
from evaluation.scoring.estimate_figures import EstimateFigure, MicroFigure, RunDifference, TotalEstimate
from pooling.heavy import pl

PAIR = ["query_id", "document_id"]
CERTAIN = "certain"
# Of more runs each against each, nobody reads the differences.
MOST_COMPARED = 12

NOT_POOLED = "the pool does not hold all of the run's first {k}"


@dataclass(frozen=True)
class ScoreAudit:
    """Labels of an audit by scores, as a sample of its pool.

    sample: query_id, document_id, stratum, relevant, inclusion_probability, cannot_judge, for
    `evaluation.estimates.totals`; a pair without an answer counts as not relevant here. pairs: query_id,
    document_id of the whole pool. strata: one row per stratum: stratum, pairs, drawn, sampled, relevant (of
    the sampled), cannot_judge (of the sampled), waiting (drawn without an answer). certain, lost (certain
    ones without a label now) and unused (labels of pairs that were not drawn) are counts.
    """

    sample: pl.DataFrame
    pairs: pl.DataFrame
    strata: pl.DataFrame
    certain: int
    lost: int
    unused: int

    @property
    def is_defined(self) -> bool:
        """Something of each stratum is labelled."""
        return bool((self.strata["sampled"] > 0).all())

    @property
    def is_complete(self) -> bool:
        """All that was drawn has an answer."""
        return not self.strata["waiting"].sum()

    def extremes(self, *kinds: pl.DataFrame) -> list[pl.DataFrame]:
        """The sample under the extremes of what has no answer, as `extremes_of`."""
        return extremes_of(self.sample, ("cannot_judge",), kinds)

    def remainders(self) -> list[Remainder]:
        """One per stratum; what nobody could judge counts as relevant."""
        relevant_count = pl.col("relevant") + pl.col("cannot_judge")
        return [
            Remainder(*row)
            for row in self.strata.select("pairs", "sampled", relevant_count.alias("found")).rows()
        ]


def score_audit(
    pairs: pl.DataFrame,
    draw: pl.DataFrame,
    sizes: Sequence[int],
    *,
    labels: pl.DataFrame,
    unanswered: pl.DataFrame,
) -> ScoreAudit:
    """The sample that labels are of an audit by scores.

    pairs: query_id, document_id, known (whether it had a label at the draw) of the whole pool. drawn:
    query_id, document_id, stratum (from 0), place (from 1, in the order of the draw). sizes (H,): pairs of
    each stratum. labels: query_id, document_id, relevant (Boolean). unanswered: the pairs that nobody could
    judge.
    """
    labelled = labels.select(*PAIR, "relevant")
    certain = pairs.filter("known").join(labelled, on=PAIR, how="left")
    rest = pairs.filter(~pl.col("known"))
    marks = unanswered.select(PAIR).unique().with_columns(given_up=pl.lit(True))
    rows = draw.join(labelled, on=PAIR, how="left").join(marks, on=PAIR, how="left")
    answered = pl.col("relevant").is_not_null() | pl.col("given_up").fill_null(False)
    rows = rows.sort("stratum", "place").with_columns(answered=answered)
    begun = pl.col("answered").cast(pl.Int8).cum_prod().over("stratum") == 1
    population = pl.DataFrame(
        {"stratum": range(len(sizes)), "pairs": list(sizes)}, schema={"stratum": pl.Int64, "pairs": pl.Int64}
    )
    rows = rows.with_columns(pl.col("stratum").cast(pl.Int64), begun=begun).join(population, on="stratum")
    strata = _strata(population, rows)
    sampled = rows.filter("begun").select(
        *PAIR,
        pl.col("stratum").cast(pl.String),
        "relevant",
        inclusion_probability=pl.len().over("stratum") / pl.col("pairs"),
    )
    whole = pl.concat(
        [
            certain.select(
                *PAIR, "relevant", stratum=pl.lit(CERTAIN), inclusion_probability=pl.lit(1.0)
            ).select(sampled.columns),
            sampled,
        ]
    )
    undrawn = rest.join(draw, on=PAIR, how="anti")
    return ScoreAudit(
        whole.with_columns(pl.col("relevant").fill_null(False), cannot_judge=pl.col("relevant").is_null()),
        pairs.select(PAIR),
        strata,
        certain.height,
        certain["relevant"].null_count(),
        undrawn.join(labelled, on=PAIR, how="semi").height,
    )


def _strata(population: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    counted = rows.group_by("stratum").agg(
        drawn=pl.len(),
        sampled=pl.col("begun").sum(),
        relevant=(pl.col("begun") & pl.col("relevant").fill_null(False)).sum(),
        cannot_judge=(pl.col("begun") & pl.col("relevant").is_null()).sum(),
        waiting=(~pl.col("answered")).sum(),
    )
    joined = population.join(counted, on="stratum", how="left").sort("stratum")
    return joined.with_columns(pl.exclude("stratum").fill_null(0).cast(pl.Int64))


def relevant_by_scores(audit: ScoreAudit, *, confidence: float = LEVEL) -> TotalEstimate:
    """Number of relevant pairs in the pool: an interval as in `audit_estimates.relevant_estimate`, `seen`,
    and `at_most_unseen`, the exact bound on what the judged pairs lack over all strata together."""
    samples = audit.extremes()
    span = spanned([interval_of_total(one, confidence=confidence) for one in samples])
    seen = [int(one["relevant"].sum()) for one in samples]
    if span["high"] is not None:
        # More than all that has no label cannot be.
        span["high"] = min(span["high"], float(seen[-1] + audit.pairs.height - audit.sample.height))
    remainders = audit.remainders()
    bound = most_missing_in_all(remainders, confidence)
    return {
        **span,
        "seen": seen[0],
        "at_most_unseen": None if bound is None else bound - sum(one.relevant for one in remainders),
        "confidence": confidence,
    }


def runs_by_scores(
    audit: ScoreAudit,
    places: Places,
    cutoffs: Sequence[int],
    depths: Mapping[str, int],
    *,
    confidence: float = LEVEL,
) -> dict[str, dict[str, MicroFigure]]:
    """Run -> `recall@k`, `precision@k` -> {"micro": interval}, over the pairs of the pool.

    depths: how far down the pool holds a run's list wholly. Precision counts k places for every query of the
    pool; below that depth it is None, and has `why`.
    """
    pooled, samples = places.only(audit.pairs), audit.extremes()
    queries = audit.pairs["query_id"].n_unique()
    result: dict[str, dict[str, MicroFigure]] = {run: {} for run in places.runs}
    for run in places.runs:
        for k in cutoffs:
            top = pooled.top(run, k)
            recall = [
                interval_of_micro_recall(one, top, confidence=confidence) for one in audit.extremes(top)
            ]
            result[run][f"recall@{k}"] = {"micro": spanned(recall)}
            hits = [interval_of_hits(one, top, confidence=confidence) for one in samples]
            result[run][f"precision@{k}"] = {
                "micro": _over(spanned(hits), k * queries)
                if depths.get(run, 0) >= k
                else {"value": None, "low": None, "high": None, "why": NOT_POOLED.format(k=k)}
            }
    return result


def differences_by_scores(
    audit: ScoreAudit, places: Places, cutoffs: Sequence[int], *, confidence: float = LEVEL
) -> list[RunDifference]:
    """first, second, k and interval of differences in micro recall; nothing for more than MOST_COMPARED."""
    if len(places.runs) > MOST_COMPARED:
        return []
    pooled = places.only(audit.pairs)
    result: list[RunDifference] = []
    for k in cutoffs:
        tops = {run: pooled.top(run, k) for run in places.runs}
        for first, second in combinations(places.runs, 2):
            samples = audit.extremes(*alone(tops[first], tops[second]))
            intervals: list[LabelInterval] = [
                interval_of_micro_recall_difference(one, tops[first], tops[second], confidence=confidence)
                for one in samples
            ]
            result.append({"first": first, "second": second, "k": k, **spanned(intervals)})
    return result


def _over(estimate: EstimateFigure, places: int) -> EstimateFigure:
    """A number of relevant pairs as a share of places; no more than all of them."""

    def share(count: float | None) -> float | None:
        return None if count is None else min(count / places, 1.0)

    return {
        **estimate,
        "value": share(estimate["value"]),
        "value_if_relevant": share(estimate["value_if_relevant"]),
        "low": share(estimate["low"]),
        "high": share(estimate["high"]),
        "why": "",
    }
