"""Actions that later rooms add to tables of earlier ones, such as archiving runs."""

from __future__ import annotations

from collections import defaultdict

from pooling.tables.columns import BulkAction

_ADDED: dict[str, list[BulkAction]] = defaultdict(list)


def add_actions(table: str, *actions: BulkAction) -> None:
    """Offer actions at the foot of the table of that name; one that is there already is replaced."""
    names = {action.name for action in actions}
    _ADDED[table] = [one for one in _ADDED[table] if one.name not in names] + list(actions)


def added_to(table: str) -> tuple[BulkAction, ...]:
    return tuple(_ADDED.get(table, ()))
