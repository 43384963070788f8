"""The examples in the docstrings of the pure modules run as they stand."""

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "name",
    ["formats.errors", "formats.sources", "ranking", "merging", "audit", "query_facts", "views.pictures"],
)
def test_examples_run(name: str) -> None:
    result = doctest.testmod(import_module(f"pooling.{name}"))

    assert result.attempted
    assert not result.failed
