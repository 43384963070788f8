"""Estimates from an audit and a model's predictions together: narrower where the model is any good, else the
human ones.

The estimate. Each pair d of the pool has a prediction f in [0, 1], each pair of the sample a label y and a
probability π. The number of relevant documents is λ Σ f over all pairs + Σ (y - λ f)/π over the sample; those
a run found are the same sums within its top K. Whatever the model is worth, this is without bias: at λ = 0 it
is the human estimate, at λ = 1 it trusts every prediction and corrects it by what the sample says of its
errors (Cassel, Särndal and Wretman, 1976, as difference estimator; Angelopoulos et al., Prediction-powered
inference, 2023). λ is Cov(y, f)/Var(f) over the draw, as in PPI++ (Angelopoulos, Duchi and Zrnic, 2023),
clipped to [0, 1].

What λ costs. It is estimated from the same labels, which flatters the residuals. So (1) below 50 labels of
the audit, or five relevant ones among them, λ is 0; (2) λ is drawn towards 0 by its own variance, 1 -
Var(λ)/λ², and is 0 where that is not positive; (3) twice Var(λ) · Var(f) is added to the variance: once for
the residuals that were fitted, once for the estimate that moves with λ. Var(λ) is the sandwich of the
residuals (White, 1980).

The interval. The residuals are of two kinds: relevant documents that the model did not foresee (1 - λf) and
others that it did (-λf). Both are weighted counts and get gamma limits (`evaluation/estimates/intervals.py`),
half a document more than was drawn included, and are joined as there. Their variances are scaled together
so that they relate to the human interval's as the residuals' variance relates to the labels', by strata.
So at λ → 0 this is the human interval, and a model that erred in no drawn document may still err
in others. Where it is not narrower than the human interval, that one is given and λ is 0.

The predictions must not know the labels of the audit: a model that learned from these has to be asked about
each document by a version that did not see its label. Nor may it hang on the draw whether a document has a
prediction. A model that was asked about the drawn documents alone says nothing of the others: the estimate
would be the human one, and its interval that of the residuals, far too narrow (a good model's held micro
recall in 67 % of 200 simulated campaigns). So where documents drawn and not drawn were not asked about alike,
λ is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from evaluation.estimates.intervals import (
    FEWEST_FOR_GAMMA,
    MORE,
    POWERED,
    Kind,
    LabelInterval,
    furthest,
    gamma_quantile,
    interval_of_hits,
    interval_of_micro_recall,
    interval_of_total,
    still_open,
)
from evaluation.estimates.totals import SampleArrays, ratio
from pooling.heavy import Floats, np, pl

PAIR = ["query_id", "document_id"]
#: Below this many labels of the audit outside the greedy part no model is believed.
FEWEST_LABELS = 50

#: Of the share of predicted documents, drawn or not, the part that the smaller must be of the larger.
ALIKE = 0.9

FEW_LABELS = f"fewer than {FEWEST_LABELS} labels of the audit outside the greedy part"
FEW_RELEVANT = f"fewer than {FEWEST_FOR_GAMMA} relevant documents in the audit"
CONSTANT = "the predictions of the documents drawn do not differ"
UNLIKE = "the model has scores for different shares of the drawn and the other documents"
DISAGREES = "the predictions do not agree with the labels by more than chance"
NOT_NARROWER = "the predictions would not make the interval narrower"
NOTHING = "no relevant document in the sample"
ALL_JUDGED = "every pair has a label"


@dataclass(frozen=True)
class Powered:
    """An estimate with a model's help next to the purely human one.

    `weight` is λ; where it is 0, `powered` is `human` and `why` says why. `narrower` is the share of the
    human interval's width that is saved.
    """

    human: LabelInterval
    powered: LabelInterval
    weight: float
    why: str = ""

    @property
    def narrower(self) -> float:
        """In [0, 1); 0 where either interval is undefined or has no width.

        >>> wide, narrow = (LabelInterval(5.0, 5.0 - at, 5.0 + at, POWERED, 9) for at in (4, 3))
        >>> Powered(wide, narrow, 0.5).narrower
        0.25
        """
        return saved(_values(self.human)[1:], _values(self.powered)[1:])


def saved(before: tuple[float | None, float | None], after: tuple[float | None, float | None]) -> float:
    """The share of the first interval's width that the second saves, in [0, 1)."""
    wide, narrow = (None if low is None or high is None else high - low for low, high in (before, after))
    return max(1 - narrow / wide, 0.0) if wide and narrow is not None else 0.0


