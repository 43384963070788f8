"""Predictions of MTEB: {subset: {split: {query: {document: score}}}} with a word about the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.values import BadValueError


def lists_of_predictions(content: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The predictions of a model as MTEB stored them, without wrapping; others as they are.

    BadValueError where there are several subsets or splits.
    """
    if "mteb_model_meta" not in content:
        return content
    subsets = {name: splits for name, splits in content.items() if name != "mteb_model_meta"}
    parts = [
        (f"{subset}, {split}", lists)
        for subset, splits in subsets.items()
        for split, lists in (splits.items() if isinstance(splits, Mapping) else ())
    ]
    if len(parts) != 1 or not isinstance(parts[0][1], Mapping):
        there = excerpt("; ".join(name for name, _ in parts), 80) if parts else "none"
        problem = f"predictions of MTEB with one subset and split are read, and here are {there}"
        raise BadValueError(problem, "Give what one of them holds, {query: {document: score}}.")
    lists: Mapping[Any, Any] = parts[0][1]
    return lists
