from __future__ import annotations

from pooling.engine_models import Engine
from pooling.engines.connections import host_of
from pooling.tables.columns import Column, Empty, own_page
from pooling.tables.table import Table


def where_of(engine: Engine) -> str:
    return engine.database or host_of(engine.address)


def _often(engine: Engine) -> str:
    return f"every {engine.every_hours} h" if engine.every_hours else "by hand"


ENGINES = Table(
    "engines",
    "engine",
    columns=(
        Column("name", "Engine", natural=True, link=own_page, style="id"),
        Column("where", "Address or database", where_of, sort="address", style="id"),
        Column("depth", "Documents per query", number=True),
        Column("often", "Asked", _often, sort="every_hours"),
        Column("next", "Next time", "next_at", to_the_minute=True, style="quiet"),
        Column("added", "Added", "created_at", style="quiet"),
    ),
    sort="name",
    search=("name__icontains", "address__icontains", "database__icontains"),
    search_hint="Name or address",
    choose="engines",
    empty=Empty("No engines yet.", "Add an engine", "engine_new"),
)
