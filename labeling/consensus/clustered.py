"""Figures of labels that come query by query, with the query as the cluster. Pure: arrays in, figures out.

Labels of one query hang together: they have its difficulty in common. A queue that goes query by query has
told of few queries when it has a hundred labels, so an interval that takes labels one by one is too narrow.
Shares take as many equal labels as the variance between queries leaves (`labeling.consensus.shares`).
Coefficients take the jackknife over queries (Tukey, 1958) on the scale of Fisher's z, with Student's t on two
degrees of freedom fewer than there are queries. Neither is narrower than with labels taken one by one, so
that queries which are alike by chance promise nothing; and below FEWEST_QUERIES neither says anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from labeling.consensus.agreement import Figure, cohen_kappa
from labeling.consensus.shares import Share, share_of
from pooling.formats.wording import plural
from pooling.heavy import ArrayLike, Booleans, Floats, Integers, np, special

#: Labels of fewer queries say nothing of the next query.
FEWEST_QUERIES = 8
LEVEL = 0.05

ONE_SIDED = "undefined because people or the model said the same of every pair"
NO_SPREAD = "undefined because all labels or all scores are the same"
NEVER_DIFFERED = "no interval, because people and the model never differed here"
ONE_QUERY = "no interval, because it depends on a single query"


def too_few(queries: int) -> str:
    """Why labels of this many queries say nothing.

    >>> too_few(1)
    'labels of 1 query so far; it takes 8'
    """
    return f"labels of {queries} {plural(queries, 'query')} so far; it takes {FEWEST_QUERIES}"


def numbered(query: ArrayLike) -> tuple[int, Integers]:
    """Number of queries, and each label's as a number from 0, (n,)."""
    names, number = np.unique(np.asarray(query), return_inverse=True)
    return len(names), number.astype(np.int64)


def share_over_queries(hits: Booleans, weight: Floats, query: Integers, *, exact: bool = False) -> Share:
    """`share_of` with the query as the cluster, (n,) each; no figure below FEWEST_QUERIES."""
    queries, number = numbered(query)
    share = share_of(hits, weight, exact=exact, groups=number, freedom=max(queries - 1, 1))
    if share.value is not None and queries < FEWEST_QUERIES:
        return Share(None, None, None, share.count, share.labels, share.method, too_few(queries))
    return share


def kappa_over_queries(
    people: Booleans, model: Booleans, weight: Floats, *, query: Integers, level: float = LEVEL
) -> Figure:
    """Cohen's kappa (1960) of person and model, (n,) each."""
    if any(one.all() or not one.any() for one in (people, model)):
        # The formula makes 0 of it, with an interval of no width, whatever the other one said.
        return Figure(None, why=ONE_SIDED)
    cells = (people & model, people & ~model, ~people & model, ~people & ~model)
    return _jackknifed(_weighted(weight, cells), query, cohen_kappa, level)


def correlation_over_queries(
    label: Booleans, score: Floats, weight: Floats, *, query: Integers, level: float = LEVEL
) -> Figure:
    """Pearson's ρ of label and score, (n,) each."""
    if len(label) < 2 or min(np.ptp(label.astype(np.float64)), np.ptp(score)) < 1e-12:
        return Figure(None, why=NO_SPREAD)
    parts = (np.ones(len(label)), label, score, score**2, label * score)
    return _jackknifed(_weighted(weight, parts), query, _correlation, level)


def _weighted(weight: Floats, parts: tuple[Floats | Booleans, ...]) -> Floats:
    """(n, parts) what each label adds to the sums that a coefficient is made of."""
    return np.stack([weight * part for part in parts], axis=1)


def _correlation(sums: Floats) -> Floats:
    """ρ from (…, 5) sums of 1, label, score, score² and label · score; a label is its own square."""
    total, label, score, square, both = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        label, score, square, both = (one / total for one in (label, score, square, both))
        spread = np.sqrt((label - label**2) * np.clip(square - score**2, 0.0, None))
        correlation: Floats = np.where(spread > 1e-12, (both - label * score) / spread, np.nan)
    return np.clip(correlation, -1.0, 1.0)


def _jackknifed(
    labels: Floats, query: Integers, statistic: Callable[[Floats], Floats], level: float
) -> Figure:
    """A coefficient in [-1, 1] of the sums of (n, parts) labels, left out query by query."""
    queries, number = numbered(query)
    if queries < FEWEST_QUERIES:
        return Figure(None, why=too_few(queries))
    value = float(statistic(labels.sum(axis=0)))
    if 1 - abs(value) < 1e-12:
        return Figure(value, why=NEVER_DIFFERED)
    by_query = np.zeros((queries, labels.shape[1]))
    np.add.at(by_query, number, labels)
    error = _standard_error(by_query, statistic)
    if math.isnan(error):
        return Figure(value, why=ONE_QUERY)
    error = max(error, _standard_error(labels, statistic))
    reach, middle = float(special.stdtrit(queries - 2, 1 - level / 2)) * error, math.atanh(value)
    return Figure(value, math.tanh(middle - reach), math.tanh(middle + reach))


def _standard_error(sums: Floats, statistic: Callable[[Floats], Floats]) -> float:
    """The jackknife's, on the scale of Fisher's z, of (m, parts) sums; NaN where all hangs on one of them."""
    others = statistic(sums.sum(axis=0) - sums)
    z = np.arctanh(np.clip(others, -1 + 1e-9, 1 - 1e-9))
    return math.sqrt((len(z) - 1) / len(z) * float(((z - z.mean()) ** 2).sum()))
