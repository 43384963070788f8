"""Wins against losses, looked at as often as one likes: e-values and confidence sequences.

A test whose p-value is looked at again and again errs ever more often. An e-value may be looked at at any
time: the chance that it ever reaches 1/α without a difference is at most α.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, exp, inf, lgamma, log

#: Both parameters of the mixture's Beta distribution: most power for 5 to 10 % more wins than losses.
PRIOR = 50.0
LEVEL = 0.95
_STEPS = 200


def e_value(wins: int, losses: int, prior: float = PRIOR) -> float:
    """2ⁿ · B(a + wins, a + losses) ÷ B(a, a): how much better a mixture of Beta(a, a) says what came than a
    coin does. Robbins, Statistical methods related to the law of the iterated logarithm (1970).

    >>> round(e_value(65, 35, prior=1), 6)
    11.461394
    """
    return exp((wins + losses) * log(2) + _mixture(wins, losses, prior))


def _mixture(wins: int, losses: int, prior: float) -> float:
    return _log_beta(prior + wins, prior + losses) - _log_beta(prior, prior)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def anytime_p(wins: int, losses: int, prior: float = PRIOR) -> float:
    """1 ÷ the e-value, at most 1."""
    return min(1.0, 1 / e_value(wins, losses, prior))


def confidence_sequence(
    wins: int, losses: int, *, prior: float = PRIOR, level: float = LEVEL
) -> tuple[float, float]:
    """The shares of wins p that are not refuted: B(a + wins, a + losses) ÷ B(a, a) < p^wins (1-p)^losses ÷ α.

    Holds at all looks together with probability `level`.
    """
    bound = _mixture(wins, losses, prior) + log(1 - level)

    def excess(p: float) -> float:
        """Above 0 where p is not refuted."""
        likelihood = (wins * log(p) if wins else 0.0) + (losses * log(1 - p) if losses else 0.0)
        return likelihood - bound

    middle = wins / (wins + losses) if wins + losses else 0.5
    low = 0.0 if not wins else _edge(excess, 0.0, middle)
    high = 1.0 if not losses else _edge(excess, 1.0, middle)
    return low, high


def _edge(excess: Callable[[float], float], outside: float, inside: float) -> float:
    """Where the excess changes its sign, by halving."""
    if not 0 < inside < 1:
        inside = min(max(inside, 1e-12), 1 - 1e-12)
    for _ in range(_STEPS):
        middle = (outside + inside) / 2
        if middle in (outside, inside):
            break
        value = excess(middle) if 0 < middle < 1 else -inf
        outside, inside = (outside, middle) if value > 0 else (middle, inside)
    return inside


def sign_test(wins: int, losses: int) -> float:
    """The exact two-sided p-value of wins against losses; ties are left out before.

    >>> round(sign_test(65, 35), 6)
    0.003518
    """
    n, fewer = wins + losses, min(wins, losses)
    tail = sum(comb(n, at) for at in range(fewer + 1))
    return min(1.0, float(Fraction(2 * tail, 2**n)))
