"""Tables with every cell as text, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cells:
    """A table with every cell as text: a title where it is not the first, and notes that belong below it."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True)
class Part:
    """A supplement of an evaluation: as a table, as plain data for JSON under `name`, and as rows for CSV;
    None where CSV has no place for it. sentences: above all tables; what has only these has no table.
    figures: of each run by key, which stand among its others in JSON."""

    name: str
    cells: Cells | None
    data: Any
    rows: Sequence[Mapping[str, Any]] | None = None
    sentences: Sequence[str] = ()
    figures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
