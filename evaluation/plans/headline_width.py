"""Expected width of the interval of a headline: mean recall over queries, queries and labels together.

The interval of `evaluation/estimates/macro_recall.py` is the sum of rare events: a relevant document drawn
from a thousand stands for hundreds. So a few campaigns are drawn, by what is expected of a query, and each
has its interval by the same formulas: the value with the linear step, the term of second order, the variance
of the draw, Student's t over queries, further towards ½; one that draws too few relevant documents has that
of recall over all queries together. What a query has of relevant documents is a Poisson number around its
own level, and levels follow a gamma distribution (a negative binomial number: Greenwood and Yule, 1920).
How much queries differ is not known before they are judged, so the ends of a range are of uneven ones. In the
pool alone that matters less, since no query has more relevant documents than its pool has documents.

Beyond the pool. Relevant documents grow with the documents looked at as a power: F documents hold (F / S)^g
times what S hold. Measured g, from a pool of depth 10: .27 on ADI, .18 to .21 on Cranfield; from the first
ten documents of a query to its first 1,000: .2 to .5 on six collections. Nobody knows it beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.estimates.intervals import FEWEST_FOR_GAMMA
from evaluation.estimates.macro_recall import FEWEST_QUERIES, VARIANCE
from evaluation.measures.hajek import further
from evaluation.plans.expected_width import ExpectedKind, expectation
from pooling.heavy import Floats, Integers, np, special

#: Shape of the gamma distribution of queries' levels: likely, and of queries that differ much. Of numbers of
#: relevant documents: Cranfield 2.7, DL 2019 1.7, ADI 1.0.
SHAPE, UNEVEN = 3.0, 1.0
#: How relevant documents grow with a frame: likely, and ends about those of what was measured.
GROWTH, GROWTHS = 0.3, (0.15, 0.5)
CAMPAIGNS = 20


def beyond_pool(relevant: Floats, sizes: Integers, frames: Integers, growth: float) -> Floats:
    """(Q,) the relevant documents of each query's frame that its pool does not hold."""
    times = np.divide(frames, sizes, out=np.ones(len(sizes)), where=sizes > 0)
    more: Floats = relevant.astype(np.float64) * (np.maximum(times, 1.0) ** growth - 1.0)
    return more


