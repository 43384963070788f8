"""How the queries of an evaluation were drawn, from their metadata."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from pooling.formats.errors import excerpt
from pooling.formats.records import QueryRecord
from pooling.logs.population import LOG_SHARE

Target = Literal["traffic", "queries"]
#: A log that ended longer ago than this no longer speaks for the traffic.
OLD_DAYS = 90
_DAY = re.compile(r"\d{4}-\d{2}(-\d{2})?")
_NEEDED = ("stratum", "size", "pi")


@dataclass(frozen=True)
class Sampled:
    """One drawn query. probability: raised to that of an answer in its stratum where others were dropped."""

    stratum: str
    size: float
    probability: float


@dataclass(frozen=True)
class Sample:
    """The queries of a draw that are still in it, by id; the days of the log; those that an admin dropped.
    first: all drawn queries as they were drawn. shown: the share of the log that could be drawn."""

    queries: Mapping[str, Sampled]
    window: str
    dropped: int
    first: Mapping[str, Sampled]
    shown: float = 1.0

    def speaks_for(self, ids: Iterable[str], target: Target) -> float:
        """The share of the log's traffic, or of the distinct queries of its table, that these queries stand
        for by the weights with which they were drawn."""

        def total(some: Iterable[Sampled]) -> float:
            return sum((one.size if target == "traffic" else 1) / one.probability for one in some)

        share = total(self.first[query] for query in ids) / total(self.first.values())
        # How many distinct queries were left out is not known.
        return share * self.shown if target == "traffic" else share

    def only(self, ids: Collection[str]) -> Sample:
        """Those of these queries, each as it was drawn among all."""
        kept = {query: one for query, one in self.queries.items() if query in ids}
        dropped = sum(query in ids for query in self.first) - len(kept)
        return replace(self, queries=kept, dropped=dropped)

    def ended(self) -> date | None:
        """The last day of the log, where its window tells; of a month without a day its last."""
        days = list(_DAY.finditer(self.window))
        if not days:
            return None
        text = days[-1].group()
        try:
            if days[-1].group(1):
                return date.fromisoformat(text)
            year, month = int(text[:4]), int(text[5:])
            following = date(year + month // 12, month % 12 + 1, 1)
        except ValueError:
            return None
        return date.fromordinal(following.toordinal() - 1)

    def age(self, today: date) -> int | None:
        ended = self.ended()
        return None if ended is None else max((today - ended).days, 0)

    def answered(self, ids: Iterable[str]) -> Sample:
        """The sample of these queries alone; in each stratum the others count as not answered, at random."""
        answers = set(ids)
        return replace(
            self, queries=_raised(self.queries, [query for query in self.queries if query not in answers])
        )


def sample_of(queries: Iterable[QueryRecord]) -> Sample:
    """The draw in `metadata.sampling` of queries, as `draw_queries` writes it.

    A query with a reason under `metadata.sampling.dropped` is out, and the others of its stratum speak for
    it. ValueError for a query without a draw and for a probability or size that is none.
    """
    draws: dict[str, Sampled] = {}
    dropped, windows, shares = [], set(), set()
    for query in queries:
        sampling = query.metadata.get("sampling")
        if not isinstance(sampling, Mapping) or any(name not in sampling for name in _NEEDED):
            raise ValueError(
                f"Query {excerpt(query.id)} has no metadata.sampling with {', '.join(_NEEDED)}; draw queries "
                "with draw_queries, or leave --weights out."
            )
        probability = _number(query, sampling, "pi")
        if probability > 1:
            raise ValueError(f"Query {excerpt(query.id)}: the inclusion probability pi is above 1.")
        draws[query.id] = Sampled(str(sampling["stratum"]), _number(query, sampling, "size"), probability)
        windows.add(str(sampling.get("window") or ""))
        shares.add(_number(query, sampling, LOG_SHARE) if LOG_SHARE in sampling else 1.0)
        if sampling.get("dropped"):
            dropped.append(query.id)
    if len(draws) == len(dropped):
        raise ValueError("No query of the draw is left; each one was dropped.")
    window = ", ".join(sorted(one for one in windows if one))
    return Sample(_raised(draws, dropped), window, len(dropped), draws, min(*shares, 1.0))


def _number(query: QueryRecord, sampling: Mapping[str, Any], name: str) -> float:
    value = sampling[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError(f"Query {excerpt(query.id)}: {name} in metadata.sampling is not a number above 0.")
    return float(value)


def _raised(queries: Mapping[str, Sampled], missing: Iterable[str]) -> dict[str, Sampled]:
    """The queries but for the missing ones, whose stratum's weights are raised by n ÷ (n - missing)."""
    lost: dict[str, int] = {}
    for query in missing:
        lost[queries[query].stratum] = lost.get(queries[query].stratum, 0) + 1
    many: dict[str, int] = {}
    for one in queries.values():
        many[one.stratum] = many.get(one.stratum, 0) + 1
    out = set(missing)
    return {
        query: replace(one, probability=one.probability * (1 - lost.get(one.stratum, 0) / many[one.stratum]))
        for query, one in queries.items()
        if query not in out
    }
