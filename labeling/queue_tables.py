"""What the commands `quality` and `queue_status` print: a queue's figures as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labeling.models import Queue
from pooling.membership import collection_named
from pooling.problems import InputError


def queue_named(slug: str, name: str) -> Queue:
    """A collection's queue by its name; `InputError` when there is none."""
    collection = collection_named(slug)
    queue = collection.queues.select_related("collection", "pool").filter(name=name).first()
    if queue is None:
        raise InputError(f"There is no queue “{name}” in “{slug}”. Open it with open_queue.", missing=True)
    return queue


def quality_table(found: dict[str, Any]) -> str:
    """`queue_quality` as text."""
    agreement = found["agreement"]
    lines = [
        f"{found['name']}: {found['verdicts']:,} verdicts, {found['set_aside']:,} set aside; "
        f"{agreement['pairs']:,} pairs judged by two or more people.",
        "",
    ]
    lines += [
        f"{figure['title']:<28}  {_with_interval(figure['value'], figure['low'], figure['high'])}"
        + (f"  {figure['why']}" if figure["why"] else "")
        for figure in agreement["figures"]
    ]
    head = ("annotator", "verdicts", "relevant", "leniency", "balanced", "gold", "rule", "streak", "median s")
    rows = [_annotator_cells(row) for row in found["annotators"]]
    lines += ["", *_columns([head, *rows])]
    bad = [row for row in found["hard_queries"] if row["is_bad"]]
    lines += [
        f"Look at query {row['query_id']}: {row['cannot_judge']} of {row['verdicts']} verdicts are “can't "
        "judge”."
        for row in bad
    ]
    return "\n".join(line.rstrip() for line in lines)


def _annotator_cells(row: dict[str, Any]) -> tuple[str, ...]:
    gold, lenient, median = row["gold"], row["leniency"], row["speed"]["median_ms"]
    return (
        row["username"],
        f"{row['verdicts']:,}",
        _number(row["share"]),
        f"{lenient['difference']:+.2f}" if lenient else "–",
        _number(gold["balanced_accuracy"]) if gold else "–",
        str(gold["answers"]) if gold else "0",
        "paused" if row["is_paused"] else gold["advice"] if gold else "–",
        str(row["streak"]["length"]) + ("!" if row["streak"]["is_odd"] else ""),
        "–" if median is None else f"{median / 1000:.1f}",
    )


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells under each other, the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    interval = f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else ""
    return f"{_number(value)}{interval}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