@dataclass(frozen=True)
class ExpectedQueries:
    """Relevant documents that are expected of each query (Q,): found by a run or missed, certain or left to
    the audit, which takes `probability` of these (nan: nothing is left, or nothing drawn)."""

    hits: Floats
    missed: Floats
    hits_left: Floats
    missed_left: Floats
    probability: Floats

    @property
    def audit_relevant(self) -> float:
        """Relevant documents in the audit, outside the greedy part."""
        return float((np.nan_to_num(self.probability) * (self.hits_left + self.missed_left)).sum())

    def width(self, *, confidence: float = 0.95, times: float = 1.0, shape: float = SHAPE) -> float | None:
        """The mean over a few campaigns, the same ones each time, of `times` as many queries, whose levels
        have this shape.

        With fewer than ten queries, and in a campaign with fewer than five relevant documents in the audit,
        the headline is recall over all queries together. None without a relevant document.
        """
        if len(self.hits) < FEWEST_QUERIES:
            return self._micro_width(confidence, times, shape)
        certain_hits, missed, hits, others, share = self._campaigns(shape)
        # The level as the certain documents show it, and the query's own intercept by what was drawn.
        left = self.hits_left + self.missed_left
        level = (shape + certain_hits + missed) / (shape + self.hits + self.missed)
        level = level * _intercept(hits + others, share * level * left)
        hits_left, others_left = level * self.hits_left, level * self.missed_left
        seen = certain_hits + missed + hits + others
        total = np.maximum(np.maximum(certain_hits + missed + hits_left + others_left, seen), 1e-9)
        plain = (certain_hits + hits_left) / total
        error = (hits + others) / share - hits_left - others_left
        moved = (hits * (1 - plain) - others * plain) / share
        shift = moved - hits_left * (1 - plain) + others_left * plain
        first = np.where(seen > 0, plain + shift / total, np.nan)
        second = first - (error * shift - moved * (1 - share) / share) / total**2
        counted = (seen > 0).sum(axis=1)
        in_audit = (hits + others).sum(axis=1) * times
        enough = (counted >= FEWEST_QUERIES) & ((in_audit >= FEWEST_FOR_GAMMA) | (not self.has_left))
        few = None if enough.all() else self._micro_width(confidence, times, shape)
        if not enough.any():
            return few
        first, second, counted = first[enough], second[enough], counted[enough]
        means = np.nanmean(first, axis=1), np.nanmean(second, axis=1)
        own = np.where(seen > 0, plain, np.nan)[enough]
        distances = np.maximum(
            hits_left * (1 - plain) ** 2 + others_left * plain**2,
            (hits * (1 - plain) ** 2 + others * plain**2) / share,
        )
        within = np.where(seen > 0, (1 - share) / share * distances / total**2, np.nan)[enough]
        spread = np.sqrt(np.nanvar(own, axis=1, ddof=1) + np.nanmean(within, axis=1))
        for one in (first, second):
            spread = np.maximum(spread, np.nanstd(one, axis=1, ddof=1))
        reach = special.stdtrit(counted - 1, (1 + confidence) / 2) * spread / np.sqrt(counted * times)
        low, high = np.minimum(*means), np.maximum(*means)
        more = [further(one, reach) if self.has_left else 0.0 for one in (1 - low, high)]
        low, high = low - reach - more[0], high + reach + more[1]
        macro, is_macro = float(np.mean(np.clip(high, 0, 1) - np.clip(low, 0, 1))), float(enough.mean())
        return is_macro * macro + (1 - is_macro) * (few or 0.0)

    def is_macro(self, times: float = 1.0) -> bool:
        """The headline can be a mean over queries."""
        enough = not self.has_left or self.audit_relevant * times >= FEWEST_FOR_GAMMA
        return enough and len(self.hits) >= FEWEST_QUERIES

    @property
    def has_left(self) -> bool:
        return bool(self.hits_left.any() or self.missed_left.any())

    def _micro_width(self, confidence: float, times: float, shape: float) -> float | None:
        queries = round(len(self.hits) * times)
        share = np.resize(self.probability, queries)

        def kind(certain: Floats, left: Floats) -> ExpectedKind:
            rest = np.resize(left, queries)
            return ExpectedKind.of(float(certain.sum()) * times, rest, rest > 0, share)

        hit, missed = kind(self.hits, self.hits_left), kind(self.missed, self.missed_left)
        labels = expectation(hit, missed, confidence)
        if labels.low is None or labels.high is None or not self.has_left:
            return labels.width
        none = 0 * self.hits
        certain = ExpectedQueries(self.hits, self.missed, none, none, none + np.nan)
        if not certain.is_macro():
            return labels.width
        # Which queries were asked, as the certain documents show it.
        reach = (certain.width(confidence=confidence, times=times, shape=shape) or 0.0) / 2
        seen = self.hits.sum() / max(self.hits.sum() + self.missed.sum(), 1e-9)
        below = reach * labels.low / seen if seen else 0.0
        return float(min(labels.high + reach, 1.0) - max(labels.low - below, 0.0))

    def _campaigns(self, shape: float) -> tuple[Integers, Integers, Integers, Integers, Floats]:
        """(C, Q) relevant documents found, missed, found and missed in the audit; and π (Q,)."""
        random = np.random.default_rng(0)
        level = random.gamma(shape, 1 / shape, (CAMPAIGNS, len(self.hits)))
        share = np.where(np.isnan(self.probability), 1.0, self.probability)
        certain_hits, missed = random.poisson(self.hits * level), random.poisson(self.missed * level)
        # A Poisson number of which each is drawn by itself is a Poisson number.
        hits = random.poisson(self.hits_left * level * share)
        others = random.poisson(self.missed_left * level * share)
        return certain_hits, missed, hits, others, share


def _intercept(sample: Integers, expected: Floats) -> Floats:
    """Factor of a document's chance by its level, by what was drawn of its query."""
    own = np.zeros(sample.shape)
    for _ in range(10):
        rest = expected * np.exp(own)
        own += np.clip((sample - rest - own / VARIANCE) / (rest + 1 / VARIANCE), -1.0, 1.0)
    return np.asarray(np.exp(own))
