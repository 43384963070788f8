"""The posterior behind the rule for gold questions.

Sensitivity and specificity are two independent Beta posteriors; the rule asks how likely it is that their
mean lies below a floor. With whole numbers in the prior, that is the integral of a polynomial, which
Gauss-Legendre quadrature gives exactly. One more right answer moves a posterior up and nothing else, so the
probability falls: the rule never gets stricter by a right answer. Without Django.
"""

from __future__ import annotations

from functools import cache, lru_cache

from pooling.heavy import Floats, np, npt

# Both shares start from Beta(4, 1): people are careful until they show otherwise. The same prior as in the
# Dawid-Skene rule.
PRIOR_RIGHT, PRIOR_WRONG = 4, 1
# Anyone who is surely below this balanced accuracy costs more in second opinions than they bring.
FLOOR = 0.80
# How likely that must be. To be asked after each of 300 answers, `PAUSE` stops somebody who is right 85 % of
# the time in 0.4 % of cases, and lets 0.8 % of those who guess answer 50.
PAUSE, WARN = 0.985, 0.80
# Exact up to 2 × POINTS - 8 answers; beyond, the error is far below what could change an advice.
POINTS = 160


def chance_below(answers: tuple[int, int], most_wrong: tuple[int, int]) -> Floats:
    """The probability that the mean of two shares is below `FLOOR`, for every number of wrong answers.

    answers: to relevant and to not relevant gold questions. most_wrong: (a, b), at most the answers. An
    (a + 1, b + 1) array: at [i, j], i relevant ones and j others were answered wrong.
    """
    _, weights = _points()
    density, surely = _density(answers[0], most_wrong[0])
    chances: Floats = surely + (density * weights) @ _below(answers[1], most_wrong[1]).T
    return chances


def chance_below_floor(right: tuple[int, int], wrong: tuple[int, int]) -> float:
    """Chance for one score: right and wrong answers to relevant and to not relevant gold questions."""
    answers = right[0] + wrong[0], right[1] + wrong[1]
    return float(chance_below(answers, wrong)[-1, -1])


@cache
def _points() -> tuple[Floats, Floats]:
    """Places and weights between 2 × FLOOR - 1, below which the other share cannot make up for one, and 1."""
    places, weights = np.polynomial.legendre.leggauss(POINTS)
    lowest = 2 * FLOOR - 1
    return lowest + (1 - lowest) * (places + 1) / 2, weights * (1 - lowest) / 2


@lru_cache(maxsize=64)
def _density(answers: int, most_wrong: int) -> tuple[Floats, Floats]:
    """The posterior of one share after `answers`, by the number of wrong ones, 0 to `most_wrong`: its density
    at each point, and the probability that it is below the lowest point."""
    trials, failures = _trials(answers, most_wrong)
    density = trials * _binomial(trials - 1, failures, _points()[0])
    surely = np.cumsum(_binomial(trials, failures, np.array([2 * FLOOR - 1])), axis=0)
    return density[PRIOR_WRONG - 1 :], surely[PRIOR_WRONG - 1 :]


@lru_cache(maxsize=64)
def _below(answers: int, most_wrong: int) -> Floats:
    """The probability, as in `_density`, that a share is below what the other one at each point leaves.

    A Beta with whole parameters p and q is below y where at least p of p + q - 1 trials succeed with chance
    y.
    """
    trials, failures = _trials(answers, most_wrong)
    below: Floats = np.cumsum(_binomial(trials, failures, 2 * FLOOR - _points()[0]), axis=0)
    return below[PRIOR_WRONG - 1 :]


def _trials(answers: int, most_wrong: int) -> tuple[int, npt.NDArray[np.int_]]:
    return answers + PRIOR_RIGHT + PRIOR_WRONG - 1, np.arange(most_wrong + PRIOR_WRONG)


def _binomial(trials: int, failures: npt.NDArray[np.int_], success: Floats) -> Floats:
    """(failures, points) the probability of this many failures among the trials."""
    factors = np.log((trials - failures[:-1]) / (failures[:-1] + 1))
    ways = np.concatenate([[0.0], np.cumsum(factors)])[:, None]
    left = failures[:, None]
    logarithm = ways + (trials - left) * np.log(success) + left * np.log1p(-success)
    probability: Floats = np.exp(logarithm)
    return probability
