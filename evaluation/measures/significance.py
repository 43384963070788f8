"""Which queries: intervals, paired tests, corrections and power. Not a word about missing labels."""

from __future__ import annotations

from evaluation.measures.corrections import CORRECTIONS, adjusted
from evaluation.measures.intervals import (
    BOOTSTRAP_SAMPLES,
    FEWEST_QUERIES,
    LARGEST_RESAMPLED,
    LEVEL,
    IntervalSettings,
    Resampling,
    difference_intervals,
    interval_settings,
    mean_intervals,
    resamples,
)
from evaluation.measures.paired import (
    PERMUTATIONS,
    TESTS,
    effect_sizes,
    paired_differences,
    randomisation_test,
    t_test,
)
from evaluation.measures.power import least_difference, power_line, queries_needed
from evaluation.measures.ratios import RatioDifferences, ratio_differences

__all__ = [
    "BOOTSTRAP_SAMPLES",
    "CORRECTIONS",
    "FEWEST_QUERIES",
    "LARGEST_RESAMPLED",
    "LEVEL",
    "PERMUTATIONS",
    "TESTS",
    "IntervalSettings",
    "RatioDifferences",
    "Resampling",
    "adjusted",
    "difference_intervals",
    "effect_sizes",
    "interval_settings",
    "least_difference",
    "mean_intervals",
    "paired_differences",
    "power_line",
    "queries_needed",
    "randomisation_test",
    "ratio_differences",
    "resamples",
    "t_test",
]
