"""A draw in words, before and after it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pooling.formats.wording import counted, plural
from pooling.logs.drawing import SampledQuery
from pooling.logs.population import LogTable


@dataclass(frozen=True)
class StratumPlan:
    """One stratum: its queries and traffic in the log, and of the draw its queries, those drawn for certain,
    and the traffic that these queries are themselves."""

    name: str
    queries: int
    traffic: float
    drawn: int
    certain: int
    traffic_of_draw: float


def stratum_plans(log: LogTable, draw: Sequence[SampledQuery]) -> list[StratumPlan]:
    plans = []
    for name in dict.fromkeys(query.stratum for query in log.queries):
        members = [query for query in log.queries if query.stratum == name]
        chosen = [one for one in draw if one.query.stratum == name]
        plans.append(
            StratumPlan(
                name,
                len(members),
                sum(query.size for query in members),
                len(chosen),
                sum(one.probability >= 1 for one in chosen),
                sum(one.query.size for one in chosen),
            )
        )
    return plans


def plan_text(log: LogTable, draw: Sequence[SampledQuery]) -> str:
    rows = [("stratum", "queries", "traffic", "drawn", "certain", "traffic drawn")]
    for one in stratum_plans(log, draw):
        traffic = f"{one.traffic:,.0f} ({one.traffic / log.traffic:.1%})"
        traffic_of_draw = f"{one.traffic_of_draw / log.traffic:.1%}"
        rows.append(
            (one.name, f"{one.queries:,}", traffic, f"{one.drawn:,}", f"{one.certain:,}", traffic_of_draw)
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    share = sum(one.query.size for one in draw) / log.traffic
    lines += [
        "",
        f"{len(draw):,} of {counted(len(log.queries), 'query')}, which were asked {log.traffic:,.0f} times. "
        f"Those drawn are {share:.1%} of the traffic; with their weights they stand for all of it.",
    ]
    if log.merged:
        lines.append(
            f"{counted(log.merged, 'row')} {plural(log.merged, 'differs', 'differ')} from another in case or "
            f"blanks alone, and {plural(log.merged, 'was', 'were')} added to it."
        )
    return "\n".join(lines) + "\n"
