"""Agreement of annotators on the pairs that several of them judged. Pure: verdicts in, figures out.

Verdicts are a frame with one row for each verdict: `query_id`, `document_id`, `annotator`, `relevant`
(Boolean). "Can't judge" is no opinion on relevance and is left out before. Chance-corrected coefficients fall
when almost everything is not relevant, however careful people are; so they are never shown without the raw
and the positive agreement and the share of relevant verdicts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pooling.heavy import Floats, np, pl

PAIR = ["query_id", "document_id"]

# Below this many pairs judged twice an interval spans nearly everything; Quepid hides at the same number.
LEAST_SHARED = 30
SAMPLES = 2_000
FEWEST_SAMPLES = 200
FEW_TABLES = 50

UNANIMOUS = "undefined because unanimous"
TOO_FEW = f"hidden below {LEAST_SHARED} shared pairs"
NOBODY = "no pair was judged by two people"


@dataclass(frozen=True)
class Figure:
    """A coefficient with its interval over pairs (bootstrap), or None and why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Agreement:
    """The figures of one group of annotators. `pairs` were judged by two or more; `prevalence` is the share
    of relevant among their verdicts. `cohen` is the mean over all two annotators with enough in common."""

    pairs: int
    verdicts: int
    prevalence: float | None
    raw: Figure
    positive: Figure
    negative: Figure
    cohen: Figure
    fleiss: Figure
    krippendorff: Figure
    gwet: Figure


@dataclass(frozen=True)
class Cells:
    """Pairs with two or more verdicts, counted by their verdicts: `many` pairs have `yes` and `no` of them.

    Every coefficient below is a function of these counts, so that a bootstrap over pairs draws the counts.
    """

    yes: Floats
    no: Floats
    many: Floats

    @property
    def judged(self) -> Floats:
        return self.yes + self.no


# Takes cells and `weights`, shape (samples, cells); returns one value for each sample, NaN where undefined.
Statistic = Callable[[Cells, Floats], Floats]


def agreement(verdicts: pl.DataFrame, *, seed: int = 0, least: int = LEAST_SHARED) -> Agreement:
    """All figures of a frame of verdicts; 95 % percentile intervals over pairs.

    >>> import polars as pl
    >>> ben = [("q", f"d{number}", "ben", number < 11) for number in range(40)]
    >>> cleo = [("q", f"d{number}", "cleo", number < 10) for number in range(40)]
    >>> figures = agreement(pl.DataFrame(ben + cleo, schema=[*PAIR, "annotator", "relevant"], orient="row"))
    >>> round(figures.raw.value, 3), round(figures.cohen.value, 3)
    (0.975, 0.935)
    """
    cells = cells_of(verdicts)
    pairs = int(cells.many.sum())
    count = int((cells.judged * cells.many).sum())

    def figure(statistic: Statistic, within: Cells = cells) -> Figure:
        return _figure(statistic, within, seed, least)

    return Agreement(
        pairs,
        count,
        float((cells.yes * cells.many).sum() / count) if count else None,
        figure(raw_agreement),
        figure(positive_agreement),
        figure(negative_agreement),
        mean_cohen(verdicts, seed=seed, least=least),
        figure(fleiss_kappa, commonest(cells)),
        figure(krippendorff_alpha),
        figure(gwet_ac1),
    )


def cells_of(verdicts: pl.DataFrame) -> Cells:
    """Count the pairs of a frame of verdicts that two or more people judged."""
    counted = verdicts.group_by(PAIR).agg(yes=pl.col("relevant").sum(), judged=pl.len())
    cells = counted.filter(pl.col("judged") >= 2).group_by("yes", "judged").len().sort("yes", "judged")
    yes, judged, many = (cells[name].to_numpy().astype(np.float64) for name in ("yes", "judged", "len"))
    return Cells(yes, judged - yes, many)


def commonest(cells: Cells) -> Cells:
    """The pairs with the most frequent number of verdicts: Fleiss' kappa wants the same number on each."""
    if not len(cells.many):
        return cells
    counts = np.bincount(cells.judged.astype(np.int64), weights=cells.many)
    chosen = cells.judged == counts.argmax()
    return Cells(cells.yes[chosen], cells.no[chosen], cells.many[chosen])


def raw_agreement(cells: Cells, weights: Floats) -> Floats:
    """The mean over pairs of the share of their two-person comparisons that agree."""
    same = cells.yes * (cells.yes - 1) + cells.no * (cells.no - 1)
    return _mean(weights, same / (cells.judged * (cells.judged - 1)))


def positive_agreement(cells: Cells, weights: Floats) -> Floats:
    """How often others agree with a relevant verdict: 2a/(2a + b + c) for two (Spitzer and Fleiss, 1974)."""
    return _specific(cells.yes, cells.judged, weights)


def negative_agreement(cells: Cells, weights: Floats) -> Floats:
    """2d/(2d + b + c) for two people."""
    return _specific(cells.no, cells.judged, weights)


def fleiss_kappa(cells: Cells, weights: Floats) -> Floats:
    """Fleiss (1971), on pairs with the same number of verdicts."""
    relevant = _over(weights @ cells.yes, weights @ cells.judged)
    by_chance = relevant**2 + (1 - relevant) ** 2
    return _over(raw_agreement(cells, weights) - by_chance, 1 - by_chance)


