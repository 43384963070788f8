"""The examples in the docstrings of the public functions run as they stand."""

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "arrays",
        "config",
        "comparison",
        "conventions",
        "coverage",
        "evaluating",
        "expected_width",
        "missing",
        "strata",
        "tradeoffs",
        "measures.registry",
        "significance.power",
        "significance.paired",
        "significance.corrections",
    ],
)
def test_examples_run(name: str) -> None:
    result = doctest.testmod(import_module(f"evaluation.{name}"))

    assert result.attempted
    assert not result.failed
