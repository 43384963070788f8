"""The examples in the docstrings of the pure modules run as they stand."""

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "agreement",
        "anchoring",
        "clustered",
        "consensus",
        "monitors",
        "prelabel_quality",
        "shares",
        "verification",
        "workload",
    ],
)
def test_examples_run(name: str) -> None:
    result = doctest.testmod(import_module(f"labeling.{name}"))

    assert result.attempted
    assert not result.failed
