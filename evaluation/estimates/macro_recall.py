"""Mean recall over queries, estimated from an audit.

A query's own audit is too small for a separate estimate: where it drew nothing relevant the query looks
complete, so that the mean of such estimates errs high. Here all queries share a model, and the audit corrects
it.

The model. The chance that a document which the order has not reached is relevant: a logistic regression on
the log-odds of relevance among the query's certain documents and the logarithm of the document's place in its
query (by reciprocal rank fusion of the measured runs; precision falls evenly with it), with an intercept for
each query that is drawn towards 0 (penalised quasi-likelihood: Breslow and Clayton, 1993). It is fitted to
the audit documents of all queries.

The value. With the chances f summed, query q has r relevant documents, of which the run found the share R.
What the audit says of the errors y - f is added, linearised: Σ (y - f)/π · (found - R) / r over its audit
documents (a difference estimator: Cassel, Särndal and Wretman, 1976; one step from a plug-in: Bickel, 1975).
The mean of this over the queries is the estimate.

The interval. The linear step leaves a term of second order, -A·B/r² with the error A = Σ (y - f) of the
query's relevant documents and B = Σ (y - f)(found - R). It is estimated from the draw as the product of both
totals less their covariance by strata (as in Robins et al., Higher order influence functions, 2008): nearly
without bias, and noisy. So it does not move the value. The interval reaches from the smaller of the means
with and without this term to the larger, and beyond by the larger of both reaches (Student's t over queries),
or by that of the model's own values with the variance of the draw on top: queries that drew nothing relevant
are alike, however much they differ. Recall is a share: where it is small, a total that is estimated too large
makes recall and its error too small at once, so that the interval reaches further towards ½ than away from
it. It covers which queries were asked and which labels were drawn. `benchmarks/bench_honesty.py` and
`bench_headline.py` measure how often it holds.

Where the audit's frame is deeper than the pool, most documents beyond the pool have no row. All of them have
one chance in their query, that of the last place; how many of them are relevant is the chance times their
number, and how many of those a run found is what its drawn documents say, weighted by 1/π.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluation.estimates.intervals import FEWEST_FOR_GAMMA, DesignOf
from evaluation.estimates.sample import PAIR, AuditSample
from evaluation.estimates.totals import SampleArrays
from evaluation.measures.hajek import Design, effective_size, further, weighted_means
from evaluation.measures.intervals import share_unlike
from pooling.heavy import Floats, Integers, NDArray, np, pl, special

#: Fewer queries, or drawn ones that are worth fewer of equal weight, say nothing of a mean over queries.
FEWEST_QUERIES = 10
#: Variances of the queries' intercepts, in log-odds, among which the most probable is sought. Before anything
#: is drawn, the logarithm is normal around that of VARIANCE, with this standard deviation.
VARIANCES, VARIANCE, SPREAD = (0.1, 0.25, 0.5, 0.8, 1.25, 2.0, 3.0), 0.5, 0.8
#: How strongly the other coefficients are drawn towards 0.
RIDGE, RIDGE_OF_MEAN = 1.0, 1e-3
#: Points at which an intercept's distribution is summed (Gauss and Hermite).
POINTS = 15
RRF = 60

FEW_RELEVANT = f"fewer than {FEWEST_FOR_GAMMA} relevant documents in the audit"
FEW_QUERIES = f"fewer than {FEWEST_QUERIES} queries with a relevant label"
AWAITED = "documents that the order reached wait for a label"


@dataclass(frozen=True)
class MacroRecall:
    """The mean over `queries`; None where it is undefined, and `why`."""

    value: float | None
    low: float | None
    high: float | None
    queries: int
    why: str = ""


def macro_recalls(
    audit: AuditSample,
    ranks: pl.DataFrame,
    keys: Sequence[tuple[int, int]],
    *,
    confidence: float = 0.95,
    design_of: DesignOf | None = None,
    zero_relevant: bool = False,
) -> list[MacroRecall]:
    """One for each key (number of a run, K).

    ranks: query_id, document_id, rank_0 … of the runs, as in `evaluation.estimates.from_audit.Places`. Where
    pairs have no answer, an interval spans the extremes; while labels are awaited there is no value.
    design_of: how the queries were drawn from a log, where the mean is that of the log. zero_relevant:
    queries without a relevant label count 0, and are left out otherwise.
    """
    pairs = pl.concat([audit.sample.select(PAIR), audit.unsampled])
    placed = pairs.join(ranks, on=PAIR, how="left", maintain_order="left")
    deepest = max((k for _, k in keys), default=0)
    rest = _Rest.of(audit, placed, deepest)
    design = None if design_of is None else design_of(pairs["query_id"].unique().sort().to_list())

    def models_of(samples: Sequence[pl.DataFrame]) -> list[_Model]:
        made = [_Model.of(one, audit.unsampled, rest, design) for one in samples]
        return [replace(one, averaged=one.counts | zero_relevant) for one in made]

    models = models_of(audit.extremes())
    recalls = []
    for run, k in keys:
        is_hit = (pl.col(f"rank_{run}") <= k).fill_null(False)
        hits = placed.select(is_hit.alias("hit"))["hit"].to_numpy()
        top = placed.filter(is_hit).select(PAIR)
        more = models_of(audit.extremes(top)[2:])
        recalls.append(_spanned([one.recall(hits, confidence) for one in [*models, *more]], audit.awaited))
    return recalls


def _spanned(extremes: Sequence[MacroRecall], awaited: int) -> MacroRecall:
    first = extremes[0]
    if undefined := next((one for one in extremes if one.why), None):
        return MacroRecall(None, None, None, first.queries, undefined.why)
    lows, highs = ([getattr(one, end) for one in extremes] for end in ("low", "high"))
    value = None if awaited else first.value
    if None in lows or None in highs:
        return MacroRecall(value, None, None, first.queries, AWAITED if awaited else "")
    return MacroRecall(value, min(lows), max(highs), first.queries, AWAITED if awaited else "")


@dataclass(frozen=True)
class _Rest:
    """Places of the pairs of a sample and of the others, and what their frames hold besides.

    place (n,) is the logarithm of each pair's place in its query by reciprocal rank fusion, as a share of the
    query's documents; is_beyond (n,) marks the pairs beyond the pool. hidden, last (Q,), queries bytewise:
    documents of the frame without a row, and the place that they and those beyond the pool share.
    """

    place: Floats
    is_beyond: NDArray[np.bool_]
    hidden: Floats
    last: Floats

    @classmethod
    def of(cls, audit: AuditSample, placed: pl.DataFrame, deepest: int) -> _Rest:
        """Ranks below the deepest K are not looked at: of pairs without a label they are not known."""
        ranks = [name for name in placed.columns if name.startswith("rank_")]
        votes = [
            pl.when(pl.col(name) <= deepest).then(1 / (RRF + pl.col(name).cast(pl.Float64))).otherwise(0.0)
            for name in ranks
        ]
        marks = audit.beyond.with_columns(is_beyond=pl.lit(True))
        rows = (
            placed.with_columns(rrf=pl.sum_horizontal(votes) if votes else pl.lit(0.0))
            .join(marks, on=PAIR, how="left", maintain_order="left")
            .join(audit.hidden, on="query_id", how="left", maintain_order="left")
            .with_columns(pl.col("is_beyond").fill_null(False), pl.col("documents").fill_null(0))
            .with_columns(rrf=pl.when("is_beyond").then(0.0).otherwise("rrf"))
        )
        # The last share a place with all that has no row.
        size = pl.len().over("query_id") + pl.col("documents")
        above = (pl.col("rrf") > 0).sum().over("query_id")
        rank = pl.col("rrf").rank("average", descending=True).over("query_id")
        last = above + (size - above + 1) / 2
        rank = pl.when(pl.col("rrf") > 0).then(rank).otherwise(last)
        rows = rows.with_columns(place=((rank - 0.5) / size).log(), last=((last - 0.5) / size).log())
        firsts = rows.group_by("query_id").agg(pl.col("documents", "last").first()).sort("query_id")
        return cls(
            rows["place"].to_numpy(),
            rows["is_beyond"].to_numpy(),
            firsts["documents"].to_numpy().astype(np.float64),
            firsts["last"].to_numpy(),
        )


@dataclass(frozen=True)
class _Model:
    """Expected labels of the pairs of a sample (first) and of the others of its queries (then).

    query (n,) numbers the queries; expected (n,) is the label of certain pairs and the chance of all others;
    residual (s,) is label minus chance of what was drawn, 0 of certain pairs; total (Q,) are relevant
    documents; counts (Q,) marks the queries with a relevant label, averaged (Q,) those of the mean; weight
    (n,) is how much of a run's finds each pair stands for; design (Q,) is how the queries were drawn, None
    where each counts once.
    """

    arrays: SampleArrays
    query: Integers
    expected: Floats
    residual: Floats
    total: Floats
    counts: NDArray[np.bool_]
    averaged: NDArray[np.bool_]
    weight: Floats
    design: Design | None

    @classmethod
    def of(cls, sample: pl.DataFrame, unsampled: pl.DataFrame, rest: _Rest, design: Design | None) -> _Model:
        arrays = SampleArrays.of(sample)
        ids = pl.concat([sample["query_id"], unsampled["query_id"]])
        query = (ids.rank("dense").cast(pl.Int64) - 1).to_numpy()
        size, count = len(arrays.relevant), int(query.max()) + 1 if len(query) else 0
        is_certain = np.zeros(len(query), dtype=bool)
        is_certain[:size] = arrays.probability == 1
        is_sampled = np.zeros(len(query), dtype=bool)
        is_sampled[:size] = ~is_certain[:size]
        label = np.zeros(len(query))
        label[:size] = arrays.relevant
        reached, relevant = (np.bincount(query, values, count) for values in (is_certain, is_certain * label))
        odds = np.log((relevant + 0.5) / (reached - relevant + 0.5))
        of, place = np.append(query, np.arange(count)), np.append(rest.place, rest.last)
        features = np.column_stack([np.ones(len(of)), odds[of], place])
        labels = np.append(label, np.zeros(count))
        in_audit = np.append(is_sampled, np.zeros(count, dtype=bool))
        chance, hidden = np.split(chances(features, of, labels, in_audit, queries=count), [len(query)])
        expected = np.where(is_certain, label, chance)
        seen = np.bincount(query, label, count)
        weight = np.ones(len(query))
        alike = rest.is_beyond[:size] & is_sampled[:size]
        weight[:size][alike] = 1 / arrays.probability[alike]
        weight[size:][rest.is_beyond[size:]] = 0.0
        return cls(
            arrays,
            query,
            expected,
            np.where(is_sampled, label - chance, 0.0)[:size],
            np.maximum(np.bincount(query, expected, count) + rest.hidden * hidden, seen),
            seen > 0,
            seen > 0,
            weight,
            design,
        )

    def recall(self, hits: NDArray[np.bool_], confidence: float) -> MacroRecall:
        """hits (n,): the pairs in a run's first K."""
        queries = int(self.averaged.sum())
        worth = float(queries)
        if self.design is not None and queries:
            worth = effective_size(self.design.weights[self.averaged])
        uncertain = self.arrays.probability < 1
        if uncertain.any() and self.arrays.relevant[uncertain].sum() < FEWEST_FOR_GAMMA:
            return MacroRecall(None, None, None, queries, FEW_RELEVANT)
        if worth < FEWEST_QUERIES:
            return MacroRecall(None, None, None, queries, FEW_QUERIES)
        plain, *values, within = self._values(hits)
        means, reaches, alike = zip(*(self._mean(one, within, confidence) for one in values), strict=True)
        if self.design is None:  # with one, the variance of the draw is in each reach
            of_model, of_draw = (np.where(self.counts, one, 0.0)[self.averaged] for one in (plain, within))
            reaches = *reaches, _reach(of_model, confidence, of_draw)
        low, high = min(means) - max(reaches), max(means) + max(reaches)
        if uncertain.any():
            low, high = skewed(means, max(reaches))
        below, above = np.max(alike, axis=0).tolist()
        low, high = means[0] - np.hypot(means[0] - low, below), means[0] + np.hypot(high - means[0], above)
        if low == high and low in (0, 1):
            (share,) = share_unlike(np.array([worth]), confidence).tolist()
            low, high = low - share * low, high + share * (1 - high)
        value, low, high = np.clip([means[0], low, high], 0, 1).tolist()
        return MacroRecall(value, low, high, queries)

    def _mean(
        self, values: Floats, within: Floats, confidence: float
    ) -> tuple[float, float, tuple[float, float]]:
        """And the reach of its interval; and what strata of a draw add below and above it that are all 0, or
        all 1."""
        values = np.where(self.counts, values, 0.0)
        if self.design is None:
            return float(values[self.averaged].mean()), _reach(values[self.averaged], confidence), (0.0, 0.0)
        counted = np.where(self.averaged, values, np.nan)[:, None]
        means = weighted_means(counted, self.design, np.where(self.counts, within, 0.0)[:, None])
        below, above = (float(one[0]) for one in means.reaches_of_alike(confidence))
        return float(means.mean[0]), float(means.reach(confidence)[0]), (below, above)

    def _values(self, hits: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats, Floats]:
        """(Q,) recall by the model, with the linear step, with that of second order too, and the variance of
        the draw."""
        total = np.where(self.counts, self.total, 1.0)
        plain = self._sums(self.query, self.expected * hits * self.weight) / total
        mine = self.query[: len(self.residual)]
        moved = self.residual * (hits[: len(self.residual)] - plain[mine])
        arrays = self.arrays
        error, shift = (self._sums(mine, one / arrays.probability) for one in (self.residual, moved))
        shared = arrays.spreads * arrays.deviations(self.residual) * arrays.deviations(moved)
        product = error * shift - self._sums(mine, shared)
        first = plain + shift / total
        sampled = arrays.spreads * arrays.deviations(moved) ** 2
        # Where a query's few labels hardly differ, the model knows better how much they could have.
        chance = self.expected[: len(mine)]
        distance = hits[: len(mine)] - plain[mine]
        modelled = (1 - arrays.probability) / arrays.probability**2 * chance * (1 - chance) * distance**2
        within = np.maximum(self._sums(mine, sampled), self._sums(mine, modelled)) / total**2
        return plain, first, first - product / total**2, within

    def _sums(self, query: Integers, values: Floats) -> Floats:
        return np.asarray(np.bincount(query, values, len(self.counts)), dtype=np.float64)