@dataclass(frozen=True)
class Predicted:
    """A sample and what a model predicts of its pool.

    `guess` (n,) are the predictions of the sample's pairs, 0 for certain ones, which cancel; `unsampled` are
    the other pairs: query_id, document_id, guess. Guesses are counted from the mean of all uncertain pairs,
    so that a model which says the same of all is worth nothing. `share` is the part of the uncertain pairs
    that have a separate prediction. `alike` says that these are about as many of the pairs drawn as of
    the others.
    """

    sample: pl.DataFrame
    arrays: SampleArrays
    guess: Floats
    unsampled: pl.DataFrame
    share: float
    alike: bool

    @classmethod
    def of(cls, sample: pl.DataFrame, unsampled: pl.DataFrame, predictions: pl.DataFrame) -> Predicted:
        """sample, unsampled: as in `evaluation.estimates.sample.AuditSample`. predictions: query_id,
        document_id,
        prediction in [0, 1], a verdict as 0 or 1; a pair without one counts as the mean of all. Raises
        ValueError for a prediction out of range, or for two of the same pair."""
        absent = [name for name in (*PAIR, "prediction") if name not in predictions.columns]
        if absent:
            raise ValueError(f"The predictions have no column {', '.join(absent)}.")
        guesses = predictions.select(*PAIR, guess=pl.col("prediction").cast(pl.Float64)).drop_nulls("guess")
        if not guesses["guess"].is_between(0, 1).all():
            raise ValueError(
                "A prediction lies outside the range 0 to 1; divide graded ones by the top grade."
            )
        if guesses.select(PAIR).is_duplicated().any():
            raise ValueError("A pair has two predictions; take those of one model and prompt.")
        arrays = SampleArrays.of(sample)
        own = arrays.pairs.join(guesses, on=PAIR, how="left", maintain_order="left")["guess"]
        rest = unsampled.select(PAIR).join(guesses, on=PAIR, how="left", maintain_order="left")
        uncertain = pl.Series(arrays.probability < 1)
        uncertain_guesses = pl.concat([own.filter(uncertain), rest["guess"]])
        mean = float(uncertain_guesses.mean() or 0.0)  # type: ignore[arg-type]
        guess = (own - mean).fill_null(0.0).to_numpy() * uncertain.to_numpy()
        return cls(
            sample,
            arrays,
            guess,
            rest.with_columns((pl.col("guess") - mean).fill_null(0.0)),
            _answered_share(uncertain_guesses),
            _alike(
                _answered_share(own.filter(uncertain), arrays.probability[arrays.probability < 1]),
                _answered_share(rest["guess"]),
            ),
        )

    def within(self, retrieved: pl.DataFrame | None) -> Domain:
        """The part of the pool that a run retrieved; all of it for None."""
        if retrieved is None:
            return Domain(self.arrays, np.ones(len(self.guess)), self.guess, self.unsampled)
        pairs = retrieved.select(PAIR).unique()
        hit = self.arrays.hits_of(pairs)
        return Domain(self.arrays, hit, self.guess * hit, self.unsampled.join(pairs, on=PAIR, how="semi"))


@dataclass(frozen=True)
class Domain:
    """Part of a pool: `hit` (n,) marks its pairs of the sample, `guess` (n,) are their predictions (0 for the
    others), `rest` are its pairs outside the sample: query_id, document_id, guess."""

    arrays: SampleArrays
    hit: Floats
    guess: Floats
    rest: pl.DataFrame

    @property
    def relevant(self) -> Floats:
        return self.arrays.relevant * self.hit

    @property
    def seen(self) -> float:
        return float(self.relevant.sum())

    @property
    def most(self) -> float:
        """Relevant documents if all without a label are."""
        return self.seen + self.rest.height

    def estimate(self, weight: float) -> float:
        """Relevant documents of the domain; never fewer than were seen, nor more than it can have."""
        value = self.arrays.total(self.relevant - weight * self.guess)
        value += weight * (float(self.guess.sum()) + float(self.rest["guess"].sum()))
        return min(max(value, self.seen), self.most)

    def by_query(self, weight: float) -> pl.DataFrame:
        """query_id, value: the same estimate within each query of the sample, not bounded by what can be."""
        residual = self.relevant - weight * self.guess
        values = pl.Series(residual / self.arrays.probability + weight * self.guess)
        totals = (
            self.arrays.pairs.select("query_id", value=values).group_by("query_id").agg(pl.col("value").sum())
        )
        rest = self.rest.group_by("query_id").agg(unseen=pl.col("guess").sum())
        joined = totals.join(rest, on="query_id", how="left")
        value = pl.col("value") + weight * pl.col("unseen").fill_null(0)
        return joined.select("query_id", value=value).sort("query_id")

    def without(self, other: Domain) -> Domain:
        """The difference of two sets; `other` is part of this domain."""
        rest = self.rest.join(other.rest, on=PAIR, how="anti")
        return Domain(self.arrays, self.hit - other.hit, self.guess - other.guess, rest)


