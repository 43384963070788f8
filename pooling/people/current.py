"""Which collection a request is about, for logs; noted where permission is checked."""

from __future__ import annotations

from contextvars import ContextVar

COLLECTION: ContextVar[str] = ContextVar("collection", default="")


def note_collection(slug: str) -> None:
    """Remember the collection that somebody was let into."""
    COLLECTION.set(slug)