def skewed(means: Sequence[float], reach: float) -> tuple[float, float]:
    """The limits of a share estimated by all these means, with this reach, `further` towards ½."""
    low, high = min(means), max(means)
    return low - reach - float(further(1 - low, reach)), high + reach + float(further(high, reach))


def _reach(values: Floats, confidence: float, within: Floats | float = 0.0) -> float:
    error = np.sqrt((values.var(ddof=1) + np.mean(within)) / len(values))
    return float(special.stdtrit(len(values) - 1, (1 + confidence) / 2) * error)


def chances(
    features: Floats, query: Integers, label: Floats, is_sampled: NDArray[np.bool_], *, queries: int
) -> Floats:
    """(n,) how likely each pair is to be relevant, by a logistic regression on the drawn ones.

    features (n, p), the first of them 1; query (n,) from 0 to queries - 1; label (n,) of what was drawn.
    """
    if not is_sampled.any():
        return np.zeros(len(query))
    sample = _Sample(features[is_sampled], query[is_sampled], label[is_sampled], queries)
    best = VARIANCES.index(VARIANCE)
    fits = {best: sample.fit(VARIANCE, np.zeros(features.shape[1]))}
    for step in (1, -1):
        while 0 <= (at := best + step) < len(VARIANCES):
            if at not in fits:
                fits[at] = sample.fit(VARIANCES[at], fits[best].coefficients)
            if fits[at].likelihood <= fits[best].likelihood:
                break
            best = at
    fit, base = fits[best], features @ fits[best].coefficients
    chance = np.zeros(len(query))
    for weight, intercept in zip(fit.weights.T, fit.intercepts, strict=True):
        chance += weight[query] * special.expit(base + intercept)
    return chance


