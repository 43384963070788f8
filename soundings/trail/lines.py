"""The trail as JSON lines, read as they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC
from typing import Any

from django.db.models import QuerySet

from pooling.models import AdminAction
from pooling.people.chain import READ_AT_ONCE, seal

FILE_NAME = "trail.jsonl"
MEDIA_TYPE = "application/x-ndjson"


def trail_lines(rows: QuerySet[AdminAction]) -> Iterator[str]:
    """Lines for site admins, the oldest first, with all that their checksums cover, and with names."""
    for row in _in_order(rows):
        yield _line(
            number=row.number,
            at=row.at.astimezone(UTC).isoformat(),
            actor=row.actor_id,
            about=row.about_id,
            action=row.action,
            subject=row.subject,
            detail=row.detail,
            collection=row.collection_id,
            address_sha256=row.address_sha256,
            sha256=row.sha256,
            address=row.address,
            names={
                "actor": actor_name(row),
                "about": row.subject_name if row.about_id else "",
                "collection": row.collection.slug if row.collection else "",
            },
        )


def activity_lines(rows: QuerySet[AdminAction]) -> Iterator[str]:
    """Lines for admins of a collection, the oldest first: without addresses, people by name."""
    for row in _in_order(rows):
        yield _line(
            at=row.at.astimezone(UTC).isoformat(),
            who=actor_name(row),
            action=row.action,
            subject=row.subject_name,
            detail=row.detail,
            sha256=row.sha256,
        )


def actor_name(row: AdminAction) -> str:
    if row.actor_id is None:
        return "not signed in" if row.address_sha256 else "a command"
    return row.actor.get_username() if row.actor else f"account {row.actor_id}"


def with_names(rows: QuerySet[AdminAction]) -> QuerySet[AdminAction]:
    return rows.select_related("actor", "about", "collection")


def _in_order(rows: QuerySet[AdminAction]) -> Iterator[AdminAction]:
    seal()
    return with_names(rows.exclude(number=None)).order_by("number").iterator(chunk_size=READ_AT_ONCE)


def _line(**facts: Any) -> str:
    return json.dumps(facts, ensure_ascii=False) + "\n"
