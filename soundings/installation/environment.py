"""Environment variables, read so that an invalid value is reported with its variable."""

from __future__ import annotations

import ipaddress
import os
import warnings
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from soundings.installation.elsewhere import Backend, file_storage, shared_cache

# What engines can ask safely: read-only, with a time limit.
SEARCHED = ("django.db.backends.postgresql", "django.db.backends.sqlite3")
# What others read: our own processes, the client, the containers, the tests.
NO_SETTINGS = {
    *("SOUNDINGS_KEEPER", "SOUNDINGS_WEB_KEEPS_HOUSE", "SOUNDINGS_TOKEN", "SOUNDINGS_HOST"),
    *("SOUNDINGS_TEST_DATA", "SOUNDINGS_TEST_REDIS", "SOUNDINGS_CHROMIUM"),
}


class Environment(environ.Env):  # type: ignore[misc]  # untyped
    """django-environ, with one sentence for each value that cannot be used."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[str] = set()

    def unread(self) -> list[str]:
        """Variables that look like settings and are none: misspelled, or of another release."""
        return sorted(
            name for name in {*os.environ} - self.read - NO_SETTINGS if name.startswith("SOUNDINGS_")
        )

    def get_value(self, var: str, *args: Any, **options: Any) -> Any:
        """The value of a variable in its type; `ImproperlyConfigured` names the variable."""
        self.read.add(var)
        try:
            return super().get_value(var, *args, **options)
        except ValueError:
            problem = f"{var} is “{os.environ.get(var, '')}”, which is not a valid value."
            raise ImproperlyConfigured(problem) from None

    def networks(self, var: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
        """The networks of a list such as 10.0.0.0/8,fd00::/8; none where it is not set."""
        try:
            return [ipaddress.ip_network(text.strip()) for text in self.list(var, default=[]) if text.strip()]
        except ValueError as error:
            raise ImproperlyConfigured(f"{var}: {error}; write for instance 10.0.0.0/8.") from None

    def choice(self, var: str, options: tuple[str, ...]) -> str:
        """One of the options; the first where it is not set."""
        chosen = str(self.str(var, default=options[0])).strip()
        if chosen not in options:
            raise ImproperlyConfigured(f"{var} is “{chosen}”; choose from {', '.join(options)}.")
        return chosen

    def storage(self, var: str) -> Backend:
        """From an address such as s3://bucket?endpoint=…, or a storage class."""
        return file_storage(var, self.str(var, default=""))

    def shared(self, var: str) -> Backend:
        """The cache that several processes share, by its address."""
        return shared_cache(var, self.str(var, default=""))

    def mail(self, var: str) -> dict[str, Any]:
        """The mail server of a URL, as Django writes it."""
        try:
            return dict(self.email_url(var))
        except (KeyError, ImproperlyConfigured):
            raise ImproperlyConfigured(
                f"{var} is not a mail server address; write for instance smtp+tls://user:password@host:587."
            ) from None

    def database(self, var: str, default: str) -> dict[str, Any]:
        """The database of a URL, as Django writes it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said below, in one sentence
            database: dict[str, Any] = self.db_url(var, default=default)
        if not database.get("ENGINE"):
            raise ImproperlyConfigured(
                f"{var} is not a database address; write for instance postgres://user@host/name."
            )
        return database

    def databases(self, var: str) -> dict[str, dict[str, object]]:
        """The databases of a list such as shop=postgres://user@host/name,wiki=sqlite:////data/wiki.db."""
        databases: dict[str, dict[str, object]] = {}
        for text in self.list(var, default=[]):
            name, _, url = text.strip().partition("=")
            database = self._searched(url) if name.isidentifier() else None
            if database is None:
                # Without the value, which holds a password.
                raise ImproperlyConfigured(
                    f"{var}: write NAME=postgres://user:password@host/name or NAME=sqlite:////path, "
                    "separated by commas, and %2C for a comma in a password."
                )
            if name in databases:
                raise ImproperlyConfigured(f"{var} names {name} twice; give each database one name.")
            databases[name] = database
        return databases

    def _searched(self, url: str) -> dict[str, object] | None:
        """A database that engines can ask, of its URL; None for anything else."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they hold the password
                database: dict[str, object] = self.db_url_config(url)
        except (ValueError, ImproperlyConfigured):
            return None
        is_named = database.get("NAME") not in (None, "", ":memory:")
        return database if is_named and database.get("ENGINE") in SEARCHED else None
