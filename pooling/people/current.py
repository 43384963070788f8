"""The collection of a request, noted where permission is checked, and the address it was asked from."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

COLLECTION: ContextVar[str] = ContextVar("collection", default="")
# Tells the address; looked up only where it is written down.
ADDRESS: ContextVar[Callable[[], str | None]] = ContextVar("address", default=lambda: None)


def request_address() -> str:
    """The network address that the request came from; nothing for commands and background work."""
    return ADDRESS.get()() or ""
