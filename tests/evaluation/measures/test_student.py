"""Limits of Student's t without SciPy are those of SciPy."""

from __future__ import annotations

import pytest
from scipy import special

from evaluation.measures.student import student_limit


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 23, 50, 999, 50_000])
def test_a_limit_of_student_s_t_is_that_of_scipy(level: float, freedom: int) -> None:
    known = special.stdtrit(freedom, (1 + level) / 2)

    assert student_limit(level, freedom) == pytest.approx(known, rel=1e-10)
