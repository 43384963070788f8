"""How likely each position is looked at, from a table."""

from __future__ import annotations

import math
from pathlib import Path

from pooling.formats.errors import excerpt
from pooling.formats.names import column_named
from pooling.formats.records import records_source


def read_propensities(path: Path) -> dict[int, float]:
    """Propensities by position, which counts from 1; FormatError for anything but numbers above 0 to 1."""
    source, records = records_source(path, None, None)
    propensities: dict[int, float] = {}
    for line, record in records:
        names = (
            column_named(record, ("position", "rank")),
            column_named(record, ("propensity", "probability")),
        )
        if names[0] is None or names[1] is None:
            columns = excerpt(", ".join(map(str, record)), 80)
            raise source.error(line, f"no position and propensity among {columns}", "Name both columns.")
        try:
            place, propensity = int(record[names[0]]), float(record[names[1]])
        except (TypeError, ValueError):
            place, propensity = 0, math.nan
        if place < 1 or not 0 < propensity <= 1:
            raise source.error(
                line, "no position from 1 on with a propensity above 0, up to 1", "Write such as 2 and 0.5."
            )
        if place in propensities:
            raise source.error(line, f"position {place} is there twice", "Give each position once.")
        propensities[place] = propensity
    if not propensities:
        raise source.empty()
    return propensities
