"""The database backend of the settings when `DATABASE_URL` names PostgreSQL."""

from __future__ import annotations

import selectors

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, with a health check that costs no round trip.

    A server that stops says so or hangs up, and either can be read from the connection. One that has fallen
    silent is noticed by the statement itself, as it would be in the middle of a request.
    """

    def is_usable(self) -> bool:
        """A connection kept from an earlier request can be used; in doubt the server is asked."""
        if self.connection is None or self.connection.closed or self._has_something_to_say():
            return bool(super().is_usable())
        return True

    def _has_something_to_say(self) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self.connection.fileno(), selectors.EVENT_READ)
            return bool(selector.select(timeout=0))
