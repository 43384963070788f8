"""The examples in docstrings run as they stand."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from docs.rooms import ROOT, modules

WITH_EXAMPLES = [path for path in modules() if ">>> " in (ROOT / path).read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", WITH_EXAMPLES)
def test_examples_run(path: str) -> None:
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    result = doctest.testmod(import_module(name))

    assert result.attempted
    assert not result.failed
