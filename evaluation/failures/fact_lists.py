from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from evaluation.failures.stored_facts import FactRow, placed_within, places_of
from evaluation.models import Report
from pooling.heavy import pl
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.natural import natural_key
from pooling.tables.rows import ArrangedRows
from pooling.tables.state import State
from pooling.tables.table import Table

_FACT: Final = ["query_id", "fact_id"]
#: How a fact stands, from the best to the worst.
_STANDING: Final = ("place", "part", "-judged", "-findable")


@dataclass(frozen=True)
class FactsOfRun(ArrangedRows):
    """The facts of a report as they stand in a run, of which only those of one page are made. k, other: the
    cutoff and the run that a filter compares them with."""

    report: Report
    run: str
    k: int = 0
    other: str | None = None
    state: State | None = None

    @cached_property
    def frame(self) -> pl.DataFrame:
        rows = places_of(self.report, self.run).collect()
        if self.other is not None:
            theirs = placed_within(self.report, self.other, self.k).with_columns(is_theirs=True)
            rows = rows.join(theirs, on=_FACT, how="left", maintain_order="left")
        if self.state is None:
            return rows
        for word in self.state.search.split():
            texts = (
                pl.col(name).str.to_lowercase().str.contains(word.lower(), literal=True) for name in SEARCH
            )
            rows = rows.filter(pl.any_horizontal(*texts))
        return self._sorted(rows.filter(self._which()))

    def _which(self) -> pl.Expr:
        assert self.state is not None
        is_ours = (pl.col("place") <= self.k).fill_null(False)
        is_theirs = pl.col("is_theirs").fill_null(False) if self.other is not None else pl.lit(False)
        return {
            "missed": ~is_ours,
            "held": is_ours,
            "ours": is_ours & ~is_theirs,
            "theirs": is_theirs & ~is_ours,
        }.get(self.state.filters.get(SHOW, "missed"), pl.lit(True))

    def _sorted(self, rows: pl.DataFrame) -> pl.DataFrame:
        assert self.state is not None
        names = SORTED.get(self.state.sorted_by, ())
        falls = [name.startswith("-") != self.state.is_descending for name in names]
        keys = [_key(rows[name.removeprefix("-")]) for name in names]
        return rows.sort(keys, descending=falls, nulls_last=True, maintain_order=True) if keys else rows

    def arranged(self, state: State) -> FactsOfRun:
        return replace(self, state=state)

    def __len__(self) -> int:
        return self.frame.height

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, slice):
            return self[place : place + 1 or None][0]
        return [FactRow(*row) for row in self.frame[place].drop("is_theirs", strict=False).iter_rows()]


def _key(column: pl.Series) -> pl.Series:
    """What a column sorts by: texts in natural order."""
    if column.dtype != pl.String:
        return column
    texts = column.unique().drop_nulls()
    return column.replace_strict(texts, [natural_key(text) for text in texts], default=None)


SHOW: Final = "show"
SEARCH: Final = ("query_id", "text", "fact_id")
SORTED: Final = {
    "query": ("query_id",),
    "where": _STANDING,
    "fact": ("text",),
    "importance": ("importance",),
    "group": ("group",),
    "place": ("place",),
    "document": ("document_id",),
}


def fact_list(k: int, other: str | None) -> Table:
    """Where each fact stands in a run; with another run, what only one of the two holds can be chosen."""
    choices = [
        Choice("missed", f"Missed in the first {k}"),
        Choice("held", f"Held by the first {k}"),
        Choice("all", "All facts"),
    ]
    if other is not None:
        choices += [
            Choice("ours", f"Held here, not by {other}"),
            Choice("theirs", f"Held by {other}, not here"),
        ]
    return Table(
        "report-facts",
        "fact",
        columns=(
            Column("query", "Query", "query_id", natural=True, style="id"),
            # Before the fact, whose words leave a phone no room for what is behind them.
            Column("where", "Where it stands", natural=True),
            Column("fact", "Fact", "text", template="evaluation/_fact_text.html"),
            Column("importance", "Importance"),
            Column("group", "Group", hidden=True),
            Column("place", "Place", number=True, hidden=True),
            Column("document", "Document", "document_id", hidden=True, natural=True),
            Column("others", f"Held by others’ first {k}", lambda row: ", ".join(row.others), sort=False),
        ),
        search=SEARCH,
        search_hint="Query or words of the fact",
        filters=(Filter(SHOW, "Show", tuple(choices), default="missed"),),
        anchor="facts",
        empty=Empty("No fact to show."),
    )
