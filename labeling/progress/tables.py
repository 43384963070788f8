from __future__ import annotations

from collections.abc import Sequence

from labeling.judging.progress_figures import Cost, Pace, QueueProgress
from labeling.models import Queue
from labeling.progress.judged_share import JudgedShare
from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.people.membership import collection_named


def queue_named(slug: str, name: str) -> Queue:
    """A collection's queue by its name; `InputError` when there is none."""
    collection = collection_named(slug)
    queue = collection.queues.select_related("collection", "pool").filter(name=name).first()
    if queue is None:
        raise InputError(f"There is no queue “{name}” in “{slug}”. Open it with open_queue.", missing=True)
    return queue


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells under each other, the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def rounded(value: float | None) -> str:
    """Two digits, or a dash for nothing."""
    return "–" if value is None else f"{value:.2f}"


def status_table(progress: QueueProgress, judged_at: Sequence[JudgedShare]) -> str:
    items, waiting, judgments = progress["items"], progress["open_items"], progress["judgments"]
    pace, leases = progress["pace"], progress["leases"]
    teams = [f"with {row['annotators']}: {row['end_date'] or '–'}" for row in progress["by_annotators"]]
    expected = judgments["expected_for_ties"]
    ties = f"; {expected:,.1f} more expected for ties" if expected else ""
    lines = [
        f"{progress['name']} is {progress['state']}; {judgments['done']:,} of {judgments['needed']:,} "
        f"judgments done{ties}.",
        f"Pairs: {items['total']:,}; {items['done']:,} settled, {items['adjudication']:,} in adjudication, "
        f"{waiting['free']:,} free, {waiting['leased']:,} held, {waiting['second_opinion']:,} waiting for "
        "another opinion.",
        f"{_pace_words(pace)}; {_seconds(pace['median_seconds'])} each, 90 % within "
        f"{_seconds(pace['p90_seconds'])}.",
        *(progress["order"]["sentences"] if progress["order"] else ["The order is fixed."]),
        f"Ends: {progress['end_date'] or 'not known'}; by annotators, {', '.join(teams)}.",
    ]
    if leases["by"]:
        minutes = f"{leases['by'][0]['oldest_seconds'] / 60:,.0f} minutes"
        lines.append(
            f"Held: {counted(leases['held'], 'pair')}, the longest for {minutes} by "
            f"{leases['by'][0]['username']}."
        )
    lines.append(_cost_line(progress["cost"]))
    head = ("run", "judged@K", "now", "when done")
    rows = [(row["run"], f"@{row['k']}", rounded(row["now"]), rounded(row["when_done"])) for row in judged_at]
    return "\n".join([*lines, *(["", *columns([head, *rows])] if rows else [])])


def _pace_words(pace: Pace) -> str:
    if not pace["annotators"]:
        return "Pace: no verdict in the last seven days"
    people = counted(pace["annotators"], "person", "people")
    return f"Pace: {pace['per_day']:,.0f} verdicts a day by {people}"


def _cost_line(cost: Cost) -> str:
    paid = (
        f"{counted(cost['paid_judgments'], 'judgment')} paid, {cost['paid_gold']:,} of them on gold questions"
    )
    if cost["paid_repeats"]:
        paid += f" and {cost['paid_repeats']:,} on pairs shown again"
    if cost["spent"] is None:
        return f"Cost: {paid}; no price is set."
    money = f"{cost['spent']:,.2f} {cost['currency']} so far, {cost['to_finish']:,.2f} to finish"
    return f"Cost: {money}; {paid}, {cost['judgments_to_pay']:,} to come."


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"