def krippendorff_alpha(cells: Cells, weights: Floats) -> Floats:
    """Nominal alpha: 1 - (N - 1) · disagreeing coincidences / (relevant · not relevant verdicts).

    Krippendorff (2004); takes any number of verdicts on each pair.
    """
    yes, no = weights @ cells.yes, weights @ cells.no
    disagreeing = weights @ (cells.yes * cells.no / (cells.judged - 1))
    return 1 - _over((yes + no - 1) * disagreeing, yes * no)


def gwet_ac1(cells: Cells, weights: Floats) -> Floats:
    """Gwet's AC1 (2008), which a rare class does not depress."""
    relevant = _mean(weights, cells.yes / cells.judged)
    by_chance = 2 * relevant * (1 - relevant)
    return _over(raw_agreement(cells, weights) - by_chance, 1 - by_chance)


def mean_cohen(verdicts: pl.DataFrame, *, seed: int = 0, least: int = LEAST_SHARED) -> Figure:
    """Cohen's kappa (1960) over pairs of annotators with `least` in common, weighted by shared pairs."""
    tables = _tables_of_two(verdicts)
    tables = tables[tables.sum(axis=1) >= least]
    if not len(tables):
        return Figure(None, why=TOO_FEW)
    shares = tables.sum(axis=1)
    values = cohen_kappa(tables)
    defined = ~np.isnan(values)
    if not defined.any():
        return Figure(None, why=UNANIMOUS)
    samples = min(SAMPLES, max(FEWEST_SAMPLES, SAMPLES * FEW_TABLES // len(tables)))
    generator = np.random.default_rng(seed)
    counts, chances = shares.astype(np.int64), tables / shares[:, None]
    kappas = cohen_kappa(generator.multinomial(counts, chances, (samples, len(tables))).astype(np.float64))
    valid = ~np.isnan(kappas)
    means = _over(np.where(valid, kappas, 0) @ shares, valid @ shares)
    value = float((values[defined] * shares[defined]).sum() / shares[defined].sum())
    return Figure(value, *_percentiles(means))


def cohen_kappa(tables: Floats) -> Floats:
    """(p_o - p_e) / (1 - p_e) for tables of shape (…, 4): both relevant, only the first, only the second,
    neither. NaN where both used one and the same category throughout."""
    both, first, second, neither = np.moveaxis(tables, -1, 0)
    total = both + first + second + neither
    observed = _over(both + neither, total)
    by_chance = _over((both + first) * (both + second) + (second + neither) * (first + neither), total**2)
    return _over(observed - by_chance, 1 - by_chance)


def _tables_of_two(verdicts: pl.DataFrame) -> Floats:
    """A table for each two annotators who share a pair, in the order of their names; shape (tables, 4)."""
    shared = verdicts.filter(pl.len().over(PAIR) >= 2)
    votes = shared.select(*PAIR, "annotator", "relevant")
    both = votes.join(votes, on=PAIR, suffix="_other").filter(pl.col("annotator") < pl.col("annotator_other"))
    mine, theirs = pl.col("relevant"), pl.col("relevant_other")
    cells = [mine & theirs, mine & ~theirs, ~mine & theirs, ~mine & ~theirs]
    counted = both.group_by("annotator", "annotator_other").agg(
        cell.sum().alias(str(place)) for place, cell in enumerate(cells)
    )
    tables = counted.sort("annotator", "annotator_other").drop("annotator", "annotator_other")
    return tables.to_numpy().astype(np.float64)


def _figure(statistic: Statistic, cells: Cells, seed: int, least: int) -> Figure:
    if not len(cells.many):
        return Figure(None, why=NOBODY)
    if cells.many.sum() < least:
        return Figure(None, why=TOO_FEW)
    value = float(statistic(cells, cells.many[None, :])[0])
    if np.isnan(value):
        return Figure(None, why=UNANIMOUS)
    return Figure(value, *_percentiles(statistic(cells, _resampled(np.random.default_rng(seed), cells.many))))


def _resampled(generator: np.random.Generator, counts: Floats, samples: int = SAMPLES) -> Floats:
    """Bootstrap over pairs: how many of each cell a sample of the same size holds."""
    total = int(counts.sum())
    return generator.multinomial(total, counts / total, size=samples).astype(np.float64)


def _percentiles(values: Floats) -> tuple[float | None, float | None]:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None, None
    low, high = np.percentile(defined, (2.5, 97.5))
    return float(low), float(high)


def _specific(kind: Floats, judged: Floats, weights: Floats) -> Floats:
    return _over(weights @ (kind * (kind - 1) / (judged - 1)), weights @ kind)


def _mean(weights: Floats, values: Floats) -> Floats:
    return _over(weights @ values, weights.sum(axis=-1))


def _over(part: Floats, whole: Floats) -> Floats:
    """Division that is NaN where it is undefined."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    undefined: Floats = np.full(np.broadcast(part, whole).shape, np.nan)
    return np.divide(part, whole, out=undefined, where=whole != 0)
