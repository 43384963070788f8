"""Click models: what a click says of a document, once its place is taken into account.

A score is the share of people who would click on the document if they looked at it (or, for `ctr`, who did
where it stood). It is not relevance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from pooling.formats.errors import excerpt
from pooling.formats.names import column_named
from pooling.formats.records import records_source
from pooling.heavy import Floats, Integers, np, npt
from pooling.interleaving.impressions import Impressions

#: Clicks, and impressions without one, that are added to each document and place. With one of each, as
#: PyClick has it, what few swaps say of the lower places is lost.
PSEUDO = 0.05
#: Expectation maximisation ends when nothing moves by more than this, or after so many rounds.
STILL, ROUNDS = 1e-8, 1_000
#: So many numbers are computed at once: draws of a small log side by side.
AT_ONCE = 100_000
#: A position is joined to another by a pair that was shown this often at both.
JOINS = 10
LEAST_PROPENSITY = 0.05
#: Where maximisation starts, no probability is above this: from 1 it would never come down.
MOST = 0.999


def ctr_by_position(seen: Impressions) -> Floats:
    """(positions + 1,) clicks ÷ impressions at each position; 0 where nothing was shown."""
    impressions = _sums(seen.position, None)
    clicks = _sums(seen.position, seen.clicked, len(impressions))
    return _ratio(clicks, impressions)


def expected_clicks(seen: Impressions) -> tuple[Floats, Floats]:
    """(pairs,) clicks, and the clicks that the positions alone let one expect (Zhang and Jones, 2007)."""
    count = len(seen.pairs)
    expected = _sums(seen.pair, ctr_by_position(seen)[seen.position], count)
    return _sums(seen.pair, seen.clicked, count), expected


def clicks_over_expected(clicks: Floats, expected: Floats) -> Floats:
    """(pairs,) (c + κ) ÷ (e + κ): a gamma–Poisson model whose κ is estimated by moments, so that one
    impression with a click says little. 1 is what the position lets one expect; it is no probability."""
    squares = float((expected**2).sum())
    spread = float(((clicks - expected) ** 2 - expected).sum()) / squares if squares else 0.0
    if spread <= 0:
        return np.ones_like(clicks)
    ratio: Floats = (clicks + 1 / spread) / (expected + 1 / spread)
    return ratio


def click_rates(seen: Impressions, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """(pairs,) clicks ÷ impressions, wherever the document stood, and the impressions."""
    count = len(seen.pairs)
    impressions = _sums(seen.pair, weights, count)
    clicks = _sums(seen.pair, _times(seen.clicked, weights), count)
    return _ratio(clicks, impressions), impressions


def position_based(seen: Impressions, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """(pairs,) attractiveness, and the impressions that were looked at, relative to the first position.

    P(click) = γ(position) α(pair), by expectation maximisation from the harvested propensities until nothing
    moves (Craswell et al., 2008; Chuklin et al., Click Models for Web Search, 2015), smoothed by PSEUDO.
    """
    return next(position_based_each(seen, [weights]))


def position_based_each(seen: Impressions, draws: Iterable[Floats | None]) -> Iterator[tuple[Floats, Floats]]:
    """`position_based` with each of these weights; many are computed side by side."""
    places = int(seen.position.max()) + 1
    at: Integers = seen.pair * places + seen.position
    groups = np.flatnonzero(np.bincount(at))
    pair, position = groups // places, groups % places

    def counted(weights: Floats | None) -> tuple[Floats, Floats, Floats]:
        gamma = np.full(places, 0.5)
        for place, propensity in harvested(seen, weights).items():
            gamma[place] = min(propensity, MOST)
        return _sums(at, weights)[groups], _sums(at, _times(seen.clicked, weights))[groups], gamma

    waiting = map(counted, draws)
    while batch := list(islice(waiting, max(1, AT_ONCE // len(groups)))):
        impressions, clicks, gamma = (np.array(part) for part in zip(*batch, strict=True))
        yield from zip(
            *_maximised((pair, position), impressions, clicks, gamma, many=len(seen.pairs)), strict=True
        )


def _maximised(
    at: tuple[Integers, Integers], impressions: Floats, clicks: Floats, gamma: Floats, *, many: int
) -> tuple[Floats, Floats]:
    """(draws, pairs) attractiveness and what was looked at, from (draws, groups) counts."""
    (pair, position), places = at, gamma.shape[1]
    unclicked = impressions - clicks
    of_pair = _row_sums(pair, impressions, many)
    of_place = _row_sums(position, impressions, places)
    looked = _row_sums(pair, impressions * gamma[:, position], many)
    alpha = np.clip(_ratio(_row_sums(pair, clicks, many), looked), 1 - MOST, MOST)

    def step(both: Floats, rows: Integers) -> Floats:
        a, g = both[:, pair], both[:, many + position]
        missed = unclicked[rows] / (1 - a * g)
        attracted = _row_sums(pair, clicks[rows] + missed * a * (1 - g), many)
        examined = _row_sums(position, clicks[rows] + missed * g * (1 - a), places)
        above = PSEUDO + np.concatenate([attracted, examined], axis=1)
        return above / (2 * PSEUDO + np.concatenate([of_pair[rows], of_place[rows]], axis=1))

    settled = _settled(step, np.concatenate([alpha, gamma], axis=1))
    alpha, gamma = settled[:, :many], settled[:, many:]
    first = gamma[:, 1:2]
    looked = _row_sums(pair, impressions * (gamma / first)[:, position], many)
    return np.minimum(alpha * first, 1.0), looked


def _settled(step: Callable[[Floats, Integers], Floats], start: Floats) -> Floats:
    """Where steps of expectation maximisation of these rows come to rest, each row by itself; each round
    looks ahead along two of them.

    Varadhan and Roland, Simple and globally convergent methods for accelerating the convergence of any EM
    algorithm (2008).
    """
    settled, here, rows = start.copy(), start, np.arange(len(start))
    for _ in range(ROUNDS):
        once = step(here, rows)
        settled[rows] = once
        moves = np.abs(once - here).max(axis=1) >= STILL
        if not moves.all():
            here, once, rows = here[moves], once[moves], rows[moves]
        if not len(rows):
            break
        twice = step(once, rows)
        first, second = once - here, twice - 2 * once + here
        squares = np.maximum((second**2).sum(axis=1, keepdims=True), 1e-24)
        length = np.maximum(1.0, np.sqrt((first**2).sum(axis=1, keepdims=True) / squares))
        ahead = here + 2 * length * first + length**2 * second
        is_inside = ((ahead > 0) & (ahead < 1)).all(axis=1, keepdims=True)
        here = np.where(is_inside, step(np.where(is_inside, ahead, twice), rows), twice)
    settled[rows] = here
    return settled


def dependent(seen: Impressions, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """(pairs,) a · s of the simplified dynamic Bayesian network, and how often a document was examined.

    a is clicked ÷ examined, s last clicked ÷ clicked; documents are examined down to the last click, and in a
    search without clicks to the end (Chapelle and Zhang, 2009).
    """
    count = len(seen.pairs)
    last = np.zeros(int(seen.search.max()) + 1, np.int64)
    np.maximum.at(last, seen.search[seen.clicked], seen.position[seen.clicked])
    deepest = last[seen.search]
    examined = (deepest == 0) | (seen.position <= deepest)
    is_last = seen.clicked & (seen.position == deepest)
    clicks, looked, ended = (
        _sums(seen.pair, _times(rows, weights), count) for rows in (seen.clicked, examined, is_last)
    )
    return _ratio(clicks, looked) * _ratio(ended, clicks), looked


def weighed(
    seen: Impressions, propensities: Mapping[int, float], weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """(pairs,) clicks ÷ the impressions that were looked at, and these: Σ of the propensities of their
    positions, none below .05, beyond which a single click would count too much."""
    table = np.ones(int(seen.position.max()) + 1)
    for place, propensity in propensities.items():
        if place < len(table):
            table[place] = max(propensity, LEAST_PROPENSITY)
    count = len(seen.pairs)
    exposure = table[seen.position] if weights is None else table[seen.position] * weights
    looked = _sums(seen.pair, exposure, count)
    return np.minimum(_ratio(_sums(seen.pair, _times(seen.clicked, weights), count), looked), 1.0), looked


def harvested(seen: Impressions, weights: Floats | None = None) -> dict[int, float]:
    """Propensities by position, relative to the first, from pairs that were shown at several positions
    (Agarwal et al., Estimating Position Bias without Intrusive Interventions, 2019); of positions that are
    joined to the first."""
    places = sorted(joined_to_first(seen))
    if len(places) < 2:
        return dict.fromkeys(places, 1.0)
    impressions, clicks = _by_pair_and_place(seen, weights)
    rows, targets, sizes = [], [], []
    for number, high in enumerate(places):
        for low in places[number + 1 :]:
            both = (impressions[:, high] > 0) & (impressions[:, low] > 0)
            if not both.any():
                continue
            above, below = impressions[both, high], impressions[both, low]
            weight = above * below / (above + below)
            c_high, c_low = (
                (weight * clicks[both, high] / above).sum(),
                (weight * clicks[both, low] / below).sum(),
            )
            if c_high > 0 and c_low > 0:
                row = np.zeros(len(places))
                row[number], row[places.index(low)] = 1.0, -1.0
                rows.append(row)
                targets.append(np.log(c_high / c_low))
                sizes.append(1 / (1 / c_high + 1 / c_low))
    if not rows:
        return {places[0]: 1.0}
    root = np.sqrt(np.array(sizes))
    solved = np.linalg.lstsq(np.array(rows)[:, 1:] * root[:, None], np.array(targets) * root, rcond=None)[0]
    return {place: float(np.exp(one)) for place, one in zip(places, [0.0, *solved], strict=True)}


def joined_to_first(seen: Impressions) -> set[int]:
    """The positions that pairs connect with the first: two are joined where a pair was shown ten times at
    both. Elsewhere nobody can tell a good document from a good place. A log without position 1 has none."""
    if not (seen.position == 1).any():
        return set()
    impressions, _ = _by_pair_and_place(seen)
    often = impressions >= JOINS
    places, waiting = set(), [1]
    while waiting:
        place = waiting.pop()
        places.add(place)
        others = np.flatnonzero(often[often[:, place]].any(axis=0)).tolist()
        waiting += [other for other in others if other not in places]
    return places


def _by_pair_and_place(seen: Impressions, weights: Floats | None = None) -> tuple[Floats, Floats]:
    places = int(seen.position.max()) + 1
    at: Integers = seen.pair * places + seen.position
    size, shape = len(seen.pairs) * places, (len(seen.pairs), places)
    impressions = _sums(at, weights, size).reshape(shape)
    return impressions, _sums(at, _times(seen.clicked, weights), size).reshape(shape)


def _times(rows: npt.NDArray[np.bool_], weights: Floats | None) -> Floats:
    return rows.astype(np.float64) if weights is None else rows * weights


def _sums(index: Integers, weights: npt.ArrayLike | None, least: int = 0) -> Floats:
    """(least or more,) sums of weights, or counts, by index."""
    return np.bincount(index, weights=weights, minlength=least).astype(np.float64)


def _row_sums(index: Integers, weights: Floats, width: int) -> Floats:
    """(rows, width) sums of the weights of each row by index."""
    at = np.arange(len(weights))[:, None] * width + index
    return _sums(at.ravel(), weights.ravel(), len(weights) * width).reshape(-1, width)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)


def read_propensities(path: Path) -> dict[int, float]:
    """Propensities by position, which counts from 1; FormatError for anything but numbers above 0 to 1."""
    source, records = records_source(path, None, None)
    propensities: dict[int, float] = {}
    for line, record in records:
        names = (
            column_named(record, ("position", "rank")),
            column_named(record, ("propensity", "probability")),
        )
        if names[0] is None or names[1] is None:
            columns = excerpt(", ".join(map(str, record)), 80)
            raise source.error(line, f"no position and propensity among {columns}", "Name both columns.")
        try:
            place, propensity = int(record[names[0]]), float(record[names[1]])
        except (TypeError, ValueError):
            place, propensity = 0, math.nan
        if place < 1 or not 0 < propensity <= 1:
            raise source.error(
                line, "no position from 1 on with a propensity above 0, up to 1", "Write such as 2 and 0.5."
            )
        if place in propensities:
            raise source.error(line, f"position {place} is there twice", "Give each position once.")
        propensities[place] = propensity
    if not propensities:
        raise source.empty()
    return propensities
