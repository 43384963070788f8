"""Libraries that take long to load, each at its first use; modules name them at the top."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "ArrayLike",
    "Booleans",
    "Floats",
    "Integers",
    "NDArray",
    "Numbers",
    "alt",
    "np",
    "npt",
    "optimize",
    "pd",
    "pl",
    "serializers",
    "sparse",
    "special",
]

if TYPE_CHECKING:
    import altair as alt
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    from numpy.typing import ArrayLike, NDArray
    from rest_framework import serializers
    from scipy import optimize, sparse, special

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Numbers = NDArray[Any]
else:

    class _Library:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            value = getattr(import_module(self._name), attribute)
            setattr(self, attribute, value)  # from now on found without this method
            return value

    alt, np, npt, pd, pl = map(_Library, ("altair", "numpy", "numpy.typing", "pandas", "polars"))
    optimize, sparse, special = (_Library(f"scipy.{name}") for name in ("optimize", "sparse", "special"))
    serializers = _Library("rest_framework.serializers")
    ArrayLike = NDArray = Booleans = Floats = Integers = Numbers = Any