@dataclass(frozen=True)
class Tuning:
    """λ with the variance that estimating it brings; `why` it is 0."""

    weight: float
    variance: float
    why: str = ""


def tuned(given: Predicted, target: Floats, control: Floats) -> Tuning:
    """λ for estimating the total of `target` with the help of `control`, both (n,) over the sample."""
    arrays = given.arrays
    uncertain = arrays.probability < 1
    if not uncertain.any():
        return Tuning(0.0, 0.0, ALL_JUDGED)
    if not given.alike:
        return Tuning(0.0, 0.0, UNLIKE)
    if uncertain.sum() < FEWEST_LABELS:
        return Tuning(0.0, 0.0, FEW_LABELS)
    if (arrays.relevant * uncertain).sum() < FEWEST_FOR_GAMMA:
        return Tuning(0.0, 0.0, FEW_RELEVANT)
    y, f, spreads = arrays.deviations(target), arrays.deviations(control), arrays.spreads
    power = float((spreads * f**2).sum())
    if power <= 1e-12 * float(spreads.sum()):
        return Tuning(0.0, 0.0, CONSTANT)
    weight = float((spreads * y * f).sum()) / power
    if weight <= 0:
        return Tuning(0.0, 0.0, DISAGREES)
    variance = float(((spreads * f * (y - weight * f)) ** 2).sum()) / power**2
    weight = min(weight * max(1 - variance / weight**2, 0.0), 1.0)
    return Tuning(weight, variance, "" if weight else DISAGREES)


def powered_total(given: Predicted, *, confidence: float = 0.95) -> Powered:
    """The number of relevant documents of the pool, as `interval_of_total` and with a model's help."""
    human = interval_of_total(given.sample, confidence=confidence)
    open_pairs = given.arrays.probability < 1
    lightest = _lightest(given.arrays, open_pairs)
    return _counted(given, given.within(None), human, lightest, confidence=confidence)


def powered_hits(given: Predicted, retrieved: pl.DataFrame, *, confidence: float = 0.95) -> Powered:
    """The number of relevant documents in a run's top K (`retrieved`: query_id, document_id), as
    `interval_of_hits` and with a model's help. No value or limit exceeds what the run's pairs without a
    label leave possible."""
    domain = given.within(retrieved)
    human = interval_of_hits(given.sample, retrieved, confidence=confidence)
    value, low, high = (None if one is None else min(one, domain.most) for one in _values(human))
    human = replace(human, value=value, low=low, high=high)
    lightest = _lightest(given.arrays, still_open(given.arrays, retrieved))
    return _counted(given, domain, human, lightest, confidence=confidence)


def powered_precision(
    given: Predicted, retrieved: pl.DataFrame, places: int, *, confidence: float = 0.95
) -> Powered:
    """`powered_hits` by the `places` of the run's top K: K for each query, however few it returned."""
    count = powered_hits(given, retrieved, confidence=confidence)
    return replace(count, human=_over(count.human, places), powered=_over(count.powered, places))


def powered_micro_recall(given: Predicted, retrieved: pl.DataFrame, *, confidence: float = 0.95) -> Powered:
    """Relevant documents found / relevant documents, as `interval_of_micro_recall` and with a model's help.

    λ is that of the linearised ratio, y · (found - recall) by the predictions · (found - recall).
    """
    human = interval_of_micro_recall(given.sample, retrieved, confidence=confidence)
    tuning, hit, missed = recall_tuning(given, retrieved)
    if not tuning.weight:
        return Powered(human, human, 0.0, tuning.why)
    arrays = given.arrays
    lightest = (_lightest(arrays, still_open(arrays, retrieved)), _lightest(arrays, arrays.probability < 1))
    level = (1 - confidence) / 2
    parts = [
        (domain.estimate(tuning.weight), *limits(domain, tuning, one, level))
        for domain, one in zip((hit, missed), lightest, strict=True)
    ]
    total = parts[0][0] + parts[1][0]
    value = parts[0][0] / total
    low, high = (furthest(parts, lambda r: (1 - r, -r), value, end) for end in (0.0, 1.0))
    low = max(low, _ratio(hit.seen, missed.most))
    high = min(high, _ratio(hit.most, missed.seen))
    return _better(human, LabelInterval(value, low, high, POWERED, human.relevant_drawn), tuning.weight)