@dataclass(frozen=True)
class _Fit:
    """The regression under one variance: its logarithmic probability but for a constant, the coefficients
    (p,), the points of the intercepts, and how probable each of these is in each query (Q, points)."""

    likelihood: float
    coefficients: Floats
    intercepts: Floats
    weights: Floats


@dataclass(frozen=True)
class _Sample:
    """features (s, p), query (s,), label (s,) of what was drawn."""

    features: Floats
    query: Integers
    label: Floats
    queries: int

    def fit(self, variance: float, start: Floats) -> _Fit:
        """Newton's method on the marginal likelihood, intercept weights fixed in each step, from `start`."""
        points, shares = np.polynomial.hermite_e.hermegauss(POINTS)
        intercepts, prior = points * np.sqrt(variance), np.log(shares / shares.sum())
        x, label = self.features, self.label[:, None]
        ridge = np.append(RIDGE_OF_MEAN, np.full(x.shape[1] - 1, RIDGE))
        beta = start
        for _ in range(100):
            odds = (x @ beta)[:, None] + intercepts
            chance = special.expit(odds)
            logs = special.log_expit(np.where(label == 1, odds, -odds))
            sums = [np.bincount(self.query, one, self.queries) for one in logs.T]
            joint = np.column_stack(sums) + prior
            likelihood = special.logsumexp(joint, axis=1)
            weights = np.exp(joint - likelihood[:, None])
            own = weights[self.query]
            slope = x.T @ (own * (label - chance)).sum(axis=1) - ridge * beta
            curve = (x.T * (own * chance * (1 - chance)).sum(axis=1)) @ x + np.diag(ridge)
            step = np.linalg.solve(curve, slope)
            largest = float(np.abs(step).max())
            if largest < 1e-6:
                break
            beta = beta + min(1.0, 4 / largest) * step
        distance = np.log(variance / VARIANCE) / SPREAD
        whole = likelihood.sum() - (ridge * beta**2).sum() / 2 - distance**2 / 2
        return _Fit(float(whole), beta, intercepts, weights)
