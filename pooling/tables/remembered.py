"""The columns that a person chose for a table, kept with their account."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from pooling.account_models import Preferences

MOST_TABLES = 100


def remembered_columns(request: HttpRequest, table: str) -> list[str]:
    """The columns last chosen; empty for none."""
    kept = getattr(getattr(request, "user", None), "preferences", None)
    return list(kept.columns.get(table, [])) if kept else []


def remember_columns(request: HttpRequest, table: str, columns: Sequence[str]) -> None:
    """Keep a choice; an empty one means the table's own columns again."""
    if isinstance(request.user, AnonymousUser):
        return
    kept, _ = Preferences.objects.get_or_create(user=request.user)
    kept.columns.pop(table, None)
    if columns and len(kept.columns) < MOST_TABLES:
        kept.columns[table] = list(columns)
    kept.save(update_fields=["columns"])