def limits(domain: Domain, tuning: Tuning, lightest: float | None, level: float) -> tuple[float, float]:
    """Limits of the relevant documents of a domain that are each wrong at about `level`.

    Those that the model did not foresee and those that it did in vain are weighted counts, whose limits are
    joined by the square root of the summed squares (Zou and Donner, 2008).
    """
    arrays, weight = domain.arrays, tuning.weight
    left = (1 - arrays.probability) / arrays.probability
    residual = domain.relevant - weight * domain.guess
    humans = float((left / arrays.probability * domain.relevant).sum())
    variance = _residual_variance(arrays, domain, tuning)
    # The human interval counts a stratum's labels as a Poisson count would, a little more than sampling
    # without return has; the same factor here.
    sampled = arrays.variance(domain.relevant)
    variance *= humans / sampled if sampled > 0 and humans > 0 else 1.0
    sides = np.maximum(residual, 0.0), np.maximum(-residual, 0.0)
    powers = [float((left / arrays.probability * side**2).sum()) for side in sides]
    value, whole = domain.estimate(weight), sum(powers)
    reaches = []
    for side, power, heaviest in zip(sides, powers, (1.0, weight), strict=True):
        part = variance * power / whole if whole else 0.0
        mean = part * float((left * side).sum()) / power if power else 0.0
        extra = 0.0 if lightest is None else MORE * heaviest * (1 - lightest) / lightest
        more = 0.0 if lightest is None else part + extra * heaviest / lightest
        reaches.append(
            (
                mean - gamma_quantile(level, mean, part),
                gamma_quantile(1 - level, mean + extra, more) - mean if lightest is not None else 0.0,
            )
        )
    (missed_low, missed_high), (vain_low, vain_high) = reaches
    low, high = value - math.hypot(missed_low, vain_high), value + math.hypot(missed_high, vain_low)
    return max(low, domain.seen), min(high, domain.most)


def _residual_variance(arrays: SampleArrays, domain: Domain, tuning: Tuning) -> float:
    residual = domain.relevant - tuning.weight * domain.guess
    return arrays.variance(residual) + 2 * tuning.variance * arrays.variance(domain.guess)


def _counted(
    given: Predicted, domain: Domain, human: LabelInterval, lightest: float | None, *, confidence: float
) -> Powered:
    tuning = tuned(given, domain.relevant, domain.guess)
    if not tuning.weight:
        return Powered(human, human, 0.0, tuning.why)
    ends = limits(domain, tuning, lightest, (1 - confidence) / 2)
    value = domain.estimate(tuning.weight)
    return _better(human, LabelInterval(value, *ends, POWERED, human.relevant_drawn), tuning.weight)


def recall_tuning(given: Predicted, retrieved: pl.DataFrame) -> tuple[Tuning, Domain, Domain]:
    """λ, and the documents found and missed."""
    hit = given.within(retrieved)
    missed = given.within(None).without(hit)
    recall = ratio(given.arrays, hit.hit).value
    if recall is None:
        return Tuning(0.0, 0.0, NOTHING), hit, missed
    marks = hit.hit - recall
    return tuned(given, given.arrays.relevant * marks, given.guess * marks), hit, missed


def _better(human: LabelInterval, powered: LabelInterval, weight: float) -> Powered:
    pair = Powered(human, powered, weight)
    return pair if pair.narrower else Powered(human, human, 0.0, NOT_NARROWER)


def _answered_share(guesses: pl.Series, probability: Floats | None = None) -> float:
    """The share of guesses that are there, each by 1 / its probability; 1 of none."""
    if not len(guesses):
        return 1.0
    weights = None if probability is None else 1 / probability
    return float(np.average(guesses.is_not_null().to_numpy(), weights=weights))


def _alike(sample: float, others: float) -> bool:
    return min(sample, others) >= ALIKE * max(sample, others)


def _lightest(arrays: SampleArrays, possible: np.ndarray) -> float | None:
    return Kind.of(arrays, np.ones(len(arrays.relevant)), possible).lightest


def _values(interval: LabelInterval) -> tuple[float | None, float | None, float | None]:
    return interval.value, interval.low, interval.high


def _over(interval: LabelInterval, places: int) -> LabelInterval:
    value, low, high = (None if one is None else one / places for one in _values(interval))
    return replace(interval, value=value, low=low, high=high)


def _ratio(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else 0.0
