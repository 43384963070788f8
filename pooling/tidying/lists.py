"""The lists of what was archived and of what was deleted."""

from __future__ import annotations

from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table
from pooling.tidying.page import TidiedThing


def _key(row: TidiedThing) -> str:
    return f"{row.kind.name}:{row.thing.pk}"


NAME = Column("name", "Name", natural=True, template="pooling/_tidied_name.html", style="id")
WHAT = Column("what", "What", "kind.noun")
BY = Column("by", "By", lambda row: row.by or None, style="quiet")
BACK = Column("back", "Take back", _key, sort=False, fixed=True, template="pooling/_tidied_back.html")

DELETED = Table(
    "deleted",
    "deleted thing",
    columns=(
        NAME,
        WHAT,
        Column("until", "Restorable until", "until"),
        Column("at", "Deleted", to_the_minute=True, style="quiet"),
        BY,
        BACK,
    ),
    search=("name", "what"),
    search_hint="Name or kind",
    prefix="deleted-",
    anchor="deleted",
    key=_key,
    empty=Empty("Nothing. What is deleted can be restored here for thirty days."),
)
ARCHIVED = Table(
    "archived",
    "archived thing",
    columns=(NAME, WHAT, Column("at", "Archived", to_the_minute=True, style="quiet"), BACK),
    search=("name", "what"),
    search_hint="Name or kind",
    prefix="archived-",
    anchor="archived",
    key=_key,
    empty=Empty(
        "Nothing. Archived things are in no list or form, keep their address, and count where they are "
        "evidence."
    ),
)
