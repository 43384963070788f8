from __future__ import annotations

from pooling.formats.wording import counted
from pooling.interleaving.verdicts import InterleavingVerdict, PairVerdict

HEADER = ("a", "b", "wins of a", "losses", "ties", "share of wins", "e-value", "p at any time", "difference")


def verdict_text(verdict: InterleavingVerdict) -> str:
    rows = [HEADER, *map(_row, verdict["pairs"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    notes = [
        f"{counted(verdict['impressions'], 'impression')} by {counted(verdict['users'], 'user')}, "
        f"{counted(verdict['clicks'], 'click')}, {verdict['credited_clicks']:,} of them credited.",
        "Wins, losses and ties are users, by the first list that decided. Share, e-value and p hold at every "
        "look; p is corrected for the number of pairs (Holm).",
    ]
    for name, what in (
        ("same_lists", "impressions of lists on which the runs agree"),
        ("unknown_clicks", "clicks on documents that the list does not have, left out"),
        ("unknown_lists", "rows of lists that were not served, left out"),
    ):
        if verdict[name]:  # type: ignore[literal-required]
            notes.append(f"{verdict[name]:,} {what}.")  # type: ignore[literal-required]
    if picks := verdict["first_picks"]:
        counts = ", ".join(f"{count:,} by {name}" for name, count in picks["counts"].items())
        notes.append(f"First picks of {counted(picks['lists'], 'list')}: {counts}.")
        if not picks["balanced"]:
            notes.append(
                f"The chance of that with even draws is {picks['p']:.2g}: look for lists that were not "
                "served, not logged, or not drawn for each user."
            )
    if clear := verdict["clear_queries"]:
        one = clear[0]
        notes.append(
            f"On {counted(len(clear), 'query')} one run wins four of five users, such as {one['winner']} on "
            f"“{one['query_id']}” ({one['wins']:,} to {one['losses']:,}); --clear-queries writes them."
        )
    verdicts = [pair["verdict"] for pair in verdict["pairs"]]
    return "\n".join([*verdicts, "", *table, "", *notes])


def _row(pair: PairVerdict) -> tuple[str, ...]:
    low, high = pair["share"]
    difference = "–" if pair["difference"] is None else f"{pair['difference']:+.3f}"
    if pair["difference_low"] is not None:
        difference += f" [{pair['difference_low']:+.3f}, {pair['difference_high']:+.3f}]"
    return (
        pair["a"],
        pair["b"],
        f"{pair['wins']:,}",
        f"{pair['losses']:,}",
        f"{pair['ties']:,}",
        f"{low:.3f}–{high:.3f}",
        f"{pair['e_value']:.3g}",
        f"{pair['corrected_p']:.3g}",
        difference,
    )
